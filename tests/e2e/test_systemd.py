"""The service under a systemd of its own: the packages are installed into a copy of this machine (test_package), which is
booted in a container with the two interfaces."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time

import lab as lab_module
import programs
import pytest
import traffic
from outcomes import PATIENCE
from test_package import CONFIGURATION, newer, packages, system  # noqa: F401 (fixtures)

MEGA = 1_000_000
# systemd-nspawn shows a container neither modules nor a resource limit that this machine may not set. DPDK asks for the one,
# and without the other memory is locked by a capability.
FULL_SYS = "mount -t sysfs sysfs /sys && mount -t cgroup2 cgroup2 /sys/fs/cgroup"
LOCKS = """[Service]
AmbientCapabilities=CAP_IPC_LOCK
CapabilityBoundingSet=CAP_IPC_LOCK
"""
# Its /dev and the like are systemd's to make.
BOOT = """set -e
umount "$0/dev" "$0/proc" "$0/run" "$0/tmp"
mount -t cgroup2 cgroup2 /sys/fs/cgroup
exec systemd-nspawn --boot --quiet --register=no --keep-unit --private-network --link-journal=no --capability=CAP_IPC_LOCK,CAP_BPF \\
  --system-call-filter=bpf \\
  --directory="$0" systemd.unit=basic.target
"""
BOOT_SECONDS = 40


class Booted:
    """A copy of this machine with systemd as its first process."""

    def __init__(self, system, log):  # noqa: F811
        self._log = open(log, "wb")  # pylint: disable=consult-using-with
        self._process = subprocess.Popen(
            system.outside("unshare", "--mount", "sh", "-c", BOOT, system.root),
            stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log)
        self.leader = 0
        deadline = time.monotonic() + BOOT_SECONDS
        while not self._is_up():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.close()
                pytest.skip(f"no systemd can be booted in a container here: {log.read_text(errors='replace')[-300:].strip()!r}")
            time.sleep(0.2)

    def _is_up(self):
        children = f"/proc/{self._process.pid}/task/{self._process.pid}/children"
        with open(children, encoding="ascii") as file:
            self.leader = int((file.read().split() or ["0"])[0])
        return self.leader != 0 and self.run("systemctl", "is-active", "basic.target", check=False).stdout == "active\n"

    def run(self, *words, check=True):
        run = subprocess.run(["nsenter", "-t", str(self.leader), "-m", "-u", "-i", "-n", "-p", "-C", *map(str, words)],
                             capture_output=True, text=True, timeout=60, check=False)
        assert not check or run.returncode == 0, f"{words} ended with {run.returncode}\n{run.stdout}{run.stderr}\n{self.journal()}"
        return run

    def journal(self):
        return self.run("journalctl", "-u", "sluice", "--no-pager", "-o", "cat", check=False).stdout

    def show(self, name):
        return self.run("systemctl", "show", "-P", name, "sluice").stdout.strip()

    def close(self):
        if self._process.poll() is None and self.leader:
            os.kill(self.leader, signal.SIGRTMIN + 4)  # systemd(1): power off
            try:
                self._process.wait(15)
            except subprocess.TimeoutExpired:
                os.kill(self.leader, signal.SIGKILL)
        elif self._process.poll() is None:
            self._process.kill()
        self._process.wait(15)
        self._log.close()


@pytest.fixture
def wire(tmp_path):
    with lab_module.Lab("systemd", tmp_path) as lab:
        made = lab.bump()
        made.lab = lab
        lab.know_each_other(made)
        yield made


@pytest.fixture
def booted(packages, system, wire, tmp_path):  # noqa: F811
    for tool in ("systemd-nspawn", "nsenter"):
        if not shutil.which(tool):
            pytest.skip(f"needs the program {tool}")
    system.install(packages["sluice"])
    programs.write(tmp_path / "sluice.yaml", programs.sluice_configuration(
        programs.af_packet(0, "radio"), programs.af_packet(1, "core"), "/run/sluice/sluice.sock",
        feedback={"allow_readable_secrets": True}, state={"file": "/run/sluice/state"}))
    system.write(CONFIGURATION, (tmp_path / "sluice.yaml").read_text(encoding="utf-8"))
    system.run("rm", "-f", "/usr/sbin/policy-rc.d")  # machines of tests may forbid dpkg to restart services
    system.run("mkdir", "-p", "/etc/systemd/system/sluice.service.d")
    system.write("/etc/systemd/system/sluice.service.d/lock.conf", LOCKS)
    machine = Booted(system, tmp_path / "boot.log")
    try:
        machine.run("sh", "-c", FULL_SYS)
        for side in ("radio", "core"):
            wire.box.ip("link", "set", side, "netns", str(machine.leader))
            machine.run("ip", "link", "set", side, "up")
        yield machine
    finally:
        machine.close()


def last_run(booted):
    return json.loads(booted.run("sluicectl", "--json", "status").stdout)["last_run"]["ended"]


def wait_for_run(booted, before):
    """Until another process than before is the service's, and says that it is ready."""
    deadline = time.monotonic() + PATIENCE
    while booted.show("ActiveState") != "active" or booted.show("MainPID") in ("0", before):
        assert time.monotonic() < deadline, f"the service does not come back\n{booted.journal()}"
        time.sleep(0.2)
    return booted.show("MainPID")


