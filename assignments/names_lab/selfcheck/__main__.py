"""`python -m selfcheck hint layer_norm [--more]`"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from selfcheck.hints import HintError, hint

FOLDER = Path(__file__).resolve().parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m selfcheck", description="Help with an exercise, step by step.")
    parser.add_argument("what", choices=["hint"])
    parser.add_argument("exercise", help="such as layer_norm")
    parser.add_argument("--more", action="store_true", help="the next step")
    asked = parser.parse_args()
    exercise = asked.exercise.removesuffix(".py")
    try:
        print(hint(FOLDER, exercise, asked.more, f"python -m selfcheck hint {exercise}"))
    except HintError as error:
        sys.exit(str(error))


main()
