import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from heedful.server.app import make_app
from heedful.server.limits import Limits
from heedful.server.run import make_service


@pytest.fixture(scope="module")
def api(models):
    """A server that is made for each request, as each is made in an event loop of its own."""

    async def app(scope, receive, send):
        service = make_service(models, Limits())
        async with service.dispatcher:
            await make_app(service)(scope, receive, send)

    return schemathesis.openapi.from_asgi("/openapi.json", app)


# Where it depends on more than a field can say: what a file is, and which options go together.
NOT_SAID_BY_FIELDS = ("/translate_file", "/v1/")


def _not_described(path: str) -> list:
    """LibreTranslate takes what it can make sense of; ours is strict, as other tests say."""
    accepted = [positive_data_acceptance] if path.startswith(NOT_SAID_BY_FIELDS) else []
    return [negative_data_rejection, *accepted]


@pytest.mark.slow
def test_whatever_is_sent_the_answer_is_as_described(api):
    for found in api.get_all_operations():
        conforms_to(found.ok())


def conforms_to(operation) -> None:
    @given(case=operation.as_strategy())
    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    def conforms(case):
        case.call_and_validate(excluded_checks=_not_described(operation.path))

    conforms()


def test_the_description_is_valid(client):
    description = client.get("/openapi.json").json()

    assert description["openapi"].startswith("3.1")
    jsonschema_rs.validator_for({"$ref": "https://json-schema.org/draft/2020-12/schema"}).validate(
        description["paths"]["/v1/translate"]["post"]["requestBody"]["content"]["application/json"][
            "schema"
        ]
    )


def test_every_operation_is_described(client):
    paths = client.get("/openapi.json").json()["paths"]

    assert {"/translate", "/detect", "/languages", "/v2/translate", "/v1/translate"} <= paths.keys()
    names = [it["operationId"] for methods in paths.values() for it in methods.values()]
    assert len(names) == len(set(names))
