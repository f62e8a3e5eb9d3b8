"""Packets of somebody who knows addresses and ports of a connection and cannot see it: his numbers are guesses, and nothing
changes."""

import random
import threading
import time

import frames
import lab as lab_module
import programs
import pytest
import traffic

MEGA = 1_000_000
DSCP_EXPEDITED = 0xB8


class Attacker:
    """Sends in the name of each of the two hosts, from where that host is."""

    def __init__(self, wire, connection, seed):
        server, ue = wire.server.mac("eth0"), wire.ue.mac("eth0")
        mine, theirs = connection.getsockname(), connection.getpeername()
        self._random = random.Random(seed)
        self._names = [(frames.Tap(wire.ue, "eth0"), ue, server, mine, theirs),
                       (frames.Tap(wire.server, "eth0"), server, ue, theirs, mine)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for tap, *_ in self._names:
            tap.close()

    def segments(self, flags, count, payload=b"", cut=None, **header):
        """`count` segments of guessed numbers from each host; `cut`: only so many bytes of each, as fragments."""
        for _ in range(count):
            for tap, mac, to, (source, sport), (destination, dport) in self._names:
                segment = frames.tcp(source, destination, sport, dport, flags, self._random.getrandbits(32),
                                     self._random.getrandbits(32), payload=payload)
                packet = frames.ipv4(source, destination, frames.TCP, segment[:cut],
                                     identification=self._random.getrandbits(16), **header)
                tap.send(frames.ethernet(mac, to, frames.IPV4, packet))


def phases(sluice):
    return [flow["phase"] for flow in sluice.ask("flows")]


@pytest.fixture
def split(path, client):
    if path.is_bridge:
        pytest.skip("a bridge has nothing to forget")
    return path.sluice, client


def ttls_seen(tap, source_port, seconds):
    """Of what comes from that port."""
    seen = set()
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        frame = tap.receive(timeout=0.1)
        if frame and frame[12:14] == b"\x08\x00" and frame[23] == frames.TCP and frame[34:36] == source_port.to_bytes(2, "big"):
            seen.add(frame[22])
    return seen


def test_headers_are_not_learned_from_forged_segments(path, split):
    _, client = split
    with client.connect({"do": "send", "bytes": 40 * MEGA, "seed": 11}) as connection:
        with Attacker(path.wire, connection, 1) as attacker, frames.Tap(path.wire.ue, "eth0") as tap:
            forging = threading.Thread(target=attacker.segments, args=(frames.ACK, 300, b"forged"),
                                       kwargs={"ttl": 1, "tos": DSCP_EXPEDITED})
            reading = threading.Thread(target=traffic.read_to_end, args=(connection,))
            forging.start()
            reading.start()
            seen = ttls_seen(tap, client.port, 1)
            forging.join()
            reading.join()
    assert seen == {64}


@pytest.mark.parametrize("what", [{"cut": 8, "fragment": 0x2000}, {"fragment": 0x2000}, {"fragment": 0x0005},
                                  {"options": b"\x94\x04\x00\x00"}],
                         ids=["eight-bytes", "first-fragment", "later-fragment", "router-alert"])
def test_forged_fragments_and_options_let_nothing_go(path, split, what):
    sluice, client = split
    before = sluice.counters()["released_unsplittable"]
    with client.connect({"do": "send", "bytes": 10 * MEGA, "seed": 12}) as connection:
        with Attacker(path.wire, connection, 2) as attacker:
            attacker.segments(frames.ACK, 100, b"f" * 100, **what)
        assert "split" in phases(sluice)
        assert traffic.read_to_end(connection) == (10 * MEGA, traffic.digest(12, 10 * MEGA), 0)
    time.sleep(0.3)
    assert sluice.counters()["released_unsplittable"] == before


def test_regulation_outlives_forged_segments(tmp_path):
    with lab_module.Lab("blind", tmp_path) as lab:
        wire = lab.bump()
        sluice = programs.Sluice(lab, wire.box, mode="fair-share", intercept="regulate")
        with traffic.Server(wire.server.socket) as server:
            client = traffic.Client(wire.server_address, wire.ue.socket, server.port)
            with client.connect({"do": "send", "bytes": 10 * MEGA, "seed": 13}) as connection:
                with Attacker(wire, connection, 3) as attacker:
                    for flags in (frames.SYN, frames.RST, frames.RST | frames.ACK, frames.SYN | frames.ACK,
                                  frames.FIN | frames.ACK, frames.ACK):
                        attacker.segments(flags, 50)
                time.sleep(0.3)
                assert phases(sluice) == ["regulated"]
                assert traffic.read_to_end(connection) == (10 * MEGA, traffic.digest(13, 10 * MEGA), 0)
        sluice.wait_until_at_rest()
        sluice.stop_and_check()
