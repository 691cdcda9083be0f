from tests.documents.making import member, odt, texts_of, translated


def body(content: bytes, **how) -> str:
    done = member(translated(content, "a.odt", **how), "content.xml")
    return done.partition("<office:body>")[2].partition("</office:body>")[0]


def test_spans_and_links_go_with_their_words():
    content = odt('<text:h>A <text:span text:style-name="T1">red</text:span> house</text:h>')

    assert texts_of(content, "a.odt") == ["A <x0>red</x0> house"]
    assert body(content, translate=lambda _: "<x0>rot</x0>, Haus") == (
        '<text:h><text:span text:style-name="T1">rot</text:span>, Haus</text:h>'
    )


def test_notes_are_texts_of_their_own_and_stay_in_their_place():
    content = odt("<text:p>one<text:note><text:p>two</text:p></text:note> three</text:p>")

    assert texts_of(content, "a.odt") == ["one<x0/> three", "two"]
    assert body(content) == "<text:p>ONE<text:note><text:p>TWO</text:p></text:note> THREE</text:p>"


def test_marks_stand_around_the_paragraph_and_spaces_are_spaces():
    content = odt(
        '<text:p>a<text:s/>b <text:bookmark-start text:name="m"/>c<text:soft-page-break/>'
        '<text:bookmark-end text:name="m"/>\n  d<text:tab/>e</text:p>'
    )

    assert texts_of(content, "a.odt") == ["a b c d<x0/>e"]
    assert body(content) == (
        '<text:p><text:bookmark-start text:name="m"/>A B C D<text:tab/>E'
        '<text:bookmark-end text:name="m"/></text:p>'
    )


def test_a_paragraph_without_words_is_not_touched():
    content = odt("<text:p>1 <text:tab/>  2</text:p><text:p>a</text:p>")

    assert body(content) == "<text:p>1 <text:tab/>  2</text:p><text:p>A</text:p>"
