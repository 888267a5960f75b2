"""What a worker may answer. It may be anything but a worker by then, so a reply is taken apart here, and only what has
the right type goes on: after this, the form of a reply can surprise nobody."""

from __future__ import annotations

from typing import Any


class NoReply(ValueError):
    """What came is no reply at all."""


def checked(reply: Any) -> dict[str, Any]:
    """{"value": ...}, or {"fault": {kind, names, text, file, line}, "at": the place of the operation that had it}.

    A value may still be of any kind that crosses the wire. A fault counts where both are there.

    Raises:
        NoReply: it is neither.
    """
    if type(reply) is not dict:
        raise NoReply("its reply has a wrong form")
    if type(reply.get("fault")) is dict:
        at = reply.get("at")
        return {"fault": _fault(reply["fault"]), **({"at": at} if type(at) is int else {})}
    if "value" not in reply:
        raise NoReply("its reply has a wrong form")
    return {"value": reply["value"]}


def sentences(found: Any) -> list[str]:
    """Notes of a worker: at most 20 short printable lines."""
    lines = [line for line in found if isinstance(line, str)] if isinstance(found, list) else []
    return ["".join(c if c.isprintable() else " " for c in line[:300]) for line in lines[:20]]


def _fault(found: dict[str, Any]) -> dict[str, Any]:
    names, line = found.get("names"), found.get("line")
    return {
        "kind": _text(found.get("kind")),
        "names": [name for name in names[:8] if isinstance(name, str)] if isinstance(names, list) else [],
        "text": _text(found.get("text")),
        "file": _text(found.get("file")) or None,
        "line": line if type(line) is int else None,
    }


def _text(found: Any) -> str:
    return found[:1000] if isinstance(found, str) else ""
