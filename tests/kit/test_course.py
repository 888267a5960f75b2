"""course.yml: the course of this repository loads, and a wrong file says what is wrong and where."""

from __future__ import annotations

import copy
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml

from autograder.course import Course, CourseError, CourseFiles, exact_points, find_course, load_course

ROOT = Path(__file__).parents[2]
GONE = object()

SMALL: dict[str, Any] = {
    "id": "small",
    "title": "A small course",
    "timezone": "Europe/Berlin",
    "total_sections": 3,
    "weeks": [
        {
            "number": 8,
            "title": "Week",
            "units": [{"number": 1, "title": "Unit"}],
            "sections": [{"number": 0, "title": "Goal"}, {"number": 1, "title": "More", "unit": 1, "optional": True}],
        }
    ],
    "assignments": {
        "week08": {
            "title": "Attention",
            "points": 10,
            "deadline": "2027-03-07T23:59:00+01:00",
            "late_policy": {"grace_days": 1, "percent_per_day": 10, "cap_percent": 50},
            "limits": {"seconds_per_check": 2, "seconds_per_submission": 60, "memory_mb": 2048, "output_kb": 16},
            "exercises": [
                {"name": "mask", "points": 4, "course": ["Week 8 §1"]},
                {"name": "heads", "points": 6, "course": ["Day 3 ch. 4"], "needs": ["mask"]},
            ],
        }
    },
}
WEEK08 = ("assignments", "week08")
MASK = (*WEEK08, "exercises", 0)
HEADS = (*WEEK08, "exercises", 1)


def changed(*keys: str | int, to: Any) -> dict[str, Any]:
    """SMALL with one value replaced, or removed when `to` is GONE."""
    data = copy.deepcopy(SMALL)
    inner: Any = data
    for key in keys[:-1]:
        inner = inner[key]
    if to is GONE:
        del inner[keys[-1]]
    else:
        inner[keys[-1]] = to
    return data


def load(folder: Path, content: Any) -> Course:
    path = folder / "course.yml"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content), encoding="utf-8")
    return load_course(path)


def problems(folder: Path, content: Any) -> tuple[str, ...]:
    with pytest.raises(CourseError) as caught:
        load(folder, content)
    assert str(caught.value).startswith(f"{folder / 'course.yml'} has ")
    return caught.value.problems


def test_the_course_of_this_repository() -> None:
    course = load_course(ROOT)
    week = course.weeks[0]
    assert (course.total_sections, week.number) == (321, 8)
    assert [section.number for section in week.sections] == list(range(20))
    assert [unit.number for unit in week.units] == [1, 2, 3, 4]
    assert [section.number for section in week.sections if section.optional] == [15]
    assignment = course.assignments["week08"]
    assert assignment.points == 100
    assert {exercise.name: (int(exercise.points), exercise.needs) for exercise in assignment.exercises} == {
        "embedding": (10, ()),
        "masked_softmax": (14, ()),
        "multi_head": (14, ("masked_softmax",)),
        "layer_norm": (10, ()),
        "feed_forward": (10, ()),
        "transformer_block": (12, ("layer_norm", "multi_head", "feed_forward")),
        "lm_head": (12, ("layer_norm", "transformer_block")),
        "training": (10, ()),
        "sampling": (8, ()),
    }
    lab = course.assignments["names_lab"]
    assert lab.points == 100 and lab.data == ("names.txt",)
    assert {exercise.name: (int(exercise.points), exercise.needs) for exercise in lab.exercises} == {
        "dataset": (30, ()),
        "baselines": (20, ()),
        "comparison": (25, ()),
        "experiments": (25, ("comparison",)),
    }


def test_a_small_course_loads_with_its_values(tmp_path: Path) -> None:
    course = load(tmp_path, SMALL)
    assignment = course.assignment("week08")
    assert assignment.id == "week08"
    assert assignment.exercise("heads").needs == ("mask",)
    assert assignment.deadline == datetime(2027, 3, 7, 22, 59, tzinfo=UTC)
    assert assignment.late_policy.percent_per_day == 10
    assert assignment.limits.seconds_per_check == 2
    assert course.zone.utcoffset(datetime(2027, 3, 7)) == timedelta(hours=1)


