"""A service on a port: from the settings of a command to the end by a signal."""

import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import uvicorn

from heedful.errors import ConfigError
from heedful.server.app import make_app
from heedful.server.dispatcher import Dispatcher
from heedful.server.keys import KeyFile, Keyring
from heedful.server.limits import Limits
from heedful.server.metrics import Metrics
from heedful.server.models import Models
from heedful.server.place import Place
from heedful.server.receiving import ReceivingProtocol
from heedful.server.service import Service

_BACKLOG = 2_048
_GRACE = 30  # seconds for what is begun when the server is to end
_OF_PROXIES = "127.0.0.0/8,::1,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7"


def make_service(models: Models, limits: Limits, keys: Path | None = None) -> Service:
    """Put together a service; it works once its queue is entered."""
    metrics = Metrics()
    dispatcher = Dispatcher(
        workers=_num_cores(), most_waiting=limits.waiting, cache=limits.cache, metrics=metrics
    )
    keyring = Keyring(KeyFile(keys)) if keys else None
    return Service(models, dispatcher, limits, metrics, keyring)


def serve(service: Service, place: Place, listening: Callable[[str], None]) -> None:
    """Serve until a signal says to end; what is begun by then is finished."""
    with open_port(place) as listener:
        host, port = listener.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        listening(f"http://{shown}:{port}")
        uvicorn.Server(make_config(service, place)).run(sockets=[listener])


def make_config(service: Service, place: Place) -> uvicorn.Config:
    """Tell uvicorn how to serve."""
    protocol = type("_Protocol", (ReceivingProtocol,), {"seconds": service.limits.receiving})
    return uvicorn.Config(
        make_app(service, allow_origins=place.allow_origins),
        host=place.host,
        port=place.port,
        http=protocol,
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=place.proxy_headers,
        forwarded_allow_ips=_OF_PROXIES,
        backlog=_BACKLOG,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=_GRACE,
    )


def open_port(place: Place) -> socket.socket:
    """Open the port, or say why that cannot be.

    The socket says that it is of TCP, for else asyncio does not see it, and lets every answer wait
    40 ms for the client to acknowledge its head (Nagle).
    """
    _allow_many_connections()
    try:
        family, *_, address = socket.getaddrinfo(place.host, place.port, type=socket.SOCK_STREAM)[0]
        opened = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            if sys.platform != "win32":
                opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            opened.bind(address)
            opened.listen(_BACKLOG)
        except BaseException:
            opened.close()
            raise
    except OSError as error:
        raise ConfigError(
            f"cannot listen on {place.host}, port {place.port}: {error.strerror}; "
            "choose others by --host and --port"
        ) from error
    return opened


def _allow_many_connections() -> None:
    """Ask for as many open connections as the system grants."""
    if sys.platform != "win32":
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 65_536), most))


def _num_cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
