"""A worker: the forked process that imports one student's code and answers operations over its socket."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping
from typing import Any

from autograder.sandbox import wire
from autograder.sandbox.footprint import Footprint
from autograder.sandbox.operations import Operations


def serve(socket: int, output: int, output_limit: int, footprint: Footprint) -> None:
    """Answer requests on file descriptor `socket` until the grader closes it. Never returns to the caller's frames."""
    sys.stdout = _bounded_stream(output, output_limit)
    sys.stderr = _bounded_stream(output, output_limit)
    operations = _ScriptedOperations(footprint.changes)
    while True:
        request = _read_frame(socket)
        if request is None:
            os._exit(0)
        reply = operations.perform_all(request)
        _flush()
        _send(socket, reply)


class _ScriptedOperations(Operations):
    """The operations, and a whole script of them (see `script`)."""

    def do_script(self, load: Mapping[str, Any], rig: Mapping[str, Any] | None, checks: bytes) -> dict[str, Any]:
        """Read a module (and its rig) and answer all requests of its checks; the replies are packed check by check."""
        found = self.do_load(**load)
        if "changes" in found:
            return found
        if rig is not None:
            self.do_load_rig(**rig)
        asked = wire.decode(checks, trusted=True)  # not before the module was read: it need not see them
        answers = [wire.pack([self.perform_all(request) for request in requests]) for requests in asked]
        return {**found, "answers": answers}


def _send(socket: int, reply: dict[str, Any]) -> None:
    try:
        frame = wire.encode(reply)
    except wire.WireError as error:
        frame = wire.encode({"fault": {"kind": "raised", "names": [], "text": str(error)}})
    view = memoryview(frame)
    while view:
        view = view[os.write(socket, view) :]


def _read_frame(socket: int) -> Any:
    """The next request; the grader waits for its answer, so nothing comes after it."""
    data, whole = bytearray(), wire.HEAD.size
    while len(data) < whole:
        piece = os.read(socket, 1 << 20)
        if not piece:
            return None
        data += piece
        if len(data) >= wire.HEAD.size:
            whole = wire.HEAD.size + wire.body_length(bytes(data[: wire.HEAD.size]), 1 << 40)
    return wire.decode(memoryview(data)[wire.HEAD.size :], trusted=True)


class _Bounded(io.RawIOBase):
    """Writes at most `limit` bytes and swallows the rest, so that a flood costs nothing."""

    def __init__(self, descriptor: int, limit: int) -> None:
        self.descriptor = descriptor
        self.left = limit + 1  # one byte more tells the reader that something was cut

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self.descriptor

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes
        if self.left > 0:
            piece = bytes(data[: self.left])
            self.left -= len(piece)
            os.write(self.descriptor, piece)
        return size


def _bounded_stream(descriptor: int, limit: int) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BufferedWriter(_Bounded(descriptor, limit)), encoding="utf-8", write_through=False)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BaseException:
            pass