def test_a_deadline_is_on_the_clocks_of_the_course(tmp_path: Path) -> None:
    for text in ("2027-03-07T23:59:00", "2027-03-07 23:59", "2027-03-07T22:59:00Z", "2027-03-08T04:29:00+05:30"):
        deadline = load(tmp_path, changed(*WEEK08, "deadline", to=text)).assignment("week08").deadline
        assert deadline == datetime(2027, 3, 7, 22, 59, tzinfo=UTC)
        assert f"{deadline:%H:%M %Z}" == "23:59 CET"


def test_students_may_have_deadlines_of_their_own(tmp_path: Path) -> None:
    own = {"ana": "2027-03-07T23:59:00", "Zoë B": "2027-04-01T12:00:00Z", "bo": "waived"}
    policy = load(tmp_path, changed(*LATE, "exemptions", to=own)).assignment("week08").late_policy
    assert policy.exemptions == {
        "ana": datetime(2027, 3, 7, 22, 59, tzinfo=UTC),
        "Zoë B": datetime(2027, 4, 1, 12, tzinfo=UTC),
        "bo": None,
    }


def test_an_exercise_has_scratch_when_it_says_so(tmp_path: Path) -> None:
    course = load(tmp_path, changed(*HEADS, "scratch_mb", to=8))
    assert [exercise.scratch_mb for exercise in course.assignment("week08").exercises] == [0, 8]


def test_the_model_is_frozen(tmp_path: Path) -> None:
    exercise = load(tmp_path, SMALL).assignments["week08"].exercises[0]
    with pytest.raises(ValueError, match="frozen"):
        exercise.points = Fraction(5)


@pytest.mark.parametrize(
    ("written", "exact"),
    [
        (2, Fraction(2)),
        (2.5, Fraction(5, 2)),
        (0.1, Fraction(1, 10)),
        ("10/3", Fraction(10, 3)),
        ("3.3", Fraction(33, 10)),
    ],
)
def test_points_are_exact(written: object, exact: Fraction) -> None:
    assert exact_points(written) == exact


@pytest.mark.parametrize("written", ["1e999999999", "1" * 99, "1/0", "", "3 of 4", None, [1], float("nan"), True])
def test_what_is_no_number_is_refused_quickly(written: object) -> None:
    with pytest.raises(ValueError, match="must"):
        exact_points(written)


def test_three_thirds_of_ten_points_are_ten_points(tmp_path: Path) -> None:
    data = changed(*WEEK08, "exercises", to=[{"name": n, "points": "10/3", "course": ["x"]} for n in ("a", "b", "c")])
    assert load(tmp_path, data).assignments["week08"].points == 10


