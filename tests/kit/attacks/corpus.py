"""How an attack is written down: one hostile submission, what it is after, and what it must come to.

Every attack hands in `layer_norm.py`. Its code prints `GOT IT` (and what it found) when it had its way, and is written
so that it harms nothing where it succeeds. In its text stand for:

    @KIT@      the folder that the kit itself lies in
    @SECRET@   a file of the instructor's          @COURSE@   the course's folder, suites and references in it
    @OTHER@    another student's submission        @HOME@     the instructor's home
    kit_leftover   what a process calls itself that wants to stay; 60.4242 seconds is how long one sleeps
    @PORT@     a TCP port that something listens on           @SOCKET@   a Unix socket that something listens on
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path

RIGHT = (Path(__file__).parents[3] / "solutions/week08/layer_norm.py").read_text("utf-8")
WRONG = RIGHT + "\n\ndef layer_norm(x, gamma, beta, eps=1e-5):\n    return x\n"
FUNCTION = "\n\n_right = layer_norm\n\n\ndef layer_norm(x, gamma, beta, eps=1e-5):\n{body}\n"

WIRE = """
import os, struct, sys
from autograder.sandbox import operations, wire, worker

def send(value):
    os.write(3, wire.encode(value))
"""
"""What an attack does first that sends replies of its own: `send`, and the engine's modules."""
WALK = """
import sys

def local_of_engine(function, name):
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == function and name in frame.f_locals:
            return frame.f_locals[name]
        frame = frame.f_back
"""
"""What one does first that takes local variables of the engine from the stack: `local_of_engine`."""


@dataclass(frozen=True)
class Attack:
    """A hostile submission. `keeps` says that its honest part must still earn everything; otherwise the attack must
    earn no more than the same wrong answer without a trick."""

    name: str
    sentence: str
    source: str | bytes
    keeps: bool = True
    beside: tuple[tuple[str, str], ...] = ()
    """Other files it hands in: name and text."""
    hurts: bool = False
    """Would it do harm where nothing confines it? Then it is left out of the control."""
    waits: bool = False
    """Does it run into its limits? Then it is graded with short ones, which an honest part would not need."""
    only_names: bool = False
    """Does it learn names and sizes of files only? Without a private root it can."""


def at_import(code: str) -> str:
    """The right module, which first does this; whatever that raises is caught."""
    return f"{_caught(code, '')}\n{RIGHT}"


def in_call(code: str) -> str:
    """The right module, in which every call of layer_norm does this first; whatever that raises is caught."""
    return RIGHT + FUNCTION.format(body=_caught(code, "    ") + "    return _right(x, gamma, beta, eps)")


def instead(code: str, before: str = "") -> str:
    """The right module, but layer_norm is this body (and `before` is done at import): a wrong answer with a trick."""
    return f"{textwrap.dedent(before)}\n{RIGHT}" + FUNCTION.format(
        body=textwrap.indent(textwrap.dedent(code).strip("\n"), "    ")
    )


def in_one_check(code: str) -> str:
    """The wrong answer, but this in the hidden check that uses an epsilon of 0.1."""
    return instead("if eps == 0.1:\n" + textwrap.indent(textwrap.dedent(code).strip("\n"), "    ") + "\nreturn x")


def in_first_call(code: str) -> str:
    """The right module, whose first call in a process does this; whatever that raises is caught."""
    first = "if globals().setdefault('_calls', []):\n    raise LookupError\n_calls.append(1)\n"
    return in_call(first + textwrap.dedent(code).strip("\n"))


def _caught(code: str, indent: str) -> str:
    body = textwrap.indent(textwrap.dedent(code).strip("\n"), "    ")
    return textwrap.indent(f"try:\n{body}\nexcept BaseException as stopped:\n    pass\n", indent)


_ATTEMPT = '''
import re

PLANTED = re.compile(rb"MARKE[R]_[0-9a-f]{16}\\w*")  # this text itself does not fit


def attempt(what, act):
    """Do it; say so when something came of it: a number that is not -1, or anything else that is true."""
    try:
        found = act()
    except BaseException:
        return
    if found != -1 if type(found) is int else found:
        print("GOT IT", what, repr(found)[:400], flush=True)


def unlimited():
    """Raise the limits that a privileged process can raise."""
    import resource

    for name in ("FSIZE", "NOFILE", "MSGQUEUE", "MEMLOCK", "NPROC"):
        try:
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (4096, 4096) if name == "NOFILE" else (-1, -1))
        except (OSError, ValueError):
            pass


def others():
    """Ids of processes worth a try: the parent, its parent, and what the parent has made. Strangers are left alone."""
    import os

    parent = os.getppid()
    try:
        near = [parent, int(open(f"/proc/{parent}/stat").read().rpartition(")")[2].split()[1])]
        near += map(int, open(f"/proc/{parent}/task/{parent}/children").read().split())
    except OSError:  # confined, so that it has to guess
        near = [parent, *range(os.getpid() - 4, os.getpid() + 4), 1, 2, 3, 4]
    return [pid for pid in dict.fromkeys(near) if pid > 0 and pid != os.getpid()]
'''


def tries(code: str) -> str:
    """The right module, which first does this; it has `attempt`, `unlimited`, `others` and `PLANTED` at hand."""
    return at_import(_ATTEMPT + textwrap.dedent(code))
