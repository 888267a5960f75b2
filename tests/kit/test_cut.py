"""Cutting answers out of solutions and suites: what is left, and which sources are refused."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from small_course import FILES

from autograder.authoring import AuthoringError, cut_hidden_tests, cut_solution
from autograder.course import CourseFiles, load_course

ROOT = Path(__file__).parents[2]
SUITE = FILES["tests/suites/lines/test_slope.py"]


def module(*lines: str) -> str:
    return "\n".join(lines) + "\n"


def test_a_region_becomes_a_raise_that_names_its_function():
    assert cut_solution(FILES["solutions/lines/slope.py"]).endswith(
        '    # TODO: Which operator multiplies element by element?\n    raise NotImplementedError("slope")\n'
    )


def test_a_method_is_named_with_its_class():
    stub = cut_solution(FILES["solutions/lines/line.py"])
    assert 'super().__init__()\n        raise NotImplementedError("Line.__init__")\n\n    def forward' in stub
    assert stub.endswith('        """The line at x."""\n        raise NotImplementedError("Line.forward")\n')


def test_what_stands_around_a_region_stays():
    text = module(
        "def f(x):",
        "    y = 1",
        "    if x:",
        "        ### BEGIN SOLUTION",
        "        y = 2",
        "",
        "        y += x",
        "        ### END SOLUTION",
        "    else:",
        "        y = 3",
        "    return y",
    )
    assert cut_solution(text) == module(
        "def f(x):",
        "    y = 1",
        "    if x:",
        '        raise NotImplementedError("f")',
        "    else:",
        "        y = 3",
        "    return y",
    )


def test_a_region_may_hold_text_that_starts_at_the_margin():
    text = module("def f():", "    ### BEGIN SOLUTION", '    return """', "left", '"""', "    ### END SOLUTION")
    assert cut_solution(text) == module("def f():", '    raise NotImplementedError("f")')


def test_a_byte_order_mark_and_other_line_ends_do_no_harm():
    text = FILES["solutions/lines/slope.py"]
    assert cut_solution("\ufeff" + text.replace("\n", "\r\n")) == cut_solution(text)


def test_a_module_without_regions_stays_as_it_is():
    assert cut_solution("def f():\n    return 1\n") == "def f():\n    return 1\n"


@pytest.mark.parametrize(
    ("lines", "place", "words"),
    [
        (["def f():", "    ### BEGIN SOLUTION", "    return 1"], 2, "never ends"),
        (["def f():", "    return 1", "    ### END SOLUTION"], 3, "never began"),
        (["def f():", "    ### BEGIN SOLUTION", "    ### BEGIN SOLUTION", "    return 1"], 3, "begins inside"),
        (["def f():", "    ### BEGIN SOLUTION", "    return 1", "  ### END SOLUTION"], 4, "indent this marker"),
        (["def f():", "  ### BEGIN SOLUTION", "  return 1", "    ### END SOLUTION"], 4, "indent this marker"),
        (["def f():", "### BEGIN SOLUTION", "    return 1", "### END SOLUTION"], 2, "indent the markers"),
        (["def f():", "    ## BEGIN SOLUTION", "    return 1"], 2, "exactly"),
        (["def f():", "    ### Begin Solution", "    return 1"], 2, "exactly"),
        (["def f():", "    ### BEGIN SOLUTIONS", "    return 1"], 2, "exactly"),
        (["def f():", "    ### BEGIN SOULTION", "    return 1"], 2, "exactly"),
        (["def f():", "    # END_SOLUTION", "    return 1"], 2, "exactly"),
        (["def f():", "    return 1  ### BEGIN SOLUTION"], 2, "exactly"),
        (["def f():", '    """', "    ### BEGIN SOLUTION", '    """', "    ### END SOLUTION"], 3, "in quotes"),
        (["### BEGIN SOLUTION", "x = 1", "### END SOLUTION"], 1, "inside a function"),
        (["class C:", "    ### BEGIN SOLUTION", "    x = 1", "    ### END SOLUTION"], 2, "inside a function"),
        (["### BEGIN SOLUTION", "def f():", "    return 1", "### END SOLUTION"], 1, "inside a function"),
        (["def f():", "    ### BEGIN SOLUTION", "    # nothing", "    ### END SOLUTION", "    pass"], 2, "no whole"),
        (["def f():", "    ### BEGIN SOLUTION", "    x = (", "    ### END SOLUTION", "    1)"], 2, "no whole"),
        (
            ["def f():", "    ### BEGIN SOLUTION", "    x = 1", "def g():", "    y = 1", "    ### END SOLUTION"],
            2,
            "in two",
        ),
        (
            [
                "def f(a):",
                "  if a:",
                "    ### BEGIN SOLUTION",
                "    b = 1",
                "  else:",
                "    b = 2",
                "    ### END SOLUTION",
            ],
            3,
            "in one branch",
        ),
        (["### BEGIN HIDDEN TESTS", "x = 1", "### END HIDDEN TESTS"], 1, "no place"),
        (["def f(:", "    return 1"], 1, "not valid Python"),
    ],
)
def test_a_wrong_solution_is_refused_with_its_line(lines: list[str], place: int, words: str):
    with pytest.raises(AuthoringError, match=words) as error:
        cut_solution(module(*lines), "solutions/a/f.py")
    assert str(error.value).startswith(f"solutions/a/f.py:{place}: ")
    assert "\n" not in str(error.value)


def test_a_suite_keeps_its_public_checks_and_the_imports_they_use():
    assert cut_hidden_tests(SUITE) == module(
        '"""Checks of `slope`."""',
        "",
        "import pytest",
        "",
        "from selfcheck.checking import equal",
        "",
        "",
        '@pytest.mark.points(2, "multiplies by hand")',
        "def test_by_hand(student, trace):",
        '    example = trace("doubled")',
        '    example.agrees("twice", student.slope(example.inputs["x"], 2.0))',
        "",
        "",
        '@pytest.mark.points("1/2", "a factor of one changes nothing")',
        "def test_factor_of_one(student, rng):",
        "    x = rng.normal(2, 3)",
        "    equal(student.slope(x, 1.0), x)",
    )


def test_a_hidden_region_in_the_middle_leaves_two_blank_lines():
    public = "import pytest\n\n\ndef test_a(student):\n    pass\n\n\n{}def test_b(student):\n    pytest.fail()\n"
    hidden = "### BEGIN HIDDEN TESTS\ndef test_h(student):\n    pass\n\n\n### END HIDDEN TESTS\n"
    for after in ("", "\n", "\n\n"):
        assert cut_hidden_tests(public.format(hidden + after)) == public.format("")


def test_a_long_import_is_written_line_by_line():
    names = [f"a_rather_long_name_{i}" for i in range(8)]
    uses = "".join(f"    {name}()\n" for name in names[:-1])
    text = f"from autograder.suite.checking import {', '.join(names)}\n\n\ndef test_a():\n{uses}"
    listed = "".join(f"    {name},\n" for name in names[:-1])
    assert cut_hidden_tests(text) == f"from selfcheck.checking import (\n{listed})\n\n\ndef test_a():\n{uses}"


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        (SUITE.replace("### END HIDDEN TESTS\n", ""), 23, "never ends"),
        (SUITE.replace("### BEGIN HIDDEN TESTS\n", ""), 35, "never began"),
        (SUITE.replace("### BEGIN HIDDEN", "### begin hidden"), 23, "exactly"),
        ("def test_a():\n    ### BEGIN HIDDEN TESTS\n    pass\n    ### END HIDDEN TESTS\n", 2, "do not indent"),
        (SUITE.replace("HIDDEN TESTS", "SOLUTION"), 23, "no place"),
        ("def h():\n    return 1\n\n\n### BEGIN HIDDEN TESTS\nh()\n### END HIDDEN TESTS\n", 1, "`h` serves hidden"),
        ("LIMIT = 3\n### BEGIN HIDDEN TESTS\nprint(LIMIT)\n### END HIDDEN TESTS\n", 1, "`LIMIT` serves hidden"),
        ("import hypothesis\n", 1, "do not have `hypothesis`"),
        ("import autograder.suite.checking\n", 1, "do not have `autograder.suite.checking`"),
        ("from autograder.suite.trace import Trace\n", 1, "do not have `autograder.suite.trace`"),
        ("from reference import slope\n", 1, "do not have `reference`"),
        ("def f():\n    from . import slope\n", 2, "do not have `.`"),
    ],
)
def test_a_wrong_suite_is_refused_with_its_line(text: str, place: int, words: str):
    with pytest.raises(AuthoringError, match=words) as error:
        cut_hidden_tests(text, "test_x.py")
    assert str(error.value).startswith(f"test_x.py:{place}: ")


def test_every_solution_of_the_course_gives_a_stub_that_compiles_and_keeps_every_name():
    files = CourseFiles(ROOT)
    paths = [
        files.solution(assignment.id, exercise.name)
        for assignment in load_course(ROOT).assignments.values()
        for exercise in assignment.exercises
    ]
    for path in paths:
        text = path.read_text("utf-8")
        stub = cut_solution(text, str(path))
        compile(stub, str(path), "exec")
        assert signatures(stub) == signatures(text)
        assert "SOLUTION" not in stub


def signatures(text: str) -> list[tuple[str, str, str | None]]:
    """Name, arguments and docstring of everything that a student must keep."""
    return sorted(
        (node.name, ast.unparse(node.args) if isinstance(node, ast.FunctionDef) else "", ast.get_docstring(node))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node)
    )
