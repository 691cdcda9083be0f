import time
from email.message import Message

import pytest

from heedful.server.files import KEPT_SECONDS, Files, Job
from heedful.server.limits import Limits
from heedful.server.refusal import RefusedError
from tests.documents.making import archive, docx, member

LANGUAGES = {"source": "en", "target": "de"}
WORDS = b"1\n00:00:01,000 --> 00:00:02,000\na b\n"


def send(client, name="a.srt", content=WORDS, path="/translate_file", **values):
    return client.post(path, files={"file": (name, content)}, data=LANGUAGES | values)


def fetched(client, response):
    assert response.status_code == 200, response.text
    return client.get(response.json()["translatedFileUrl"])


def test_a_file_is_translated_and_fetched(client, translator):
    file = fetched(client, send(client))

    assert file.content == WORDS.replace(b"a b", translator.translate("a b").text.encode())
    disposition = Message()
    disposition["Content-Disposition"] = file.headers["content-disposition"]
    assert disposition.get_filename() == "a.de.srt"


def test_a_document_stays_one(client):
    content = docx("<w:p><w:r><w:t>a b c</w:t></w:r></w:p>")

    file = fetched(client, send(client, "Ä.docx", content, source="auto"))

    assert "a b c" not in member(file.content, "word/document.xml")
    assert file.headers["content-type"].endswith("wordprocessingml.document")


def test_one_may_watch_how_far_it_is(client):
    begun = send(client, content=WORDS + b"\n\n00:03.000 --> 00:04.000\n1\n", path="/v1/files")

    assert begun.status_code == 202
    report = begun.json()
    while report["state"] == "working":
        time.sleep(0.01)
        report = client.get(f"/v1/files/{report['id']}").json()
    assert (report["state"], report["texts"], report["translated"]) == ("done", 1, 1)
    assert report["unchanged"] in (0, 1)
    assert client.get(report["url"]).status_code == 200


def test_a_file_may_be_given_up(client):
    id = send(client, path="/v1/files").json()["id"]

    assert client.delete(f"/v1/files/{id}").json()["state"] == "forgotten"

    assert client.get(f"/v1/files/{id}").status_code == 404


@pytest.mark.parametrize(
    ("name", "saved"),
    [
        ("../../etc/passwd.txt", "passwd.de.txt"),
        ("C:\\a\\b.txt", "b.de.txt"),
        ("a\r\nX-Injected: 1.txt", None),
        ('q"; x="y.txt', None),
        ("ü .txt", "ü .de.txt"),
        (f"{'a' * 500}.txt", f"{'a' * 96}.de.txt"),
    ],
)
def test_a_name_is_a_name_and_nothing_else(client, name, saved):
    file = fetched(client, send(client, name, b"a b"))

    assert "x-injected" not in file.headers
    disposition = Message()
    disposition["Content-Disposition"] = file.headers["content-disposition"]
    found = disposition.get_filename()
    assert found == saved if saved else not set(found) & set('\r\n"/\\')


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.pdf", b"%PDF", "translate what it was made from"),
        ("a.docx", b"PK", "is damaged"),
        ("a.docx", archive({"word/document.xml": b" " * (9 << 20)}), "too much"),
        ("a.txt", b"\xff", "is not valid UTF-8"),
        ("..", b"a", "the file has no name"),
        ("a.txt", b"a" * 5_000_001, "exceeds text limit (5000000)"),
    ],
)
def test_what_cannot_be_read_is_refused(client, name, content, message):
    response = send(client, name, content)

    assert response.status_code == 400
    assert message in response.json()["error"]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"source": ""}, "missing source parameter"),
        ({"target": "xx"}, "xx is not supported"),
        ({"source": "de", "target": "en"}, "is not available as a target language"),
    ],
)
def test_languages_are_looked_at_before_the_work(client, values, message):
    assert message in send(client, **values).json()["error"]


def test_a_request_without_a_file_is_refused(client):
    response = client.post("/translate_file", data=LANGUAGES)

    assert response.json() == {"error": "Invalid request: missing file parameter"}


def test_a_file_that_is_too_large_is_not_taken_in(make_client):
    client = make_client(Limits(file=1_000))

    assert send(client, content=b"a" * 2_000).status_code == 413


@pytest.mark.parametrize("name", ["nothing", "x.txt", "%2e%2e%2fpasswd"])
def test_what_is_not_there_is_not_found(client, name):
    assert client.get(f"/download_file/{name}").status_code == 404


def test_files_are_forgotten_after_a_while_and_when_they_are_many():
    now = [0.0]
    files = Files(clock=lambda: now[0])
    old, large = (Job("a.txt", is_over=True) for _ in range(2))
    files.add(old)
    now[0] = KEPT_SECONDS + 1
    files.add(large)
    with pytest.raises(RefusedError, match="no such file"):
        files.get(old.id)

    large.content = b"a" * 100_000_001
    files.add(Job("b.txt"))

    with pytest.raises(RefusedError, match="no such file"):
        files.get(large.id)
