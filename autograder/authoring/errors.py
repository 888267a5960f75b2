"""The one exception of this stage."""

from __future__ import annotations


class AuthoringError(Exception):
    """A source of the course is at fault, or a release cannot be made. One sentence: where, and what to do."""

    @classmethod
    def at(cls, file: str, line: int | None, sentence: str) -> AuthoringError:
        """The error at a line (from 1) of a file."""
        return cls(f"{file}:{line}: {sentence}" if line else f"{file}: {sentence}")
