"""Where receipts, manual adjustments and claims are kept: SQLite in the course's folder, any SQLAlchemy URL otherwise.

Receipts are only ever added. Adjustments live beside them, never inside, so a regrade cannot destroy them. A claim says
which grader works on what, for as long as it lives.
"""

from autograder.grading.store.store import FILE, FOLDER, Adjustment, Store, now

__all__ = ["FILE", "FOLDER", "Adjustment", "Store", "now"]
