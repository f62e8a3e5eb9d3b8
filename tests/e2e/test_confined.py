"""The proxy as a user without rights, with only the capabilities that its ports need."""

import os
import re
from pathlib import Path

import programs
import pytest
from outcomes import PATIENCE, client, server, wire  # noqa: F401 (fixtures)
from test_health import eventually

MEGA = 1_000_000
NOBODY = 65534
# As sluice.service has them; CAP_IPC_LOCK is in the place of its LimitMEMLOCK=infinity, which not every root may set.
SERVICE = ("net_raw", "net_admin", "sys_nice", "ipc_lock")


class Unprivileged:
    """Starts the proxy as nobody with these capabilities and no others."""

    def __init__(self, wire, capabilities, **changes):
        folder = wire.lab.log_dir / "nobody"
        folder.mkdir()
        for parent in folder.parents:
            if parent.stat().st_uid == os.geteuid() and parent != Path("/"):
                parent.chmod(parent.stat().st_mode | 0o011)
        self.socket, file = folder / "sluice.sock", folder / "sluice.yaml"
        programs.write(file, programs.sluice_configuration(
            programs.af_packet(0, "radio"), programs.af_packet(1, "core"), self.socket, **changes))
        for path in (folder, file):
            os.chown(path, NOBODY, NOBODY)
        rights = ",".join(["-all", *(f"+{name}" for name in capabilities)])
        self.process = wire.box.start(
            "sluice", "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs", "--inh-caps", rights,
            "--ambient-caps", rights, "--bounding-set", rights, programs.program("sluice"), file,
            environment={"XDG_RUNTIME_DIR": str(folder)})

    def status(self):
        """Of every thread, as the kernel tells it."""
        return [dict(line.split(":\t", 1) for line in (task / "status").read_text(encoding="utf-8").splitlines())
                for task in Path(f"/proc/{self.process.pid}/task").iterdir()]


def test_transfers_through_a_proxy_without_rights(wire, server):
    proxy = Unprivileged(wire, SERVICE, mode="i-tcp", shards={"count": 2, "priority": "real-time"},
                         ports={"radio": {"fix_offloads": True}, "core": {"fix_offloads": True}})
    proxy.process.wait_for("running", PATIENCE)
    client(wire, server).download(3 * MEGA)
    client(wire, server, 1).upload(3 * MEGA)
    eventually(lambda: programs.ask(proxy.socket, "counters")["proxy.flows_split"] == 2, "they were not split")
    expected = sum(1 << number for number in (12, 13, 14, 23))  # linux/capability.h
    for thread in proxy.status():
        assert thread["Uid"].split() == [str(NOBODY)] * 4
        assert int(thread["CapPrm"], 16) == int(thread["CapBnd"], 16) == expected, thread["Name"]
        assert thread["Seccomp"] == ("0" if programs.sanitizers() else "2"), thread["Name"]
    assert proxy.process.stop() == 0


def test_an_interface_that_is_made_again_is_opened_again_without_rights(wire, server):
    proxy = Unprivileged(wire, SERVICE, mode="i-tcp")
    proxy.process.wait_for("running", PATIENCE)
    wire.box.ip("link", "del", "radio")
    proxy.process.wait_for("port radio: the interface is gone", PATIENCE)
    wire.lab.link(wire.ue, "eth0", wire.box, "radio")
    wire.ue.address("eth0", *(f"{a}/16" for a in wire.ue_addresses))
    wire.ue.route("10.99.0.0/16", "dev", "eth0", "src", wire.ue_address)
    proxy.process.wait_for("port radio: the link is up again", PATIENCE)
    wire.lab.know_each_other(wire)
    client(wire, server).download(MEGA)
    assert proxy.process.stop() == 0


@pytest.mark.parametrize("missing", ["net_raw", "net_admin", "ipc_lock"])
def test_a_capability_that_is_missing_is_said(wire, missing):
    proxy = Unprivileged(wire, [name for name in SERVICE if name != missing],
                         ports={"radio": {"device": programs.af_packet(0, "radio") + ",framecnt=16384"}})
    assert proxy.process.wait(PATIENCE) == 1
    assert re.search(r"ports\.radio: .*needs CAP_NET_RAW, CAP_NET_ADMIN, and memory that may be locked", proxy.process.output())
