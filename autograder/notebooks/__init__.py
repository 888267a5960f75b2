"""Notebooks: the workbook under nbgrader, graded by the same confined workers as modules."""
