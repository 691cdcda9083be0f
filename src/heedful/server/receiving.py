"""A connection that is given up when its client takes too long: to send, or to take in.

uvicorn itself waits for ever, and keeps as many headers as it is sent.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_SLOWEST = 20_000  # bytes a second: a large file over a bad line may take its time
_MOST_HEADERS = 65_536  # bytes
_ANSWER = (
    b"HTTP/1.1 %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n"
    b"connection: close\r\n\r\n%s"
)


class ReceivingProtocol(HttpToolsProtocol):
    """HTTP/1.1 with a deadline for each request, which grows with what comes."""

    seconds = 20.0

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._deadline: asyncio.TimerHandle | None = None
        self._writing: asyncio.TimerHandle | None = None
        self._at = 0.0
        self._num_bytes = self._num_header_bytes = 0
        self._is_begun = self._has_headers = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a first request."""
        super().connection_made(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        """Take in what comes, as long as it is bounded."""
        self._num_bytes += len(data)
        if not self._has_headers:
            self._num_header_bytes += len(data)
        super().data_received(data)
        if not self._has_headers and self._num_header_bytes > _MOST_HEADERS:
            self._refuse(b"431 Request Header Fields Too Large", b"headers are too large")

    def on_message_begin(self) -> None:
        """Begin to wait for all of a request."""
        super().on_message_begin()
        self._is_begun = True
        if self._deadline is None:
            self._begin()

    def on_headers_complete(self) -> None:
        """Note that the body comes next."""
        super().on_headers_complete()
        self._has_headers = True

    def on_message_complete(self) -> None:
        """Wait no longer, as all is there."""
        super().on_message_complete()
        self._end()
        self._is_begun = self._has_headers = False
        self._num_header_bytes = 0

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the clocks."""
        self._end()
        self.resume_writing()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Begin to wait until the client takes in what it was sent."""
        super().pause_writing()
        if self._writing is None:
            self._writing = self.loop.call_later(self.seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Wait no longer."""
        super().resume_writing()
        if self._writing is not None:
            self._writing.cancel()
            self._writing = None

    def _begin(self) -> None:
        self._at, self._num_bytes = self.loop.time(), 0
        self._deadline = self.loop.call_later(self.seconds, self._look)

    def _end(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _look(self) -> None:
        """Give up, unless so much came that there is more time."""
        left = self._at + self.seconds + self._num_bytes / _SLOWEST - self.loop.time()
        if left > 0:
            self._deadline = self.loop.call_later(left, self._look)
        elif self._is_begun or self._num_bytes:
            self._refuse(b"408 Request Timeout", b"the request took too long to arrive")
        else:
            self.transport.close()

    def _refuse(self, status: bytes, reason: bytes) -> None:
        self._end()
        if self.transport.is_closing():
            return
        content = b'{"error":"%s"}' % reason
        self.transport.write(_ANSWER % (status, len(content), content))
        self.transport.close()
