from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.server.sentences import assembled, cut

TEXTS = st.text(st.sampled_from("aB .!?\n\tü<b>"), max_size=400)


@settings(max_examples=60)
@given(text=TEXTS)
def test_in_parts_a_text_is_translated_as_it_is_whole(translator, text):
    whole = translator.translate(text, n_best=2, details=True)

    ranges = cut(text)
    parts = translator.translate([text[a:b] for a, b in ranges], n_best=2, details=True)

    if ranges:
        found = assembled(text, ranges, parts)
        assert (found.text, found.flags, found.sentences) == (
            whole.text, whole.flags, whole.sentences
        )  # fmt: skip
        assert abs(found.score - whole.score) < 1e-9
        assert [it.text for it in found.alternatives] == [it.text for it in whole.alternatives]
        assert found.details == whole.details
    else:
        assert whole.text == text