LIMITS, LATE = (*WEEK08, "limits"), (*WEEK08, "late_policy")
WRONG = {
    "missing field": (("title",), GONE, "title: missing"),
    "missing deep inside": ((*HEADS, "points"), GONE, "assignments.week08.exercises[1].points: missing"),
    "unknown field": (("titel",), "x", "titel: not a field"),
    "unknown field deep inside": ((*MASK, "weight"), 2, "assignments.week08.exercises[0].weight: not a field"),
    "text for a number": (("total_sections",), "3", 'total_sections: must be a whole number, got "3"'),
    "fraction for a count": (("total_sections",), 3.5, "total_sections: must be a whole number, got 3.5"),
    "truth value for a count": ((*LIMITS, "memory_mb"), True, "memory_mb: must be a whole number, got true"),
    "number for text": (("title",), 5, "title: must be text, got 5"),
    "blank text": (("title",), "  ", "title: must not be empty"),
    "nothing": (("title",), None, "title: must be text, got nothing"),
    "text for a list": ((*HEADS, "needs"), "mask", 'exercises[1].needs: must be a list, got "mask"'),
    "list for a mapping": (("assignments",), [], "assignments: must be a mapping"),
    "text for an assignment": (WEEK08, "x", 'assignments.week08: must be a mapping, got "x"'),
    "no assignments": (("assignments",), {}, "assignments: must not be empty"),
    "no exercises": ((*WEEK08, "exercises"), [], "assignments.week08.exercises: must not be empty"),
    "no reference": ((*MASK, "course"), [], "exercises[0].course: must not be empty"),
    "optional as text": (("weeks", 0, "sections", 0, "optional"), "yes", "optional: must be true or false"),
    "course id": (("id",), "My course", 'id: must be lower-case letters, digits and underscores, got "My course"'),
    "assignment id": (("assignments", "../x"), SMALL["assignments"]["week08"], "assignments.../x.id: must be lower"),
    "another id inside": ((*WEEK08, "id"), "week09", "assignments.week08.id: must be left out"),
    "points nan": ((*HEADS, "points"), float("nan"), "exercises[1].points: must be a finite number, got nan"),
    "points inf": ((*HEADS, "points"), float("inf"), "exercises[1].points: must be a finite number, got inf"),
    "points negative": ((*HEADS, "points"), -6, "assignments.week08.exercises[1].points: must be positive, got -6"),
    "points zero": ((*HEADS, "points"), 0, "assignments.week08.exercises[1].points: must be positive, got 0"),
    "points negative fraction": ((*HEADS, "points"), "-10/3", "points: must be positive, got -10/3"),
    "points over zero": ((*HEADS, "points"), "10/0", 'points: must not divide by zero, got "10/0"'),
    "points in words": ((*HEADS, "points"), "six", 'points: must be a number or a fraction such as "10/3", got "six"'),
    "points true": ((*HEADS, "points"), True, "points: must be a number or a fraction"),
    "scratch of nothing": ((*HEADS, "scratch_mb"), 0, "week08.exercises[1].scratch_mb: must be positive"),
    "scratch of less": ((*HEADS, "scratch_mb"), -8, "week08.exercises[1].scratch_mb: must be positive"),
    "scratch in part": ((*HEADS, "scratch_mb"), 0.5, "scratch_mb: must be a whole number, got 0.5"),
    "scratch as truth value": ((*HEADS, "scratch_mb"), True, "scratch_mb: must be a whole number, got true"),
    "scratch left open": ((*HEADS, "scratch_mb"), None, "scratch_mb: must be a whole number, got nothing"),
    "data from elsewhere": (
        (*WEEK08, "data"),
        ["../names.txt"],
        'week08.data[0]: must be the name of a file in data/, such as names.txt, got "../names.txt"',
    ),
    "data as text": ((*WEEK08, "data"), "names.txt", "week08.data: must be a list, got"),
    "points list": ((*HEADS, "points"), [6], "points: must be a number or a fraction"),
    "points do not add up": (
        (*MASK, "points"),
        3.5,
        "week08.points: must be what the exercises add up to, 9.5, got 10",
    ),
    "thirds do not add up": ((*MASK, "points"), "10/3", "week08.points: must be what the exercises add up to, 28/3"),
    "name twice": (
        HEADS,
        {"name": "mask", "points": 6, "course": ["x"]},
        'exercises[1].name: "mask" is already the name of assignments.week08',
    ),
    "name twice but for case": ((*HEADS, "name"), "Mask", 'exercises[1].name: "Mask" is already the name of'),
    "name with a dash": ((*MASK, "name"), "a-b", 'name: must be a Python identifier of ASCII characters, got "a-b"'),
    "name a keyword": ((*MASK, "name"), "class", "exercises[0].name: must be a Python identifier"),
    "name not ascii": ((*MASK, "name"), "maß", "exercises[0].name: must be a Python identifier"),
    "name of the standard library": ((*MASK, "name"), "random", '"random" would hide the module of that name'),
    "name of torch": ((*MASK, "name"), "torch", '"torch" would hide the module of that name'),
    "name of numpy": ((*MASK, "name"), "numpy", '"numpy" would hide the module of that name'),
    "name of pytest": ((*MASK, "name"), "pytest", '"pytest" would hide the module of that name'),
    "name of the standard library but for case": ((*MASK, "name"), "Token", '"Token" would hide the module'),
    "needs unknown": ((*HEADS, "needs"), ["norm"], 'needs[0]: "norm" is not an exercise of this assignment'),
    "needs later": ((*MASK, "needs"), ["heads"], 'exercises[0].needs[0]: "heads" comes later; put it before mask'),
    "needs itself": ((*HEADS, "needs"), ["heads"], "exercises[1].needs[0]: an exercise cannot need itself"),
    "needs twice": ((*HEADS, "needs"), ["mask", "mask"], 'exercises[1].needs[1]: "mask" is named twice'),
    "deadline twice": (
        (*WEEK08, "deadline"),
        "2027-10-31T02:30:00",
        "assignments.week08.deadline: comes twice in Europe/Berlin, where clocks are changed then; end it with",
    ),
    "deadline never": ((*WEEK08, "deadline"), "2027-03-28T02:30:00", "deadline: does not exist in Europe/Berlin"),
    "deadline a day only": ((*WEEK08, "deadline"), "2027-03-07", "deadline: must be a date and time such as"),
    "deadline far away": (
        (*WEEK08, "deadline"),
        "9999-12-31T23:59:00-12:00",
        "deadline: must be in a year between 1970",
    ),
    "deadline in words": ((*WEEK08, "deadline"), "next friday", "deadline: must be a date and time such as"),
    "deadline impossible": ((*WEEK08, "deadline"), "2027-02-30T23:59:00Z", "deadline: must be a date and time such as"),
    "deadline a number": ((*WEEK08, "deadline"), 20270307, "deadline: must be a date and time such as"),
    "time zone unknown": (("timezone",), "Mars/Base", 'timezone: no time zone is called "Mars/Base"'),
    "time zone a folder": (("timezone",), "Europe", 'timezone: no time zone is called "Europe"'),
    "time zone a path": (("timezone",), "../../etc/passwd", "timezone: no time zone is called"),
    "limit zero": ((*LIMITS, "seconds_per_check"), 0, "limits.seconds_per_check: must be positive"),
    "limit negative": ((*LIMITS, "output_kb"), -16, "limits.output_kb: must be positive"),
    "limit without end": ((*LIMITS, "seconds_per_check"), float("inf"), "seconds_per_check: must be a finite number"),
    "limit in words": ((*LIMITS, "seconds_per_check"), "2 s", 'seconds_per_check: must be a number, got "2 s"'),
    "limits crossed": (
        (*LIMITS, "seconds_per_check"),
        90,
        "seconds_per_submission: must not be less than seconds_per_",
    ),
    "percent above 100": ((*LATE, "percent_per_day"), 101, "percent_per_day: must be between 0 and 100, got 101"),
    "percent below 0": ((*LATE, "cap_percent"), -1, "cap_percent: must be between 0 and 100, got -1"),
    "percent nan": ((*LATE, "cap_percent"), float("nan"), "cap_percent: must be a finite number"),
    "grace negative": ((*LATE, "grace_days"), -1, "late_policy.grace_days: must not be negative"),
    "grace without end": ((*LATE, "grace_days"), 10**12, "late_policy.grace_days: must be at most 1000"),
    "exemption in words": (
        (*LATE, "exemptions"),
        {"ana": "ill"},
        "exemptions.ana: must be a date and time such as 2027",
    ),
    "exemption too early": (
        (*LATE, "exemptions"),
        {"ana": "2027-03-07T22:58:59Z"},
        "late_policy.exemptions.ana: must not be before the deadline of everybody",
    ),
    "exemption never": (
        (*LATE, "exemptions"),
        {"ana": "2027-03-28T02:30:00"},
        "exemptions.ana: does not exist in Europe",
    ),
    "section twice": (("weeks", 0, "sections", 1, "number"), 0, "weeks[0].sections[1].number: 0 is already the number"),
    "unit unknown": (("weeks", 0, "sections", 1, "unit"), 2, "weeks[0].sections[1].unit: week 8 has no study unit 2"),
    "too few sections": (("total_sections",), 1, "total_sections: must be at least 2"),
    "reference to no section": ((*MASK, "course"), ["Week 8 §7"], "exercises[0].course[0]: week 8 has no section 7"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_value_is_the_only_problem_and_is_named(case: str, tmp_path: Path) -> None:
    keys, value, expected = WRONG[case]
    (problem,) = problems(tmp_path, changed(*keys, to=value))
    assert expected in problem
    assert "\n" not in problem


def test_exercise_names_are_unique_over_the_whole_course(tmp_path: Path) -> None:
    second = copy.deepcopy(SMALL["assignments"]["week08"])
    second["exercises"][0]["name"], second["exercises"][1]["needs"] = "fresh", []
    found = problems(tmp_path, changed("assignments", "lab", to=second))
    assert found == (
        'assignments.week08.exercises[1].name: "heads" is already the name of assignments.lab.exercises[1]',
    )


def test_all_errors_are_told_at_once(tmp_path: Path) -> None:
    data = changed("timezone", to="Nowhere")
    data["assignments"]["week08"]["limits"]["memory_mb"] = 0
    data["assignments"]["week08"]["exercises"][1]["points"] = float("nan")
    data["weeks"][0]["sections"][1]["unit"] = 7
    places = [problem.split(":")[0] for problem in problems(tmp_path, data)]
    assert sorted(places) == [
        "assignments.week08.exercises[1].points",
        "assignments.week08.limits.memory_mb",
        "timezone",
        "weeks[0].sections[1].unit",
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "file: there is nothing in it"),
        ("# only a comment\n", "file: there is nothing in it"),
        ("- a\n- b\n", "file: must be a mapping"),
        ("just text\n", "file: must be a mapping"),
        ("id: a\ntitle: [1, 2\nx: 3\n", "line 3, column 2: not valid YAML"),
        ("id: a\n\ttitle: b\n", "line 2, column 1: not valid YAML"),
        ("id: a\n---\nid: b\n", "line 2, column 1: not valid YAML"),
        ("id: a\ntitle: b\nid: c\n", "id: given twice, in lines 1 and 3"),
        ("assignments:\n  w:\n    points: 1\n    points: 2\n", "assignments.w.points: given twice, in lines 3 and 4"),
        ("id: a\n8: b\n", "file: the key in line 2 must be text; put it in quotes"),
        ("id: !!python/object:os.system a\n", "id: the tag"),
        ("id: &a [*a]\n", "id[0]: an alias makes it contain itself"),
        ("id: a\ntitle: b\x07\n", "line 2: a control character"),
        (f"total_sections: {'9' * 5000}\n", "total_sections: 99999999999999999999... cannot be read as a number"),
        ("id: " + "[" * 3000, "file: nested too deeply"),
        (b"id: a\ntitle: caf\xe9\n", "line 2: byte 0xe9 is not UTF-8"),
        ("id: a\n".encode("utf-16"), "line 1: byte 0xff is not UTF-8"),
    ],
)
def test_a_file_that_is_not_a_course(content: str | bytes, expected: str, tmp_path: Path) -> None:
    assert expected in problems(tmp_path, content)[0]


