"""The autograder zip for Gradescope: the kit, and of the course what grades one assignment.

Gradescope unpacks it beside the student's files, in one container and as one user, so there whatever a tool imports
can be read and changed by the code that it grades. Ours never imports that code where suites and references are: it
runs in a worker, closed in as far as the container allows, as a user of its own where nothing else does
(docs/security.md).
"""

from __future__ import annotations

import json
from pathlib import Path

from autograder.authoring.kit_files import KIT
from autograder.course import Assignment, CourseFiles
from autograder.course.archive import zipped
from autograder.exports.standing import Exported
from autograder.grading.errors import GradingError

SETTINGS = "settings.json"
_HERE = Path(__file__).parent
_BESIDE_KIT = ("pyproject.toml", "constraints.txt", "README.md", "LICENSE")


def package(files: CourseFiles, assignment: Assignment, require_isolation: str | None = None) -> Exported:
    """The zip, to be uploaded as it is. Raises GradingError when a file of the course or the kit is missing."""
    found = {name: (_HERE / name).read_bytes() for name in ("setup.sh", "run_autograder")}
    settings = {"assignment": assignment.id, "require_isolation": require_isolation}
    found[SETTINGS] = (json.dumps(settings, indent=1) + "\n").encode()
    found |= {f"kit/autograder/{path}": data for path, data in _tree(KIT, "*").items()}
    found |= {f"kit/{name}": _read(KIT.parent / name) for name in _BESIDE_KIT}
    found["course/course.yml"] = _read(files.root / "course.yml")
    found |= {
        f"course/solutions/{assignment.id}/{e.name}.py": _solution(files, assignment, e.name)
        for e in assignment.exercises
    }
    for folder, pattern in ((files.suite(assignment.id), "*.py"), (files.root / "reference", "*")):
        place = folder.relative_to(files.root).as_posix()
        found |= {f"course/{place}/{path}": data for path, data in _tree(folder, pattern).items()}
    remark = "it holds hidden checks, references and solutions: upload it to Gradescope and give it to nobody"
    return Exported({f"{assignment.id}_gradescope.zip": zipped(found)}, (remark,))


def _solution(files: CourseFiles, assignment: Assignment, exercise: str) -> bytes:
    return _read(files.solution(assignment.id, exercise))


def _tree(folder: Path, pattern: str) -> dict[str, bytes]:
    places = (path for path in sorted(folder.rglob(pattern)) if path.is_file())
    names = {path.relative_to(folder).as_posix(): path for path in places if not _is_rubbish(path, folder)}
    return {name: path.read_bytes() for name, path in names.items()}


def _is_rubbish(path: Path, folder: Path) -> bool:
    return any(part.startswith((".", "__pycache__")) for part in path.relative_to(folder).parts)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise GradingError(f"{path} is needed for the autograder zip: {error.strerror}") from None
