"""What used to fill the packet buffers for good: the others' traffic goes on, nothing is lost, and the memory comes back.

The limits are the default ones. `tests/lab/overload.py` measures the ratios; here the margins are wide."""

import contextlib
import time

import lab as lab_module
import overload
import programs
import pytest
import traffic
from outcomes import PATIENCE
from raw_tcp import RawHost

LEAST_KEPT = 0.5  # of what the others get without the load; a machine that has other work as well takes its part of that
SECONDS = 2
RESERVE = 1 / 16
AT_REST = 0.5  # share of a processor: far more than a poll thread takes that has little to do, far less than one that spins


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    with lab_module.Lab("overload", tmp_path_factory.mktemp("overload")) as lab:
        bench = overload.Bench(lab, tcp_mbps=1)
        yield bench
        bench.others.stop()
        bench.server.close()
        bench.sluice.wait_until_at_rest(timeout=30)
        counters = bench.sluice.counters()
        assert counters["flows_reset_memory"] == 0 and counters["buffers_exhausted"] == 0
        bench.sluice.stop_and_check()


@pytest.mark.real_time  # what others keep of the processor
@pytest.mark.parametrize("kind", overload.LOADS)
def test_others_go_on_and_the_memory_comes_back(bench, kind):
    sluice = bench.sluice

    def standing():
        buffers = sluice.ask("status")["packet_buffers"]
        assert buffers["in_use"] < buffers["total"] * (1 - RESERVE / 2), "the reserve is taken"
        if kind == "full-speed" or programs.sanitizers():
            return
        used = sluice.process.cpu_seconds()
        time.sleep(SECONDS)
        assert sluice.process.cpu_seconds() - used < AT_REST * SECONDS, "it spins"

    load = overload.LOADS[kind](bench.wire, bench.server)
    without, during = bench.round(load, SECONDS, standing)
    kept = [b / a for a, b in zip(without, during)]
    print(f"{kind}: the others kept {kept[0]:.2f} of their TCP and {kept[1]:.2f} of their UDP")
    assert min(kept) > 0 if programs.sanitizers() else min(kept) > LEAST_KEPT
    bench.wait_for_memory()


class Deaf:
    """Downloads to hosts of many addresses that acknowledge nothing for a while."""

    HOSTS, EACH, SIZE = 20, 8, 30_000

    def __init__(self, wire, server, stack):
        self.hosts = [stack.enter_context(RawHost(wire, f"10.45.200.{1 + i}", server.port)) for i in range(self.HOSTS)]
        self.connections = [host.connect(20_000 + i) for host in self.hosts for i in range(self.EACH)]

    def order(self):
        for seed, connection in enumerate(self.connections):
            connection.answers = False
            connection.order = b'{"do": "send", "bytes": %d, "seed": %d}\n' % (self.SIZE, seed)
        self.repeat_orders()

    def repeat_orders(self):
        """Sends the orders of which nothing was acknowledged: they are payload too, and may be lost or refused."""
        for connection in self.connections:
            if connection.acknowledged == 0:
                connection.send(0, connection.order)

    def expect_all(self):
        for connection in self.connections:
            connection.answers = True
        deadline = time.monotonic() + PATIENCE
        while left := [connection for connection in self.connections if not connection.finished]:
            assert time.monotonic() < deadline, [connection.taken for connection in left]
            self.repeat_orders()
            time.sleep(0.2)
        for seed, connection in enumerate(self.connections):
            assert (connection.taken, connection.sha.hexdigest()) == (self.SIZE, traffic.digest(seed, self.SIZE))


def test_payload_that_is_refused_comes_again(tmp_path):
    """Connections that were silent have been promised more than the pool holds, and all are used at once: what finds no
    room is not acknowledged, and everything is complete in the end."""
    with lab_module.Lab("refused", tmp_path) as lab, contextlib.ExitStack() as stack:
        wire = lab.bump()
        ports = {side: {"receive_descriptors": 128} for side in ("radio", "core")}
        limits = {"refuse_flows_at": 1, "release_flows_at": 1}  # all stay split
        sluice = programs.Sluice(lab, wire.box, mode="i-tcp", pool={"buffers": 1280}, ports=ports, limits=limits)
        server = stack.enter_context(traffic.Server(wire.server.socket))
        deaf = Deaf(wire, server, stack)
        deaf.order()
        deadline = time.monotonic() + PATIENCE
        while not sluice.counters()["payload_refused"]:
            ordered = sum(connection.acknowledged > 0 for connection in deaf.connections)
            assert time.monotonic() < deadline, (ordered, sluice.ask("status")["packet_buffers"], sluice.ask("ports"))
            time.sleep(0.2)
            deaf.repeat_orders()
        deaf.expect_all()  # before five seconds without progress have passed
        assert sluice.counters()["flows_reset_memory"] == 0
        sluice.stop_and_check()