def test_the_service_lives_as_systemd_expects(packages, system, wire, booted, tmp_path):  # noqa: F811
    """Begun, reloaded, started anew when it hangs and when it is killed, upgraded in a transfer, stopped."""
    with traffic.Server(wire.server.socket) as server:
        client = traffic.Client(wire.server_address, wire.ue.socket, server.port)
        booted.run("systemctl", "start", "sluice")
        first = booted.show("MainPID")
        assert re.fullmatch(r"mode i-tcp, 0 connection\(s\) of 0 UE\(s\)", booted.show("StatusText"))
        client.download(MEGA)
        booted.run("systemctl", "reload", "sluice")
        assert booted.show("MainPID") == first

        booted.run("kill", "-STOP", first)
        hung = wait_for_run(booted, first)
        assert "Watchdog timeout" in booted.journal()
        assert last_run(booted) == "watchdog"
        booted.run("kill", "-KILL", hung)
        killed = wait_for_run(booted, hung)
        assert booted.show("NRestarts") == "2"
        assert last_run(booted) == "signal"
        client.download(MEGA)

        package = newer(packages["sluice"], tmp_path, "# newer\n")
        slow = wire.ue.socket()
        slow.settimeout(20)
        slow.connect((wire.server_address, server.port))
        slow.sendall(b'{"do": "take"}\n')
        with open(package, "rb") as file:
            subprocess.run(system.command("tee", "/root/newer.deb"), stdin=file, stdout=subprocess.DEVNULL, check=True)
        booted.run("dpkg", "--install", "--force-confold", "/root/newer.deb")
        upgraded = wait_for_run(booted, killed)
        slow.sendall(b"after")
        slow.shutdown(socket.SHUT_WR)
        assert len(slow.recv(64)) == 64, "the transfer went on"
        slow.close()
        client.download(MEGA)

        booted.run("systemctl", "stop", "sluice")
        assert booted.show("ActiveState") == "inactive" and booted.show("Result") == "success"
        assert upgraded not in ("0", first)


def test_a_file_that_is_wrong_is_tried_once_and_named_by_its_place(booted):
    """A key as the documents make it can be read by the service; one of root's cannot, which --check says before."""
    keys = "/etc/sluice/keys"
    assert booted.run("stat", "-c", "%U %G %a", keys).stdout == "root sluice 750\n"
    text = booted.run("cat", CONFIGURATION).stdout
    assert f"secret: {programs.KEY}" in text.replace('"', "")
    booted.run("sh", "-c", f"openssl rand -hex 32 | install -m 640 -o root -g sluice /dev/stdin {keys}/feedback.key")
    booted.run("sed", "-i", f"s|\"*secret\"*: *\"*{programs.KEY}\"*|\"secret_file\": keys/feedback.key|", CONFIGURATION)
    booted.run("sluice", "--check", "--system", CONFIGURATION)
    booted.run("systemctl", "start", "sluice")
    booted.run("systemctl", "stop", "sluice")

    booted.run("chmod", "600", f"{keys}/feedback.key")
    check = booted.run("sluice", "--check", "--system", CONFIGURATION, check=False)
    assert check.returncode == 2
    assert re.search(r"/etc/sluice/sluice.yaml:\d+:\d+: feedback.keys\[0\].secret_file, expected a file that user sluice of the "
                     r"service can read", check.stderr), check.stderr
    assert booted.run("systemctl", "start", "sluice", check=False).returncode != 0
    deadline = time.monotonic() + PATIENCE
    while booted.show("ActiveState") != "failed":  # it is "activating" between two attempts
        assert time.monotonic() < deadline, booted.journal()
        time.sleep(0.2)
    assert booted.show("NRestarts") == "0"
    assert booted.show("ExecMainStatus") == "2"
    assert booted.journal().count("feedback.keys[0].secret_file") == 1, booted.journal()


def test_with_its_drop_in_the_service_serves_ports_through_xdp(system, wire, booted, tmp_path):  # noqa: F811
    """As an operator installs it: the file of the package, by the command at its head."""
    devices = [f"net_af_xdp{number},iface={side}" for number, side in enumerate(("radio", "core"))]
    programs.write(tmp_path / "xdp.yaml", programs.sluice_configuration(*devices, "/run/sluice/sluice.sock"))
    text = (tmp_path / "xdp.yaml").read_text(encoding="utf-8")
    booted.run("sh", "-c", 'printf %s "$1" >"$2"', "sh", text, CONFIGURATION)
    booted.run("systemctl", "start", "sluice", check=False)
    without = booted.journal()
    booted.run("install", "-D", "-m", "644", "/usr/share/sluice/drop-ins/xdp.conf", "/etc/systemd/system/sluice.service.d/xdp.conf")
    booted.run("systemctl", "daemon-reload")
    booted.run("systemctl", "restart", "sluice")
    with traffic.Server(wire.server.socket) as server:
        traffic.Client(wire.server_address, wire.ue.socket, server.port).download(MEGA)
    deadline = time.monotonic() + PATIENCE  # a shard publishes its counters ten times a second
    while json.loads(booted.run("sluicectl", "--json", "counters", "flows_split").stdout) == 0:
        assert time.monotonic() < deadline, booted.journal()
        time.sleep(0.1)
    assert "running" not in without, "what the drop-in grants is needed"
    booted.run("systemctl", "stop", "sluice")


