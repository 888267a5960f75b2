"""A real JupyterLab, and a real Chromium that looks at it and at pages of our own."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium import webdriver
from selenium.common.exceptions import NoAlertPresentException, StaleElementReferenceException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

TOKEN = "of-the-tests"
PATIENCE = 400
"""Seconds, for what takes half a minute on a machine that does nothing else."""
_QUIET = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
_QUIET += " --disable-component-update --disable-sync --hide-scrollbars --force-device-scale-factor=1"
_SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True},
    "notebook-extension/tracker": {"windowingMode": "none"},
}


def surroundings(private: Path, python_path: Path | None) -> dict[str, str]:
    """The environment of a Jupyter that knows nothing of whoever runs the tests."""
    settings = private / "settings"
    for name, values in _SETTINGS.items():
        file = settings / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values))
    ours = {"HOME": private, "JUPYTERLAB_SETTINGS_DIR": settings, "JUPYTERLAB_WORKSPACES_DIR": private / "workspaces"}
    ours |= {f"JUPYTER_{kind}_DIR": private / kind.lower() for kind in ("CONFIG", "DATA", "RUNTIME")}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "PYTHON", "PYTEST"))}
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    found = {**kept, **{name: str(path) for name, path in ours.items()}, "PATH": beside, "OMP_NUM_THREADS": "1"}
    # Only for folders of file systems that cannot keep a file private, such as some of containers.
    found["JUPYTER_ALLOW_INSECURE_WRITES"] = "1"
    if python_path is not None:
        found["PYTHONPATH"] = str(python_path)
    return found


@contextmanager
def jupyter(folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    """The address of a JupyterLab that runs in a folder."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", "--expose-app-in-browser"]
    command += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={TOKEN}"]
    log = Path(environment["HOME"]) / f"jupyter-{port}.log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            command, cwd=folder, env=dict(environment), stdout=out, stderr=out, start_new_session=True
        )
        try:
            address = f"http://127.0.0.1:{port}"
            until(lambda: _answers(server, address, log), 90, "JupyterLab to start")
            yield address
        finally:
            os.killpg(server.pid, signal.SIGTERM)
            try:
                server.wait(15)
            except subprocess.TimeoutExpired:
                os.killpg(server.pid, signal.SIGKILL)


def _answers(server: subprocess.Popen[bytes], address: str, log: Path) -> bool:
    if server.poll() is not None:
        raise AssertionError(f"JupyterLab ended:\n{log.read_text()[-3000:]}")
    try:
        with urllib.request.urlopen(f"{address}/api?token={TOKEN}", timeout=5) as reply:
            return bool(reply.status == 200)
    except (urllib.error.URLError, OSError):
        return False


