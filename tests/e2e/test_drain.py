"""Handback and starting in mid-traffic: a proxy that was drained is stopped and another one started, and no connection
notices. Kernel TCP on both sides; every byte is checked."""

import threading
import time

import lab as lab_module
import programs
import pytest
import traffic

MEGA = 1_000_000


@pytest.fixture
def wire(tmp_path):
    with lab_module.Lab("drain", tmp_path) as lab:
        made = lab.bump(ues=2)
        made.lab = lab
        with traffic.Server(made.server.socket) as server:
            made.port = server.port
            yield made


def client(wire, ue=0):
    return traffic.Client(wire.server_address, wire.ue.socket, wire.port, source=wire.ue_addresses[ue])


class Transfers:
    """Transfers that last until they are told to end, in threads of their own; what went wrong is raised at the end."""

    def __init__(self, *transfers):
        self.failures = []
        self._threads = [threading.Thread(target=self._run, args=(t,), daemon=True) for t in transfers]
        for thread in self._threads:
            thread.start()

    def _run(self, transfer):
        try:
            transfer()
        except Exception as error:  # pylint: disable=broad-except
            self.failures.append(repr(error))

    def running(self):
        return sum(thread.is_alive() for thread in self._threads)

    def finish(self, timeout=90):
        deadline = time.monotonic() + timeout
        for thread in self._threads:
            thread.join(max(0, deadline - time.monotonic()))
        assert not self.running(), f"{self.running()} transfers are stuck; {self.failures}"
        assert not self.failures


def long_transfers(wire):
    """Both ways, by readers that take their time, so that they are under way for some seconds."""
    return Transfers(*(lambda i=i: client(wire, i % 2).download(12 * MEGA, seed=400 + i, pause=0.02) for i in range(4)),
                     *(lambda i=i: client(wire, i % 2).duplex(60 * MEGA, seed=500 + i) for i in range(2)))


def wait_until_drained(sluice, timeout=30):
    deadline = time.monotonic() + timeout
    while (status := sluice.ask("drain", "status"))["still_split"]:
        assert time.monotonic() < deadline, status
        time.sleep(0.05)
    return status


def test_a_drained_restart_breaks_nobody(wire):
    first = programs.Sluice(wire.lab, wire.box, mode="i-tcp", name="first")
    transfers = long_transfers(wire)
    time.sleep(1)
    assert first.ask("status")["flows"] > 0
    assert first.ask("drain")["draining"]
    wait_until_drained(first)
    counters = first.counters()
    assert counters["released_drain"] > 0
    assert transfers.running() > 0, "all were over before the drain was"
    first.stop_and_check()
    time.sleep(0.5)
    second = programs.Sluice(wire.lab, wire.box, mode="i-tcp", name="second")
    client(wire).download(MEGA, seed=3)
    transfers.finish()
    counters = second.counters()
    assert counters["flows_split"] == 1, "the connections of before pass untouched"
    assert counters["forward_mid_flow"] > 0
    second.wait_until_at_rest()
    second.stop_and_check()


def test_connections_older_than_the_proxy_are_never_reset(wire):
    """They begin over a bridge; the proxy takes its place in their middle."""
    wire.box.bridge("br0", "core", "radio")
    transfers = long_transfers(wire)
    time.sleep(0.5)
    wire.box.ip("link", "del", "br0")
    sluice = programs.Sluice(wire.lab, wire.box, mode="i-tcp")
    assert transfers.running() > 0
    transfers.finish()
    counters = sluice.counters()
    assert counters["optimised"] == 0 and counters["forward_mid_flow"] > 0
    sluice.stop_and_check()


def test_one_ue_is_released_and_the_other_is_not(wire):
    sluice = programs.Sluice(wire.lab, wire.box, mode="i-tcp")
    transfers = long_transfers(wire)
    time.sleep(0.5)
    sluice.ask("release", wire.ue_addresses[0])
    deadline = time.monotonic() + 20
    def of_the_ue():
        return [flow for flow in sluice.ask("flows") if flow["ue"].startswith(wire.ue_addresses[0] + " ")]
    while any(flow["phase"] != "released" for flow in of_the_ue()):
        assert time.monotonic() < deadline, sluice.ask("flows")
        time.sleep(0.05)
    assert {flow["reason"] for flow in of_the_ue()} == {"released_command"}
    counters = sluice.counters()
    assert counters["released_command"] >= 1
    transfers.finish()
    with pytest.raises(lab_module.LabError):
        sluice.ask("release", "nobody")
    sluice.wait_until_at_rest()
    sluice.stop_and_check()


def test_draining_can_be_called_off(wire):
    sluice = programs.Sluice(wire.lab, wire.box, mode="i-tcp")
    sluice.ask("drain")
    client(wire).download(MEGA, seed=1)
    time.sleep(0.3)  # the shard has published its last counters
    # Each segment of a connection that is not split counts under the reason of its handshake.
    before = sluice.counters()
    assert before["forward_draining"] > 0
    assert before["flows_split"] == 0
    assert sluice.ask("status")["draining"]
    sluice.ask("drain", "off")
    client(wire).download(MEGA, seed=2)
    time.sleep(0.3)
    sluice.wait_until_at_rest()
    assert sluice.counters()["flows_split"] == 1
    sluice.stop_and_check()
