"""The live pages of the proxy and of the Node-B, in a browser, by what a person does: look, and click."""

import json
import os
import re
import signal
import sys
import time
from pathlib import Path

import browser as browser_module
import lab as lab_module
import programs
import pytest
from outcomes import PATIENCE

LISTEN, RADIO_LISTEN = "127.0.0.1:9838", "127.0.0.1:9839"
TOKEN = "0123456789abcdef0123456789abcdef"
TRAFFIC = Path(programs.ROOT) / "tests" / "lab" / "traffic.py"
# A folder for pictures of the pages, for who wants to look at them.
PICTURES = os.environ.get("SLUICE_PICTURES")
WHY_NOT = browser_module.why_not()

pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=WHY_NOT or "")


class Live:
    """Both programs with their pages, and a download that goes on for as long as it takes."""

    def __init__(self, lab, log_dir):
        self.wire = lab.radio()
        token = log_dir / "page.token"
        token.touch(mode=0o600)
        token.write_text(TOKEN + "\n", encoding="ascii")
        self.sluice = programs.Sluice(lab, self.wire.box, radio="proxy-radio", core="proxy-core", mode="i-tcp",
                                      metrics={"listen": LISTEN}, page={"token_file": str(token), "switch_modes": True})
        scenario = programs.nodeb_scenario({"type": "constant", "rate": "8Mb/s"}, warmup="0s",
                                           live={"page": {"listen": RADIO_LISTEN, "token_file": str(token)}})
        self.nodeb = programs.Nodeb(lab, self.wire.box, scenario, "smvs", 600)
        self.browser = browser_module.Browser(self.wire.box, log_dir)

    def download(self):
        server = self.wire.server.start("server", sys.executable, TRAFFIC, "serve")
        server.wait_for("listening")
        self.wire.ue.start("bulk", sys.executable, TRAFFIC, "bulk", "--server", self.wire.server_address, "--seconds", 600,
                           "--out", os.devnull)


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    log_dir = tmp_path_factory.mktemp("page")
    with lab_module.Lab("page", log_dir) as lab:
        made = Live(lab, log_dir)
        yield made
        made.browser.close()
        made.sluice.stop_and_check()


def tile(browser, name):
    """What the tile of that name shows."""
    found = re.search(rf"^{name}\n(.+)$", browser.text("#tiles"), re.MULTILINE)
    return found[1] if found else ""


def megabits(text):
    """A rate as the pages write it."""
    found = re.match(r"([\d.]+)\s(b|kb|Mb)/s", text)
    return float(found[1]) * {"b": 1e-6, "kb": 1e-3, "Mb": 1}[found[2]] if found else 0


def picture(browser, name):
    if PICTURES:
        browser.do(lambda driver: driver.save_screenshot(str(Path(PICTURES) / f"{name}.png")))


def fits(browser):
    """Nothing of the page is wider than its window; what is wide scrolls by itself."""
    return browser.do(lambda driver: driver.execute_script("return document.documentElement.scrollWidth <= innerWidth"))


def scrolling_tables(browser):
    """Titles of the tables that are wider than their place, and of those that say so."""
    wider, noted = browser.do(lambda driver: driver.execute_script(
        "const all = [...document.querySelectorAll('#tables .table')];"
        "const named = (list) => list.map((f) => f.getAttribute('aria-label'));"
        "return [named(all.filter((f) => f.scrollWidth > f.clientWidth)),"
        "        named(all.filter((f) => f.previousElementSibling.offsetParent !== null))]"))
    return wider, noted


def first_chart(browser):
    """What the first chart reads at the cursor, and the texts of its axes."""
    return browser.do(lambda driver: driver.execute_script(
        "const chart = document.querySelector('.chart');"
        "return {title: chart.querySelector('strong').textContent, time: chart.querySelector('.time').textContent,"
        "        keys: [...chart.querySelectorAll('.keys span')].map((k) => k.textContent),"
        "        ticks: [...chart.querySelectorAll('text')].map((t) => t.textContent)}"))


