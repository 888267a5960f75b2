"""What a worker prints: the grader's end of its pipe, emptied while it is waited for, so that it can print on."""

from __future__ import annotations

import os

READS_AT_ONCE = 64
"""A flood may fill the pipe faster than it is emptied."""


class Output:
    """Keeps what comes, as far as the limit allows; the rest is read and thrown away. `select` takes it as a file."""

    def __init__(self, pipe: int, limit: int) -> None:
        self._pipe = pipe
        self._limit = limit
        self._kept = bytearray()
        self._received = 0
        self.is_open = True
        """Can more come?"""
        os.set_blocking(pipe, False)

    def fileno(self) -> int:
        """The descriptor of the pipe."""
        return self._pipe

    def drain(self) -> None:
        """Read what is in the pipe, as far as it goes at once."""
        room = self._limit + 1
        for _ in range(READS_AT_ONCE):
            if not self.is_open:
                return
            try:
                piece = os.read(self._pipe, 1 << 16)
            except BlockingIOError:
                return
            kept = piece[: max(0, room - self._received)]
            self._kept += kept
            self._received += len(kept)
            self.is_open = bool(piece)

    def take(self) -> str:
        """What was printed since this was last asked, control characters replaced; nothing more after the limit."""
        self.drain()
        text = self._kept.decode("utf-8", "backslashreplace")
        self._kept.clear()
        return "".join(c if c.isprintable() or c in "\n\t" else f"\\x{ord(c):02x}" for c in text)

    @property
    def flooded(self) -> bool:
        """Was more printed than the limit?"""
        self.drain()
        return self._received > self._limit

    def close(self) -> None:
        """Hear nothing more; what was kept can still be taken."""
        self.is_open = False
        os.close(self._pipe)
