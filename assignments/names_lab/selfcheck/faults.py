"""What can go wrong while a check runs, as exceptions. Each knows its outcome and a sentence for the student.

`sentence` may be shown for any check. `detail` may quote inputs, expected values or the student's own error text, so
it is shown for public checks only.
"""

from __future__ import annotations


class Fault(Exception):
    """A check did not pass. `outcome` is one of the outcomes of the course kit."""

    outcome = "failed"
    earlier = False
    """Did it happen in an operation that was left for later, before the call that brought it to light?"""

    def __init__(self, sentence: str, detail: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.detail = detail


class Mismatch(Fault, AssertionError):
    """The student's answer is wrong."""

    outcome = "failed"


class PartialCredit(Fault):
    """The check ends with `share` (0 to 1) of its points."""

    outcome = "failed"

    def __init__(self, share: float, sentence: str) -> None:
        super().__init__(sentence)
        self.share = share


class NotAttempted(Fault):
    """The part is not written yet."""

    outcome = "not attempted"


class Raised(Fault):
    """The student's code raised. `names` are the exception's built-in classes, nearest first; `text` is its text."""

    outcome = "raised"

    def __init__(self, sentence: str, detail: str = "", names: tuple[str, ...] = (), text: str = "") -> None:
        super().__init__(sentence, detail)
        self.names = names
        self.text = text


class TimedOut(Fault):
    """A call gave no answer within its limit."""

    outcome = "timed out"


class Stopped(Fault):
    """The student's code ended its own process, or made it unusable."""

    outcome = "stopped"


class Refused(Fault):
    """The code uses what the exercise forbids."""

    outcome = "refused"


class NotRun(Fault):
    """The check was not started: the submission's time was used up."""

    outcome = "not run"


class KitFault(Exception):
    """The check itself, the reference or the grader is at fault. Never the student's."""
