"""Which file of a hand-in answers which exercise: never a guess that nobody is told about."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from autograder.intake.content import conflict_line, unreadable
from autograder.intake.files import MAX_DEPTH, MAX_ENTRIES, MAX_FILE_BYTES, Entry, Refused, Tree
from autograder.intake.names import Closeness, match
from autograder.intake.notebook import MAX_NOTEBOOK_BYTES, Part, read_notebook
from autograder.intake.submission import HandedIn, Status

MAX_RIVALS = 5
MAX_NOTEBOOKS = 5

# What lies in these folders came with the students' bundle, is a test or belongs to a library, and is never an answer.
_NOT_ANSWERS = {"selfcheck", "rigs", "examples", "tests", "venv", "env", "site-packages", "node_modules"}
_HIDING = sys.stdlib_module_names | {"numpy", "torch", "sitecustomize", "usercustomize"}


@dataclass
class Contents:
    """What was found in one hand-in."""

    files: dict[str, HandedIn] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    archives: list[Entry] = field(default_factory=list)
    is_empty: bool = True
    is_recognised: bool = False
    is_unclear: bool = False
    has_unreadable: bool = False

    @property
    def status(self) -> Status:
        if self.is_unclear:
            return "needs attention"
        if self.is_empty:
            return "not submitted"
        if self.has_unreadable and not self.files:
            return "unreadable"
        return "ready" if self.is_recognised and not self.has_unreadable else "needs attention"


@dataclass
class Level:
    """The entries at one depth of a hand-in, sorted by what their names may mean."""

    candidates: dict[str, list[tuple[Closeness, Entry]]] = field(default_factory=dict)
    unclear: list[tuple[tuple[str, ...], Entry]] = field(default_factory=list)
    others: list[Entry] = field(default_factory=list)  # of this level and those above it
    folders: list[Entry] = field(default_factory=list)  # in which answers may lie
    refused: list[str] = field(default_factory=list)  # why folders of this level or above could not be listed

    def has_certain(self, exercise: str) -> bool:
        """True when a name is the exercise's own or nearly so."""
        return any(closeness != "loose" for closeness, _ in self.candidates.get(exercise, []))

    @property
    def is_certain(self) -> bool:
        return any(map(self.has_certain, self.candidates))

    @property
    def has_answers(self) -> bool:
        return bool(self.candidates or self.unclear)


def choose(
    tree: Tree, exercises: Sequence[str], whose: Collection[str] = (), parts: Mapping[str, Part] | None = None
) -> Contents:
    """Reads the exercises' files out of `tree`. `whose`: words that may be added to a file's name (`names.match`).
    `parts`: what is looked for in notebooks, where an exercise has no file.

    Only candidates for an exercise are opened, other files never. Raises `Refused` when the tree cannot be listed.
    """
    level = find_level(tree, exercises, whose)
    contents = Contents()
    contents.is_empty = not (level.has_answers or level.others or level.refused)
    contents.is_recognised = level.has_answers
    contents.has_unreadable = bool(level.refused)
    contents.notes += level.refused
    contents.archives = [entry for entry in level.others if entry.name.casefold().endswith(".zip")]
    for meant, entry in level.unclear:
        if all(level.has_certain(exercise) for exercise in meant):
            contents.ignored.append(entry.shown)
            continue
        contents.is_unclear = True
        names = " or ".join(f"{exercise}.py" for exercise in meant)
        contents.notes.append(f"{entry.shown} could be {names}; hand it in under the name that is meant.")
    for exercise in exercises:
        _settle(contents, exercise, level.candidates.get(exercise, []))
    if contents.missing and parts:
        _look_into_notebooks(contents, level, parts)
    if contents.is_recognised:
        _look_for_missing(contents, tree, level)
    elif not contents.is_empty:
        names = ", ".join(f"{exercise}.py" for exercise in exercises)
        contents.notes.append(f"No exercise file was found; hand in {names} under exactly these names.")
    _mention_others(contents, tree, level, exercises)
    contents.ignored += [entry.shown for entry in level.others]
    return contents


