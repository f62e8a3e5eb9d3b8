"""Input nobody should send: on the wire, to the feedback ports. Nothing breaks, and it is counted."""

import random
import socket

import frames
import programs
import pytest
import traffic

MEGA = 1_000_000


@pytest.fixture
def ends(path):
    """(interface host, its MAC, the other's MAC, its address, the other's address) for both directions."""
    wire = path.wire
    server, ue = wire.server.mac("eth0"), wire.ue.mac("eth0")
    return [(wire.ue, ue, server, wire.ue_address, wire.server_address),
            (wire.server, server, ue, wire.server_address, wire.ue_address)]


@pytest.mark.parametrize("seed", range(5))
def test_malformed_packets(path, client, ends, seed):
    print(f"seed {seed}")
    for host, mine, theirs, source, destination in ends:
        with frames.Tap(host, "eth0") as tap:
            for frame in frames.hostile(seed, 3000, mine, theirs, source, destination):
                if len(frame) <= 1514:
                    tap.send(frame)
    client.download(2 * MEGA, seed)
    client.upload(2 * MEGA, seed)


def test_malformed_packets_beside_a_transfer(path, client, ends):
    """The noise names the ports of the running connection."""
    host, mine, theirs, source, destination = ends[0]
    generator = random.Random(99)
    with client.connect({"do": "send", "bytes": 20 * MEGA, "seed": 7}) as connection:
        port = connection.getsockname()[1]
        with frames.Tap(host, "eth0") as tap:
            for _ in range(3000):
                segment = frames.tcp(source, destination, port, client.port, generator.choice([frames.ACK, frames.FIN, frames.RST]),
                                     generator.getrandbits(32), generator.getrandbits(32), bad_checksum=True,
                                     payload=generator.randbytes(generator.randrange(100)))
                tap.send(frames.ethernet(mine, theirs, frames.IPV4, frames.ipv4(source, destination, frames.TCP, segment)))
        assert traffic.read_to_end(connection) == (20 * MEGA, traffic.digest(7, 20 * MEGA), 0)


def test_forged_segments_do_not_kill_a_connection(path, client, ends):
    """Resets, SYNs and data far outside the window, checksums right (RFC 5961)."""
    generator = random.Random(100)
    with client.connect({"do": "send", "bytes": 20 * MEGA, "seed": 8}) as connection:
        port = connection.getsockname()[1]
        for host, mine, theirs, source, destination in ends:
            ports = (port, client.port) if host is path.wire.ue else (client.port, port)
            with frames.Tap(host, "eth0") as tap:
                for _ in range(300):
                    flags = generator.choice([frames.RST, frames.RST | frames.ACK, frames.SYN, frames.ACK])
                    # Half the sequence space away from wherever the connection is, give or take.
                    segment = frames.tcp(source, destination, *ports, flags, generator.getrandbits(32) | 1, 0,
                                         payload=b"forged" if flags == frames.ACK else b"")
                    tap.send(frames.ethernet(mine, theirs, frames.IPV4,
                                             frames.ipv4(source, destination, frames.TCP, segment)))
        assert traffic.read_to_end(connection) == (20 * MEGA, traffic.digest(8, 20 * MEGA), 0)


def test_a_flood_of_syns(path, client, ends):
    """SYNs from many ports that nobody completes; real connections still work beside and after them."""
    host, mine, theirs, source, destination = ends[0]
    with frames.Tap(host, "eth0") as tap:
        for port in range(1024, 1024 + 20_000):
            segment = frames.tcp("10.45.200.1", destination, port, 81, frames.SYN, port, options=b"\x02\x04\x05\xb4")
            tap.send(frames.ethernet(mine, theirs, frames.IPV4, frames.ipv4("10.45.200.1", destination, frames.TCP, segment)))
    client.download(2 * MEGA, 3)


def test_garbage_on_the_feedback_port(path, client):
    if path.is_bridge:
        pytest.skip("a bridge has no feedback port")
    generator = random.Random(4)
    with path.wire.box.socket(socket.AF_INET, socket.SOCK_DGRAM) as attacker:
        for _ in range(5000):
            size = generator.choice([0, 1, 3, generator.randrange(1500), generator.randrange(60000)])
            attacker.sendto(generator.randbytes(size), ("127.0.0.1", programs.PROXY_FEEDBACK))
    client.download(2 * MEGA, 4)
    assert path.sluice.ask("status")["feedback"]["accepted"] == 0
    assert path.sluice.ask("status")["feedback"]["refused"] > 1000
