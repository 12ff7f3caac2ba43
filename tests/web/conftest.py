import shutil

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")


@pytest.fixture(scope="session")
def chromium():
    """A browser."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_file(chromium, tmp_path):
    """Gives a function that opens a stored page; nothing may be written to its console."""
    said = []

    def opened(page, width=390):
        path = tmp_path / "page.html"
        path.write_text(page, encoding="utf-8")
        tab = chromium.new_page(viewport={"width": width, "height": 844})
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.goto(path.as_uri())
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        return tab

    yield opened
    assert said == []