def find_level(tree: Tree, exercises: Sequence[str], whose: Collection[str] = ()) -> Level:
    """The shallowest level with a name that is certain, else the shallowest with any: copies further down never count.

    Raises `Refused` when the tree cannot be listed or is too large.
    """
    possible: Level | None = None
    level = Level()
    entries = tree.children("")
    seen = len(entries)
    for _ in range(MAX_DEPTH):
        level = _sort_out(entries, exercises, whose, above=level)
        if level.is_certain:
            return level
        if possible is None and level.has_answers:
            possible = level
        entries = [entry for folder in level.folders for entry in _children(tree, folder, level.refused)]
        seen += len(entries)
        if seen > MAX_ENTRIES:
            break
    if possible is None and seen > MAX_ENTRIES:
        raise Refused(f"More than {MAX_ENTRIES:,} files were handed in; hand in only the exercise files.")
    if not entries:
        level.others = _without(level.others, level.folders)
    return possible or level


def _children(tree: Tree, folder: Entry, refused: list[str]) -> list[Entry]:
    try:
        return tree.children(folder.path)
    except Refused as refusal:
        refused.append(str(refusal))
        return []


def _sort_out(entries: list[Entry], exercises: Sequence[str], whose: Collection[str], above: Level) -> Level:
    level = Level(others=_without(above.others, above.folders), refused=above.refused)
    for entry in entries:
        found = match(entry.name, exercises, whose)
        if entry.kind == "folder" and (found is None or found.closeness != "exact"):
            level.others.append(entry)
            if entry.name.casefold() not in _NOT_ANSWERS:
                level.folders.append(entry)
        elif found is None:
            level.others.append(entry)
        elif len(found.exercises) > 1:
            level.unclear.append((found.exercises, entry))
        else:
            level.candidates.setdefault(found.exercises[0], []).append((found.closeness, entry))
    return level


def _without(entries: list[Entry], folders: list[Entry]) -> list[Entry]:
    paths = {folder.path for folder in folders}
    return [entry for entry in entries if entry.kind != "folder" or entry.path not in paths]


def _settle(contents: Contents, exercise: str, candidates: list[tuple[Closeness, Entry]]) -> None:
    """Takes the one file that is meant, or says why none was."""
    near = [entry for closeness, entry in candidates if closeness == "exact"]
    near += [entry for closeness, entry in candidates if closeness == "close"]
    loose = [entry for closeness, entry in candidates if closeness == "loose"]
    rivals = near or loose
    if not rivals:
        contents.missing.append(exercise)
        return
    if near:
        contents.ignored += [entry.shown for entry in loose]
        contents.notes += [f"{entry.shown} was not graded, because {near[0].shown} was handed in." for entry in loose]
    if len(rivals) > 1 and not _same(rivals):
        contents.is_unclear = True
        contents.notes.append(
            f"{exercise}.py was handed in {len(rivals)} times with different content ({_listing(rivals)}); "
            f"hand in only the one that is meant, as {exercise}.py."
        )
        return
    if len(rivals) > 1:
        contents.ignored += [entry.shown for entry in rivals[1:]]
        contents.notes.append(f"{_listing(rivals)} are the same; {rivals[0].shown} was used.")
    _take(contents, exercise, rivals[0])


def _take(contents: Contents, exercise: str, entry: Entry) -> None:
    try:
        content = entry.load(MAX_FILE_BYTES)
    except Refused as refusal:
        contents.has_unreadable = True
        contents.notes.append(str(refusal))
        return
    reason = unreadable(content)
    if reason is not None:
        contents.has_unreadable = True
        contents.notes.append(f"{entry.shown} {reason}.")
        return
    contents.files[exercise] = HandedIn(exercise, entry.shown, content)
    if entry.name != f"{exercise}.py":
        contents.notes.append(f"We graded {entry.shown} as {exercise}.py; hand it in under that name next time.")
    line = conflict_line(content)
    if line is not None:
        contents.notes.append(f"{entry.shown} has a git conflict marker in line {line}; resolve the conflict.")


def _same(rivals: list[Entry]) -> bool:
    """True when all can be read and hold the same bytes."""
    if len(rivals) > MAX_RIVALS:
        return False
    try:
        return len({entry.load(MAX_FILE_BYTES) for entry in rivals}) == 1
    except Refused:
        return False


def _listing(entries: list[Entry]) -> str:
    names = [entry.shown for entry in entries[:MAX_RIVALS]]
    more = [f"{len(entries) - MAX_RIVALS} more"] if len(entries) > MAX_RIVALS else []
    return ", ".join(names + more)


