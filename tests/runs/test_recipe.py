import tomllib

import pytest

from heedful.errors import ConfigError
from heedful.runs.recipe import known_recipes, load_recipe


def load(tmp_path, text: str):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return load_recipe(str(path), source="a.en", target="a.de")


@pytest.mark.parametrize("name", known_recipes())
def test_every_recipe_that_comes_with_the_program_can_be_read(name):
    files = {} if name == "everyday" else {"source": "a.en", "target": "a.de"}  # it names its own

    recipe = load_recipe(name, **files)

    assert recipe.model_config(vocab_size=1_000).vocab_size == 1_000


def test_the_default_is_small_and_the_paper_is_one_word_away(tmp_path):
    default, paper = load(tmp_path, ""), load(tmp_path, 'recipe = "paper"')

    assert default.model_config(9).d_model == 128
    assert paper.model_config(9).d_model == 512
    assert paper.model_config(9).normalisation == "post"
    assert (paper.training.schedule, paper.training.warmup_steps) == ("noam", 4_000)
    assert (paper.search.beam_size, paper.search.alpha) == (4, 0.6)


def test_a_recipe_states_what_differs(tmp_path):
    recipe = load(tmp_path, "[training]\nsteps = 500\n[model]\nnum_layers = 2\n")

    assert recipe.training.steps == 500
    assert recipe.training.schedule == load_recipe(source="a").training.schedule
    assert recipe.model_config(9).num_layers == 2


def test_naming_a_preset_sets_aside_the_sizes_beneath_it_but_not_the_rest(tmp_path):
    big = load(tmp_path, '[model]\npreset = "big"\n').model_config(9)

    assert (big.d_model, big.dropout) == (1024, 0.3)
    assert big.normalisation == "pre"  # as in the default recipe


def test_dropout_stays_unless_the_preset_has_one_of_its_own(tmp_path):
    below = 'recipe = "multi30k-en-de"\n'

    small = load(tmp_path, f'{below}[model]\npreset = "small"\n').model_config(9)

    assert (small.d_model, small.dropout) == (256, 0.25)


def test_the_paper_has_its_vocabulary():
    assert load_recipe("paper", source="a").tokenizer.vocab_size == 37_000


def test_minutes_take_the_place_of_steps_and_steps_that_of_minutes(tmp_path):
    timed = load(tmp_path, "[training]\nminutes = 60\n")
    counted = load(tmp_path, "[training]\nsteps = 500\n")

    assert (timed.training.steps, timed.training.minutes) == (0, 60.0)
    assert (counted.training.steps, counted.training.minutes) == (500, 0.0)
    assert counted.within(7).training == timed.within(7).training
    assert load_recipe("demo", source="a").within(2).training.steps == 0


def test_what_is_said_above_the_default_recipe_counts_as_stated(tmp_path):
    mine = load(tmp_path, "[training]\nbatch_tokens = 512\n")

    assert mine.stated == {("training", "batch_tokens")}
    assert load_recipe(source="a").stated == frozenset()
    assert load_recipe("paper", source="a").stated >= {("model", "preset")}
    assert mine.within(5).stated == {("training", "batch_tokens"), ("training", "minutes")}


def test_files_on_the_command_line_go_before_those_in_the_recipe(tmp_path):
    recipe = load(tmp_path, '[data]\nsource = "other.en"\nvalid_source = "v.tsv"\n')

    assert (recipe.data[0].source, recipe.data[0].valid_source) == ("a.en", "v.tsv")


