"""What the tables learn from."""

import pytest

from heedful.errors import ConfigError
from heedful.paper.corpus import corpus_of, described, fingerprint
from heedful.paper.request import Request


def test_ones_own_files_are_prepared_once(tmp_path, corpus):
    request = Request(name="table3", out=tmp_path / "out", **corpus)

    first, second = corpus_of(request), corpus_of(request)

    assert first == second
    assert fingerprint(first) == fingerprint(second)
    assert "train.low" in described(request, first)
    assert f"{len(first.train):,} training pairs" in described(request, first)


def test_a_target_without_a_source_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="--valid-target is given without --source"):
        corpus_of(Request(name="table3", out=tmp_path, valid_target="v.fr"))


def test_without_files_it_is_the_demos(tmp_path, monkeypatch):
    from heedful.data.embedded import generate
    from heedful.paper import corpus as module

    monkeypatch.setattr(module, "generate", lambda locale: generate(locale, train=200, held_out=20))

    found = corpus_of(Request(name="table3", out=tmp_path))

    assert (len(found.train), len(found.valid)) == (200, 20)
