"""The released workbook in a real JupyterLab: a student runs it and presses Validate.

Pictures of it are kept where PICTURES names a folder: `PICTURES=docs/img make browser`.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from laboratory import PATIENCE, TOKEN, Browser, jupyter, surroundings
from workbooks import workbook

ROOT = Path(__file__).parents[2]
DELETE_FREE_CELLS = """
const cells = window.jupyterapp.shell.currentWidget.content.model.sharedModel;
for (let place = cells.cells.length - 1; place >= 0; place--)
    if (cells.cells[place].cell_type === "code" && !cells.cells[place].getMetadata("nbgrader")) cells.deleteCell(place);
return cells.cells.length"""


def test_a_student_runs_the_workbook_and_validates_it(tmp_path: Path, browser: Browser) -> None:
    folder = tmp_path / "week08"
    shutil.copytree(ROOT / "assignments/week08", folder)
    for module in (ROOT / "solutions/week08").glob("*.py"):
        shutil.copy(module, folder)
    (folder / "week08.ipynb").write_bytes(workbook(ROOT, explain_mixing="Attention.", explain_pre_norm="The sum."))

    with jupyter(folder, surroundings(tmp_path / "student", python_path=None)) as address:
        browser.open(f"{address}/lab/tree/week08.ipynb?token={TOKEN}")
        browser.find(".jp-Notebook .jp-Cell", seconds=90)
        kernel = "return window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status"
        browser.wait(lambda d: d.execute_script(kernel) == "idle", 60, "a kernel")
        browser.command("application:toggle-left-area")
        browser.command("notebook:run-all-cells", PATIENCE)
        errors = browser.texts(".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr']")
        assert not errors, errors[0]
        figures = "return document.querySelectorAll('.jp-RenderedImage img').length"
        assert browser.run(figures) >= 8
        browser.run("document.querySelectorAll('.jp-RenderedImage img')[1].scrollIntoView({block: 'center'})")
        browser.picture("workbook")

        browser.find(".validate-button").click()
        assert "passes all the tests" in browser.find(".jp-Dialog .validation-success", seconds=PATIENCE).text
        browser.picture("validate")
        browser.find(".jp-Dialog button.jp-mod-accept").click()

        browser.run(DELETE_FREE_CELLS)  # a student may, and the next run is shorter
        (folder / "layer_norm.py").write_bytes((ROOT / "data/sample_class/yara/layer_norm.py").read_bytes())
        browser.find(".validate-button").click()
        failed = browser.find(".jp-Dialog .validation-failed", seconds=PATIENCE)
        assert "NotYet: layer_norm: " in failed.text and "masked_softmax" not in failed.text
        assert "Traceback" not in failed.text and str(tmp_path) not in failed.text
        browser.picture("validate-failed")
