"""A service over a small model that says it is from English into German."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import uvicorn
from starlette.testclient import TestClient

from heedful.server.app import make_app
from heedful.server.limits import Limits
from heedful.server.models import Model, Models
from heedful.server.run import make_service
from heedful.server.service import Service
from heedful.storage.languages import Direction
from heedful.translation.translator import Translator, load


@pytest.fixture(scope="session")
def translator(model_folder) -> Translator:
    return load(model_folder.path)


@pytest.fixture(scope="session")
def models(translator, model_folder) -> Models:
    return Models([Model("small", translator, (Direction("en", "de"),), model_folder)])


@pytest.fixture
def make_client(models):
    """Make clients of servers that differ in something; all end with the test."""
    with _clients() as add:

        def make(limits: Limits | None = None, keys=None, models=models, **how) -> TestClient:
            service = make_service(models, limits or Limits(), keys)
            return add(TestClient(make_app(service, **how), raise_server_exceptions=False))

        yield make


@contextmanager
def _clients():
    opened = []

    def add(client: TestClient) -> TestClient:
        opened.append(client)
        return client.__enter__()

    try:
        yield add
    finally:
        for client in opened:
            client.__exit__(None, None, None)


@pytest.fixture
def client(make_client) -> TestClient:
    return make_client()


@pytest.fixture
def service(models) -> Service:
    return make_service(models, Limits())


@contextmanager
def live_server(config: uvicorn.Config) -> Iterator[uvicorn.Server]:
    """Run a server in a thread."""
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            thread.join(0.01)
        yield server
    finally:
        server.should_exit = True
        thread.join()


def port_of(server: uvicorn.Server) -> int:
    return server.servers[0].sockets[0].getsockname()[1]


@contextmanager
def live(config: uvicorn.Config) -> Iterator[int]:
    """Run a server in a thread, and give its port."""
    with live_server(config) as server:
        yield port_of(server)
