"""The pinned versions are what is tested, and go with every Python that the kit supports."""

from __future__ import annotations

import sysconfig
import tomllib
from importlib import metadata

import pytest
from command_line import ROOT
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

FIRST_RELEASES = ("3.11.0", "3.12.0", "3.13.0")
LINES = (ROOT / "constraints.txt").read_text().splitlines()
PINS = {pin.name.lower(): pin.specifier for pin in (Requirement(line) for line in LINES if not line.startswith("#"))}
FOLDER = sysconfig.get_path("purelib")
INSTALLED = [package for package in metadata.distributions(path=[FOLDER]) if package.name.lower() in PINS]


def test_the_kit_supports_these_pythons() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    supported = SpecifierSet(project["requires-python"])
    assert all(release in supported for release in FIRST_RELEASES) and "3.14.0" not in supported


def test_packages_are_installed_as_they_are_pinned() -> None:
    assert len(INSTALLED) > 100
    assert [(p.name, p.version) for p in INSTALLED if p.version not in PINS[p.name.lower()]] == []


@pytest.mark.parametrize("release", FIRST_RELEASES)
def test_no_pinned_package_refuses_the_first_release_of_a_supported_python(release: str) -> None:
    """Distributions stay at an early release: Debian 12 has 3.11.2."""
    wanted = {p.name: p.metadata["Requires-Python"] for p in INSTALLED}
    assert [name for name, which in wanted.items() if which and release not in SpecifierSet(which)] == []
