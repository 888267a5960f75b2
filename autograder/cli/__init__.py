"""The command line: thin commands over the other stages. Heavy imports wait until a command runs."""

from autograder.cli.main import main

__all__ = ["main"]
