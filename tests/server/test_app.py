import asyncio
import json
import threading

import pytest

from heedful.server.app import make_app
from heedful.server.limits import Limits
from heedful.server.models import Model, Models
from heedful.server.run import make_service
from heedful.storage.languages import Direction
from heedful.translation.translator import Translator
from tests.server.loops import run_apart

ASKED = {"q": "a", "source": "en", "target": "de"}


class SlowTranslator(Translator):
    """A translator that waits to be let go on, and notes what it is given."""

    def __init__(self, translator):
        super().__init__(translator.tokenizer, translator.engine, translator.search)
        self.go_on = threading.Event()
        self.texts = []

    def translate(self, texts, options, **changes):
        self.texts += texts
        assert self.go_on.wait(30)
        if "break" in texts:
            raise ZeroDivisionError
        return super().translate(texts, options)


@pytest.fixture
def slow(translator) -> SlowTranslator:
    return SlowTranslator(translator)


@pytest.fixture
def slow_models(slow) -> Models:
    return Models([Model("slow", slow, (Direction("en", "de"),))])


def scope(path="/translate", method="POST"):
    headers = [(b"content-type", b"application/json")]
    return {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(),
        "query_string": b"", "headers": headers, "client": ("1.2.3.4", 5), "http_version": "1.1",
        "scheme": "http", "server": ("a", 1), "root_path": "",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
    }  # fmt: skip


async def ask(app, values, leaving: asyncio.Event):
    """Ask as a client does that leaves when it is told to; return the status."""
    sent, statuses = [{"type": "http.request", "body": json.dumps(values).encode()}], []

    async def receive():
        if sent:
            return sent.pop()
        await leaving.wait()
        return {"type": "http.disconnect"}

    async def send(message):
        if message["type"] == "http.response.start":
            statuses.append((message["status"], dict(message["headers"])))

    await app(scope(), receive, send)
    return statuses[0] if statuses else None


def with_app(service, work):
    async def run():
        app = make_app(service)
        async with service.dispatcher:
            return await asyncio.wait_for(work(app), 30)

    return run_apart(run())


async def until(condition) -> None:
    while not condition():
        await asyncio.sleep(0.001)


def test_who_leaves_is_not_translated_for(slow, slow_models):
    service = make_service(slow_models, Limits())

    async def work(app):
        never, leaving = asyncio.Event(), asyncio.Event()
        busy = []
        for number in range(service.dispatcher.num_workers):
            busy.append(asyncio.create_task(ask(app, ASKED | {"q": f"busy {number}"}, never)))
            await until(lambda: len(slow.texts) == len(busy))
        gone = asyncio.create_task(ask(app, ASKED | {"q": "gone"}, leaving))
        await until(lambda: service.dispatcher.waiting)
        leaving.set()
        await until(lambda: not service.dispatcher.waiting)
        slow.go_on.set()
        await asyncio.gather(*busy, gone)

    with_app(service, work)
    assert "gone" not in slow.texts


def test_where_too_much_waits_one_is_told_when_to_come_again(slow, slow_models):
    service = make_service(slow_models, Limits(waiting=10))

    async def work(app):
        never = asyncio.Event()
        asked = []
        for number in range(service.dispatcher.num_workers + 1):
            asked.append(asyncio.create_task(ask(app, ASKED | {"q": f"{number} text"}, never)))
            await until(lambda: len(slow.texts) + service.dispatcher.waiting // 6 == len(asked))
        status, headers = await ask(app, ASKED | {"q": "one more"}, never)
        slow.go_on.set()
        return status, headers, await asyncio.gather(*asked)

    status, headers, others = with_app(service, work)
    assert status == 429
    assert int(headers[b"retry-after"]) >= 1
    assert {status for status, _ in others} == {200}


def test_a_request_that_takes_too_long_is_given_up(slow, slow_models):
    service = make_service(slow_models, Limits(seconds=1))

    async def work(app):
        status, _ = await ask(app, ASKED, asyncio.Event())
        slow.go_on.set()
        return status

    assert with_app(service, work) == 429


def test_more_requests_at_once_than_there_may_be_are_refused(slow, slow_models):
    service = make_service(slow_models, Limits(requests=1))

    async def work(app):
        first = asyncio.create_task(ask(app, ASKED, asyncio.Event()))
        await until(lambda: slow.texts)
        second = await ask(app, ASKED, asyncio.Event())
        slow.go_on.set()
        return second[0], (await first)[0]

    assert with_app(service, work) == (429, 200)


def test_a_mistake_of_ours_says_nothing_of_itself_and_leaves_the_server_well(
    make_client, slow, slow_models
):
    slow.go_on.set()
    client = make_client(models=slow_models)

    broken = client.post("/translate", json=ASKED | {"q": "break"})

    assert broken.json() == {"error": "Something went wrong here; it is in the log of the server"}
    assert client.post("/translate", json=ASKED).status_code == 200


def test_every_answer_tells_browsers_what_not_to_do(client):
    for path in ("/health", "/nothing", "/openapi.json", "/metrics"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert headers["referrer-policy"] == "no-referrer"
        assert "set-cookie" not in headers
        assert "server" not in headers


def test_no_page_of_elsewhere_may_ask_unless_it_is_named(make_client):
    origin = {"Origin": "https://a.example"}
    assert "access-control-allow-origin" not in make_client().get("/health", headers=origin).headers

    named = make_client(allow_origins=["https://a.example"])

    assert (
        named.get("/health", headers=origin).headers["access-control-allow-origin"]
        == origin["Origin"]
    )
    other = named.get("/health", headers={"Origin": "https://b.example"})
    assert "access-control-allow-origin" not in other.headers


def test_a_client_of_ipv6_is_its_network(make_client, slow, slow_models):
    """One who has a network of addresses gets no more turns than one who has one."""
    service = make_service(slow_models, Limits())
    seen = []
    translate = service.dispatcher.translate

    async def noted(manner, texts, client, **how):
        seen.append(client)
        return await translate(manner, texts, client, **how)

    service.dispatcher.translate = noted
    slow.go_on.set()

    async def work(app):
        for address in ("2001:db8::1", "2001:db8::2", "2001:db8:1::1", "1.2.3.4", "odd"):

            async def as_from(scope, receive, send, address=address):
                await app(scope | {"client": (address, 1)}, receive, send)

            await ask(as_from, ASKED, asyncio.Event())

    with_app(service, work)
    assert seen[0] == seen[1]
    assert len(set(seen)) == 4
