import pytest


def post(client, **values):
    return client.post("/translate", json={"source": "en", "target": "de"} | values)


def as_parts(values):
    return {name: (None, value) for name, value in values.items()}


def error(response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]


def test_a_text_is_translated(client, translator):
    expected = translator.translate("a b c").text

    assert post(client, q="a b c").json() == {"translatedText": expected}


def test_text_of_several_sentences_is_translated_as_the_translator_does(client, translator):
    text = "Aa bb! " * 60 + "\n\n  d e\tf "

    assert post(client, q=text).json()["translatedText"] == translator.translate(text).text


@pytest.mark.parametrize(
    "send",
    [
        lambda client, values: client.post("/translate", json=values),
        lambda client, values: client.post("/translate", data=values),
        lambda client, values: client.post("/translate", params=values),
        lambda client, values: client.post("/translate", params=values, json={}),
        lambda client, values: client.post("/translate", files=as_parts(values)),
        lambda client, values: client.post(
            "/translate",
            content="&".join(f"{name}={value}" for name, value in values.items()).encode(),
            headers={"Content-Type": "application/x-www-form-urlencoded"},  # as curl -d sends it
        ),
    ],
)  # fmt: skip
def test_values_may_come_in_any_form(client, translator, send):
    response = send(client, {"q": "ä b", "source": "en", "target": "de", "unknown": "x"})

    assert response.json() == {"translatedText": translator.translate("ä b").text}


def test_a_list_comes_back_as_a_list(client, translator):
    texts = ["a b", "", "1 2", "a b"]

    answer = post(client, q=texts, source="auto").json()

    assert answer["translatedText"] == [translator.translate(text).text for text in texts]
    assert [found["language"] for found in answer["detectedLanguage"]] == ["en"] * 4
    assert answer["detectedLanguage"][2]["confidence"] == 0


def test_the_language_is_told_only_where_it_is_detected(client):
    assert "detectedLanguage" not in post(client, q="a").json()
    assert post(client, q="a", source="AUTO").json()["detectedLanguage"]["language"] == "en"


def test_a_text_without_words_comes_back_as_it_is(client):
    answer = post(client, q=" 😀 \n ", source="auto").json()

    assert answer == {
        "translatedText": " 😀 \n ",
        "detectedLanguage": {"confidence": 0.0, "language": "en"},
    }


def test_alternatives_differ_from_the_best_and_from_each_other(client):
    answer = post(client, q="a b c", alternatives="3").json()

    texts = [answer["translatedText"], *answer["alternatives"]]
    assert 1 < len(texts) == len(set(texts)) <= 4
    assert "alternatives" not in post(client, q="a", alternatives=0).json()
    assert len(post(client, q=["a", "b"], alternatives=1).json()["alternatives"]) == 2


def test_html_keeps_its_markup(client):
    html = "<p class='x'>a b <b>c</b> &lt;d&gt;</p><script>e f</script>"

    answer = post(client, q=html, format="html", alternatives=2).json()

    translated = answer["translatedText"]
    assert translated.startswith("<p class='x'>")
    assert translated.endswith("</p><script>e f</script>")
    assert translated.count("<b>") == translated.count("&lt;") == 1
    assert answer["alternatives"] == []


def test_a_text_in_the_language_that_is_wanted_comes_back(client):
    assert post(client, q="a b", target="en").json() == {"translatedText": "a b"}


def test_other_codes_of_a_language_are_known(client):
    assert post(client, q="a", source="EN", target="de-DE").status_code == 200


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"q": None}, "Invalid request: missing q parameter"),
        ({"q": ""}, "Invalid request: missing q parameter"),
        ({"q": []}, "Invalid request: missing q parameter"),
        ({"q": 5}, "Invalid request: q parameter is not a text"),
        ({"q": ["a", {}, "b"]}, "Invalid request: q parameter is not a text"),
        ({"q": ["a", 5]}, "Invalid request: q parameter is not a text"),
        ({"source": None}, "Invalid request: missing source parameter"),
        ({"target": 5}, "Invalid request: missing target parameter"),
        ({"alternatives": "x"}, "Invalid request: alternatives parameter is not a number"),
        ({"alternatives": [1]}, "Invalid request: alternatives parameter is not a number"),
        ({"alternatives": 99}, "Invalid request: alternatives parameter must be <= 10"),
        ({"q": "a" * 100_001}, "Invalid request: request (100001) exceeds text limit (100000)"),
        ({"q": ["a"] * 1_001}, "Invalid request: request (1001) exceeds text limit (1000)"),
        ({"source": "zz"}, "zz is not supported"),
        ({"target": "zz"}, "zz is not supported"),
        ({"format": "xml"}, "xml format is not supported"),
        ({"source": "de", "target": "en"},
         "English (en) is not available as a target language from German (de)"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_the_words_that_clients_know(client, wrong, message):
    assert error(post(client, **{"q": "a"} | wrong)) == (400, message)


@pytest.mark.parametrize("alternatives", [False, True, None, "", 1.0, -5, "-1"])
def test_numbers_are_read_as_leniently_as_there(client, alternatives):
    assert post(client, q="a", alternatives=alternatives).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/translate", 405), ("POST", "/languages", 405), ("GET", "/nothing", 404)],
)
def test_errors_are_json_everywhere(client, method, path, status):
    response = client.request(method, path)

    assert (response.status_code, list(response.json())) == (status, ["error"])


def test_suggestions_are_not_taken(client):
    assert error(client.post("/suggest", json={})) == (
        403, "Suggestions are disabled on this server."
    )  # fmt: skip


def test_languages_are_told_with_what_they_are_translated_to(client):
    assert client.get("/languages").json() == [
        {"code": "en", "name": "English", "targets": ["de", "en"]}
    ]


def test_a_language_is_detected(client):
    assert client.post("/detect", json={"q": "a b"}).json()[0]["language"] == "en"
    assert client.post("/detect", data={"q": "!"}).json() == [{"confidence": 0.0, "language": "en"}]
    assert error(client.post("/detect", json={})) == (400, "Invalid request: missing q parameter")


def test_a_page_is_told_what_there_is(client):
    assert client.get("/health").json() == {"status": "ok"}
    settings = client.get("/frontend/settings").json()
    assert settings["language"]["target"] == {"code": "de", "name": "German"}
    assert ".docx" in settings["supportedFilesFormat"]


def test_forms_end_their_lines_as_the_text_does(client, translator):
    values = {"q": "a b\r\nc", "source": "en", "target": "de"}

    assert client.post("/translate", data=values).json() == {
        "translatedText": translator.translate("a b\nc").text
    }
