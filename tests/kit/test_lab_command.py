"""`autograder lab` runs the lab on the solutions from any folder, and students get the same lab for their own modules."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import ROOT, ask
from small_course import small_course
from the_lab import FILES, NAMES_LAB, short_list

from autograder.authoring import AuthoringError
from autograder.authoring.contents import contents
from autograder.authoring.leaks import leaks_in
from lab.__main__ import main
from lab.files import load_state

TINY = "model_dim=8 num_heads=2 num_layers=1 batch_size=2 evaluate_every=1000000".split()
LAB = FILES.solutions("names_lab") / "lab"


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    yield from short_list(tmp_path_factory.mktemp("list"))


@pytest.fixture(scope="module")
def released() -> dict[str, bytes]:
    return contents(FILES, NAMES_LAB)


def test_students_get_the_lab_as_it_is_and_no_answer_with_it(released):
    modules = {f"lab/{path.name}": path.read_bytes() for path in LAB.glob("*.py")}
    assert len(modules) > 10
    assert {path: released[path] for path in modules} == modules
    assert leaks_in(released, FILES, NAMES_LAB) == []
    assert b"## The lab" in released["README.md"] and b"python -m lab train" in released["README.md"]


def test_a_stub_is_named_with_what_is_still_to_be_written_in_it(released, names, tmp_path: Path):
    for path, content in released.items():
        (tmp_path / "names_lab" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "names_lab" / path).write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-m", "lab", "train"],
        cwd=tmp_path / "names_lab",
        env={**os.environ, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (
        2,
        "lab: dataset.py is not finished: split_names is still to be written\n",
    )
    assert not (tmp_path / "names_lab" / "lab-out").exists()


def test_ctrl_c_ends_the_command_with_130_and_the_step_that_it_names_is_kept(
    names, tmp_path: Path, monkeypatch, capsys
):
    command = ["lab", "train", "--names", names, "--out", "run"]
    command += [word for setting in (*TINY, "total_steps=3000") for word in ("--set", setting)]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    start = [sys.executable, "-c", "from autograder.cli import main; main()", "--course", ROOT, *command]
    child = subprocess.Popen(start, cwd=tmp_path, env=variables, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while not (tmp_path / "run" / "checkpoint.pt").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    said = child.communicate(timeout=60)[1]
    assert child.returncode == 130 and "stopped after step" in said and "Traceback" not in said
    step = int(said.partition("after step ")[2].partition(" ")[0])
    assert 0 < step == load_state(tmp_path / "run" / "checkpoint.pt")["step"] < 3000
    monkeypatch.chdir(tmp_path)
    assert main([*map(str, command[1:]), "--set", f"total_steps={step}"]) == 2
    assert f"total_steps {step} instead of 3000" in capsys.readouterr().err


def test_the_list_is_the_one_that_the_course_names(monkeypatch):
    monkeypatch.setattr("os.execve", lambda program, command, variables: told.update(variables, command=command))
    told: dict = {}
    monkeypatch.setattr("subprocess.call", lambda *arguments, **more: 7)
    assert ask("lab", "train", "--fast", "--help", cwd=ROOT).returncode == 7
    assert told["LAB_DATA"] == str(ROOT / "data" / "names.txt")
    assert told["PYTHONPATH"].split(os.pathsep)[0] == str(FILES.solutions("names_lab"))
    assert told["command"][1:] == ["-P", "-m", "lab", "train", "--fast", "--help"]


def test_a_course_without_a_lab_says_so(tmp_path: Path):
    small_course(tmp_path)
    done = ask("lab", "train", cwd=tmp_path)
    assert done.returncode == 2 and "no assignment of this course has a lab" in done.stderr


def test_a_lab_that_is_no_package_or_looks_like_an_answer_is_refused(tmp_path: Path):
    small_course(tmp_path)
    course = tmp_path / "course.yml"
    course.write_text(
        course.read_text("utf-8").replace("    exercises:\n", "    lab: bench\n    exercises:\n"), "utf-8"
    )
    files, lines = small_course(tmp_path, **{"course.yml": course.read_text("utf-8")})
    with pytest.raises(AuthoringError, match=r"solutions/lines/bench is no package"):
        contents(files, lines)
    bench = tmp_path / "solutions" / "lines" / "bench"
    bench.mkdir()
    (bench / "__init__.py").write_text('"""Draws lines."""\n', "utf-8")
    found = contents(files, lines)
    assert (
        found["bench/__init__.py"] == b'"""Draws lines."""\n' and b"## The lab\n\nDraws lines.\n" in found["README.md"]
    )
    (bench / "slope.py").write_text("", "utf-8")
    with pytest.raises(AuthoringError, match="could be taken for a student's answer"):
        contents(files, lines)
