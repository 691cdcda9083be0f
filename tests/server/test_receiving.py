"""What a socket may send that no client would."""

import socket
import threading

import pytest

from heedful.server.limits import Limits
from heedful.server.place import Place
from heedful.server.run import make_config, make_service
from tests.server.conftest import live_server, port_of

ASKED = b'{"q":"a b","source":"en","target":"de"}'
HEAD = b"POST /translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def server(models):
    service = make_service(models, Limits(receiving=1))
    with live_server(make_config(service, Place(port=0))) as server:
        yield server


@pytest.fixture(scope="module")
def port(server) -> int:
    return port_of(server)


@pytest.fixture
def connect(port):
    opened = []

    def connected() -> socket.socket:
        opened.append(socket.create_connection(("127.0.0.1", port), timeout=20))
        return opened[-1]

    yield connected
    for connection in opened:
        connection.close()


def everything(connection: socket.socket) -> bytes:
    """Read until the other side closes."""
    parts = []
    try:
        while part := connection.recv(65_536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def request(body: bytes = ASKED, *headers: bytes) -> bytes:
    lines = b"".join(header + b"\r\n" for header in headers)
    return HEAD + lines + b"Content-Length: %d\r\n\r\n" % len(body) + body


def test_a_request_is_answered(connect):
    connection = connect()
    connection.sendall(request(ASKED, b"Connection: close"))

    assert b'{"translatedText":' in everything(connection)


def test_a_silent_connection_is_closed(connect):
    assert everything(connect()) == b""


@pytest.mark.parametrize(
    "begun",
    [b"P", HEAD, HEAD + b"Content-Length: 99\r\n\r\n", HEAD + b"Content-Length: 99\r\n\r\n{"],
)
def test_half_a_request_is_told_that_it_took_too_long(connect, begun):
    connection = connect()
    connection.sendall(begun)

    answer = everything(connection)

    assert answer.startswith(b"HTTP/1.1 408 ")
    assert answer.endswith(b'{"error":"the request took too long to arrive"}')


def test_a_second_request_has_a_deadline_too(connect):
    connection = connect()
    connection.sendall(request() + HEAD)

    answer = everything(connection)

    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert b"HTTP/1.1 408 " in answer


def test_endless_headers_are_refused(connect):
    connection = connect()
    try:
        connection.sendall(HEAD)
        for number in range(10_000):
            connection.sendall(b"X-%d: %s\r\n" % (number, b"a" * 100))
    except (BrokenPipeError, ConnectionResetError):
        pass

    assert everything(connection)[:13] in (b"HTTP/1.1 431 ", b"")


@pytest.mark.parametrize(
    "nonsense",
    [
        b"\0" * 100 + b"\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"POST /translate HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # as a browser that wants TLS begins
    ],
)
def test_what_is_no_http_is_refused(connect, nonsense):
    connection = connect()
    connection.sendall(nonsense)

    assert everything(connection)[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 404", b"HTTP/1.1 408")


def test_a_large_body_is_refused_before_it_has_come(connect):
    connection = connect()
    connection.sendall(HEAD + b"Content-Length: 100000000\r\n\r\n")
    try:
        for _ in range(100):
            connection.sendall(b" " * 1_000_000)
    except (BrokenPipeError, ConnectionResetError):
        pass  # as it was told

    assert everything(connection)[:12] in (b"HTTP/1.1 413", b"")


def test_no_header_of_an_answer_comes_from_a_request(connect):
    connection = connect()
    path = b"/download_file/a%0d%0aX-Injected:%201"
    connection.sendall(b"GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" % path)

    head, _, _ = everything(connection).partition(b"\r\n\r\n")
    assert b"injected" not in head.lower()


def test_requests_one_after_another_on_one_connection_are_answered_in_order(connect):
    connection = connect()
    marks = b"!?."  # which come back as they are
    bodies = [ASKED.replace(b"a b", marks[at : at + 1]) for at in range(3)]
    connection.sendall(
        b"".join(map(request, bodies[:2])) + request(bodies[2], b"Connection: close")
    )

    answer = everything(connection)

    places = [answer.find(b'{"translatedText":"%c"}' % mark) for mark in marks]
    assert -1 < places[0] < places[1] < places[2]


@pytest.mark.slow
def test_ten_thousand_connections_leave_nothing_behind(connect, port):
    for number in range(10_000):
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            if number % 10 == 0:
                connection.sendall(HEAD)

    connection = connect()
    connection.sendall(request(ASKED, b"Connection: close"))
    assert everything(connection).startswith(b"HTTP/1.1 200 OK")


def test_who_takes_nothing_in_is_given_up(connect, server):
    """Answers that nobody reads would fill the memory."""
    before = server.server_state.total_requests
    connection = connect()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 500)

    while server.server_state.connections:  # or the test takes too long
        threading.Event().wait(0.05)

    assert server.server_state.total_requests < before + 500
