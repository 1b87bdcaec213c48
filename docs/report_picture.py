"""Make docs/images/report.png: the report of the included protein data, in Chromium.

.venv/bin/python docs/report_picture.py
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from selenium import webdriver

from sartre import CausalDiscovery
from sartre.datasets import load_sachs

PICTURE = Path(__file__).parent / "images" / "report.png"
WIDTH, HEIGHT = 1280, 1096
CHOSEN = "PKC"


def main() -> None:
    """Learn the graph, write its report, open it, choose a variable, and keep what is seen."""
    X, _ = load_sachs()
    model = CausalDiscovery(random_state=0).fit(X)
    os.environ.setdefault("SE_AVOID_STATS", "true")
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for argument in ("--headless=new", "--no-sandbox", "--hide-scrollbars", f"--window-size={WIDTH},{HEIGHT + 200}"):
        options.add_argument(argument)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        model.report(path, title="sachs", command="sartre discover sachs --report report.html")
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
        size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        driver.get(path.as_uri())
        driver.find_element("css selector", f"[data-node='{model.graph_.names.index(CHOSEN)}']").click()
        driver.find_element("css selector", "#title").click()  # the pointer leaves the graph
        driver.execute_script("scrollTo(0, 0)")
        driver.save_screenshot(str(PICTURE))
        driver.quit()


if __name__ == "__main__":
    main()
