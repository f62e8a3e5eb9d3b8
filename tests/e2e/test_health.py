"""What the control thread sees of the rest: a poll thread that stands still, a port that is unplugged."""

import contextlib
import ctypes
import os
import time
from pathlib import Path

import programs
import pytest
from outcomes import PATIENCE, client, server, wire  # noqa: F401 (fixtures)

MEGA = 1_000_000
PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207
WAIT_FOR_ANY_THREAD = 0x40000000  # __WALL


@contextlib.contextmanager
def thread_held(pid, name):
    """One thread of a process stands still meanwhile; the others run."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    (thread,) = [int(task.name) for task in Path(f"/proc/{pid}/task").iterdir() if (task / "comm").read_text().strip() == name]
    if libc.ptrace(PTRACE_SEIZE, thread, None, None):
        pytest.skip(f"threads cannot be held here: {os.strerror(ctypes.get_errno())}")
    assert libc.ptrace(PTRACE_INTERRUPT, thread, None, None) == 0
    os.waitpid(thread, WAIT_FOR_ANY_THREAD)
    try:
        yield
    finally:
        libc.ptrace(PTRACE_DETACH, thread, None, None)


def eventually(condition, what):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def health(box):
    """The status of the answer for who asks over HTTP, a Kubernetes probe for one."""
    return box.run("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "http://127.0.0.1:9838/health").stdout


def test_a_poll_thread_that_stands_still_is_seen(wire):
    sluice = programs.Sluice(wire.lab, wire.box, mode="i-tcp", shards={"count": 2}, metrics={"listen": "127.0.0.1:9838"})
    assert sluice.ask("status")["shards_stalled"] == 0
    assert health(wire.box) == "200"
    time.sleep(1.5)  # so that the watch has looked twice
    with thread_held(sluice.process.pid, "shard1"):
        sluice.process.wait_for(r"shard 1 is stalled for [\d.]+ s", PATIENCE)
        assert sluice.ask("status")["shards_stalled"] == 1
        assert health(wire.box) == "503"
        assert [shard["stalled_s"] > 0 for shard in sluice.ask("shards")] == [False, True]
    sluice.process.wait_for(r"shard 1 runs again; it was stalled for [\d.]+ s", PATIENCE)
    assert sluice.ask("status")["shards_stalled"] == 0
    assert health(wire.box) == "200"
    assert sluice.counters()["shards.stalls"] == 1
    sluice.stop_and_check()


def port(sluice, side="radio"):
    return sluice.ask("ports")[side]


def test_a_link_that_goes_down_and_comes_back(wire, server):
    sluice = programs.Sluice(wire.lab, wire.box, mode="i-tcp")
    assert port(sluice)["link"] == "up" and port(sluice)["link_changes"] == 0
    running = client(wire, server).connect({"do": "take"})
    wire.ue.ip("link", "set", "eth0", "down")
    sluice.process.wait_for("port radio: the link is down", PATIENCE)
    assert port(sluice)["link"] == "down" and port(sluice, "core")["link"] == "up"
    assert sluice.ask("status")["ports"]["radio"]["link"] == "down"
    wire.ue.ip("link", "set", "eth0", "up")
    wire.ue.route("10.99.0.0/16", "dev", "eth0", "src", wire.ue_address)
    sluice.process.wait_for(r"port radio: the link is up again; it was down for [\d.]+ s", PATIENCE)
    assert port(sluice)["link"] == "up" and port(sluice)["link_changes"] == 2
    running.sendall(b"the connection of before")
    running.shutdown(1)
    assert len(running.recv(64)) == 64
    client(wire, server).download(MEGA)
    sluice.stop_and_check()


def test_traffic_for_a_port_that_is_switched_off_stops_nothing(wire, server):
    """The driver must not wait for a device that takes no more; the other port, and the operator, are served."""
    sluice = programs.Sluice(wire.lab, wire.box, mode="bypass")
    wire.box.ip("link", "set", "radio", "down")
    sluice.process.wait_for("port radio: the link is down", PATIENCE)
    for i in range(3000):  # more than any ring of the driver holds
        with wire.server.socket(kind=2) as flood:
            flood.sendto(b"x" * 100, (wire.ue_address, 9)) if i % 50 else time.sleep(0.001)
    time.sleep(2)
    assert "is stalled" not in sluice.process.output()
    used = sluice.process.cpu_seconds()
    time.sleep(2)
    assert sluice.process.cpu_seconds() - used < 1, "it spins on a port that has nothing to say"
    wire.box.ip("link", "set", "radio", "up")
    sluice.process.wait_for("port radio: the link is up again", PATIENCE)
    eventually(lambda: client(wire, server).connect_error(2) == 0, "nothing passes")
    client(wire, server).download(MEGA)
    sluice.stop_and_check()


def test_an_interface_that_is_made_again_is_taken_up(wire, server):
    sluice = programs.Sluice(wire.lab, wire.box, mode="i-tcp")
    wire.box.ip("link", "del", "radio")
    sluice.process.wait_for("port radio: the interface is gone", PATIENCE)
    assert port(sluice)["link"] == "absent"
    wire.lab.link(wire.ue, "eth0", wire.box, "radio")
    wire.ue.address("eth0", *(f"{a}/16" for a in wire.ue_addresses))
    wire.ue.route("10.99.0.0/16", "dev", "eth0", "src", wire.ue_address)
    sluice.process.wait_for("port radio: the link is up again", PATIENCE)
    wire.lab.know_each_other(wire)
    eventually(lambda: client(wire, server).connect_error(2) == 0, "nothing passes")
    client(wire, server).download(MEGA)
    sluice.stop_and_check()