def until(holds: Callable[[], Any], seconds: float, what: str) -> Any:
    """Wait until something is true, and return it."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := holds():
            return found
        time.sleep(0.2)
    raise AssertionError(f"waited {seconds:g} seconds for {what}")


class Browser:
    """Chromium, and what the tests do with it."""

    def __init__(self, profile: Path, pictures: Path) -> None:
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or ""
        for flag in (*_QUIET.split(), f"--user-data-dir={profile}", "--window-size=1280,900"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.downloads = profile.parent / "downloads"
        options.add_experimental_option("prefs", {"download.default_directory": str(self.downloads)})
        self._driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        self._driver.set_script_timeout(120)
        self._scripts: list[str] = []
        self._pictures = pictures
        pictures.mkdir(parents=True, exist_ok=True)

    def open(self, address: str) -> None:
        """Go to a page."""
        self._driver.get(address)

    def run(self, script: str, *arguments: Any) -> Any:
        """What a piece of JavaScript returns; a promise is waited for."""
        waited = f"(async () => {{ {script} }})().then(done, e => done('' + e))"
        return self._driver.execute_async_script(f"const done = arguments[arguments.length - 1]; {waited}", *arguments)

    def find(self, css: str, seconds: float = 30) -> WebElement:
        """The first element of that kind that can be seen, as soon as there is one."""
        return self.wait(
            lambda d: next((e for e in d.find_elements(By.CSS_SELECTOR, css) if e.is_displayed()), None), seconds, css
        )

    def texts(self, css: str) -> list[str]:
        """What stands in all elements of that kind."""
        return list(self.run("return [...document.querySelectorAll(arguments[0])].map(e => e.innerText)", css))

    def wait(self, condition: Callable[[webdriver.Chrome], Any], seconds: float, what: str) -> Any:
        """Wait for something about the page, and return it."""
        patient = WebDriverWait(
            self._driver, seconds, 0.2, ignored_exceptions=[StaleElementReferenceException, NoAlertPresentException]
        )
        return patient.until(condition, f"waited {seconds:g} seconds for {what}")

    def command(self, name: str, seconds: float = 30) -> None:
        """One of JupyterLab's own commands, to its end."""
        ended = "window.ended = ''; window.jupyterapp.commands.execute(arguments[0])"
        self._driver.execute_script(f"{ended}.then(() => 'done', e => '' + e).then(e => {{ window.ended = e }})", name)
        told = self.wait(lambda d: d.execute_script("return window.ended"), seconds, name)
        assert told == "done", told

    def look(self, width: int = 1280, height: int = 900, dark: bool = False, medium: str = "") -> None:
        """The size of the window, the colours that its owner likes, and `print` for a sheet of paper."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        feature = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": medium, "features": [feature]})

    def picture(self, name: str, height: int = 900, dark: bool = False, width: int = 1280, medium: str = "") -> None:
        """Keep what the window shows, as a PNG."""
        self.look(width, height, dark, medium)
        self._driver.save_screenshot(str(self._pictures / f"{name}.png"))

    def press(self, *keys: str) -> None:
        """Keys, pressed where the focus is."""
        ActionChains(self._driver, duration=0).send_keys(*keys).perform()

    def go_offline(self) -> None:
        """Nothing outside this machine can be reached any more."""
        self._driver.set_network_conditions(offline=True, latency=0, throughput=0)

    def before_each_page(self, script: str) -> None:
        """A piece of JavaScript that runs before those of the pages that are opened from now on."""
        added = self._driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script})
        self._scripts.append(added["identifier"])

    def new_tab(self) -> None:
        """Open another tab and go there."""
        self._driver.switch_to.new_window("tab")

    def to_tab(self, number: int) -> None:
        """Go to a tab that is open."""
        self._driver.switch_to.window(self._driver.window_handles[number])

    def answer(self, yes: bool) -> str:
        """Answer the question that the page asks in a box of its own, and return it."""
        box = self.wait(lambda d: d.switch_to.alert, 10, "a question")
        text = str(box.text)
        box.accept() if yes else box.dismiss()
        return text

    def forget(self) -> None:
        """As new: one empty tab, nothing kept of pages from files."""
        while len(self._driver.window_handles) > 1:
            self.to_tab(-1)
            self._driver.close()
            self.to_tab(0)
        while self._scripts:
            self._driver.execute_cdp_cmd(
                "Page.removeScriptToEvaluateOnNewDocument", {"identifier": self._scripts.pop()}
            )
        self._driver.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": "file://", "storageTypes": "all"})
        self._driver.get("about:blank")
        self.look()
        self.complaints()

    def complaints(self) -> list[str]:
        """What the browser has written into its log since it was last asked: refused and failed requests, errors."""
        return [entry["message"] for entry in self._driver.get_log("browser")]

    def foreign_requests(self, own: str) -> list[str]:
        """Addresses that the page asked for, but those that begin with `own`."""
        names = self.run("return performance.getEntriesByType('resource').map(e => e.name)")
        return [name for name in names if not name.startswith((own, "data:", "blob:"))]

    def close(self) -> None:
        """End it."""
        self._driver.quit()


def serious(browser: Browser, rules: str = "{}") -> list[str]:
    """What axe-core finds that keeps people out."""
    place = importlib.util.find_spec("axe_playwright_python")
    assert place and place.submodule_search_locations, "`make browser` installs axe-core"
    source = (Path(place.submodule_search_locations[0]) / "axe.min.js").read_text("utf-8")
    found = browser.run(f"{source}\nreturn (await axe.run({{rules: {rules}}})).violations")
    assert isinstance(found, list), found
    return [
        f"{each['id']}: {each['nodes'][0]['html'][:200]} {each['nodes'][0]['failureSummary']}"
        for each in found
        if each["impact"] in ("serious", "critical")
    ]
