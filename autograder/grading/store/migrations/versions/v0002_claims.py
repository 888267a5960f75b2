"""Claims of graders, the status of a receipt beside its document, and an index that answers for a whole class."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_AT_A_TIME = 200


def upgrade() -> None:
    """Add to what 0001 has."""
    op.create_table(
        "claims",
        sa.Column("assignment", sa.String(120), primary_key=True),
        sa.Column("student", sa.String(255), primary_key=True),
        sa.Column("submission_hash", sa.String(64), primary_key=True),
        sa.Column("suite_hash", sa.String(64), primary_key=True),
        sa.Column("kit_version", sa.String(40), primary_key=True),
        sa.Column("owner", sa.String(200), nullable=False),
        sa.Column("expires_at", sa.Double, nullable=False),
    )
    op.add_column("receipts", sa.Column("status", sa.String(40), nullable=False, server_default=""))
    _copy_status()
    op.drop_index("receipts_by_student", "receipts")
    op.create_index("receipts_by_standing", "receipts", ["assignment", "student", "complete", "id"])
    op.execute(sa.table("kit", sa.column("schema", sa.Integer)).update().values(schema=2))


def _copy_status() -> None:
    """From the documents, here and not in SQL: what students' code printed may hold what a database cannot convert."""
    receipts = sa.table(
        "receipts", sa.column("id", sa.Integer), sa.column("document", sa.JSON), sa.column("status", sa.String)
    )
    connection, last = op.get_bind(), 0
    fill = receipts.update().where(receipts.c.id == sa.bindparam("row")).values(status=sa.bindparam("said"))
    while True:
        some = sa.select(receipts.c.id, receipts.c.document).where(receipts.c.id > last).order_by(receipts.c.id)
        rows = connection.execute(some.limit(_AT_A_TIME)).all()
        if not rows:
            return
        try:
            said = [{"row": row.id, "said": row.document["status"]} for row in rows]
        except (KeyError, TypeError) as error:
            raise ValueError(f"malformed receipt: {error!r}") from None
        connection.execute(fill, said)
        last = rows[-1].id
