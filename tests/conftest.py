"""Settings for all tests, and the browser that those of the pages share."""

import os
import shutil
import threading

# scikit-learn's check_estimator skips its array-API check unless this is set before scipy loads.
os.environ["SCIPY_ARRAY_API"] = "1"

import pytest
from hypothesis import HealthCheck, Phase, settings
from tqdm import tqdm

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

settings.register_profile(
    "steady",
    deadline=None,
    derandomize=True,  # a test that passes here passes everywhere
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow],
)
# `make mutate` runs the tests a thousand times: few examples, and no search for a simpler one.
settings.register_profile(
    "mutants",
    settings.get_profile("steady"),
    max_examples=10,
    phases=[Phase.explicit, Phase.generate],
)
settings.load_profile("steady")
# A mutant that hangs is ended. A lock that its process shares with the next would stay shut.
tqdm.set_lock(threading.RLock())


#: Fixtures that take seconds: every test that asks for one of them is slow.
SLOW_TO_MAKE = {"small"}


def pytest_collection_modifyitems(items):
    for item in items:
        if SLOW_TO_MAKE & set(getattr(item, "fixturenames", ())):
            item.add_marker("slow")


@pytest.fixture(scope="session")
def browser():
    """One for all modules: playwright cannot be started twice in a process."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("chromium is not installed")
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def open_context(browser):
    """A fresh window, as it were, that waits: the machine may be busy."""

    def open_context(**options):
        context = browser.new_context(**options)
        context.set_default_timeout(300_000)
        return context

    return open_context
