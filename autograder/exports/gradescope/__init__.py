"""Gradescope: results in its form, and an autograder of ours that runs there."""