def first_chart_has_line(browser):
    return browser.do(lambda driver: driver.execute_script(
        "return Boolean(document.querySelector('.chart path')?.getAttribute('d'))"))


def history(live):
    """The rows that the program keeps, as objects."""
    run = live.wire.box.run("curl", "--silent", "--fail", "--max-time", "10", "-H", f"Authorization: Bearer {TOKEN}",
                            f"http://{LISTEN}/history")
    kept = json.loads(run.stdout)
    return [dict(zip(kept["columns"], row)) for row in kept["rows"]]


def test_nobody_looks_without_the_token(live):
    browser = live.browser
    browser.open(f"http://{LISTEN}/")
    browser.wait("a field for the token", lambda: browser.text("label[for=token]"), PATIENCE)
    browser.type_into("#token", TOKEN[::-1] + "\n")
    browser.wait("that it was wrong", lambda: "not the token" in browser.text("#connection"), PATIENCE)
    assert browser.text("#tiles") == ""
    browser.type_into("#token", TOKEN + "\n")
    browser.wait("what there is", lambda: browser.text("#connection") == "live", PATIENCE)
    browser.complaints()  # of the 401


def test_a_download_shows_and_a_click_switches_the_mode(live):
    browser = live.browser
    browser.open(f"http://{LISTEN}/#token={TOKEN}")
    browser.wait("that it is live", lambda: browser.text("#connection") == "live", PATIENCE)
    assert "token" not in browser.do(lambda driver: driver.current_url), "it is not left in the history"
    live.download()
    browser.wait("the download's rate", lambda: megabits(tile(browser, "to UEs")) > 2, PATIENCE)
    browser.wait("the UE's bearer", lambda: live.wire.ue_address in browser.text("#tables"), PATIENCE)
    assert re.match(r"[\d.]+\sMb/s", first_chart(browser)["keys"][0].removeprefix("to UEs "))
    browser.wait("what waits at the radio", lambda: re.match(r"[\d.]+\sk?B", tile(browser, "radio queue")), PATIENCE)
    browser.click("smvs")
    browser.wait("that it is in force", lambda: "smvs is in force" in browser.text("#outcome"), PATIENCE)
    browser.wait("the new mode", lambda: browser.text("#mode") == "smvs", PATIENCE)
    assert live.sluice.ask("status")["mode"] == "smvs"
    browser.wait("who steers", lambda: "feedback" in browser.text("#tables"), PATIENCE)
    browser.click("clamp")  # which no section of this file forbids
    browser.wait("the new mode", lambda: browser.text("#mode") == "clamp", PATIENCE)
    browser.click("smvs")
    browser.wait("the mode before", lambda: browser.text("#mode") == "smvs", PATIENCE)
    assert browser.complaints() == []
    picture(browser, "switched")


@pytest.mark.parametrize("dark", (False, True), ids=("light", "dark"))
@pytest.mark.parametrize("width", (1280, 390))
def test_it_fits_a_phone_and_a_desk(live, width, dark):
    browser = live.browser
    names = {LISTEN: "sluice", RADIO_LISTEN: "nodeb"}
    for listen, name in names.items():
        browser.size(width, 900, dark)
        browser.open(f"http://{listen}/#token={TOKEN}")
        browser.wait("that it is live", lambda: browser.text("#connection") == "live", PATIENCE)
        browser.wait("tables", lambda: browser.text("#tables table"), PATIENCE)
        if PICTURES:
            time.sleep(10)  # something to see
        assert fits(browser)
        # The notes follow a change of the window's size a moment later.
        browser.wait("a note at each table that scrolls", lambda: len(set(map(tuple, scrolling_tables(browser)))) == 1, PATIENCE)
        wider, _ = scrolling_tables(browser)
        assert width == 390 or not wider, "nothing is cut on a desk"
        browser.wait("charts", lambda: browser.do(lambda driver: driver.execute_script("return Boolean(document.querySelector('.chart'))")), PATIENCE)
        chart = first_chart(browser)
        assert chart["title"].startswith("Rate, ") and chart["title"].endswith("b/s")
        assert {"0", "now", "−15\u00a0s", "−60\u00a0s"} <= set(chart["ticks"])
        picture(browser, f"{name}-{width}-{'dark' if dark else 'light'}")


