"""Gradescope's download of all submissions: a folder for each, and `submission_metadata.yml` with whose it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from autograder.intake.roster import Roster

METADATA = "submission_metadata.yml"
MAX_METADATA_BYTES = 100_000_000
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.\d+)?(?: ?(Z|UTC|[+-]\d\d:?\d\d))?")


@dataclass(frozen=True)
class Submitted:
    """One submitter of one submission: the folder it lies in, and when it came, in ISO form."""

    folder: str
    student: str
    time: str | None


def read_metadata(content: bytes, roster: Roster | None) -> list[Submitted]:
    """All submitters, a group's members each for themselves; [] where it is not what Gradescope writes.

    A student is found by number or email address, and is otherwise called by the first of number, address and name.
    """
    import yaml

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # text stays text: a number may begin with a zero
    try:
        data = yaml.load(content, loader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return []
    return list(_submitters(data, roster)) if isinstance(data, dict) else []


def _submitters(data: Mapping[str, Any], roster: Roster | None) -> Iterator[Submitted]:
    for folder, facts in data.items():
        if not isinstance(facts, dict):
            continue
        for person in facts.get(":submitters") or ():
            said = [person.get(f":{key}") for key in ("sid", "email", "name")] if isinstance(person, dict) else []
            ids = [id for id in said if isinstance(id, str) and id]
            known = [found for id in ids if roster is not None and (found := roster.find(id))]
            if ids:
                yield Submitted(str(folder), (known or ids)[0], _time(facts.get(":created_at")))


def _time(text: object) -> str | None:
    found = _TIME.match(text) if isinstance(text, str) else None
    if found is None:
        return None
    zone = "Z" if found[3] == "UTC" else found[3] or ""
    return f"{found[1]}T{found[2]}{zone if len(zone) != 5 else f'{zone[:3]}:{zone[3:]}'}"
