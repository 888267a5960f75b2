"""Runs the cells of a notebook as IPython does, inside a worker: sent there as a rig (see `runner`), not imported here.

What a cell shows leaves as plain data: text, and pictures as bytes. HTML and scripts stay behind: whoever opens the
graded notebook should not run what a student wrote.
"""

from __future__ import annotations

import base64
import re
import sys
import types
from typing import Any

import torch
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets import default
from traitlets.config import Config

MAX_OUTPUTS = 40
MAX_CHARACTERS = 9_000
MAX_PICTURE = 2 << 20
_A_LIBRARYS_FRAME = re.compile(r"^  File (?:/|cells:).*\n(?:    .*\n|\n(?=  \S| {4}))*", re.MULTILINE)
"""A frame of a traceback outside the notebook and the student's modules: its path says where something is installed."""


class _Shown:
    """What the current cell has shown so far, as pairs of a kind and its content."""

    def __init__(self) -> None:
        self.outputs: list[tuple[str, Any]] = []

    def add(self, kind: str, content: Any) -> None:
        if kind in ("stdout", "stderr") and self.outputs and self.outputs[-1][0] == kind:
            self.outputs[-1] = (kind, (self.outputs[-1][1] + content)[: MAX_CHARACTERS + 1])
        elif len(self.outputs) < MAX_OUTPUTS:
            self.outputs.append((kind, content[: MAX_CHARACTERS + 1] if isinstance(content, str) else content))

    def add_bundle(self, data: dict[str, Any], kind: str) -> None:
        """A picture if there is one, else its text."""
        picture = data.get("image/png")
        if isinstance(picture, str):
            picture = base64.b64decode(picture)
        if isinstance(picture, bytes) and len(picture) <= MAX_PICTURE:
            self.add("picture", torch.frombuffer(bytearray(picture), dtype=torch.uint8))
        elif isinstance(data.get("text/plain"), str):
            self.add(kind, data["text/plain"])


_shown = _Shown()


class _Stream:
    """Takes what a cell prints, in order with what it displays."""

    encoding = "utf-8"

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def write(self, text: str) -> int:
        _shown.add(self._kind, str(text))
        return len(text)

    def flush(self) -> None:
        pass

    def isatty(self) -> bool:
        return False


class _Publisher(DisplayPublisher):
    def publish(self, data: Any, metadata: Any = None, **_: Any) -> None:  # type: ignore[override]
        _shown.add_bundle(data, "display")


class _Hook(DisplayHook):
    def start_displayhook(self) -> None:
        pass

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        _shown.add_bundle(format_dict, "result")

    def finish_displayhook(self) -> None:
        pass


class _Shell(InteractiveShell):
    """IPython without a terminal, history, profile or programs."""

    display_pub_class = _Publisher
    displayhook_class = _Hook

    @default("ipython_dir")
    def _no_folder(self) -> str:
        return "/nonexistent"

    def init_ipython_dir(self, ipython_dir: Any) -> None:
        pass

    def init_profile_dir(self, profile_dir: Any) -> None:
        self.profile_dir = None

    def enable_gui(self, gui: Any = None) -> None:
        pass

    def ask_exit(self) -> None:
        raise RuntimeError("a notebook has no exit(); delete the line")

    def system(self, cmd: str) -> None:
        raise RuntimeError("no program can be started here; delete the line that begins with ! or calls one")

    getoutput = system  # type: ignore[assignment]

    def _showtraceback(self, etype: type, evalue: BaseException, stb: list[str]) -> None:
        text = "\n".join(stb)
        _shown.add("error", f"{etype.__name__}\n{_A_LIBRARYS_FRAME.sub('', text)}")


def start() -> None:
    """Make the shell that all cells share."""
    config = Config()
    config.HistoryManager.enabled = False
    config.HistoryManager.hist_file = ":memory:"
    config.InteractiveShell.colors = "NoColor"
    config.InteractiveShell.xmode = "Plain"
    global _shell
    _shell = _Shell.instance(config=config)
    _without_autoreload()


def _without_autoreload() -> None:
    """The extension asks before each cell whether one of all imported files has changed; here none can."""
    stand_in = _NoAutoreload("IPython.extensions.autoreload")
    sys.modules[stand_in.__name__] = stand_in


class _NoAutoreload(types.ModuleType):
    """Stands for the extension; its magic is known and does nothing."""

    @staticmethod
    def load_ipython_extension(shell: InteractiveShell) -> None:
        shell.magics_manager.register_function(lambda line: None, magic_name="autoreload")


def run(source: str) -> dict[str, Any]:
    """Run one cell. "outputs" are what it showed, in order; "ok" tells whether it ended without an error."""
    _shown.outputs = []
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _Stream("stdout"), _Stream("stderr")
    try:
        result = _shell.run_cell(source, store_history=True)
    finally:
        sys.stdout, sys.stderr = before
    return {"ok": bool(result.success), "outputs": list(_shown.outputs)}


_shell: Any = None
