"""Pages of a graded notebook as nbgrader makes them, and what in a page a browser would run."""

from __future__ import annotations

from html.parser import HTMLParser

from notebook_course import Course


def pages(course: Course, student: str) -> dict[str, str]:
    """What a student's notebook looks like as feedback, and in formgrader as nbgrader's own handler renders it."""
    from nbconvert.exporters import HTMLExporter
    from nbgrader.server_extensions.formgrader import handlers

    with course.api() as api:
        config = api.config
        config.HTMLExporter.template_name = "formgrade"
        config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
        path = course.root / "autograded/notebooks" / student / "lines/lines.ipynb"
        told = {"index": 0, "total": 1, "base_url": "/", "notebook_path": "x", "submission_id": "s"}
        ids = {"assignment_id": "lines", "notebook_id": "lines", "student": student, "first_name": "", "last_name": ""}
        form, _ = HTMLExporter(config=config).from_filename(str(path), resources={**told, **ids})
    return {"feedback": course.feedback(student), "formgrader": form}


class Running(HTMLParser):
    """Collects what a browser would run or fetch because of a page; a link to the web does nothing by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._in_script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_script = tag in ("script", "style")
        is_link = tag == "a" and all((value or "").startswith("https://") for name, value in attrs if name == "href")
        self.found += [f"{tag} {n}={v}" for n, v in attrs if "run_" in (v or "") and not (is_link and n == "href")]

    def handle_endtag(self, tag: str) -> None:
        self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script and "run_" in data:
            self.found.append(data)
