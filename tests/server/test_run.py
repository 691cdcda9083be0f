import socket

import pytest

from heedful.errors import ConfigError
from heedful.server.limits import Limits
from heedful.server.place import Place
from heedful.server.run import make_config, make_service, open_port, serve


def test_a_port_that_is_taken_is_said_in_a_line(service):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=rf"cannot listen on 127.0.0.1, port {port}: Address"):
            serve(service, Place(port=port), print)


def test_no_answer_waits_for_its_head_to_be_acknowledged():
    """asyncio switches that off for sockets that say they are of TCP, and for no others."""
    with open_port(Place(port=0)) as opened:
        assert opened.proto == socket.IPPROTO_TCP
        assert opened.getsockname()[0] == "127.0.0.1"


def test_a_host_that_is_none_is_said_in_a_line(service):
    with pytest.raises(ConfigError, match=r"cannot listen on nowhere\.invalid, port 5000"):
        serve(service, Place(host="nowhere.invalid"), print)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"port": 70_000}, "--port must be from 0 to 65535"),
        ({"allow_origins": ("a.b",)}, "--allow-origin must be as in https://a.b"),
    ],
)
def test_a_place_that_cannot_be_is_refused(wrong, message):
    with pytest.raises(ConfigError, match=message):
        Place(**wrong)


def test_a_proxy_is_believed_only_where_that_is_said(models):
    service = make_service(models, Limits(receiving=7))

    config = make_config(service, Place())

    assert not config.proxy_headers
    assert make_config(service, Place(proxy_headers=True)).proxy_headers
    assert (config.host, config.access_log, config.server_header) == ("127.0.0.1", False, False)
    assert config.http.seconds == 7
