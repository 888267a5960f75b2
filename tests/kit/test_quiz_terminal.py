"""A quiz taken in the terminal: what is asked and saved, what is asked again, where it goes on, and how it looks."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from command_line import ask as autograder
from keyed_course import FEEDBACK, WHY, keyed_course

from autograder.authoring import release
from autograder.authoring.bundle.plain import Layout, columns, formula, in_ascii
from autograder.authoring.bundle.questions import QuizTrouble, how, load_quiz, refuse_unreadable, shown
from autograder.authoring.bundle.quiz import take
from autograder.cli import main
from autograder.course import load_course
from autograder.quiz.answers import read_answers
from autograder.quiz.answers_file import AnswersTrouble
from autograder.quiz.bank import load_bank
from autograder.quiz.drawing import drawn
from autograder.quiz.marking import mark
from autograder.quiz.public import public_quiz

EVERYTHING = ["b", "1/8", "layer norm", "8", "ac", "1 2 4", "bcad", "1a 2b 3c", "1\\", "2", "It would start at 0."]
IDS = ["q_choice", "q_number", "q_text", "q_drawn", "q_several", "q_shape", "q_order", "q_match", "q_output", "q_open"]

Take = Callable[..., str]


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course's folder, with what students get in it."""
    files, lines = keyed_course(tmp_path_factory.mktemp("course"))
    release(files, lines)
    return files.root


@pytest.fixture
def folder(released: Path, tmp_path: Path) -> Path:
    """A student's copy."""
    return Path(shutil.copytree(released / "assignments/lines", tmp_path / "lines"))