def test_the_time_before_anybody_looked_is_shown_and_survives_a_reload(live):
    live.browser.open("about:blank")
    carried = [row for row in history(live) if row["to_ue_bps"] and row["to_ue_bps"] > 2e6]
    assert carried, "the download ran while the tests before looked"
    live.sluice.process.signal(signal.SIGHUP)
    live.browser.wait("the mode of the file", lambda: live.sluice.ask("status")["mode"] == "i-tcp", PATIENCE)
    assert carried[0] in history(live), "a reload keeps what was there"
    browser = live.browser
    browser.open(f"http://{LISTEN}/#token={TOKEN}")
    browser.wait("the history", lambda: len(history(live)) > 5 and first_chart_has_line(browser), PATIENCE)
    browser.click("10 min")
    read_back = "\ue012" * 4  # the arrow to the left
    browser.type_into(".chart svg", read_back)
    chart = first_chart(browser)
    assert re.match(r"\d+ s ago, ", chart["time"]), chart
    assert re.match(r"to UEs [\d.]+\s[kM]?b/s", chart["keys"][0]), chart
    assert "−10\u00a0min" in chart["ticks"]
    assert browser.complaints() == []


def test_what_is_not_known_is_a_gap(live):
    """No UE is in a control group, so nothing is known of it."""
    live.browser.open(f"http://{LISTEN}/#token={TOKEN}")
    live.browser.wait("the charts", lambda: first_chart_has_line(live.browser), PATIENCE)
    lines = live.browser.do(lambda driver: driver.execute_script(
        "return [...document.querySelectorAll('.chart')].map((c) => [...c.querySelectorAll('path')].map("
        "(p, i) => [c.querySelectorAll('.keys span')[i].textContent, p.getAttribute('d')])).flat()"))
    control = [(key, steps) for key, steps in lines if key.startswith("control group")]
    assert len(control) == 4
    assert all(key.endswith(" –") and steps == "" for key, steps in control), control
    assert all(row["control_rtt_ms"] is None for row in history(live))


def test_the_radios_own_page_shows_its_queue_and_switches_nothing(live):
    browser = live.browser
    browser.open(f"http://{RADIO_LISTEN}/#token={TOKEN}")
    browser.wait("that it is live", lambda: browser.text("#connection") == "live", PATIENCE)
    browser.wait("the data on the air", lambda: megabits(tile(browser, "on the air")) > 2, PATIENCE)
    assert 6 < megabits(tile(browser, "link rate")) < 10
    assert live.wire.ue_address in browser.text("#tables")
    assert browser.text("#switch") == ""
    assert browser.complaints() == []


def test_another_sites_page_gets_nothing(live):
    """What a browser sends for another site's script, and for a name that was turned to this address."""
    def asked(*words):
        run = live.wire.box.run("curl", "--silent", "--output", os.devnull, "--write-out", "%{http_code}", "--max-time", "10",
                                "-H", f"Authorization: Bearer {TOKEN}", *words)
        return run.stdout
    before = live.sluice.ask("status")["mode"]
    mode = f"http://{LISTEN}/mode"
    assert asked("--data", "bypass", "-H", "Origin: http://evil.example", mode) == "403"
    assert asked("--data", "bypass", "-H", "Sec-Fetch-Site: cross-site", mode) == "403"
    assert asked("--data", "bypass", "-H", "Host: evil.example:9838", mode) == "421"
    assert asked("-H", "Host: evil.example:9838", f"http://{LISTEN}/") == "421"
    assert live.sluice.ask("status")["mode"] == before
    assert asked("--data", "bypass", mode) == "200", "the same by somebody who may"
    assert live.sluice.ask("status")["mode"] == "bypass"
