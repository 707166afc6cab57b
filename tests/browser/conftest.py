"""A headless Chromium for pages on disk; tests that need it skip, and say so, where there is none."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.report.example import example_report

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from selenium.webdriver import Chrome

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


@dataclass
class Browser:
    """A running Chromium, with what the tests ask of it."""

    driver: Chrome

    def open(self, page: Path, width: int = 1280, height: int = 800, dark: bool = False, scripts: bool = True) -> None:
        """Open a file at a viewport's size, in light or dark, with or without JavaScript; forget earlier logs."""
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", media="", features=[scheme])
        self.command("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.driver.get("about:blank")
        self.driver.get_log("browser")
        self.driver.get_log("performance")
        self.driver.get(page.as_uri())

    def command(self, name: str, **arguments: Any) -> Any:
        """Send one command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(name, arguments)

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page and return its value."""
        return self.driver.execute_script(script, *arguments)

    def unfold(self) -> None:
        """Open what is folded."""
        self.run("for (const each of document.querySelectorAll('details')) each.open = true;")

    def console(self) -> list[str]:
        """What the console has said since the page was opened."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Every address that was asked for since the page was opened."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Chromium from the system's packages, in a profile of its own."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("no Chromium or no chromedriver: apt-get install chromium chromium-driver")
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    running = Chrome(options=options, service=Service(driver))
    running.set_page_load_timeout(60)
    yield Browser(running)
    running.quit()


@pytest.fixture(scope="session")
def saved_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the example report, with everything beside it."""
    return example_report().save(tmp_path_factory.mktemp("report"))


@pytest.fixture
def opened(browser: Browser, saved_report: Path) -> Callable[..., Browser]:
    """Open the example report with the given settings."""

    def opener(**settings: Any) -> Browser:
        browser.open(saved_report, **settings)
        return browser

    return opener
