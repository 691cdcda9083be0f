import gzip

import pytest

from heedful.server.limits import Limits

FILE = b'--x\r\nContent-Disposition: form-data; name="q"; filename="a"\r\n'
JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def post(client, content, headers=JSON):
    return client.post("/translate", content=content, headers=headers)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'"a"',
        b'{"q": NaN}',
        b'{"q": -Infinity}',
        b'{"q": "\\ud800"}',
        b'{"\\udfff": "a"}',
        b'{"q": "\xff"}',
        b'{"q": "\xed\xa0\x80"}',
        b'{"q": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"q": ' + b"1" * 5_000 + b"}",
        '{"q": "a"}'.encode("utf-16"),
    ],
)
def test_what_is_no_json_is_refused(client, content):
    response = post(client, content)

    assert (response.status_code, response.json()) == (400, {"error": "Invalid JSON format"})


@pytest.mark.parametrize("content", [b"q=%ff", b"q=\xff", b"&".join([b"a=b"] * 3_000)])
def test_a_form_that_is_no_text_is_refused(client, content):
    response = post(client, content, FORM)

    assert response.status_code == 400
    assert response.json()["error"].startswith("Invalid request: the form")


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"--x\r\n", "multipart/form-data; boundary=x"),
        (b"--x\r\n\r\n\r\n--x--", "multipart/form-data; boundary=x"),
        (b"a", "multipart/form-data"),
        (FILE, "multipart/form-data; boundary=x"),
    ],
)  # fmt: skip
def test_parts_that_are_broken_are_refused(client, content, kind):
    response = post(client, content, {"Content-Type": kind})

    assert response.status_code == 400
    assert response.json()["error"].startswith("Invalid request: ")


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "nonsense", ""])
def test_other_kinds_of_bodies_are_refused(client, kind):
    response = post(client, b"a", {"Content-Type": kind})

    assert response.status_code in (400, 415)


def test_a_bomb_is_not_unpacked(client):
    response = post(client, gzip.compress(b" " * 10_000_000), {**JSON, "Content-Encoding": "gzip"})

    assert response.status_code == 415


def test_more_than_fits_is_not_taken_in(make_client):
    client = make_client(Limits(body=100))
    taken = []

    def endless():
        for _ in range(1_000):
            taken.append(1)
            yield b"a" * 50

    assert post(client, b"a" * 101).status_code == 413
    assert post(client, endless()).status_code == 413
    assert post(client, b'{"q": "a", "source": "en", "target": "de"}').status_code == 200


@pytest.mark.parametrize("length", ["-1", "1e9", "9" * 5_000])
def test_a_length_that_is_none_is_refused(client, length):
    assert post(client, b"", {**JSON, "Content-Length": length}).status_code == 413


def test_the_address_goes_before_the_body(client):
    values = {"q": "a", "source": "en", "target": "de"}

    response = client.post("/translate?target=xx", json=values)

    assert response.json() == {"error": "xx is not supported"}
