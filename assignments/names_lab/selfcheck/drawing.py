"""Which variant of a question a student gets, and how it reads. Students get this file as well."""

from __future__ import annotations

from functools import lru_cache
from typing import Any


@lru_cache(maxsize=1_000)  # it is asked for again within one student
def drawn(student: str, item: str, count: int) -> int:
    """Which of `count` variants a student gets: the FNV-1a hash of both names, which a page can work out as well."""
    state = 0x811C9DC5
    for byte in f"{student}/{item}".encode():
        state = (state ^ byte) * 0x01000193 % 2**32
    return state % count


def filled(prompt: str, parameters: Any) -> str:
    """A prompt with its parameters in place."""
    for name, value in parameters.items():
        prompt = prompt.replace("{" + name + "}", shown_number(value))
    return prompt.replace("{{", "{").replace("}}", "}") if parameters else prompt


def shown_number(value: float) -> str:
    """A parameter as a prompt shows it."""
    return f"{value:,}".replace(",", " ") if isinstance(value, int) and value >= 10000 else f"{value:g}"
