"""./run demo --live as somebody would use it: the address it prints, a switch of the mode, Ctrl-C."""

import json
import re
import signal
import subprocess
import sys
import time

import lab as lab_module
import programs
from outcomes import PATIENCE


class Page:
    """What the page's script does, for an address as the demonstration prints it."""

    def __init__(self, address):
        self._base, self._token = re.fullmatch(r"(http://127\.0\.0\.1:\d+/)#token=(\w+)", address).groups()
        self._curl = ["curl", "--silent", "--show-error", "--no-buffer", "-H", f"Authorization: Bearer {self._token}"]

    def views(self):
        """What there is to see, twice a second."""
        events = subprocess.Popen([*self._curl, self._base + "events"], stdout=subprocess.PIPE, text=True)
        try:
            for line in events.stdout:
                if line.startswith("data: "):
                    yield json.loads(line.removeprefix("data: "))
        finally:
            events.kill()
            events.wait()

    def wait(self, what, condition):
        deadline = time.monotonic() + PATIENCE
        for view in self.views():
            if condition(view):
                return view
            assert time.monotonic() < deadline, f"not seen: {what}; {view}"
        raise AssertionError(f"the page ended before {what}")

    def switch(self, mode):
        subprocess.run([*self._curl, "--fail", "--data", mode, self._base + "mode"], check=True, timeout=PATIENCE)


def test_a_click_empties_the_queue_and_ctrl_c_removes_everything(tmp_path):
    with open(tmp_path / "demo.log", "w", encoding="utf-8") as log:
        demo = subprocess.Popen([sys.executable, programs.ROOT / "tests" / "lab" / "demo.py", "--live", "--out", tmp_path],
                                stdout=log, stderr=subprocess.STDOUT)
    try:
        output = lab_module.Process("demo", demo, tmp_path / "demo.log")
        output.wait_for("Ctrl-C ends it", PATIENCE)
        proxy, radio = (Page(address) for address in re.findall(r"http://\S+", output.output()))
        delay = "queue_delay_ms"  # none of an interval in which nothing came

        def stands(view):
            return view[delay] is not None and view[delay] > 250

        radio.wait("a queue that stands", stands)
        proxy.switch("smvs")
        proxy.wait("the mode", lambda view: view["status"]["mode"] == "smvs")
        radio.wait("a short queue", lambda view: view[delay] is not None and 0 < view[delay] < 100)
        proxy.switch("bypass")
        radio.wait("a queue that stands again", stands)
        demo.send_signal(signal.SIGINT)
        assert demo.wait(PATIENCE) == 0, output.output()
    finally:
        if demo.poll() is None:
            demo.terminate()
            demo.wait(PATIENCE)
    assert not list(lab_module.NETNS_DIR.glob(f"{lab_module.PREFIX}-{demo.pid}-*")), "namespaces that it made"
    assert (tmp_path / "logs" / "live" / "sluice.log").is_file()
