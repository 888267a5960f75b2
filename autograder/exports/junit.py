"""JUnit XML, of the form that Jenkins, GitLab and others read (the xUnit plugin's schema junit-10).

A suite for each student, a case for each check, named in plain words. A check without all of its points is a failure
and never "skipped", which build servers take for fine; what no wrong answer explains (a limit, the end of the
process, grader trouble) is an error. Source of checks, output and seeds are in none of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from autograder.exports.standing import Exported, Row, Standing, number
from autograder.grading.receipt import GRADER_TROUBLE, STOPPED, TIMED_OUT, CheckResult

_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ERRORS = (TIMED_OUT, STOPPED, GRADER_TROUBLE, "not run")


def junit(standing: Standing, students: Iterable[str] | None = None) -> Exported:
    """One file for the class, or for some of it."""
    wanted = None if students is None else set(students)
    rows = [row for row in standing.rows if wanted is None or row.student in wanted]
    root = Element("testsuites", name=standing.id)
    for row in rows:
        root.append(_suite(standing, row))
    for attribute in ("tests", "failures", "errors"):
        root.set(attribute, str(sum(int(suite.get(attribute, "0")) for suite in root)))
    root.set("time", f"{sum(row.receipt.seconds for row in rows):.3f}")
    indent(root)
    content: bytes = tostring(root, encoding="UTF-8", xml_declaration=True)
    left_out = [f"{student} is not in the file: {why}" for student, why in standing.ungraded.items()]
    return Exported({f"{standing.id.replace('/', '_')}_junit.xml": content + b"\n"}, left_out=tuple(left_out))


def _suite(standing: Standing, row: Row) -> Element:
    receipt = row.receipt
    suite = Element("testsuite", name=_legal(row.student), package=standing.id)
    properties = SubElement(suite, "properties")
    facts = {
        "name": row.name,
        "status": receipt.status,
        "points": number(row.final.points),
        "possible": number(standing.possible),
        "late": row.final.late.sentence,
        **{f"points.{score.exercise}": number(score.points) for score in row.final.exercises},
    }
    for name, value in facts.items():
        SubElement(properties, "property", name=_legal(name), value=_legal(value))
    kinds = [_case(suite, standing, check) for check in receipt.checks]
    suite.set("tests", str(len(kinds)))
    suite.set("failures", str(kinds.count("failure")))
    suite.set("errors", str(kinds.count("error")))
    suite.set("skipped", "0")
    suite.set("time", f"{receipt.seconds:.3f}")
    suite.set("timestamp", receipt.graded_at.partition("+")[0])
    if receipt.remarks:
        SubElement(suite, "system-out").text = _legal("\n".join(receipt.remarks))
    return suite


def _case(suite: Element, standing: Standing, check: CheckResult) -> str:
    """Add a check; says which kind of element tells that it lost points, "" where it did not."""
    title = check.title if check.public else f"hidden: {check.title}"
    where = f"{standing.id.replace('/', '.')}.{check.exercise}"
    case = SubElement(suite, "testcase", classname=_legal(where), name=_legal(title), time=f"{check.seconds:.3f}")
    if check.earned == check.points:
        return ""
    kind = "error" if check.outcome in _ERRORS else "failure"
    said = f"{check.outcome}, {number(check.earned)} of {number(check.points)} points"
    SubElement(case, kind, type=_legal(check.outcome), message=_legal(said)).text = _legal(check.message)
    return kind


def _legal(text: str) -> str:
    """The text without characters that no XML file can hold."""
    return _NOT_IN_XML.sub("\ufffd", text)