def test_a_byte_order_mark_and_windows_line_ends_are_fine(tmp_path: Path) -> None:
    text = yaml.safe_dump(SMALL).replace("\n", "\r\n")
    assert load(tmp_path, b"\xef\xbb\xbf" + text.encode()).id == "small"


def test_words_and_dates_stay_what_was_written(tmp_path: Path) -> None:
    text = yaml.safe_dump(changed("title", to="TITLE"), sort_keys=False)
    deadline = "2027-03-07T23:59:00+01:00"
    course = load(tmp_path, text.replace("TITLE", "No").replace(f"'{deadline}'", deadline))
    assert course.title == "No"
    assert course.assignments["week08"].deadline == datetime(2027, 3, 7, 22, 59, tzinfo=UTC)


def test_a_missing_file_and_a_missing_course(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"course\.yml does not exist"):
        load_course(tmp_path)
    with pytest.raises(CourseError, match=r"no course\.yml in .* or above it; go to"):
        find_course(tmp_path)


def test_find_course_walks_up(tmp_path: Path) -> None:
    (tmp_path / "course.yml").write_text("id: x\n")
    inner = tmp_path / "solutions" / "week08"
    inner.mkdir(parents=True)
    assert find_course(inner) == find_course(tmp_path) == (tmp_path / "course.yml").resolve()


