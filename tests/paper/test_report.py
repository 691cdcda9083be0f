"""The report is one file: nothing beside it, nothing unescaped, every claim in it."""

from html.parser import HTMLParser

from heedful.paper.report import counted, html_report
from heedful.paper.result import Claim, Result, Table, claim

CLAIMS = (
    claim("A <b>claim</b>", "section 3", holds=True, measured="1 & 2"),
    claim("Another", "table 1", holds=False, why="Too small."),
    Claim(text="A third", source="figure 5"),
)
RESULT = Result(
    name="table1", title="Table 1", scale="Small.", claims=CLAIMS,
    tables=(Table(title="T", columns=("x<y", "n"), rows=(("a", 1_234),)),),
)  # fmt: skip


class Balanced(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.texts, self.links, self.ids = [], [], [], []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.links += [found[name] for name in ("href", "src") if name in found]
        self.ids += [found["id"]] if "id" in found else []
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def parsed(html: str) -> Balanced:
    parser = Balanced()
    parser.feed(html)
    assert not parser.open
    return parser


def test_the_report_is_whole_and_everything_in_it_is_escaped():
    found = parsed(html_report([RESULT], "Measured", "On this machine."))

    text = " ".join(found.texts)
    for part in (
        "A <b>claim</b>",
        "1 & 2",
        "x<y",
        "1,234",
        "Too small.",
        "does not hold at this scale",
    ):
        assert part in text


def test_every_link_leads_somewhere_in_it():
    found = parsed(html_report([RESULT], "Measured", "On this machine."))

    assert {link.removeprefix("#") for link in found.links} <= set(found.ids)


def test_claims_are_counted_by_how_they_fare():
    assert counted(CLAIMS) == "1 hold, 1 do not hold at this scale, 1 cannot be tested here"
