"""./run lab as a newcomer uses it: what it prints works, and nothing of it is left afterwards."""

import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import lab as lab_module
import pytest
from programs import ROOT

LIVE = Path(lab_module.__file__).parent / "live.py"
PATIENCE = 60


class Newcomer:
    """Somebody who starts the lab and reads what it prints."""

    def __init__(self, out, *words):
        self._log = open(out / "lab.log", "w+", encoding="utf-8")
        self._popen = subprocess.Popen([sys.executable, LIVE, "--out", out / "results", *words], stdout=self._log,
                                       stderr=subprocess.STDOUT, cwd=ROOT)
        self.lab = lab_module.Process("lab", self._popen, out / "lab.log")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.lab.stop(PATIENCE)
        self._log.close()

    def namespaces(self):
        return [entry.name for entry in lab_module.NETNS_DIR.glob(f"{lab_module.PREFIX}-{self.lab.pid}-*")]

    def processes(self):
        return [pid for name in self.namespaces()
                for pid in subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True,
                                          check=True).stdout.split()]

    def printed_command(self, tool):
        """The first printed command with this tool, without the comment behind it."""
        return self.lab.wait_for(rf"ip netns exec \S+ {tool} ", PATIENCE).partition("#")[0].strip()

    def end(self, signum):
        """Its exit code; fails where a namespace or a process is left."""
        processes = self.processes()
        self.lab.signal(signum)
        self.lab.signal(signum)  # an impatient one
        code = self.lab.wait(PATIENCE)
        assert self.namespaces() == []
        assert [pid for pid in processes if Path(f"/proc/{pid}").exists()] == []
        return code


def test_what_it_prints_works_and_nothing_is_left(tmp_path):
    with Newcomer(tmp_path, "--rate", "20Mb/s") as newcomer:
        newcomer.lab.wait_for("Ctrl-C ends it", PATIENCE)
        curl = newcomer.printed_command("curl").replace("10MB", "1MB")
        fetched = subprocess.run([*curl.split(), "-sS", "--max-time", str(PATIENCE), "-w", "%{size_download}"],
                                 capture_output=True, text=True, check=True)
        assert fetched.stdout == "1000000"
        commands = re.findall(r"(?m)^  ip netns exec \S+ ((?:curl|iperf3|ping) .*?)(?:   #.*)?$", newcomer.lab.output())
        assert all(shutil.which(command.split()[0]) for command in commands), "what is not installed is not suggested"
        (by_ipv6,) = [command for command in commands if command.startswith("curl") and "[" in command]
        ue = curl.split()[3]
        fetched = subprocess.run(["ip", "netns", "exec", ue, *by_ipv6.replace("10MB", "1MB").split(), "-sS", "--max-time",
                                  str(PATIENCE), "-w", "%{size_download}"], capture_output=True, text=True, check=True)
        assert fetched.stdout == "1000000"
        for ping in [command for command in commands if command.startswith("ping")]:
            subprocess.run(["ip", "netns", "exec", ue, *ping.replace("-c 3", "-c 1").split()], capture_output=True, check=True)
        sluicectl = re.search(r"^  (\S+sluicectl --socket \S+) ", newcomer.lab.output(), re.MULTILINE)[1]
        asked = subprocess.run([*sluicectl.split(), "status"], capture_output=True, text=True, check=True)
        assert "smvs" in asked.stdout
        assert newcomer.processes()
        assert newcomer.end(signal.SIGINT) == 0
    assert (tmp_path / "results" / "results" / "results.csv").is_file()


@pytest.mark.parametrize("mode", ["smvs-by-acks", "i-tcp", "none"])
def test_a_command_on_the_ue_is_the_end_of_it(tmp_path, mode):
    fetch = ["sh", "-c", "curl -sS --max-time 60 -o /dev/null http://$LAB_SERVER/1MB && exit 7"]
    with Newcomer(tmp_path, "--rate", "20Mb/s", "--mode", mode, "--", *fetch) as newcomer:
        assert newcomer.lab.wait(PATIENCE) == 7, newcomer.lab.output()
        assert newcomer.namespaces() == []


def test_an_error_leaves_nothing(tmp_path):
    with Newcomer(tmp_path, "--rate", "fast") as newcomer:
        assert newcomer.lab.wait(PATIENCE) == 1
        assert 'got "fast"' in newcomer.lab.output()
        assert newcomer.namespaces() == []


def test_what_cannot_be_is_said_before_anything_is_made(tmp_path):
    with Newcomer(tmp_path, "--trace", tmp_path / "absent.trace") as newcomer:
        assert newcomer.lab.wait(PATIENCE) == 2
        assert "no file" in newcomer.lab.output() and "absent.trace" in newcomer.lab.output()
    with Newcomer(tmp_path, "--out", tmp_path / "lab.log") as newcomer:  # the log, which is a file
        assert newcomer.lab.wait(PATIENCE) == 2
        assert "lab.log: File exists" in newcomer.lab.output()
