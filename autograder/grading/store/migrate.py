"""Brings a store of an older kit up to date with Alembic, which is imported only then."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config

SCRIPTS = Path(__file__).with_name("migrations")


def configuration(connection: sa.Connection) -> Config:
    """What Alembic has to know; it stands in no file."""
    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    return config


def migrate(connection: sa.Connection) -> None:
    """Run what is missing within the transaction of `connection`; whoever began it decides whether it counts."""
    command.upgrade(configuration(connection), "head")
