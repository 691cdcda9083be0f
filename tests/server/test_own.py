import json

import pytest


def post(client, path="/v1/translate", **values):
    return client.post(path, json={"text": "a b c"} | values)


def one(client, **values):
    response = post(client, **values)
    assert response.status_code == 200, response.text
    (found,) = response.json()["translations"]
    return found


def test_all_that_the_translator_tells_is_told(client, translator):
    expected = translator.translate("a b c", n_best=3, details=True)

    found = one(client, n_best=3, details=True)

    assert found["text"] == expected.text
    assert found["score"] == round(expected.score, 4)
    assert [it["text"] for it in found["alternatives"]] == [it.text for it in expected.alternatives]
    assert found["details"]["confidence"] == round(expected.details.confidence, 4)
    assert [it["text"] for it in found["details"]["words"]] == list(expected.details.words)
    assert (found["from"], found["model"]) == ("en", "small")


def test_options_are_heeded(client, translator):
    assert one(client, beam_size=1)["text"] == translator.translate("a b c", beam_size=1).text
    assert one(client, prefix="A B")["text"].startswith("A B")
    assert "XYZ" in one(client, glossary={"b": "XYZ"})["text"]
    text = "Aa bb! " * 60
    expected = translator.translate(text, prefix="Q").text
    assert one(client, text=text, prefix="Q")["text"] == expected


def test_a_seed_draws_the_same_again(client):
    sampling = {"temperature": 2.0, "seed": 7}

    first, again = (one(client, sampling=sampling)["text"] for _ in range(2))
    others = {one(client, sampling={"temperature": 2.0})["text"] for _ in range(5)}

    assert first == again
    assert len(others | {first}) > 1


@pytest.mark.parametrize(
    ("wrong", "status", "message"),
    [
        ({"unknown": 1}, 422, "has a field that is not known; those known are text, from"),
        ({"text": 5}, 422, "text must be of type string or array"),
        ({"text": []}, 422, "text must not be empty"),
        ({"n_best": 0}, 422, "n_best must be from 1 to 11"),
        ({"n_best": True}, 422, "n_best must be of type integer"),
        ({"n_best": 3, "beam_size": 2}, 400, "n_best must be from 1 to the beam's 2"),
        ({"beam_size": 1e9}, 422, "beam_size must be from 1 to 16"),
        ({"alpha": 1e999}, 422, "alpha must be from 0 to 10"),
        ({"from": "xx"}, 422, "from must be one of auto, en"),
        ({"model": "other"}, 422, "model must be one of small"),
        ({"glossary": {"a": 1}}, 422, "each of glossary must be of type string"),
        ({"glossary": {"<b>": "c"}}, 400, "glossary, '<b>'"),
        ({"sampling": {"top": 1}}, 422, "sampling has a field that is not known"),
        ({"sampling": {"seed": 1}, "n_best": 2}, 400, "sampling"),
        ({"text": ["a" * 60_000] * 2}, 413, "more than 100,000 characters"),
    ],
)
def test_what_is_wrong_is_refused(client, wrong, status, message):
    content = json.dumps({"text": "a"} | wrong).replace("Infinity", "1e999")
    response = client.post(
        "/v1/translate", content=content, headers={"Content-Type": "application/json"}
    )

    assert response.status_code == status
    assert message in response.json()["error"]


def test_only_json_is_taken(client):
    assert client.post("/v1/translate", data={"text": "a"}).status_code == 415
    assert client.post("/v1/translate?text=b", json={"text": "a"}).status_code == 422


def test_sentences_come_one_by_one(client, translator):
    text = "Aa bb! " * 60

    response = post(client, "/v1/translate/stream", text=text)

    assert response.headers["content-type"].startswith("text/event-stream")
    events = [part.split("\n") for part in response.text.rstrip("\n").split("\n\n")]
    kinds = [kind.removeprefix("event: ") for kind, _ in events]
    data = [json.loads(line.removeprefix("data: ")) for _, line in events]
    assert kinds == ["sentence"] * (len(events) - 1) + ["done"]
    assert len(events) > 2
    assert [text[it["start"] : it["end"]] for it in data[:-1]] == ["Aa bb!"] * len(data[:-1])
    assert data[-1]["text"] == translator.translate(text).text


def test_a_stream_of_nothing_is_done_at_once(client):
    assert (
        post(client, "/v1/translate/stream", text=" ").text
        == 'event: done\ndata: {"text": " "}\n\n'
    )


def test_a_stream_that_cannot_be_is_told_by_its_status(client):
    assert post(client, "/v1/translate/stream", text="a", alpha=11).status_code == 422


def test_other_words_are_told(client, translator):
    translation = translator.translate("a b c", details=True)

    answer = post(client, "/v1/alternatives", word=0, count=3).json()

    expected = translator.alternatives(translation, 0, count=3)
    assert answer["text"] == translation.text
    assert [it["word"] for it in answer["alternatives"]] == [it.word for it in expected]


def test_other_words_of_a_translation_of_ones_own(client):
    answer = post(client, "/v1/alternatives", translation="A B Z", word=2, count=2).json()

    assert answer["text"] == "A B Z"
    assert all(it["text"].startswith("A B") for it in answer["alternatives"])


def test_a_word_that_is_not_there_is_refused(client):
    response = post(client, "/v1/alternatives", word=2_000)

    assert response.status_code == 400
    assert "there is no word 2000" in response.json()["error"]


def test_models_are_listed(client):
    assert client.get("/v1/models").json()["models"] == [
        {"name": "small", "directions": [{"from": "en", "to": "de"}], "beam_size": 4}
    ]
