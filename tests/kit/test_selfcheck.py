"""The bundle as students run it: unpacked elsewhere, without the kit, in a process of its own."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from functools import partial
from pathlib import Path

import pytest
from nursery import nursery

from autograder.authoring import contents
from autograder.course import CourseFiles, load_course
from autograder.course.archive import zipped

ROOT = Path(__file__).parents[2]
FILES = CourseFiles(ROOT)
WEEK08 = load_course(ROOT).assignment("week08")
STUDENTS = partial(nursery, ("torch", "pytest"))
"""Starts commands as students do, without the kit."""
HIDDEN = "The hidden checks (60 of 100 points) run when your instructor grades."


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive for students, made from the sources as they are now and unpacked."""
    folder = tmp_path_factory.mktemp("students")
    archive = folder / "week08.zip"
    archive.write_bytes(zipped(contents(FILES, WEEK08), "week08"))
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(folder)
    return folder / "week08"


@pytest.fixture
def mine(bundle: Path, tmp_path: Path) -> Path:
    """A student's own copy, untouched."""
    return Path(shutil.copytree(bundle, tmp_path / "week08", ignore=shutil.ignore_patterns("__pycache__")))


def solve(folder: Path, *names: str) -> None:
    """Put solutions in the place of these stubs, or of all."""
    for exercise in WEEK08.exercises:
        if not names or exercise.name in names:
            shutil.copy(FILES.solutions("week08") / f"{exercise.name}.py", folder)


def change(path: Path, before: str, after: str) -> None:
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), "utf-8")