def test_a_recipe_written_down_reads_as_itself(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('[data]\nsource = "a \\"quoted\\" \\\\ é 😀.en"\n[model]\nd_k = 8\n')
    recipe = load_recipe(str(path))

    (tmp_path / "again.toml").write_text(recipe.toml())
    again = load_recipe(str(tmp_path / "again.toml"))

    assert again.toml() == recipe.toml()
    assert again.model_config(9) == recipe.model_config(9)
    assert tomllib.loads(recipe.toml())["training"]["seed"] == 2017


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[model]\nnum_head = 4\n",
            r"mine\.toml, \[model\]: unknown name 'num_head'; did you mean 'num_heads'\?",
        ),
        ("[modl]\n", r"mine\.toml: unknown name 'modl'; did you mean 'model'\?"),
        ("[model]\nvocab_size = 9\n", r"\[model\]: unknown name 'vocab_size'"),
        ("[model]\nnum_heads = 7\n", r"mine\.toml, \[model\]: num_heads must divide d_model"),
        ("[model]\npreset = 'huge'\n", r"\[model\]: unknown preset 'huge'; known names: base"),
        ("[training]\nsteps = '9'\n", r"\[training\]: steps must be a whole number, got '9'"),
        ("[training]\nminutes = -1\n", r"\[training\]: minutes must be a number above 0, got -1"),
        (
            "[training]\nminutes = 5\nsteps = 9\n",
            r"\[training\]: steps = 9 and minutes = 5 are both given; choose one",
        ),
        ("[training]\nsteps = true\n", r"\[training\]: steps must be a whole number, got True"),
        ("[model]\ndropout = 'no'\n", r"\[model\]: dropout must be a number, got 'no'"),
        ("[model]\ndropout = nan\n", r"\[model\]: dropout must be a number, got nan"),
        ("[data]\nsource = 3\n", r"\[data\]: source must be a text in quotes, got 3"),
        ("recipe = 'papre'\n", r"mine\.toml: unknown recipe 'papre'; did you mean 'paper'\?"),
        ("model = 3\n", r"mine\.toml: model must be a section, written \[model\]"),
        (
            "[search]\nn_best = 2\n",
            r"mine\.toml: n_best = 2 is for .*; leave it out and give --n-best",
        ),
        ("[model\n", r"mine\.toml: cannot be read as a recipe; Expected"),
    ],
)
def test_mistakes_are_named_with_their_place_and_remedy(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message):
        load(tmp_path, text)


def test_a_missing_recipe_names_those_there_are():
    names = "default, demo, everyday, multi30k-en-de, paper, tiny"
    with pytest.raises(ConfigError, match=rf"nope: no such recipe file; .* {names}"):
        load_recipe("nope")


def test_several_corpora_are_named_by_the_recipe_alone():
    recipe = load_recipe("everyday", folder="somewhere")

    assert [str(each.direction) for each in recipe.data[:3]] == ["en-fr", "en-de", "en-es"]
    assert recipe.data[0].source == "somewhere/en-fr.train.tsv.gz"
    assert recipe.data[3].valid_source == ""
    assert all(each.both_ways for each in recipe.data[:3])
    with pytest.raises(ConfigError, match=r"everyday names 6 corpora of its own; leave out --from"):
        load_recipe("everyday", from_language="en")


def test_a_recipe_with_several_corpora_is_read_as_it_was_written(tmp_path):
    recipe = load_recipe("everyday", folder="somewhere")
    (tmp_path / "recipe.toml").write_text(recipe.toml())

    again = load_recipe(str(tmp_path / "recipe.toml"))

    assert again.data == recipe.data
    assert again.toml() == recipe.toml()


def test_teachers_are_for_one_direction(tmp_path):
    (tmp_path / "mine.toml").write_text('recipe = "everyday"\n[training]\nteachers = 0.5\n')

    with pytest.raises(ConfigError, match=r"teachers are for one direction"):
        load_recipe(str(tmp_path / "mine.toml"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("data = 3", r"data must be a section, written \[data\], or \[\[data\]\] for each"),
        ("[data]\nfrom = 3", r"\[data\]: from_language must be a text"),
        ("[[data]]\nform = 'en'", r"\[data\]: unknown name 'form'; did you mean 'from'"),
        ("[data]\nboth_ways = 'yes'", r"both_ways must be true or false"),
    ],
)
def test_odd_corpora_are_refused(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message):
        load(tmp_path, text)


def test_a_recipe_without_data_asks_for_it():
    with pytest.raises(ConfigError, match=r"default, \[data\]: source is missing; give --source"):
        load_recipe("default")


def test_another_source_leaves_the_target_of_the_recipe_behind(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        '[data]\nsource = "a.en"\ntarget = "a.de"\nvalid_source = "b.en"\nvalid_target = "b.de"\n'
    )

    (pairs,) = load_recipe(str(file), source="pairs.tsv").data
    (validated,) = load_recipe(str(file), valid_source="v.tsv").data

    assert (pairs.source, pairs.target, pairs.valid_target) == ("pairs.tsv", "", "b.de")
    assert (validated.target, validated.valid_source, validated.valid_target) == (
        *("a.de", "v.tsv", ""),
    )
