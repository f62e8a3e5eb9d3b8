"""Several poll threads: each UE lives on one of them, and traffic of all goes through both ports."""

import socket
import time

import lab as lab_module
import programs
import pytest
import test_radio
import traffic

SHARDS = 2
MEGA = 1_000_000


def accounted(counters):
    """(frames received, frames that were optimised, forwarded or dropped)."""
    return (counters["received_radio"] + counters["received_core"],
            sum(value for name, value in counters.items() if name == "optimised" or name.startswith(("forward_", "drop_"))))


def shares(sluice, name):
    """A counter of each shard."""
    return [shard[name] for shard in sluice.ask("shards")]


@pytest.fixture(params=["queues", "rings"])
def sharded(request, tmp_path):
    """Hosts with a proxy of two shards between them: (wire, sluice, server). The kernel gives each shard's packets to a queue
    of its own, or each port has one queue and the shards hand each other what is not theirs."""
    with lab_module.Lab("shards", tmp_path) as lab:
        wire = lab.bump(ues=8)
        ports = {"radio": programs.af_packet(0, "radio"), "core": programs.af_packet(1, "core")}
        if request.param == "rings":
            ports = {side: device + ",qpairs=1" for side, device in ports.items()}
        sluice = programs.Sluice(lab, wire.box, mode="i-tcp", shards={"count": SHARDS},
                                 ports={side: {"device": device} for side, device in ports.items()})
        sluice.hands_over = request.param == "rings"
        with traffic.Server(wire.server.socket) as server:
            yield wire, sluice, server


def clients_of(wire, server):
    return [traffic.Client(wire.server_address, wire.ue.socket, server.port, source=address)
            for address in wire.ue_addresses]


def test_both_shards_carry_their_ues(sharded):
    wire, sluice, server = sharded
    clients = clients_of(wire, server)
    traffic.many(32, 32, lambda i: clients[i % len(clients)].duplex(MEGA, seed=300 + i))
    short = 500

    def connection(i):
        client = clients[i % len(clients)]
        (client.download if i % 2 else client.upload)(i * 7 % 5000, seed=i)

    traffic.many(short, 8, connection)
    clients[0].reset_by_server(100_000)
    with wire.ue.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        for i in range(100):
            out.sendto(b"x", (wire.server_address, 7 + i))
    sluice.wait_until_at_rest()

    counters = sluice.counters_at_rest()
    received, sorted_out = accounted(counters)
    assert received == sorted_out > 10_000
    assert counters["flows_split"] == 32 + short + 1
    assert sum(value for name, value in counters.items() if name.startswith("drop_")) == 0, counters
    assert counters["steering.dropped"] == 0
    assert counters["ports.radio.transmit_dropped"] == counters["ports.core.transmit_dropped"] == 0
    assert counters["ports.radio.received"] + counters["ports.core.received"] == received
    for name in ("received", "optimised", "flows_split", "bearers"):
        assert len(shares(sluice, name)) == SHARDS
    split = shares(sluice, "flows_split")
    assert sum(split) == counters["flows_split"]
    assert min(split) >= counters["flows_split"] // 8, "at least one UE of eight on each"
    handed_over = shares(sluice, "handed_over")
    assert min(handed_over) > 0 if sluice.hands_over else max(handed_over) == 0, handed_over
    sluice.stop_and_check()


@pytest.mark.real_time
def test_an_idle_shard_is_woken_for_what_others_poll(sharded):
    """Connections one at a time, each after a rest: none waits for the end of a sleep."""
    wire, sluice, server = sharded
    clients = clients_of(wire, server)
    slowest = []
    for client in clients:
        client.download(1000)
        times = []
        for _ in range(10):
            time.sleep(0.02)
            began = time.monotonic()
            client.download(1000)
            times.append(time.monotonic() - began)
        slowest.append(sorted(times)[len(times) // 2])
    print("median seconds of a small fetch, by UE:", [f"{value:.4f}" for value in slowest])
    assert max(slowest) < 0.03  # four round trips of the handshake and the data; a sleep lasts 10 ms
    before, began = sluice.process.cpu_seconds(), time.monotonic()
    time.sleep(3)
    share = (sluice.process.cpu_seconds() - before) / (time.monotonic() - began)
    print(f"two idle shards: {100 * share:.1f} % of a core")
    assert share < 0.08
    sluice.stop_and_check()


def test_every_bearers_reports_reach_its_shard(tmp_path):
    """Four UEs behind one Node-B, steered: the shard that owns a UE gets its reports and nobody else's."""
    addresses = [f"10.45.0.{2 + i}" for i in range(4)]
    ues = [{"address": address, "frame": "0B", "buffer": "600KiB", "channel": test_radio.STEADY} for address in addresses]
    with lab_module.Lab("bearers", tmp_path) as lab:
        radio = test_radio.Radio(lab, "smvs", test_radio.STEADY, 60, ues=4, proxy={"shards": {"count": SHARDS}, **test_radio.PATIENT},
                                 cell={"ues": ues})
        with traffic.Server(radio.wire.server.socket) as server:
            clients = [traffic.Client(radio.wire.server_address, radio.wire.ue.socket, server.port, source=address)
                       for address in addresses]
            connections = [client.connect({"do": "timed", "seconds": 60}) for client in clients]
            for connection in connections:
                connection.recv(200_000)
            unknown = radio.sluice.counters()["reports_unknown_bearer"]
            time.sleep(2)
            bearers = {bearer["ue"]: bearer for bearer in radio.sluice.ask("bearers")}
            assert sorted(bearers) == addresses
            assert {bearer["steered_by"] for bearer in bearers.values()} == {"feedback"}, bearers
            assert all(bearer["allowance_bytes"] > 0 or bearer["in_flight_bytes"] > 0 for bearer in bearers.values())
            assert min(shares(radio.sluice, "bearers")) >= 1, "UEs on both"
            assert min(shares(radio.sluice, "reports")) > 100
            assert radio.sluice.counters()["reports_unknown_bearer"] == unknown, "none went to a shard that has no such UE"
            for connection in connections:
                traffic.reset(connection)
            traffic.many(8, 8, lambda i: clients[i % 4].download(MEGA // 2, 50 + i))
        counters = radio.sluice.counters()
        assert counters["feedback.reports_lost"] == counters["fallbacks"] == counters["steering.dropped"] == 0
        assert radio.nodeb.process.stop() == 0
        time.sleep(0.5)  # no reports come any more, and the last snapshot has them all
        assert radio.sluice.counters()["reports"] == sum(shares(radio.sluice, "reports")) > 400
        radio.sluice.stop_and_check()
