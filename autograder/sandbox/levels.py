"""Levels of isolation: what a host lets the kit put between student code and everything else, in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

FULL, PARTIAL, PROCESS_ONLY = "full", "partial", "process only"
REQUIRABLE = (FULL, PARTIAL)
"""What a run can insist on. `partial` is content with `full` too."""

NAMESPACES, LANDLOCK, SECCOMP = MECHANISMS = ("namespaces", "landlock", "seccomp")

_LACKING = {
    NAMESPACES: "no private root: names and sizes of files can be probed, not their contents",
    SECCOMP: "no seccomp: processes, threads and signals are not refused",
}
_SEALED = "no private root and no Landlock: no file can be opened, so what is imported late fails"


def level(in_force: Iterable[str]) -> str:
    """The level that these mechanisms make, and in brackets what is missing."""
    there = set(in_force)
    if not there & set(MECHANISMS):
        return PROCESS_ONLY
    if SECCOMP in there and not there & {NAMESPACES, LANDLOCK}:
        return f"{PARTIAL} ({_SEALED})"
    lacking = [words for mechanism, words in _LACKING.items() if mechanism not in there]
    return f"{PARTIAL} ({'; '.join(lacking)})" if lacking else FULL


def name_of(found: str) -> str:
    """The level without what is missing."""
    return found.partition(" (")[0]


def satisfies(found: str, required: str | None) -> bool:
    """Is this level at least the required one? (None requires nothing.)"""
    order = (PROCESS_ONLY, PARTIAL, FULL)
    return required is None or order.index(name_of(found)) >= order.index(required)


def cures(missing: Mapping[str, str]) -> dict[str, str]:
    """How to get what is missing, by mechanism; `missing` tells why each is not in force."""
    return {mechanism: _CURES[mechanism] for mechanism in MECHANISMS if mechanism in missing}


_CURES = {
    NAMESPACES: "allow user namespaces to this user: `sysctl kernel.apparmor_restrict_unprivileged_userns=0` on Ubuntu"
    " 24.04, `sysctl kernel.unprivileged_userns_clone=1` on older Debian; in a container, a profile that allows unshare"
    " and mount",
    LANDLOCK: "a kernel of Linux 5.13 or newer with `landlock` among its security modules (boot with lsm=landlock,...)",
    SECCOMP: "a kernel with CONFIG_SECCOMP_FILTER, on x86_64 or aarch64",
}
