"""What can go wrong for a reader of the lab, each as one sentence that says what to do."""

from __future__ import annotations


class LabError(Exception):
    """Something that the reader can put right."""


class StoppedError(Exception):
    """A run was stopped by Ctrl-C, after its state was saved."""
