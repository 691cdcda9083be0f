import re

import pytest
from lxml import etree

from tests.documents.making import DRAWING, WORD, docx, member, pptx, shouted, texts_of, translated

W = f"{{{WORD}}}"


def run(text: str, properties: str = "") -> str:
    shape = f"<w:rPr>{properties}</w:rPr>" if properties else ""
    return f'<w:r>{shape}<w:t xml:space="preserve">{text}</w:t></w:r>'


def field(step: str) -> str:
    return f'<w:r><w:fldChar w:fldCharType="{step}"/></w:r>'


def body(content: bytes) -> etree.Element:
    return etree.fromstring(member(content, "word/document.xml").encode())[0]


def done(paragraph: str, translate=shouted) -> etree.Element:
    return body(translated(docx(f"<w:p>{paragraph}</w:p>"), "a.docx", translate))[0]


def bold_texts(paragraph: etree.Element) -> list[str]:
    return [
        "".join(r.itertext()) for r in paragraph.iter(f"{W}r") if r.find(f".//{W}b") is not None
    ]


def test_runs_that_look_alike_are_one_text():
    """Word cuts words where somebody has typed, or where the language was guessed anew."""
    cut = run("Hel") + '<w:proofErr w:type="a"/>' + run("lo ", '<w:lang w:val="en"/>') + run("you")

    assert texts_of(docx(f"<w:p>{cut}</w:p>"), "a.docx") == ["Hello you"]


def test_a_format_goes_with_its_words():
    content = docx(f"<w:p><w:pPr><w:b/></w:pPr>{run('a house is ')}{run('red', '<w:b/>')}</w:p>")

    assert texts_of(content, "a.docx") == ["a house is <x0>red</x0>"]
    paragraph = body(translated(content, "a.docx", lambda _: "<x0>rot</x0> ist ein Haus"))[0]
    assert "".join(paragraph.itertext()) == "rot ist ein Haus"
    assert bold_texts(paragraph) == ["rot"]
    assert paragraph[0].tag == f"{W}pPr"


def test_the_format_of_most_letters_has_no_tag():
    content = docx(f"<w:p>{run('all of it is bold', '<w:b/>')}{run(' not')}</w:p>")

    assert texts_of(content, "a.docx") == ["all of it is bold<x0> not</x0>"]
    assert bold_texts(body(translated(content, "a.docx"))[0]) == ["ALL OF IT IS BOLD"]


def test_a_link_keeps_its_address_and_its_words():
    paragraph = done(run("see ") + f'<w:hyperlink w:id="r1">{run("the page")}</w:hyperlink>')

    assert [child.tag for child in paragraph] == [f"{W}r", f"{W}hyperlink"]
    assert "".join(paragraph[1].itertext()) == "THE PAGE"
    assert paragraph[1].get("id") or paragraph[1].get(f"{W}id") == "r1"


def test_breaks_pictures_and_notes_stay_among_the_words():
    inner = "<w:r><w:t>one</w:t><w:br/><w:t>two</w:t><w:footnoteReference w:id='2'/></w:r>"

    paragraph = done(inner)

    tags = [etree.QName(it).localname for it in paragraph.iter() if it.tag != f"{W}r"]
    assert tags == ["p", "t", "br", "t", "footnoteReference"]


def test_a_field_is_kept_whole_and_in_order():
    inner = run("page ") + field("begin") + "<w:r><w:instrText>PAGE</w:instrText></w:r>"
    inner += field("separate") + run("seven") + field("end") + run(" of it")

    paragraph = done(inner, lambda text: re.sub("(.*)(<x0>.*</x0>)(.*)", r"\2\1\3", text))

    kinds = [
        it.get(f"{W}fldCharType") or it.tag for it in paragraph.iter(f"{W}fldChar", f"{W}instrText")
    ]
    assert kinds == ["begin", f"{W}instrText", "separate", "end"]
    assert "".join(paragraph.itertext()) == "PAGEsevenpage  of it"


def test_a_field_that_ends_elsewhere_is_left_as_it_is():
    assert texts_of(docx(f"<w:p>{field('begin')}{run('contents')}</w:p>"), "a.docx") == []


def test_bookmarks_stand_around_the_paragraph():
    inner = run("a ") + '<w:bookmarkStart w:id="1"/>' + run("b") + '<w:bookmarkEnd w:id="1"/>'

    tags = [etree.QName(child).localname for child in done(inner)]

    assert tags == ["bookmarkStart", "r", "bookmarkEnd"]


def test_a_text_box_is_a_text_of_its_own():
    box = f"<w:txbxContent><w:p>{run('inner')}</w:p></w:txbxContent>"
    inner = f"<w:r><w:drawing>{box}</w:drawing></w:r>"
    content = docx(f"<w:p>{run('outer ')}{inner}</w:p>")

    assert texts_of(content, "a.docx") == ["outer <x0/>", "inner"]
    paragraph = body(translated(content, "a.docx"))[0]
    assert "".join(paragraph.itertext()) == "OUTER INNER"


def test_headers_and_notes_are_read_too():
    part = f'<w:x xmlns:w="{WORD}"><w:p>{run("more")}</w:p></w:x>'

    assert (
        texts_of(docx("<w:p/>", header2=part, footnotes=part, styles=part), "a.docx")
        == ["more"] * 2
    )


@pytest.mark.parametrize("broken", ["no tags", "<x0>", "<x0/>", "<x0>a</x0><x0>b</x0>"])
def test_a_paragraph_whose_tags_are_lost_stays_as_it_is(broken):
    content = docx(f"<w:p>{run('a ')}{run('b', '<w:b/>')}</w:p><w:p>{run('c')}</w:p>")

    first, second = body(translated(content, "a.docx", lambda it: broken if "<" in it else "C"))

    assert "".join(first.itertext()) == "a b"
    assert "".join(second.itertext()) == "C"


def test_slides_are_translated_with_their_formats_and_what_ends_a_paragraph():
    content = pptx(
        '<a:p><a:pPr/><a:r><a:rPr lang="en"/><a:t>Say </a:t></a:r>'
        '<a:r><a:rPr b="1"/><a:t>it</a:t></a:r>'
        "<a:br/><a:r><a:t>now</a:t></a:r><a:endParaRPr/></a:p>"
    )

    assert texts_of(content, "a.pptx") == ["Say <x0>it</x0><x1/>now"]
    slide = etree.fromstring(
        member(translated(content, "a.pptx"), "ppt/slides/slide1.xml").encode()
    )
    (paragraph,) = slide.iter(f"{{{DRAWING}}}p")
    tags = [etree.QName(child).localname for child in paragraph]
    assert tags == ["pPr", "r", "r", "br", "r", "endParaRPr"]
    assert "".join(paragraph.itertext()) == "SAY ITNOW"
