"""The proxy is stopped under load, without a drain before: every connection goes on over whatever takes its place, or
both its hosts are told that it is over. None hangs."""

import re
import signal
import socket
import time

import programs
import traffic
from outcomes import PATIENCE, Outcomes, SlowReader, client, server, wire  # noqa: F401 (fixtures)

MEGA = 1_000_000


def reset_count(process):
    return int(re.search(r"(\d+) were reset on both sides", process.output())[1])


def test_sigterm_under_load_leaves_nobody_hanging(wire, server):
    first = programs.Sluice(wire.lab, wire.box, mode="i-tcp", name="first", stop={"drain": "1s"})
    transfers = Outcomes(wire, server, 20, 8 * MEGA)
    time.sleep(1)
    assert first.ask("status")["flows"] > 0
    first.stop_and_check()
    assert transfers.running() > 0, "all were over before the stop"
    second = programs.Sluice(wire.lab, wire.box, mode="i-tcp", name="second")
    seen = transfers.finish()
    assert first.process.output().count("stopping: SIGTERM") == 1
    assert seen.count("reset") <= reset_count(first.process)
    second.stop_and_check()


def test_a_reader_that_does_not_read_learns_of_the_end_and_so_does_its_server(wire, server):
    sluice = programs.Sluice(wire.lab, wire.box, mode="i-tcp", stop={"drain": "300ms"})
    idle = client(wire, server).connect({"do": "take"})
    idle.sendall(b"before")
    traffic.wait_until_acknowledged(idle)
    reader = SlowReader(wire, server, sluice)
    sluice.stop_and_check()
    assert reset_count(sluice.process) == 1
    assert re.search(r"1 connection\(s\) with unacknowledged data are reset .* delivering 1",
                     sluice.process.output())
    wire.box.bridge("br0", "core", "radio")
    reader.expect_reset()
    idle.sendall(b" and after")  # its relay was empty: it is its hosts' own
    idle.shutdown(socket.SHUT_WR)
    assert len(idle.recv(64)) == 64
    idle.close()


def test_time_in_which_the_program_stands_still_is_no_drain(wire, server):
    """As on a host that has no time for it. What the reader takes meanwhile was held; so nothing has to be reset."""
    sluice = programs.Sluice(wire.lab, wire.box, mode="i-tcp", stop={"drain": "1s"})
    reader = SlowReader(wire, server, sluice)
    sluice.process.signal(signal.SIGTERM)
    sluice.process.wait_for("stopping: SIGTERM")
    sluice.process.signal(signal.SIGSTOP)
    time.sleep(2)
    sluice.process.signal(signal.SIGCONT)
    got, sha, error = traffic.read_to_end(reader.connection)
    assert not error and got == reader.SIZE and sha == traffic.digest(9, got)
    assert sluice.process.wait(PATIENCE) == 0
    assert reset_count(sluice.process) == 0


def test_a_second_signal_ends_the_wait(wire, server):
    sluice = programs.Sluice(wire.lab, wire.box, mode="i-tcp", stop={"drain": "10min"})
    reader = SlowReader(wire, server, sluice)
    sluice.process.signal(signal.SIGTERM)
    sluice.process.wait_for("stopping: SIGTERM")
    sluice.process.signal(signal.SIGINT)
    assert sluice.process.wait(PATIENCE) == 0
    assert "stopping at once: SIGINT" in sluice.process.output()
    reader.expect_reset()


def test_sluicectl_stop_is_the_same(wire, server):
    sluice = programs.Sluice(wire.lab, wire.box, mode="i-tcp", stop={"drain": "0s"})
    reader = SlowReader(wire, server, sluice)
    sluice.ask("stop")
    assert sluice.process.wait(PATIENCE) == 0
    reader.expect_reset()
