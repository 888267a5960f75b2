"""The suites run under the kit's own pytest plugin."""

import pytest


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Register the plugin here, so that only the suites have it."""
    if not pluginmanager.hasplugin("autograder.suite.plugin"):
        pluginmanager.import_plugin("autograder.suite.plugin")