def test_an_unknown_assignment_or_exercise_lists_the_known_ones(tmp_path: Path) -> None:
    course = load(tmp_path, SMALL)
    with pytest.raises(CourseError, match='"week9" is not an assignment of this course; it has week08'):
        course.assignment("week9")
    with pytest.raises(CourseError, match='"head" is not an exercise of week08; it has mask, heads'):
        course.assignment("week08").exercise("head")


def test_paths_of_an_exercise() -> None:
    files = CourseFiles(Path("root"))
    assert files.solutions("week08") == Path("root/solutions/week08")
    assert files.examples("week08") == Path("root/solutions/week08/examples")
    assert files.stubs("week08") == Path("root/assignments/week08")
    assert files.suite("week08") == Path("root/tests/suites/week08")
    assert files.suite_file("week08", "mask") == Path("root/tests/suites/week08/test_mask.py")
    assert files.rig("week08", "mask") == Path("root/tests/suites/week08/rigs/mask.py")
    assert files.reference("mask") == Path("root/reference/mask.py")
    assert files.stand_in("mask") == Path("root/reference/stand_ins/mask.py")
    assert files.traces("mask") == Path("root/reference/traces/mask.yml")


def test_loading_a_course_does_not_load_torch() -> None:
    code = "import sys, autograder.course; sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
