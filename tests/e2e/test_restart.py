"""The proxy is killed under load and started again: every connection that it had split goes on between its hosts, or both
learn that it is over. Connections that it had not split are not touched."""

import socket
import time

import programs
import traffic
from outcomes import Outcomes, SlowReader, client, server, wire  # noqa: F401 (fixtures)

MEGA = 1_000_000


def start(wire, name):
    return programs.Sluice(wire.lab, wire.box, mode="i-tcp", name=name, state={"file": str(wire.lab.log_dir / "state")})


def speak_and_close(connection):
    """Sends to a server that takes what comes, and has its answer."""
    connection.sendall(b" and after")
    connection.shutdown(socket.SHUT_WR)
    assert len(connection.recv(64)) == 64
    connection.close()


def test_a_kill_under_load_leaves_nobody_hanging(wire, server):
    first = start(wire, "first")
    idle = [client(wire, server, i % 4).connect({"do": "take"}) for i in range(5)]
    for connection in idle:
        traffic.wait_until_acknowledged(connection)
    reader = SlowReader(wire, server, first)
    transfers = Outcomes(wire, server, 20, 8 * MEGA)
    time.sleep(1)
    first.kill()
    assert transfers.running() > 0, "all were over before"
    wire.box.bridge("br0", "core", "radio")
    never_split = client(wire, server).connect({"do": "take"})
    wire.box.ip("link", "del", "br0")
    second = start(wire, "second")
    second.process.wait_for("an earlier run left split connections")
    reader.expect_reset()
    seen = transfers.finish()
    assert "reset" in seen, "bytes were on their way"
    for connection in [*idle, never_split]:
        speak_and_close(connection)
    counters = second.counters()
    assert counters["orphans_reset"] > 0 and counters["drop_orphan"] > 0
    client(wire, server).download(MEGA, seed=3)
    second.stop_and_check()


def test_hosts_that_are_silent_learn_of_it_too(wire, server):
    """The server has closed and knows nothing of it, the client waits for the rest: neither sends by itself."""
    first = start(wire, "first")
    reader = SlowReader(wire, server, first)
    first.kill()
    second = start(wire, "second")
    reader.expect_reset()
    second.stop_and_check()


def test_a_host_behind_a_link_that_is_down_at_the_stop_learns_of_it_later(wire, server):
    first = start(wire, "first")
    reader = SlowReader(wire, server, first)
    wire.box.ip("link", "set", "radio", "down")
    first.stop_and_check()
    wire.box.ip("link", "set", "radio", "up")
    second = start(wire, "second")
    second.process.wait_for("1 lost bytes and are reset")
    reader.expect_reset()
    second.stop_and_check()


def test_a_silent_ue_learns_of_it_after_runs_that_could_not_reach_it(wire, server):
    """The UE only waits. Its link is down at the stop, and during the whole next run."""
    first = start(wire, "first")
    with wire.server.socket() as listening:
        listening.bind((wire.server_address, 5002))
        listening.listen()
        ue = wire.ue.socket()
        ue.settimeout(60)
        ue.connect((wire.server_address, 5002))
        connection, _ = listening.accept()
    wire.ue.ip("link", "set", "eth0", "down")
    connection.sendall(bytes(30_000))
    traffic.wait_until_acknowledged(connection)
    first.stop_and_check()
    for name in ("second", "third"):
        run = start(wire, name)
        run.process.wait_for("1 lost bytes and are reset")
        run.stop_and_check()
    fourth = start(wire, "fourth")
    wire.ue.ip("link", "set", "eth0", "up")
    wire.ue.route("10.99.0.0/16", "dev", "eth0", "src", wire.ue_address)
    try:
        assert ue.recv(1) == b"", "the UE is not reset"
        raise AssertionError("the UE was closed, not reset")
    except ConnectionResetError:
        pass
    connection.close()
    fourth.stop_and_check()


def test_no_file_remains_after_a_stop_without_resets(wire, server):
    only = start(wire, "only")
    client(wire, server).download(MEGA, seed=1)
    only.stop_and_check()
    assert not (wire.lab.log_dir / "state").exists()


def test_a_file_that_cannot_be_had_is_said_and_nothing_more(wire, server):
    sluice = programs.Sluice(wire.lab, wire.box, mode="i-tcp", state={"file": "/nonexistent/folder/state"})
    sluice.process.wait_for("state.file /nonexistent/folder/state cannot be made: No such file or directory")
    client(wire, server).download(MEGA)
    sluice.stop_and_check()
