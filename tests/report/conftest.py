"""A Chromium for the tests of pages, shared; every tab must stay silent and offline."""

import os

import pytest

from tests.report.browser import Browser, find_chromium


@pytest.fixture(scope="package")
def browser():
    program = find_chromium()
    if program is None:
        assert not os.environ.get("DRIFTMDP_REQUIRE_BROWSER"), "no Chromium found, and here there must be one"
        pytest.skip("no Chromium found; .ci/run installs one")
    with Browser(program) as browser:
        yield browser


@pytest.fixture
def tab(browser):
    with browser.page() as page:
        yield page
        assert page.messages == []
        assert page.dialogs == 0
        assert [url for url in page.requests if not url.startswith(("file:", "data:", "blob:"))] == []
