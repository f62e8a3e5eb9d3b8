"""The report of an experiment in a browser: values under the pointer and by keys, a part drawn larger, nothing loaded."""

import os
import re
import subprocess
from pathlib import Path

import browser as browser_module
import programs
import pytest

WHY_NOT = browser_module.why_not()
pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=WHY_NOT or "")

SCENARIO = """
duration: 3s
warmup: 1s
modes: [none, i-tcp]
cell: {ues: [{address: 10.45.0.2, frame: 0B, buffer: 100KiB, channel: {type: constant, rate: 5Mb/s}}]}
sweep: [{column: buffer_kb, keys: [cell.ues.0.buffer], unit: kB, values: [20, 40, 80]}]
output:
  plots: [{title: Frontier, x: {column: radio_queue_delay_p95_ms}, y: {columns: [utilisation]}}]
"""


# A folder for pictures of the report, for who wants to look at them.
PICTURES = os.environ.get("SLUICE_PICTURES")
# Tables and plots that leave the window at its right side, but for those in a part of the page that scrolls.
CUT = """
const scrolls = (e) => e && (["auto", "scroll"].includes(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
return [...document.querySelectorAll("table, svg, p, h1, h2, h3, pre")]
    .filter((e) => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth && !scrolls(e))
    .map((e) => e.outerHTML.slice(0, 100));
"""
SCROLLS = """
return [...document.querySelectorAll("*")]
    .filter((e) => ["auto", "scroll"].includes(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth + 1)
    .map((e) => e.outerHTML.slice(0, 100));
"""


@pytest.fixture(scope="module", name="driver")
def make_driver(tmp_path_factory):
    from selenium import webdriver  # pylint: disable=import-outside-toplevel
    from selenium.webdriver.chrome.service import Service  # pylint: disable=import-outside-toplevel
    folder = tmp_path_factory.mktemp("report")
    (folder / "s.yaml").write_text(SCENARIO, encoding="utf-8")
    subprocess.run([programs.program("nodeb"), "run", folder / "s.yaml", "--out", folder], check=True, capture_output=True)
    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1400,1000",
                 f"--user-data-dir={folder / 'chromium'}"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    made.get((folder / "report.html").as_uri())
    yield made
    made.quit()


def first_plot(driver):
    return driver.find_element("css selector", "figure svg.plot")


def reading(driver):
    return driver.find_element("id", "reading").text


def ticks(driver):
    return [tick.text for tick in first_plot(driver).find_elements("css selector", "text.tick.gx")]


def places(line):
    """Where a line goes, in pixels."""
    return [float(number) for number in re.findall(r"-?[\d.]+", line.get_attribute("d"))]


def actions(driver):
    from selenium.webdriver.common.action_chains import ActionChains  # pylint: disable=import-outside-toplevel
    return ActionChains(driver)


def test_the_pointer_and_the_keys_show_values(driver):
    points = first_plot(driver).find_elements("css selector", "path.dot")
    assert len(points) == 6
    actions(driver).move_to_element(points[0]).perform()
    assert "no proxy" in reading(driver)
    first_plot(driver).send_keys("\ue014")  # the arrow to the right
    before = reading(driver)
    first_plot(driver).send_keys("\ue014")
    assert before and reading(driver) and reading(driver) != before


def test_a_dragged_part_is_drawn_larger_and_escape_draws_all(driver):
    whole = ticks(driver)
    line = first_plot(driver).find_element("css selector", "path.line")
    drawn = places(line)
    actions(driver).move_to_element_with_offset(first_plot(driver), -60, -60).click_and_hold().move_by_offset(
        90, 90).release().perform()
    assert ticks(driver) != whole
    assert places(line) != drawn
    first_plot(driver).send_keys("\ue00c")  # Escape
    assert places(line) == drawn
    assert [float(tick) for tick in ticks(driver)] == [float(tick) for tick in whole]


def test_time_is_drawn_larger_in_all_plots_of_a_grid(driver):
    grid = driver.find_element("css selector", "div.grid")
    plots = grid.find_elements("css selector", "svg.plot[data-box]")
    lines = [plot.find_element("css selector", "path.line") for plot in plots[:2]]
    before = [places(line) for line in lines]
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", plots[0])
    actions(driver).move_to_element_with_offset(plots[0], -40, -20).click_and_hold().move_by_offset(90, 40).release().perform()
    assert all(places(line) != old for line, old in zip(lines, before))
    plots[1].send_keys("\ue00c")
    assert [places(line) for line in lines] == before


@pytest.mark.parametrize("width", [1280, 390])
def test_it_begins_with_an_answer_and_nothing_is_cut(driver, width):
    """The sentence that is computed from the results is before all tables and plots. What is wider than a phone scrolls by itself."""
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
    try:
        driver.execute_script("window.scrollTo(0, 0)")
        if PICTURES:
            driver.save_screenshot(str(Path(PICTURES) / f"report-{width}.png"))
        assert driver.execute_script("return innerWidth") == width
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width
        cut = driver.execute_script(CUT)
        assert cut == []
        assert (driver.execute_script(SCROLLS) == []) == (width == 1280), "at a desk nothing has to scroll"
        answer = driver.find_element("css selector", ".answer")
        assert re.search(r"\d", answer.text), "computed from the results"
        first = driver.execute_script("return Math.min(...[...document.querySelectorAll('table, svg.plot')]"
                                      ".filter((e) => e.checkVisibility()).map((e) => e.getBoundingClientRect().top))")
        assert answer.rect["y"] + answer.rect["height"] <= first + driver.execute_script("return scrollY")
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_nothing_is_loaded_and_nothing_fails(driver):
    assert driver.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert not driver.get_log("browser")
