"""Your modules beside the bridge: each call runs on right values, so that one mistake costs one step.

What goes wrong in a call becomes a sentence. A layer whose parts are already found wrong is not judged.
"""

from __future__ import annotations

import io
import json
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from bridge_pages import WIDTH, Asked
from selfcheck.checking import agree, has_state, parts
from selfcheck.faults import Fault, Mismatch, Raised
from selfcheck.local import LocalTransport
from selfcheck.student import Function, Student, clean

CLOSE = 1e-5
"""What is further apart is different. float32 alone moves the logits by 3e-7."""

_OUTCOMES = {"failed": "differs", "not attempted": "not started"}
_VERBS = {"not started": "is not started", "breaks off": "breaks off"}


class Finding(NamedTuple):
    """What came of one call. The outcome is "the same", "differs", "not started", "breaks off" or "not judged"."""

    step: int
    module: str
    function: str
    outcome: str
    sentence: str = ""
    detail: Sequence[str] = ()

    @property
    def is_wrong(self) -> bool:
        return self.outcome not in ("the same", "not judged")

    @property
    def place(self) -> str:
        return f"{self.function} in {self.module}.py"

    @property
    def words(self) -> str:
        return f"{self.outcome}: {self.sentence}" if self.sentence else self.outcome

    @property
    def clause(self) -> str:
        """For the end of a sentence that leads to the place."""
        return f": {self.sentence}" if self.outcome == "differs" else f", which {_VERBS[self.outcome]}: {self.sentence}"


class OwnModules:
    """The modules in `folder`. `bundle` holds selfcheck/, `titles` are those of the steps."""

    def __init__(self, folder: Path, bundle: Path, titles: Sequence[str]) -> None:
        exercises = json.loads((bundle / "selfcheck" / "exercises.json").read_text("utf-8"))["exercises"]
        self.folder, self.titles = folder, titles
        self.needs: dict[str, list[str]] = {name: exercise["needs"] for name, exercise in exercises.items()}
        self.findings: list[Finding] = []
        self.printed = False

    @property
    def all_the_same(self) -> bool:
        return all(finding.outcome == "the same" for finding in self.findings)

    def judge(self, step: int, calls: Sequence[Asked]) -> list[str]:
        """Make the calls of a step; the lines that say what came of them."""
        lines = []
        for call in calls:
            finding = self._judge(step, call)
            self.findings.append(finding)
            lines += _wrapped(f"  yours  {finding.function:23} {finding.words}", 11)
            for line in finding.detail:
                lines += _wrapped(f"         {line}", 18)
        if step < len(self.titles) and any(f.outcome != "the same" for f in self.findings if f.step == step):
            lines.append("  (The next step begins with the right values again.)")
        return lines

    def verdict(self) -> list[str]:
        """What came of it all: where the first difference is, which others there are, how many steps are the same."""
        wrong = [finding for finding in self.findings if finding.is_wrong]
        steps = {finding.step for finding in self.findings}
        odd = {finding.step for finding in self.findings if finding.outcome != "the same"}
        lines = [f"{len(steps - odd)} of {len(steps)} steps are the same with your modules."]
        if wrong:
            first = wrong[0]
            where = f"step {first.step}, {self.titles[first.step - 1]}"
            lines += _wrapped(f"They first differ at {where}: look at {first.place}{first.clause}.")
            others: dict[str, int] = {}
            for finding in wrong:
                if finding.module != first.module:
                    others.setdefault(f"{finding.module}.py", finding.step)
            if others:
                lines += _wrapped(f"Also to mend: {', '.join(f'{file} (step {at})' for file, at in others.items())}.")
            lines += _wrapped(f"`python -m selfcheck hint {first.module}` asks you a question about it.")
        else:
            lines += _wrapped(
                "With these weights query and key are equal, so that some mistakes cannot show: "
                "`python -m pytest` looks at more."
            )
        return [*lines, *(["What your modules print is left out here."] if self.printed else [])]

    def _judge(self, step: int, call: Asked) -> Finding:
        module, _, function = call.name.partition(".")
        notes: list[str] = []
        fault = self._fault(module, function, call, notes)
        if fault is None:
            return Finding(step, module, function, "the same")
        outcome = _OUTCOMES.get(fault.outcome, "breaks off")
        below = self._below(module) if call.layer else {module}
        before = next((f for f in self.findings if f.is_wrong and f.module in below), None)
        is_stub = outcome == "not started" and f"{module}.py" in fault.sentence
        if before and not is_stub:
            return Finding(step, module, function, "not judged", f"first mend {before.place} (step {before.step})")
        return Finding(step, module, function, outcome, *_said(fault, outcome, notes))

    def _fault(self, module: str, function: str, call: Asked, notes: list[str]) -> Fault | None:
        """Make the call and compare: what went wrong, or None."""
        try:
            with self._student(module, notes) as student:
                answer = _answer(getattr(student, function), call)
            _compare(answer, call.right)
        except Fault as fault:
            return fault
        except Exception as error:  # a file that cannot be read, or a torch that one of the modules has changed
            return Raised(f"it cannot be compared here: {clean(f'{type(error).__name__}: {error}', 200)}")
        return None

    def _below(self, module: str) -> set[str]:
        """The module, and those that it builds on."""
        return {module}.union(*(self._below(need) for need in self.needs.get(module, ())))

    @contextmanager
    def _student(self, module: str, notes: list[str]) -> Iterator[Student]:
        """The module, read anew. As in the self-check nobody answers its questions; what it prints is not shown."""
        printed, keyboard = io.StringIO(), sys.stdin
        sys.stdin = io.StringIO()
        try:
            with redirect_stdout(printed):
                transport = LocalTransport(self.folder, module, seed=8)
                notes += transport.notes
                try:
                    yield Student(transport, module)
                finally:
                    transport.request("fresh", {"seed": 8})  # torch's settings, which the module may have changed
                    transport.close()
        finally:
            sys.stdin = keyboard
            self.printed = self.printed or printed.closed or bool(printed.getvalue())


def _answer(function: Function, call: Asked) -> Any:
    if call.layer is None:
        return function(*call.arguments)
    layer = function(*call.layer.sizes)
    has_state(layer, {name: weight.shape for name, weight in call.layer.weights.items()})
    layer.load_state_dict(call.layer.weights)
    layer.eval()
    return layer(*call.arguments)


def _compare(answer: Any, right: Any) -> None:
    """Raises Mismatch. A tuple is compared value by value; where the right one is None, anything goes."""
    if not isinstance(right, tuple):
        agree(answer, right, rtol=0.0, atol=CLOSE)
        return
    for place, (one, wanted) in enumerate(zip(parts(answer, len(right)), right, strict=True), start=1):
        try:
            if wanted is not None:
                agree(one, wanted, rtol=0.0, atol=CLOSE)
        except Mismatch as fault:
            raise Mismatch(f"in value {place} of {len(right)}, {fault.sentence}", fault.detail) from None


def _said(fault: Fault, outcome: str, notes: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The sentence about a fault, and the lines under it."""
    if outcome == "breaks off":
        said = f"{fault.sentence}: {fault.text}" if isinstance(fault, Raised) and fault.text else fault.sentence
        return "; ".join([said[:300], *notes[:1]]), ()
    return fault.sentence.removeprefix("not attempted: "), fault.detail.splitlines()[:2]


def _wrapped(text: str, indent: int = 2) -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent=" " * indent)
