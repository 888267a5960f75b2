"""The revisions of the store, as Alembic reads them."""
