"""nbgrader reads this file where it is called; all that it says is in `autograder/notebooks/config.py`."""

from pathlib import Path

try:
    from autograder.notebooks.config import configure
except ImportError as error:  # nbgrader would go on without this file, with students' code beside the gradebook
    raise SystemExit(f"nbgrader grades this course only with its kit installed beside it: {error}") from None

configure(get_config(), Path(__file__).parent)  # noqa: F821  # nbgrader provides get_config
