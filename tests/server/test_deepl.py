import pytest


def post(client, **values):
    return client.post("/v2/translate", json={"target_lang": "DE"} | values)


def test_texts_are_translated(client, translator):
    answer = post(client, text=["a b", "c"], source_lang="EN").json()

    assert answer["translations"][0] == {
        "detected_source_language": "EN",
        "text": translator.translate("a b").text,
        "billed_characters": 3,
        "model_type_used": "quality_optimized",
    }
    assert answer["translations"][1]["text"] == translator.translate("c").text


def test_a_form_may_have_several_texts(client, translator):
    values = {"text": ["a b", "c"], "target_lang": "de"}

    found = client.post("/v2/translate", data=values).json()["translations"]

    assert [each["text"] for each in found] == [
        translator.translate(it).text for it in ("a b", "c")
    ]


def test_what_weblate_does_not_want_to_have_translated_stays(client):
    text = 'a <x id="0">%s b c</x> d <b>e</b>'
    asked = {"text": [text], "tag_handling": "xml", "ignore_tags": ["x"]}

    (found,) = post(client, **asked).json()["translations"]

    assert found["text"].count('<x id="0">%s b c</x>') == 1
    assert found["billed_characters"] == len(text)


def test_languages_are_those_that_its_client_takes(client):
    assert client.get("/v2/languages").json() == [{"language": "EN", "name": "English"}]
    expected = [{"language": "DE", "name": "German", "supports_formality": False}]
    assert client.get("/v2/languages?type=target").json() == expected
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    in_body = client.request("GET", "/v2/languages", content="type=target", headers=form)
    assert in_body.json() == expected


def test_without_keys_nothing_is_used_up(client):
    usage = client.get("/v2/usage").json()

    assert usage["character_count"] < usage["character_limit"]
    assert client.get("/v2/glossary-language-pairs").json() == {"supported_languages": []}


@pytest.mark.parametrize(
    ("wrong", "status", "message"),
    [
        ({"text": []}, 400, "Parameter 'text' not specified."),
        ({"text": [1]}, 400, "Parameter 'text' must be a list of texts."),
        ({"target_lang": ""}, 400, "Value for 'target_lang' not supported."),
        ({"target_lang": "xx"}, 400, "Value for 'target_lang' not supported."),
        ({"source_lang": "xx"}, 400, "Value for 'source_lang' not supported."),
        ({"tag_handling": "pdf"}, 400, "Value for 'tag_handling' not supported."),
        ({"formality": "less"}, 400, "'formality' is not supported"),
        ({"glossary_id": "a"}, 404, "Glossary not found"),
        ({"tag_handling": "xml", "ignore_tags": 5}, 400, "Value for 'ignore_tags' not supported."),
        ({"text": ["a" * 60_000] * 2}, 413, "Request Entity Too Large"),
    ],
)
def test_errors_are_messages(client, wrong, status, message):
    response = post(client, **{"text": ["a"]} | wrong)

    assert response.status_code == status
    assert response.json()["message"].startswith(message)


def test_what_is_not_there_is_a_message_too(client):
    assert client.get("/v2/nothing").json() == {"message": "Not Found"}
