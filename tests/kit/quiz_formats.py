"""What files for Canvas, Moodle and Anki must be, by the rules and habits of their importers; one sentence a fault."""

from __future__ import annotations

import io
import json
import re
import sqlite3
import zipfile
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

Faults = Iterator[str]

CANVAS_TYPES = {
    *("multiple_choice_question", "multiple_answers_question", "numerical_question", "short_answer_question"),
    *("matching_question", "essay_question"),
}
MOODLE_TYPES = {"category", "multichoice", "shortanswer", "numerical", "matching", "essay"}
SHARES = {round(float(100 * Fraction(p, q)), 4) for q in range(1, 7) for p in range(q + 1)}
SHARES |= {round(100 / q, 4) for q in (*range(1, 11), 20)} | {10.0 * p for p in range(11)}


def canvas_quizzes(data: bytes) -> dict[str, Element]:
    """Path -> root of each assessment in a zip for Canvas, without namespaces."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = [name for name in archive.namelist() if "/" in name and not name.endswith("assessment_meta.xml")]
        return {name: _bare(archive.read(name)) for name in names}


def canvas_items(data: bytes) -> dict[str, Element]:
    """Ident -> item, over all quizzes of a zip."""
    return {str(item.get("ident")): item for root in canvas_quizzes(data).values() for item in root.iter("item")}


def moodle_questions(data: bytes) -> dict[str, Element]:
    """Idnumber -> question, categories left out."""
    return {q.findtext("idnumber", ""): q for q in ElementTree.fromstring(data) if q.get("type") != "category"}


def _bare(data: bytes) -> Element:
    root = ElementTree.fromstring(data)
    for part in root.iter():
        part.tag = part.tag.rsplit("}", 1)[-1]
    return root


def faults_of_canvas(data: bytes) -> Faults:
    """Of a zip for Canvas."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        yield from (f"{e.filename} has a time" for e in archive.infolist() if e.date_time != (1980, 1, 1, 0, 0, 0))
        manifest = _bare(archive.read("imsmanifest.xml"))
        metas = [_bare(archive.read(name)) for name in names if name.endswith("assessment_meta.xml")]
    listed = ["imsmanifest.xml", *(str(file.get("href")) for file in manifest.iter("file"))]
    if sorted(listed) != sorted(names):
        yield f"the manifest lists {sorted(set(listed) ^ set(names))} in another way than the zip"
    resources = {r.get("identifier"): r.get("type") for r in manifest.iter("resource")}
    yield from (
        f"{d.get('identifierref')} is no resource"
        for d in manifest.iter("dependency")
        if d.get("identifierref") not in resources
    )
    quizzes = canvas_quizzes(data)
    if [t for t in resources.values() if t == "imsqti_xmlv1p2"] != ["imsqti_xmlv1p2"] * len(quizzes):
        yield "not every quiz is a resource of the type imsqti_xmlv1p2"
    yield from (
        f"{m.get('identifier')} is published or shows its results"
        for m in metas
        if m.findtext("available") != "false" or m.findtext("hide_results") != "always"
    )
    idents: Counter[str] = Counter()
    for root in quizzes.values():
        for part in (*root.iter("assessment"), *root.iter("section"), *root.iter("item")):
            idents[str(part.get("ident"))] += part.get("ident") != "root_section"
        for section in root.iter("section"):
            number = section.findtext("selection_ordering/selection/selection_number")
            if number and not 0 < int(number) < len(section.findall("item")):
                yield f"{section.get('ident')} draws {number} of {len(section.findall('item'))}"
        for item in root.iter("item"):
            yield from (f"{item.get('ident')}: {fault}" for fault in _faults_of_item(item))
    yield from (f"{ident} is used {count} times" for ident, count in idents.items() if count > 1)


def canvas_type(item: Element) -> str:
    return canvas_field(item, "question_type")


def canvas_field(item: Element, label: str) -> str:
    fields = {f.findtext("fieldlabel"): f.findtext("fieldentry") for f in item.iter("qtimetadatafield")}
    return fields.get(label) or ""


def _faults_of_item(item: Element) -> Faults:
    kind = canvas_type(item)
    if kind not in CANVAS_TYPES:
        yield f"{kind} is not a type of Canvas"
    if not re.fullmatch(r"\d+(\.\d+)?", canvas_field(item, "points_possible")):
        yield "points_possible is no number"
    if not (item.findtext("presentation/material/mattext") or "").strip():
        yield "nothing is asked"
    feedback = Counter(part.get("ident") for part in item.findall("itemfeedback"))
    linked = {part.get("linkrefid") for part in item.iter("displayfeedback")}
    if set(feedback) != linked or max(feedback.values()) > 1:
        yield f"feedback {set(feedback) ^ linked} is shown or given only"
    labels: dict[str, list[str]] = {}
    for field in (*item.iter("response_lid"), *item.iter("response_str")):
        labels[str(field.get("ident"))] = [str(part.get("ident")) for part in field.iter("response_label")]
        if field.get("rcardinality") not in ("Single", "Multiple"):
            yield f"rcardinality is {field.get('rcardinality')}"
        if len(set(labels[str(field.get("ident"))])) < len(labels[str(field.get("ident"))]):
            yield f"{field.get('ident')} has two choices of the same name"
        if field.tag == "response_lid" and len(labels[str(field.get("ident"))]) < 2:
            yield f"{field.get('ident')} has no choice"
        if kind == "matching_question" and not all(
            re.fullmatch(r"[1-9]\d{0,8}", name) for name in labels[str(field.get("ident"))]
        ):
            yield "Canvas reads names of right sides as numbers"
    choices = bool(item.findall(".//response_lid"))
    for test in (*item.iter("varequal"), *item.iter("vargte"), *item.iter("varlte")):
        if test.get("respident") not in labels:
            yield f"a condition asks for {test.get('respident')}, which is no answer"
        elif choices and test.text not in labels[str(test.get("respident"))]:
            yield f"a condition asks for {test.text}, which is no choice"
    conditions = item.findall("resprocessing/respcondition")
    scored = [c for c in conditions if float(c.findtext("setvar") or 0) > 0]
    if item.find("resprocessing/outcomes/decvar") is None:
        yield "there is no variable for the score"
    if bool(scored) == (kind == "essay_question"):
        yield f"{len(scored)} conditions score"
    if not choices and any(c not in scored and next(iter(c.iter("varequal")), None) is not None for c in conditions):
        yield "Canvas would accept an answer that a condition names without a score"
    if kind == "matching_question" and abs(sum(float(c.findtext("setvar") or 0) for c in scored) - 100) > 1e-3:
        yield "the pairs do not add up to 100"
    for test in (
        *item.iter("vargte"),
        *item.iter("varlte"),
        *(item.iter("varequal") if kind == "numerical_question" else ()),
    ):
        if not re.fullmatch(r"-?\d+(\.\d+)?", test.text or ""):
            yield f"{test.text} is no plain decimal"


