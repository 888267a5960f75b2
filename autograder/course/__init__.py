"""What a course consists of: `course.yml` as a checked, frozen model, where its files are, and its worked examples."""

from autograder.course.errors import CourseError
from autograder.course.files import CourseFiles, find_course, load_course
from autograder.course.model import (
    Assignment,
    Course,
    Exercise,
    LatePolicy,
    Limits,
    Section,
    StudyUnit,
    Week,
)
from autograder.course.points import exact_points
from autograder.course.traces import TraceEntry, TraceValue, load_traces

__all__ = [
    "Assignment",
    "Course",
    "CourseError",
    "CourseFiles",
    "Exercise",
    "LatePolicy",
    "Limits",
    "Section",
    "StudyUnit",
    "TraceEntry",
    "TraceValue",
    "Week",
    "exact_points",
    "find_course",
    "load_course",
    "load_traces",
]
