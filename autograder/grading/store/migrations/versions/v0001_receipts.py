"""Receipts and adjustments: what the first kits made, which kept no revision but the number in `kit`."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make what is not there: a first kit that was killed while it began may have left a part of it."""
    op.create_table("kit", sa.Column("schema", sa.Integer, primary_key=True), if_not_exists=True)
    op.create_table(
        "receipts",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("assignment", sa.String(120), nullable=False),
        sa.Column("student", sa.String(255), nullable=False),
        sa.Column("submission_hash", sa.String(64), nullable=False),
        sa.Column("suite_hash", sa.String(64), nullable=False),
        sa.Column("kit_version", sa.String(40), nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("complete", sa.Boolean, nullable=False),
        sa.Column("graded_at", sa.String(40), nullable=False),
        sa.Column("document", sa.JSON, nullable=False),
        if_not_exists=True,
    )
    op.create_index("receipts_by_student", "receipts", ["assignment", "student"], if_not_exists=True)
    op.create_table(
        "adjustments",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("assignment", sa.String(120), nullable=False),
        sa.Column("student", sa.String(255), nullable=False),
        sa.Column("exercise", sa.String(120), nullable=False),
        sa.Column("points", sa.String(60), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("author", sa.String(120), nullable=False),
        sa.Column("made_at", sa.String(40), nullable=False),
        if_not_exists=True,
    )
    kit = sa.table("kit", sa.column("schema", sa.Integer))
    if op.get_bind().scalar(sa.select(kit.c.schema)) is None:
        op.execute(kit.insert().values(schema=1))
