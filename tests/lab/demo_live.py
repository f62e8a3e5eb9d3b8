"""The demonstration that goes on until it is stopped: kernel hosts, a varying radio link, the proxy, and the live pages of
both programs. Whoever watches switches the mode by a click and sees what becomes of the queue."""

import secrets
import shutil
import sys
import tempfile
import time
from pathlib import Path

import lab as lab_module
import programs
from forward import Forward

PROXY_PORT, RADIO_PORT = 9838, 9839
FOR_EVER = 24 * 3600
# A connection that was forwarded untouched is split between two requests: downloads come to an end now and then.
DOWNLOAD_S, DOWNLOADS = 5, 2
TRAFFIC = Path(__file__).parent / "traffic.py"


class LiveDemo:
    """Everything of it, running."""

    def __init__(self, lab, scenario):
        """`scenario`: of the Node-B, but for its page."""
        self.lab = lab
        self.wire = lab.radio()
        self.token = secrets.token_hex(16)
        page = {"token_file": str(self._token_file())}
        self.sluice = programs.Sluice(lab, self.wire.box, radio="proxy-radio", core="proxy-core", mode="i-tcp",
                                      smvs={"parameters": {"one_way_delay": "10ms"}},
                                      metrics={"listen": f"127.0.0.1:{PROXY_PORT}"}, page={**page, "switch_modes": True})
        radio_page = {"live": {"page": {"listen": f"127.0.0.1:{RADIO_PORT}", **page}}}
        self.nodeb = programs.Nodeb(lab, self.wire.box, programs.merge(scenario, radio_page), "smvs", FOR_EVER)
        self._start_traffic()
        self._forwards = [Forward(self.wire.box, port) for port in (PROXY_PORT, RADIO_PORT)]

    def _token_file(self):
        file = self.lab.log_dir / "page.token"
        file.touch(mode=0o600)
        file.write_text(self.token + "\n", encoding="ascii")
        return file

    def _start_traffic(self):
        server = self.wire.server.start("server", sys.executable, TRAFFIC, "serve")
        server.wait_for("listening")
        to_server = ["--server", self.wire.server_address]
        for number in range(DOWNLOADS):
            self.wire.ue.start(f"bulk{number}", sys.executable, TRAFFIC, "bulk", *to_server, "--seconds", DOWNLOAD_S, "--again")
        self.wire.ue.start("web", sys.executable, TRAFFIC, "web", *to_server, "--seconds", FOR_EVER, "--seed", 7)

    def describe(self):
        proxy, radio = (f"http://127.0.0.1:{forward.port}/#token={self.token}" for forward in self._forwards)
        return (f"The proxy:  {proxy}\nThe radio:  {radio}\n\n"
                "One UE downloads and fetches pages. Switch between bypass, i-tcp and smvs, and watch the queue.\n"
                "Ctrl-C ends it.")

    def ended(self):
        """The program that is no longer there."""
        return next((process for process in (self.sluice.process, self.nodeb.process) if process.poll() is not None), None)

    def close(self):
        for forward in self._forwards:
            forward.close()


def run(scenario, out):
    """Until Ctrl-C (KeyboardInterrupt), or until a program ends by itself (LabError); the logs are in `out` then."""
    with tempfile.TemporaryDirectory(prefix="sluice-demo-") as short:  # Unix sockets want short paths
        try:
            with lab_module.Lab("demo-live", Path(short)) as lab:
                demo = LiveDemo(lab, scenario)
                try:
                    print(demo.describe(), flush=True)
                    while (ended := demo.ended()) is None:
                        time.sleep(0.2)
                    raise lab_module.LabError(f"{ended.name} ended with {ended.poll()}\n{ended.tail()}")
                finally:
                    demo.close()
        finally:
            shutil.copytree(short, out, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.sock", "*-runtime", "*.token"))