@pytest.fixture
def answer(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Take:
    """Take the quiz of the folder, typing these lines; returns what was shown."""

    def typed(*lines: str, sections: tuple[str, ...] = (), again: bool = False, columns: int = 60) -> str:
        for name in ("LC_ALL", "LC_CTYPE", "LANG", "NO_COLOR"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        assert take(folder, load_quiz(folder), sections, again=again) == 0
        return capsys.readouterr().out

    return typed


def saved(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / "quiz_answers.json").read_text("utf-8"))["answers"]
    return found


def test_every_type_of_question_is_answered_and_the_file_can_be_marked(folder: Path, released: Path, answer: Take):
    said = answer("mira", *EVERYTHING)
    assert "10 of 10 questions answered, saved in quiz_answers.json." in said
    assert "Hand in quiz_answers.json with your exercises." in said
    read = read_answers((folder / "quiz_answers.json").read_bytes(), "quiz_answers.json", "lines")
    assert read.student == "mira" and list(read.answers) == IDS == list(read.versions)
    assert read.answers["q_output"] == "1\n2"
    bank = load_bank(keyed_course(released)[0], load_course(released), "lines")
    versions = {q["id"]: q["version"] for section in public_quiz(bank)["sections"] for q in section["items"]}
    assert read.versions == versions
    outcomes = {name: mark(bank, bank.by_id[name], typed, "mira").outcome for name, typed in read.answers.items()}
    assert "please rewrite" not in outcomes.values() and outcomes["q_output"] == outcomes["q_shape"] == "passed"


def test_nothing_is_judged_where_there_are_no_keys(answer: Take):
    said = answer("mira", *EVERYTHING)
    assert re.search(r"passed|failed|right|wrong|correct", said) is None
    assert WHY[:30] not in said and FEEDBACK[:30] not in said


def test_it_goes_on_where_it_stopped_and_asks_for_the_name_once(folder: Path, answer: Take):
    first = answer("mira", "a", ":q")
    assert "Your name or id" in first and "1 of 10 questions answered" in first
    assert saved(folder) == {"q_choice": "a"}
    second = answer("0,5")
    assert "Your name or id" not in second and "Question 1 of" not in second
    assert "Question 2 of 4 (1 point). 1 of 10 answered." in second
    assert saved(folder) == {"q_choice": "a", "q_number": "0,5"}


def test_a_command_is_no_name(folder: Path, answer: Take):
    said = answer("?", ":b", "s", "mira", "a", ":q")
    assert said.count("is no name; :q stops.") == 3
    assert json.loads((folder / "quiz_answers.json").read_text("utf-8"))["student"] == "mira"


def test_it_can_be_left_before_there_is_a_name(folder: Path, answer: Take):
    assert "0 of 10 questions answered" in answer(":q")
    assert not (folder / "quiz_answers.json").exists()


def test_the_file_is_named_from_where_the_command_was_given(
    folder: Path, answer: Take, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(folder.parent)
    assert "saved in lines/quiz_answers.json." in answer("mira", "a", ":q", columns=80)


def test_each_answer_is_saved_before_the_next_question_is_asked(folder: Path, monkeypatch: pytest.MonkeyPatch):
    seen = []

    class Typing(io.StringIO):
        def readline(self, size: int = -1) -> str:
            file = folder / "quiz_answers.json"
            seen.append(list(saved(folder)) if file.exists() else None)
            return super().readline(size)

    monkeypatch.setattr(sys, "stdin", Typing("mira\na\n1/8\n"))
    take(folder, load_quiz(folder))
    assert seen == [None, [], ["q_choice"], ["q_choice", "q_number"]]


@pytest.mark.parametrize(
    ("section", "typed", "sentence"),
    [
        ("1", ["z"], '"z" is none of the choices; write one letter of a to c'),
        ("1", ["ab"], '"ab" is none of the choices; write one letter of a to c'),
        ("1", ["a", "16,000"], "16,000 could be 16000 or 16.000; write it without a comma"),
        ("1", ["a", "one half"], '"one half" is not a number; write one, such as 0.125 or 1/8'),
        ("1", ["a", "1/0"], "divides by zero; write a number, such as 0.125 or 1/8"),
        ("2", ["ac", "two by four"], '"two by four" is not a shape, such as [2, 2, 4]'),
        ("2", ["ac", "2", "abcd", "1a 1b"], "is given twice; write a letter for each number, such as 1a 2c"),
        ("2", ["ac", "2", "abab"], "is given twice; write each of its letters once"),
        ("1", [" "], "Nothing was typed; :s goes on without an answer."),
        ("1", ["a", "1", "x" * 2001], "an answer of 2001 characters is too long"),
    ],
)
def test_what_cannot_be_read_is_asked_again(folder: Path, answer: Take, section: str, typed: list[str], sentence: str):
    said = " ".join(answer("mira", *typed, sections=(section,)).split())
    assert sentence in said
    assert typed[-1] not in map(str, saved(folder).values())


def test_a_question_about_percent_says_so():
    question = {"type": "number", "unit": "%"}
    assert how(question) == "a number of percent, such as 12.5"
    refuse_unreadable(question, "12,5 %")
    assert how({"type": "number"}) == "a number, such as 0.125 or 1/8"


def test_skip_back_help_and_quit(folder: Path, answer: Take):
    said = answer("mira", "s", "?", ":b", "c", ":s", "layer norm", "q", "never read")
    assert list(saved(folder)) == ["q_choice", "q_text"]
    numbers = [found[0] for found in re.finditer(r"Question \d", said)]
    assert numbers == ["Question 1", "Question 2", "Question 1", "Question 2", "Question 3", "Question 4"]
    assert "a backslash at the end of a line" in said and "Here: a number, such as 0.125" in said


def test_a_letter_that_may_be_the_answer_is_no_command(folder: Path, answer: Take):
    said = answer("mira", "b", "1", "s", "s", "8", sections=("1",))
    assert saved(folder) == {"q_choice": "b", "q_number": "1", "q_text": "s", "q_drawn": "8"}
    assert 'If "s" is your answer, type it once more; :s is the command.' in said.replace("\n", " ")


def test_an_answer_can_be_kept_or_changed_later(folder: Path, answer: Take):
    answer("mira", *EVERYTHING)
    said = answer("", "0.25", sections=("1",), again=True)
    assert "Your answer so far: b" in said and "kept: b" in said
    assert saved(folder)["q_choice"] == "b" and saved(folder)["q_number"] == "0.25"
    assert "Question" not in answer()


def test_only_the_sections_asked_for_come(folder: Path, answer: Take):
    said = answer("mira", "ac", sections=("offset",))
    assert "section 2 of 2" in said and list(saved(folder)) == ["q_several"]
    with pytest.raises(QuizTrouble, match=r'"7" is no section of this quiz; it has Week 1 §1, Week 1 §2'):
        answer("mira", sections=("7",))


def test_a_question_that_has_changed_is_asked_again(folder: Path, answer: Take):
    answer("mira", *EVERYTHING)
    file = folder / "quiz/quiz.json"
    quiz = json.loads(file.read_text("utf-8"))
    quiz["sections"][0]["items"][2]["version"] = "0badcafe"
    file.write_text(json.dumps(quiz), "utf-8")
    said = answer("row norm")
    assert said.count("Question") == 1 and "This question has changed since you answered it: layer norm" in said
    assert saved(folder)["q_text"] == "row norm"
    assert "Question" not in answer()


def test_numbers_are_those_that_marking_draws_for_the_student(folder: Path):
    question = load_quiz(folder)["sections"][0]["items"][3]
    seen = set()
    for student in ("mira", "hugo", "s01", "学生", "a" * 200):
        drawn_for = question["draws"][drawn(student, "q_drawn", len(question["draws"]))]
        said = " ".join(shown(question, student, Layout(60)))
        assert f"A model of width {drawn_for['C']} has {drawn_for['H']} heads." in said
        seen.add(said)
    assert len(seen) > 1


def test_what_another_sitting_saved_meanwhile_stays(folder: Path, monkeypatch: pytest.MonkeyPatch):
    class Typing(io.StringIO):
        def readline(self, size: int = -1) -> str:
            line = super().readline(size)
            if line == "a\n":
                data = json.loads((folder / "quiz_answers.json").read_text("utf-8"))
                data["answers"]["q_open"] = "from elsewhere"
                (folder / "quiz_answers.json").write_text(json.dumps(data), "utf-8")
            return line

    monkeypatch.setattr(sys, "stdin", Typing("mira\na\n"))
    take(folder, load_quiz(folder))
    assert saved(folder) == {"q_open": "from elsewhere", "q_choice": "a"}


@pytest.mark.parametrize(
    "damage", ["{", "[]", '{"answers": 3}', '{"assignment": "other", "answers": {}}', "[" * 200_000]
)
def test_a_damaged_answers_file_is_named_and_left_alone(folder: Path, answer: Take, damage: str):
    (folder / "quiz_answers.json").write_text(damage)
    with pytest.raises(AnswersTrouble, match=r"^quiz_answers\.json .*; rename it to begin anew"):
        answer("mira", "a")
    assert (folder / "quiz_answers.json").read_text() == damage


def test_a_folder_that_cannot_be_written_to_is_said_at_the_first_answer(folder: Path, answer: Take):
    (folder / ".quiz_answers.json.new").mkdir()
    with pytest.raises(AnswersTrouble, match=r"nothing more can be saved: quiz_answers\.json cannot be written"):
        answer("mira", "a")


def test_no_line_is_wider_than_the_terminal_in_either_alphabet(folder: Path):
    questions = [q for section in load_quiz(folder)["sections"] for q in section["items"]]
    for layout in (Layout(40), Layout(40, is_ascii=True)):
        for question in questions:
            for line in shown(question, "mira", layout):
                assert columns(line) <= 40, line
                assert line.isascii() or not layout.is_ascii, line


@pytest.mark.parametrize(
    ("tex", "text", "in_plain"),
    [
        (r"QK^T", "QKᵀ", "QK^T"),
        (r"\frac{QK^T}{\sqrt{D}}", "QKᵀ/√D", "QK^T/sqrt(D)"),
        (r"\sqrt{D + 1}", "√(D + 1)", "sqrt(D + 1)"),
        (r"x_0 + x_{t+1}", "x₀ + xₜ₊₁", "x_0 + x_(t+1)"),
        (r"\frac12", "1/2", "1/2"),
        (r"\sum_{i=1}^{n} w_i \cdot x_i", "∑_(i = 1)ⁿ wᵢ · xᵢ", "sum_(i = 1)^n w_i * x_i"),
        (
            r"\gamma\frac{x-\mu}{\sqrt{\sigma^2+\epsilon}}",
            "γ(x - μ)/√(σ² + ε)",
            "gamma(x - mu)/sqrt(sigma^2 + epsilon)",
        ),
        (r"\text{softmax}(\hat{x})", "softmax(x-hat)", "softmax(x-hat)"),
        (r"W_V \times \lambda", "W_V × λ", "W_V x lambda"),
        ("\\frac{", "()/()", "()/()"),
    ],
)
def test_formulas_are_readable_as_text(tex: str, text: str, in_plain: str):
    assert formula(tex) == text
    assert in_ascii(text) == in_plain


def test_markdown_becomes_text():
    source = "Which **value** is `x[0, 1]`\nhere?\n\n```python\nx = 1\n\ny = 2\n```\n\n- a point that is longer than a line\n- b"
    lines = [
        "Which value is `x[0, 1]`",
        "here?",
        "",
        "    x = 1",
        "",
        "    y = 2",
        "",
        "- a point that is longer",
        "  than a line",
        "- b",
    ]
    assert Layout(24).plain(source) == lines


def test_students_take_it_without_the_kit_and_a_pipe_will_do(folder: Path):
    def run(*arguments: str, typed: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-S", "-m", "selfcheck", "quiz", *arguments]
        variables = {"PATH": "", "LC_ALL": "C", "COLUMNS": "60"}
        return subprocess.run(command, cwd=folder, input=typed, capture_output=True, encoding="ascii", env=variables)

    done = run("--section", "2", typed="mira\na\n2, 4\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert "b) the beta of a norm" in done.stdout and "where x_0 has" in done.stdout and "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 60
    assert saved(folder) == {"q_several": "a", "q_shape": "2, 4"}
    wrong = run("--section", "nine", typed="")
    assert (
        wrong.returncode == 1
        and wrong.stderr == '"nine" is no section of this quiz; it has Week 1 sec. 1, Week 1 sec. 2\n'
    )


def test_practice_explains_at_once_where_the_complete_questions_are(released: Path, tmp_path: Path):
    root = Path(shutil.copytree(released, tmp_path / "course"))
    folder = root / "assignments/lines"
    choices = load_quiz(folder)["sections"][0]["items"][0]["options"]
    wrong = next(choice["letter"] for choice in choices if choice["text"].startswith("all"))

    def run(*options: str, typed: str) -> str:
        (folder / "quiz_answers.json").unlink(missing_ok=True)
        done = CliRunner(env={"COLUMNS": "100"}).invoke(main, ["--course", str(root), "quiz", "lines", *options], typed)
        assert done.exit_code == 0, done.output
        return " ".join(done.output.split())

    practice = run(typed=f"mira\n{wrong}\n0.125\n:q\n")
    assert f"failed: 0 of 1 point {FEEDBACK} {WHY}" in practice and f"passed: 1 of 1 point {WHY}" in practice
    self_assessed = run("--section", "2", typed="mira\n:s\n:s\n:s\n:s\n:s\nx\n")
    assert "self-assessed; compare it with this answer: Without an offset" in self_assessed
    assert WHY not in run("--graded", typed=f"mira\n{wrong}\n0.125\n:q\n")


def test_the_command_takes_the_released_quiz_where_there_is_no_complete_one(folder: Path, tmp_path: Path):
    course = tmp_path / "course"
    (course / "assignments").mkdir(parents=True)
    shutil.copytree(folder, course / "assignments/lines")
    keyed_course(tmp_path / "whole")
    shutil.copy(tmp_path / "whole/course.yml", course)
    done = autograder("quiz", "take", "lines", "--section", "x", cwd=course)
    assert done.returncode == 2 and done.stderr.startswith('autograder: "x" is no section of this quiz')
    shutil.rmtree(course / "assignments/lines/quiz")
    done = autograder("quiz", "lines", cwd=course)
    assert done.stderr == "autograder: there is no quiz/quiz.json in this folder; it comes with the exercises\n"
    shutil.rmtree(course / "assignments")
    done = autograder("quiz", "lines", cwd=course)
    assert done.stderr == "autograder: there is no folder of exercises for lines yet; release it first\n"


class Tmux:
    """A terminal of 60 columns, driven from outside."""

    def __init__(self, socket: Path, folder: Path, **variables: str) -> None:
        self._command = ["tmux", "-S", str(socket), "-f", os.devnull]
        settings = [f"{name}={value}" for name, value in variables.items()]
        program = ["env", "-u", "COLUMNS", *settings, sys.executable, "-S", "-m", "selfcheck", "quiz", "--section", "2"]
        self._run(
            "new-session",
            "-d",
            "-x",
            "60",
            "-y",
            "50",
            "-c",
            str(folder),
            " ".join(program) + "; echo it ended: $?; cat",
        )

    def _run(self, *arguments: str) -> str:
        return subprocess.run([*self._command, *arguments], check=True, capture_output=True, encoding="utf-8").stdout

    def type(self, *keys: str) -> None:
        self._run("send-keys", *keys)

    def wait_for(self, text: str, colours: bool = False) -> str:
        """The screen when it shows a text at last."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            screen = self._run("capture-pane", "-p", "-S", "-", *(["-e"] if colours else []))
            if text in screen:
                return screen
            time.sleep(0.05)
        raise AssertionError(f"{text!r} never came; the screen shows:\n{screen}")

    def close(self) -> None:
        subprocess.run([*self._command, "kill-server"], capture_output=True)


@pytest.fixture
def terminal(folder: Path, tmp_path: Path) -> Iterator[Callable[..., Tmux]]:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    opened: list[Tmux] = []

    def open_one(**variables: str) -> Tmux:
        opened.append(Tmux(tmp_path / f"socket{len(opened)}", folder, **variables))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


def test_a_sitting_in_a_real_terminal_of_60_columns(folder: Path, terminal: Callable[..., Tmux]):
    tmux = terminal(LC_ALL="C", NO_COLOR="1")
    tmux.wait_for("as\nyour instructor knows you:\n>")
    tmux.type("mirx", "BSpace", "a", "Enter")
    tmux.wait_for("Question 1 of 6")
    tmux.type("a, c", "Enter")
    tmux.wait_for("Question 2 of 6")
    tmux.type("C-c")
    screen = tmux.wait_for("it ended: 130", colours=True)
    assert "\x1b[" not in screen and screen.isascii()
    assert "1 of 10 questions answered, saved in quiz_answers.json." in screen and "Traceback" not in screen
    assert saved(folder) == {"q_several": "a, c"}
    tmux = terminal(LC_ALL="C.UTF-8")
    screen = tmux.wait_for(":q quit", colours=True)
    assert "\x1b[1mWeek 1 §2: Offset" in screen and "where x₀ has" in screen
    tmux.type("C-d")
    screen = tmux.wait_for("it ended: 0")
    assert "Week 1 §2: 1 of 6 answered." in screen and "Traceback" not in screen