def environment(**settings: str) -> dict[str, str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
    alone = {"PYTHONPATH": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "OMP_NUM_THREADS": "1"}
    return {**plain, **alone, **settings}


def run(*arguments: object, cwd: Path, **settings: str) -> tuple[int, str]:
    """Exit code and output of `python -m pytest`."""
    done = STUDENTS().run("-m", "pytest", *arguments, cwd=cwd, env=environment(**settings))
    assert done.stderr == ""
    return done.returncode, done.stdout


def rows(output: str) -> dict[str, list[str]]:
    """The table at the end: exercise -> checks, points, status."""
    table = output.partition("== self-check ==")[2]
    found = re.findall(r"^(\w+) +(\d+/\d+) +([\d.]+ of [\d.]+) +(\S.*)$", table, re.MULTILINE)
    return {name: cells for name, *cells in found}


def recorded(folder: Path) -> dict[str, dict[str, bool]]:
    """What the progress file says of the checks that were run."""
    found: dict[str, dict[str, bool]] = json.loads((folder / "progress.json").read_text("utf-8"))["checks"]
    return found


def test_untouched_stubs_are_not_attempted(mine: Path):
    code, output = run(cwd=mine)
    assert code == 1
    assert list(rows(output)) == [exercise.name for exercise in WEEK08.exercises]
    assert {cells[2] for cells in rows(output).values()} == {"not attempted"}
    assert {cells[1].partition(" ")[0] for cells in rows(output).values()} == {"0"}
    for exercise in WEEK08.exercises:
        assert f"{exercise.name}: not attempted: open {exercise.name}.py (" in output
    assert HIDDEN in output
    assert "FAILURES" not in output
    assert "Traceback" not in output
    assert output.partition("== self-check ==")[2].isascii()
    assert (mine / "selfcheck" / "__pycache__").is_dir()
    assert not any(passed for found in recorded(mine).values() for passed in found.values())


def test_solutions_pass_from_any_folder_and_leave_nothing_but_the_progress_behind(mine: Path, tmp_path: Path):
    solve(mine)
    before = {path for path in mine.rglob("*")}
    settings = {"PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": ""}
    code, output = run(mine, "-q", "-p", "no:cacheprovider", cwd=tmp_path, **settings)
    assert code == 0, output
    assert {cells[2] for cells in rows(output).values()} == {"all public checks pass"}
    for checks, points, _ in rows(output).values():
        assert len(set(checks.split("/"))) == 1
        assert len(set(points.split(" of "))) == 1
    assert HIDDEN in output
    assert {path for path in mine.rglob("*")} == before | {mine / "progress.json"}
    for name, found in recorded(mine).items():
        assert rows(output)[name][0] == f"{sum(found.values())}/{len(found)}"
    assert list(recorded(mine)) == sorted(rows(output))


def test_each_kind_of_fault_is_told_in_words(mine: Path):
    solve(mine)
    change(mine / "layer_norm.py", "torch.sqrt(variance + eps)", "(variance + eps)")
    change(mine / "feed_forward.py", "def gelu(", "def Gelu(")
    change(mine / "embedding.py", '    """', '    """Mine."""\n    return token_idz\n    """')
    change(mine / "masked_softmax.py", "def causal_mask(", "def causal_mask(:")
    change(mine / "sampling.py", "import torch\n", 'import torch\nprint("hello")\nsize = input("size? ")\n')
    (mine / "training.py").unlink()
    code, output = run("--tb=short", "--inputs=5", cwd=mine)
    assert code == 1
    assert "Traceback" not in output
    assert "selfcheck/" not in output

    wrong = "normalizes the row of Week 8 §9\n\nfailed: differs from the worked example in Week 8 §9"
    assert wrong in output
    assert "\ncall     layer_norm([[1.0000, 2.0000, 3.0000, 4.0000]], " in output
    assert "\nexpected [[-1.342, -0.447, 0.447, 1.342]]  (Week 8 §9)\n" in output

    where = re.search(r"raised: your code raised NameError at line (\d+) of embedding\.py\n", output)
    assert where
    assert f"\nembedding.py:{where[1]} in embed\n    return token_idz\n" in output

    assert re.search(r"raised: masked_softmax\.py: line \d+ does not parse: invalid syntax", output)
    assert "feed_forward: feed_forward.py has no `gelu`, but it has `Gelu`: rename it (" in output
    assert f"training: training.py is missing from {mine.name} (" in output
    assert re.search(r"^sampling\.py: line \d+ asks for input, and nobody is there to answer; ", output, re.MULTILINE)
    assert "The same random inputs again: --inputs 5\n" in output

    table = rows(output)
    assert table["sampling"][2] == "all public checks pass"
    assert table["training"][2] == "not attempted"
    assert "raised" in table["embedding"][2]
    assert "failed" in table["layer_norm"][2]
    assert "not attempted" in table["feed_forward"][2]
    assert "raised" in table["masked_softmax"][2]


def test_a_syntax_error_reads_as_it_does_under_grading(mine: Path):
    solve(mine)
    change(mine / "masked_softmax.py", "def causal_mask(", "def causal_mask(:")
    code, here = run("test_masked_softmax.py", cwd=mine)
    suite = FILES.suite_file("week08", "masked_softmax")
    graded, there = run(suite, "--submission", mine, "-p", "no:cacheprovider", cwd=ROOT)
    assert (code, graded) == (1, 1)
    said = re.findall(r"raised: (masked_softmax\.py: line \d+ does not parse: .*)", here)
    assert said
    assert said[0] in there


def test_an_unfinished_earlier_part_is_named_though_a_finished_one_lies_where_pytest_was_called(mine: Path):
    solve(mine, "multi_head", "feed_forward", "transformer_block", "masked_softmax")
    elsewhere = mine.parent / "elsewhere"
    elsewhere.mkdir()
    solve(elsewhere, "layer_norm")
    code, output = run(mine / "test_transformer_block.py", "-x", "-q", cwd=elsewhere)
    assert code == 1
    assert "transformer_block: not attempted: open layer_norm.py (1 check)\n" in output
    assert rows(output) == {"transformer_block": ["2/5", "1.5 of 5", "1 not attempted, 2 not run"]}


def test_a_selection_of_checks_has_its_own_rows_and_needs_few_imports(mine: Path):
    """Students wait for torch itself, and for nothing that a check does not need."""
    solve(mine, "layer_norm")
    (mine / "test_modules.py").write_text(
        "import sys\n\n\ndef test_modules():\n"
        "    heavy = {'torch._dynamo', 'torch._inductor', 'torch.onnx', 'autograder'}\n"
        "    assert not heavy & set(sys.modules)\n"
    )
    command = [sys.executable, "-m", "pytest", "-k", "(layer_norm and row) or test_modules", "--tb=no", "-v"]
    done = subprocess.run(command, cwd=mine, env=environment(), capture_output=True, encoding="utf-8", timeout=300)
    output = done.stdout
    assert (done.returncode, done.stderr) == (0, ""), output
    assert "test_layer_norm.py::test_reproduces_the_row_1_2_3_4 PASSED" in output
    assert "test_modules.py::test_modules PASSED" in output
    assert list(rows(output)) == ["layer_norm"]
    assert rows(output)["layer_norm"][2].endswith("not run")


def test_the_same_inputs_can_be_drawn_again(mine: Path):
    solve(mine, "layer_norm")
    change(mine / "layer_norm.py", "return gamma * deviation", "return deviation")
    _, first = run("test_layer_norm.py", "-k", "gain", cwd=mine)
    option = re.search(r"The same random inputs again: (--inputs \d+)\n", first)
    assert option
    _, second = run("test_layer_norm.py", "-k", "gain", *option[1].split(), cwd=mine)
    returned = re.search(r"^returned .*$", first, re.MULTILINE)
    assert returned
    assert returned[0] in second


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
@pytest.mark.parametrize("place", ["in a function", "while the file is read"])
def test_ctrl_c_in_an_endless_loop_shows_what_was_done(mine: Path, place: str):
    solve(mine, "embedding", "layer_norm")
    if place == "in a function":  # and in code that catches everything
        loop = "    try:\n        while True:\n            pass\n    except:\n        pass\n"
        change(mine / "layer_norm.py", "    deviation = x", f"{loop}    deviation = x")
    else:
        change(mine / "layer_norm.py", "import torch\n", "import torch\nwhile True:\n    pass\n")
    command = ["-m", "pytest", "-v", "test_embedding.py", "test_layer_norm.py"]
    with (mine / "output.txt").open("w+", encoding="utf-8") as output:
        child = STUDENTS().start(command, mine, environment(), "", output.fileno(), 2)
        try:
            for _ in range(600):
                time.sleep(0.1)
                if "test_layer_norm.py::" in (mine / "output.txt").read_text("utf-8"):
                    break
            time.sleep(1)
            os.kill(child.pid, signal.SIGINT)
            code = child.wait()
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGKILL)
    text = (mine / "output.txt").read_text("utf-8")
    assert code == 2, text
    assert re.search(r"^interrupted in layer_norm\.py, line \d+$", text, re.MULTILINE)
    assert rows(text)["embedding"][2] == "all public checks pass"
    assert rows(text)["layer_norm"][2] == "5 not run"


def test_every_file_is_valid_python_3_10(bundle: Path):
    python = shutil.which("python3.10")
    if python is None or subprocess.run([python, "-c", ""], capture_output=True).returncode:
        pytest.skip("no Python 3.10 on this machine")
    subprocess.run([python, "-m", "compileall", "-q", "-o", "0", "-f", bundle], check=True, env=environment())
