"""The laboratory and the traffic, proved over the kernel's own bridge: what the end to end tests expect of the proxy
is what two hosts see of each other with nothing but a wire between them."""

import errno
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import lab as lab_module  # noqa: E402
import traffic  # noqa: E402
from lab import Lab  # noqa: E402

WHY_NOT = lab_module.why_not()
pytestmark = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))
MEGA = 1_000_000


@pytest.fixture(scope="module")
def wire(tmp_path_factory):
    with Lab("bridge", tmp_path_factory.mktemp("bridge")) as lab:
        wire = lab.bump(ues=2)
        wire.box.bridge("br0", "core", "radio")
        yield wire


@pytest.fixture(scope="module")
def server(wire):
    with traffic.Server(wire.server.socket) as server:
        yield server


@pytest.fixture
def client(wire, server):
    return traffic.Client(wire.server_address, wire.ue.socket, server.port)


def test_transfers_arrive_whole(client, server):
    client.download(20 * MEGA)
    client.upload(20 * MEGA)
    client.duplex(5 * MEGA)
    client.server_leaves_first(server, MEGA)


def test_a_wrong_byte_is_noticed(client, monkeypatch):
    monkeypatch.setattr(traffic, "digest", lambda seed, size: "0" * 64)
    with pytest.raises(traffic.TrafficError):
        client.download(1000)


def test_short_connections_and_parallel_streams(client):
    traffic.many(100, 10, lambda i: client.download(100 + i, i))
    traffic.many(16, 16, lambda i: client.duplex(300_000, i))


def test_reset_arrives_after_the_acknowledged_bytes(client, server):
    assert client.reset_by_server(100_000) == 100_000
    assert client.reset_by_client(server, 100_000) == 100_000
    client.reset_by_server(3 * MEGA, settle=False)
    client.reset_by_client(server, 3 * MEGA, settle=False)


def test_refusal_and_silence_are_told_apart(wire):
    refused = traffic.Client(wire.server_address, wire.ue.socket, port=9)
    assert refused.connect_error(timeout=5) == errno.ECONNREFUSED
    absent = traffic.Client("10.99.0.250", wire.ue.socket)
    assert absent.connect_error(timeout=10) == errno.EHOSTUNREACH
    wire.ue.ip("neigh", "replace", "10.99.0.251", "lladdr", wire.server.mac("eth0"), "dev", "eth0", "nud", "permanent")
    silent = traffic.Client("10.99.0.251", wire.ue.socket)
    assert silent.connect_error(timeout=2) == errno.ETIMEDOUT


def test_ipv6_and_a_second_ue(wire, server):
    with traffic.Server(wire.server.socket, family=socket.AF_INET6) as server6:
        client = traffic.Client(wire.server_address6, wire.ue.socket, server6.port, socket.AF_INET6)
        client.download(MEGA)
        client.upload(MEGA)
    traffic.Client(wire.server_address, wire.ue.socket, server.port, source=wire.ue_addresses[1]).download(MEGA)


def test_programs_are_supervised(wire):
    sleeper = wire.ue.start("sleeper", "sh", "-c", "echo awake; exec sleep 100")
    assert sleeper.wait_for("awake") == "awake"
    assert sleeper.poll() is None
    assert sleeper.stop() == -signal.SIGTERM
    failing = wire.ue.start("failing", "sh", "-c", "echo oops; exit 3")
    assert failing.wait(5) == 3
    with pytest.raises(lab_module.LabError, match="oops"):
        failing.wait_for("never")


def namespaces_of(pid):
    return [n.name for n in lab_module.NETNS_DIR.glob(f"{lab_module.PREFIX}-{pid}-*")]


CHILD = """
import sys, time
sys.path.insert(0, sys.argv[1])
import lab
lab.exit_on_sigterm()
with lab.Lab("child", sys.argv[2]) as it:
    wire = it.bump()
    wire.ue.start("sleeper", "sleep", "1000")
    print("ready", flush=True)
    # A signal that comes after Python last looked for one, and before the system call, does not end a sleep.
    while True:
        time.sleep(0.05)
"""


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_nothing_stays_behind(tmp_path, signum):
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(Path(__file__).parent), str(tmp_path)],
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert child.stdout.readline() == "ready\n"
    made = namespaces_of(child.pid)
    assert len(made) == 3
    child.send_signal(signum)
    child.wait(20)
    if signum == signal.SIGKILL:  # it could not clean up; the next lab does, and its programs died with it
        assert namespaces_of(child.pid) == made
        deadline = time.monotonic() + 5
        while any(lab_module._namespace_pids(n) for n in made) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not any(lab_module._namespace_pids(n) for n in made)
        lab_module.remove_leftovers()
    assert not namespaces_of(child.pid)
    assert namespaces_of(os.getpid())  # and leaves those of the living alone


@pytest.fixture
def stopped_after_adding(monkeypatch):
    """Ctrl-C reaches us when a namespace has just been made."""
    run = subprocess.run

    def interrupted(words, **options):
        done = run(words, **options)
        if words[:3] == ["ip", "netns", "add"]:
            raise KeyboardInterrupt
        return done

    monkeypatch.setattr(lab_module.subprocess, "run", interrupted)


def test_a_stop_while_a_namespace_is_made_leaves_nothing(tmp_path, stopped_after_adding):
    before = namespaces_of(os.getpid())
    with pytest.raises(KeyboardInterrupt), Lab("stopped", tmp_path) as lab:
        lab.bump()
    with pytest.raises(KeyboardInterrupt):
        lab_module.why_not()
    assert namespaces_of(os.getpid()) == before


def test_a_stop_while_a_lab_is_removed_waits_for_its_end(tmp_path, monkeypatch):
    before = namespaces_of(os.getpid())
    run = subprocess.run

    def disturbed(words, **options):
        """As a terminal does it: Ctrl-C reaches us and what we run."""
        os.kill(os.getpid(), signal.SIGINT)
        return run(["sh", "-c", 'kill -INT $$; exec "$@"', "sh", *words], **options)

    with pytest.raises(KeyboardInterrupt), Lab("disturbed", tmp_path) as lab:
        lab.bump()
        monkeypatch.setattr(lab_module.subprocess, "run", disturbed)
    assert namespaces_of(os.getpid()) == before