def test_with_its_drop_in_the_service_has_the_host_behind_a_veth_divide_segments(system, wire, booted, tmp_path):  # noqa: F811
    """The hosts leave segmentation to their device. A user without permission reads what to do."""
    ports = {side: {"device": programs.af_packet(number, side), "fix_offloads": True} for number, side in enumerate(("radio", "core"))}
    programs.write(tmp_path / "veth.yaml", programs.sluice_configuration(
        ports["radio"]["device"], ports["core"]["device"], "/run/sluice/sluice.sock", ports=ports))
    text = (tmp_path / "veth.yaml").read_text(encoding="utf-8")
    booted.run("sh", "-c", 'printf %s "$1" >"$2"', "sh", text, CONFIGURATION)
    for host in (wire.server, wire.ue):
        host.ethtool("eth0", "tx", "on", "tso", "on", "gso", "on")
    refused = "the kernel accepts no XDP program"
    booted.run("systemctl", "start", "sluice")
    assert booted.journal().count(refused) == 2, booted.journal()
    booted.run("install", "-D", "-m", "644", "/usr/share/sluice/drop-ins/veth.conf", "/etc/systemd/system/sluice.service.d/veth.conf")
    booted.run("systemctl", "daemon-reload")
    booted.run("systemctl", "restart", "sluice")
    assert booted.journal().count(refused) == 2, booted.journal()
    with traffic.Server(wire.server.socket) as server:
        traffic.Client(wire.server_address, wire.ue.socket, server.port).download(MEGA)
    counters = json.loads(booted.run("sluicectl", "--json", "counters", "ports").stdout)
    assert counters["ports.core.oversized"] == counters["ports.radio.oversized"] == 0
    for command in ("status", "top"):
        asked = booted.run("setpriv", "--reuid=65534", "--clear-groups", "sluicectl", command, check=False)
        assert asked.returncode != 0 and "does not accept this user (Permission denied): use sudo" in asked.stderr
    booted.run("systemctl", "stop", "sluice")


def commands(page, heading):
    """Those of the first block under a heading of a page for operators, without their comments and sudo."""
    text = (programs.ROOT / "docs/pages/operate" / page).read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2]
    block = text.split("```\n")[1]
    return [re.sub(r" +#.*", "", line).replace("sudo ", "") for line in block.splitlines()]


def follow(booted, page, heading):
    """Runs the commands of a block, but for those that install what is there already, and the editor. Returns what they print."""
    there = ("./run package", "apt install ", "sudoedit ")
    return [booted.run("sh", "-c", command).stdout for command in commands(page, heading) if not command.startswith(there)]


def test_no_step_of_the_documents_fails(system, wire, booted):  # noqa: F811
    """From the installed package to a controlled download that a Prometheus has counted, by the commands of install.md and watch.md.
    Only the names of the interfaces are edited in the file of the package."""
    if not system.has("/lib/systemd/system/prometheus.service"):
        pytest.skip("needs the package prometheus")
    text = (programs.ROOT / "configs/inline/smvs-by-acks.yaml").read_text(encoding="utf-8")
    text = text.replace("iface=radio0", "iface=radio").replace("iface=core0", "iface=core")
    booted.run("sh", "-c", 'printf %s "$1" >"$2"', "sh", text, CONFIGURATION)
    *_, checked, _, status = follow(booted, "install.md", "A package")
    assert checked.endswith("OK\n")
    assert "\nfail_open.ready             true\n" in status
    with traffic.Server(wire.server.socket) as server:
        client = traffic.Client(wire.server_address, wire.ue.socket, server.port)
        with client.connect({"do": "until"}) as connection:
            connection.recv(1 << 20)
            ports, top, handling = follow(booted, "install.md", "The first traffic")
        assert re.search(r"(?m)^core.link +up$", ports)
        assert wire.ue_address in top
        assert re.search(r"(?m)^controlled ", handling)
        assert '"sluice_uptime_seconds"' in follow(booted, "watch.md", "Prometheus, Grafana and the page")[-1]
        client.download(MEGA)
        ask = commands("watch.md", "Prometheus, Grafana and the page")[-1]
        booted.run("sh", "-c", ask.replace("sluice_uptime_seconds", "sluice_flows_split_total==1"))
    rules = booted.run("curl", "--silent", "http://localhost:9090/api/v1/rules").stdout
    assert '"SluiceDown"' in rules
    booted.run("systemctl", "stop", "prometheus", "sluice")
