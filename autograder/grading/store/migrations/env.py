"""Run by Alembic before the revisions: which connection, and where the revision is noted."""

from __future__ import annotations

from alembic import context

context.configure(connection=context.config.attributes["connection"], version_table="kit_revision")
with context.begin_transaction():
    context.run_migrations()
