import json
import stat

import pytest

from heedful.errors import ConfigError
from heedful.server.keys import KeyFile, Keyring, Usage, digest
from heedful.server.refusal import RefusedError


@pytest.fixture
def file(tmp_path) -> KeyFile:
    return KeyFile(tmp_path / "keys.json")


def test_a_key_is_kept_nowhere(file):
    secret = file.add("anna", requests_per_minute=5, characters_per_day=None)

    assert len(secret) > 40
    assert secret not in file.path.read_text()
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    (key,) = file.read()
    assert (key.name, key.sha256, key.requests_per_minute) == ("anna", digest(secret), 5)


def test_only_a_whole_key_is_one(file):
    secret = file.add("anna")
    keyring = Keyring(file)

    assert keyring.find(secret).name == "anna"
    for other in ("", secret[:-1], secret + "a", digest(secret), "ü\ud800"):
        assert keyring.find(other) is None


def test_what_changes_in_the_file_is_heeded_at_once(file):
    first = file.add("anna")
    keyring = Keyring(file)

    second = file.add("bert")
    assert keyring.find(second).name == "bert"
    file.remove("anna")
    assert keyring.find(first) is None


def test_a_file_that_breaks_meanwhile_changes_nothing(file):
    secret = file.add("anna")
    keyring = Keyring(file)

    file.path.write_text("{")

    assert keyring.find(secret).name == "anna"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is no file of keys"),
        ("[]", "is no file of keys"),
        ('{"keys": [{"name": 1}]}', "is no file of keys"),
        ('{"keys": [{"name": "a", "sha256": "b", "created": "c", "characters_per_day": 0}]}',
         "must be 1 or more"),
    ],
)  # fmt: skip
def test_a_file_of_something_else_is_refused(file, content, message):
    file.path.write_text(content)

    with pytest.raises(ConfigError, match=message):
        Keyring(file)


def test_a_file_that_is_not_there_is_named_with_what_to_do(file):
    with pytest.raises(ConfigError, match=r"no such file; make it with: heedful keys add"):
        Keyring(file)


def test_names_are_there_once_and_can_be_read(file):
    file.add("anna")
    with pytest.raises(ConfigError, match="there is a key of the name 'anna'"):
        file.add("anna")
    with pytest.raises(ConfigError, match="a key needs a name"):
        file.add("a\nb")
    with pytest.raises(ConfigError, match="no key is named 'bert'; there are: 'anna'"):
        file.remove("bert")


@pytest.fixture
def clock():
    return [1_000_000.0]


@pytest.fixture
def usage(clock):
    return Usage(clock=lambda: clock[0])


def test_so_many_requests_a_minute_and_no_more(file, clock, usage):
    file.add("anna", requests_per_minute=2)
    (key,) = file.read()

    usage.count_request(key)
    usage.count_request(key)
    with pytest.raises(RefusedError, match="Slowdown: 2 per 1 minute") as refused:
        usage.count_request(key)

    assert (refused.value.status, refused.value.headers["Retry-After"]) == (429, "31")
    clock[0] += 30
    usage.count_request(key)
    with pytest.raises(RefusedError):
        usage.count_request(key)


def test_so_many_characters_a_day(file, clock, usage):
    file.add("anna", characters_per_day=10)
    (key,) = file.read()

    usage.count_characters(key, 8)
    with pytest.raises(RefusedError, match="Slowdown: 10 characters per 1 day") as refused:
        usage.count_characters(key, 3, status=456)

    assert refused.value.status == 456
    assert usage.characters_today(key) == 8
    clock[0] += int(refused.value.headers["Retry-After"])
    usage.count_characters(key, 10)


@pytest.mark.parametrize(
    ("path", "missing"), [("/translate", 400), ("/v2/translate", 403), ("/v1/translate", 401)]
)
def test_each_interface_asks_for_a_key_in_its_way(make_client, file, path, missing):
    secret = file.add("anna")
    client = make_client(keys=file.path)
    values = {"q": "a", "source": "en", "target": "de"} if path == "/translate" else {"text": "a"}
    if path == "/v2/translate":
        values = {"text": ["a"], "target_lang": "DE"}

    def status(**headers):
        return client.post(path, json=values, headers=headers).status_code

    assert status() == missing
    assert status(Authorization="Bearer wrong") == 403
    assert status(Authorization=f"Bearer {secret}") == 200
    assert status(Authorization=f"DeepL-Auth-Key {secret}") == 200


@pytest.mark.parametrize("name", ["api_key", "apiKey"])
def test_a_key_may_stand_among_the_values(make_client, file, name):
    values = {"q": "a", "source": "en", "target": "de", name: file.add("anna")}
    client = make_client(keys=file.path)

    for sent in ({"json": values}, {"data": values}, {"params": values}):
        assert client.post("/translate", **sent).status_code == 200
    refused = client.post("/translate", json=values | {name: None})
    assert refused.json() == {"error": "Please contact the server operator to get an API key"}


def test_what_a_key_may_use_is_told_and_held_to(make_client, file):
    headers = {"Authorization": f"Bearer {file.add('anna', characters_per_day=5)}"}
    client = make_client(
        keys=file.path,
    )
    client.headers.update(headers)

    assert client.post("/v1/translate", json={"text": "abc"}).status_code == 200
    assert client.get("/v2/usage").json() == {"character_count": 3, "character_limit": 5}
    assert client.post("/v1/translate", json={"text": "abc"}).status_code == 429
    used_up = client.post("/v2/translate", json={"text": ["abc"], "target_lang": "DE"})
    assert used_up.status_code == 456


def test_metrics_name_nobody(make_client, file):
    secret = file.add("anna")
    client = make_client(keys=file.path)
    client.post(
        "/v1/translate", json={"text": "abc"}, headers={"Authorization": f"Bearer {secret}"}
    )

    metrics = client.get("/metrics").text

    assert 'heedful_requests_total{endpoint="/v1/translate",status="200"} 1.0' in metrics
    for secret_of_somebody in (secret, digest(secret), "anna", "testclient", "abc"):
        assert secret_of_somebody not in metrics
    assert json.loads(file.path.read_text())
