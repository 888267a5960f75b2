"""What goes wrong between the grader and a worker: by the sandbox's fault, or in the worker."""

from __future__ import annotations


class SandboxError(Exception):
    """The sandbox itself failed. Never the student's fault."""


class NotConfined(SandboxError):
    """A worker could not be closed in as it was promised, or the host offers less than is required."""


class CallTimedOut(Exception):
    """No answer within the limit. `cpu` tells whether the worker computed or waited: its seconds of CPU time."""

    def __init__(self, cpu: float) -> None:
        super().__init__(f"no answer; {cpu:.1f} s of CPU time used")
        self.cpu = cpu


class WorkerGone(Exception):
    """The worker ended before it answered, or its reply had a wrong form. `why` is a sentence."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why