def _look_into_notebooks(contents: Contents, level: Level, parts: Mapping[str, Part]) -> None:
    """Takes missing exercises from the cells of notebooks, where one notebook has them."""
    found: dict[str, dict[bytes, Entry]] = {}
    for entry in [entry for entry in level.others if _is_notebook(entry)][:MAX_NOTEBOOKS]:
        try:
            notebook = read_notebook(entry.load(MAX_NOTEBOOK_BYTES))
        except Refused as refusal:
            contents.has_unreadable = True
            contents.notes.append(str(refusal))
            continue
        if notebook.problem is not None:
            contents.has_unreadable = True
            contents.notes.append(f"{entry.shown} {notebook.problem}.")
        for exercise in contents.missing:
            if exercise in parts and (module := notebook.module(exercise, parts)) is not None:
                found.setdefault(exercise, {}).setdefault(module, entry)
    taken: dict[str, list[str]] = {}
    for exercise, modules in found.items():
        contents.is_recognised = True
        contents.missing.remove(exercise)
        if len(modules) > 1:
            contents.is_unclear = True
            listed = _listing(list(modules.values()))
            contents.notes.append(f"{exercise} is in {len(modules)} notebooks ({listed}); hand in {exercise}.py.")
            continue
        ((module, entry),) = modules.items()
        contents.files[exercise] = HandedIn(exercise, entry.shown, module)
        taken.setdefault(entry.shown, []).append(f"{exercise}.py")
    level.others = [entry for entry in level.others if entry.shown not in taken]
    for name, answers in taken.items():
        contents.notes.append(f"We took {', '.join(answers)} from the cells of {name}; hand in Python files next time.")


def _is_notebook(entry: Entry) -> bool:
    return entry.kind == "file" and entry.name.casefold().endswith(".ipynb")


def _look_for_missing(contents: Contents, tree: Tree, level: Level) -> None:
    """Notes each missing exercise, and where a file of its name lies further down: it may have been meant."""
    below = _names_below(tree, level.folders) if contents.missing else {}
    for exercise in contents.missing:
        elsewhere = below.get(f"{exercise}.py", [])
        if elsewhere:
            contents.is_unclear = True
            contents.notes.append(
                f"{exercise}.py is missing beside the other files, but there is {_listing(elsewhere)}; "
                "hand in all files in one folder."
            )
        else:
            contents.notes.append(f"{exercise}.py is missing; hand it in to have it graded.")


def _names_below(tree: Tree, folders: list[Entry]) -> dict[str, list[Entry]]:
    """The files under `folders` by name, as far as the limits allow."""
    found: dict[str, list[Entry]] = {}
    seen = 0
    for _ in range(MAX_DEPTH):
        below = [entry for folder in folders for entry in _children(tree, folder, refused=[])]
        seen += len(below)
        for entry in below:
            if entry.kind == "file":
                found.setdefault(entry.name, []).append(entry)
        folders = [entry for entry in below if entry.kind == "folder" and entry.name.casefold() not in _NOT_ANSWERS]
        if seen > MAX_ENTRIES:
            break
    return found


def _mention_others(contents: Contents, tree: Tree, level: Level, exercises: Sequence[str]) -> None:
    """Notes the ignored files that would have mattered elsewhere."""
    for entry in level.others:
        if entry.kind == "folder" and entry.name in exercises:
            contents.notes.append(
                f"The folder {entry.shown} was ignored; remove it, because Python imports it before {entry.name}.py."
            )
        elif _hides_a_module(tree, entry):
            module = entry.name.removesuffix(".py")
            contents.notes.append(f"{entry.shown} was ignored; rename it, because it hides the real {module}.")
        elif entry.kind == "file" and entry.name.removesuffix(".ipynb") in exercises:
            contents.notes.append(f"{entry.shown} is a notebook and was not graded; hand in the Python file.")
    if contents.is_recognised:
        for archive in contents.archives:
            contents.notes.append(f"{archive.shown} was not opened, because exercise files lie beside it.")


def _hides_a_module(tree: Tree, entry: Entry) -> bool:
    if entry.kind == "file":
        return entry.name.endswith(".py") and entry.name.removesuffix(".py") in _HIDING
    if entry.kind != "folder" or entry.name not in _HIDING:
        return False
    return any(child.name == "__init__.py" for child in _children(tree, entry, refused=[]))