def faults_of_moodle(data: bytes) -> Faults:
    """Of a file for Moodle."""
    text = data.decode()
    bare = re.findall(r"<text>(?!<!\[CDATA\[).{0,40}", text)
    yield from (f"text without CDATA: {each}" for each in bare)
    root = ElementTree.fromstring(data)
    if root[0].get("type") != "category":
        yield "the first entry is not a category"
    counts: Counter[str] = Counter()
    for question in root:
        kind = str(question.get("type"))
        if kind not in MOODLE_TYPES:
            yield f"{kind} is not a type of every Moodle"
        elif kind == "category":
            path = question.findtext("category/text") or ""
            if not re.fullmatch(r"\$course\$/top/(//|[^/])+ \([0-9a-f]{8}\)(/(//|[^/])+){1,2}", path):
                yield f"{path} is no category with a version"
        else:
            counts[question.findtext("idnumber", "")] += 1
            name = question.findtext("name/text") or "?"
            yield from (f"{name}: {fault}" for fault in _faults_of_question(question, kind))
    yield from (
        f"the idnumber {ident!r} is used {count} times" for ident, count in counts.items() if count > 1 or not ident
    )


def _faults_of_question(question: Element, kind: str) -> Faults:
    if not question.findtext("questiontext/text"):
        yield "nothing is asked"
    shares = [float(answer.get("fraction", "nan")) for answer in question.findall("answer")]
    yield from (f"Moodle has no share of {share}" for share in shares if round(abs(share), 4) not in SHARES)
    if kind in ("shortanswer", "numerical") and shares[0] != 100:
        yield "the first answer is not the key"
    if kind == "multichoice":
        keys = sum(share for share in shares if share > 0)
        if abs(keys - 100) > 0.01:
            yield f"the keys add up to {keys}"
        if (question.findtext("single") == "true") != (100 in shares and min(shares) >= 0) and shares.count(100) != 1:
            yield "one key, and shares for several"
    if kind == "matching":
        lefts = [left.findtext("text") for left in question.findall("subquestion")]
        rights = [left.findtext("answer/text") for left in question.findall("subquestion")]
        if sum(map(bool, lefts)) < 2 or len(rights) < 3 or not all(rights):
            yield "fewer than two pairs, or three right sides"
    for answer in question.findall("answer"):
        text = answer.findtext("text") or ""
        if not text.strip():
            yield "an answer is empty"
        if kind == "numerical" and not re.fullmatch(r"-?\d+(\.\d+)?", text):
            yield f"{text} is no plain decimal"
        if kind == "numerical" and not re.fullmatch(r"\d+(\.\d+)?", answer.findtext("tolerance") or ""):
            yield f"{text} has no tolerance"
        if kind == "shortanswer" and re.search(r"(?<!\\)\*", text) and text != "*":
            yield f"{text} accepts anything at its star"


def anki_notes(data: bytes, folder: Path) -> list[tuple[str, int, list[str]]]:
    """Guid, time of change and fields of each note in a package."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extract("collection.anki2", folder)
        assert json.loads(archive.read("media")) == {}
    with sqlite3.connect(folder / "collection.anki2") as connection:
        rows = connection.execute("SELECT guid, mod, flds FROM notes ORDER BY id").fetchall()
    return [(guid, changed, fields.split("\x1f")) for guid, changed, fields in rows]


def faults_of_anki(data: bytes, folder: Path) -> Faults:
    """Of a package for Anki."""
    notes = anki_notes(data, folder)
    yield from (f"{guid} is used twice" for guid, count in Counter(guid for guid, _, _ in notes).items() if count > 1)
    for guid, _, fields in notes:
        if len(fields) != 4 or not all(fields):
            yield f"{guid} has {len(fields)} fields, or an empty one"
        yield from (f"{guid}: {fault}" for field in fields for fault in faults_of_html(field))


class _Html(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.open: list[str] = []
        self.faults: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "hr"):
            self.open.append(tag)
        if tag in ("script", "iframe", "img", "link", "object") or any(
            n in ("src", "href") or n.startswith("on") for n, _ in attrs
        ):
            self.faults.append(f"<{tag}> fetches or runs something")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        if ("<" in data or "&" in data) and (not self.open or self.open[-1] != "style"):
            self.faults.append(f"a sign is not escaped: {data[:40]}")


def faults_of_html(text: str) -> list[str]:
    """Signs that are not escaped, tags that are not closed, and whatever would be fetched or run."""
    parser = _Html()
    parser.feed(text)
    parser.close()
    return parser.faults + [f"<{tag}> is not closed" for tag in parser.open]
