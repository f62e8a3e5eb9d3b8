"""What is not split passes as if the box were a piece of cable."""

import hashlib
import json
import random
import socket
import struct
import time

import frames
import pytest
import traffic


@pytest.fixture
def taps(path):
    with frames.Tap(path.wire.server, "eth0") as core, frames.Tap(path.wire.ue, "eth0") as radio:
        yield core, radio


@pytest.fixture
def macs(path):
    return path.wire.server.mac("eth0"), path.wire.ue.mac("eth0")


def crosses(source, destination, frame):
    source.send(frame)
    padded = frame  # veth does not pad short frames
    return destination.receive(lambda seen: seen == padded, timeout=3) is not None


def test_arp_resolves_both_ways(path):
    for here, there in ((path.wire.ue, path.wire.server_address), (path.wire.server, path.wire.ue_address)):
        here.ip("neigh", "flush", "dev", "eth0")
        probe = here.socket(socket.AF_INET, socket.SOCK_DGRAM)
        probe.sendto(b"?", (there, 9))
        probe.close()
    for here, there in ((path.wire.ue, path.wire.server), (path.wire.server, path.wire.ue)):
        assert there.mac("eth0") in wait_for_neighbour(here)


def wait_for_neighbour(namespace):
    for _ in range(50):
        known = namespace.ip("-4", "neigh", "show", "dev", "eth0")
        if "lladdr" in known:
            return known
        time.sleep(0.1)
    return known


def echo(path, family, size):
    """One UDP datagram to an echo socket and back."""
    six = family == socket.AF_INET6
    server = path.wire.server.socket(family, socket.SOCK_DGRAM)
    client = path.wire.ue.socket(family, socket.SOCK_DGRAM)
    address = path.wire.server_address6 if six else path.wire.server_address
    with server, client:
        server.bind((address, 7007))
        for end in (server, client):
            end.settimeout(5)
        data = random.Random(size).randbytes(size)
        client.sendto(data, (address, 7007))
        got, back = server.recvfrom(65535)
        assert hashlib.sha256(got).digest() == hashlib.sha256(data).digest()
        server.sendto(got[::-1], back)
        assert client.recv(65535) == data[::-1]


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
@pytest.mark.parametrize("size", [0, 1, 1400, 9000])
def test_udp_whole_and_in_fragments(path, family, size):
    echo(path, family, size)


@pytest.mark.parametrize("size", [0, 56, 1472])
def test_ping(path, taps, macs, size):
    core, radio = taps
    wire = path.wire
    data = random.Random(size).randbytes(size)
    request = frames.ethernet(macs[1], macs[0], frames.IPV4, frames.ipv4(
        wire.ue_address, wire.server_address, frames.ICMP, frames.icmp_echo(77, size, data)))
    radio.send(request)
    assert core.receive(lambda seen: seen == request), "the request did not arrive as it was sent"
    reply = radio.receive(lambda seen: seen[23] == frames.ICMP and seen[34] == 0 and seen[38:40] == struct.pack("!H", 77))
    assert reply and reply[42:] == data


def test_frames_cross_bit_for_bit(path, taps, macs):
    core, radio = taps
    server, ue = macs
    wire = path.wire
    generator = random.Random(5)
    multicast = "01:80:c2:00:00:0e"
    samples = [
        frames.ethernet(ue, multicast, frames.LLDP, generator.randbytes(60)),
        frames.ethernet(ue, server, 0x88B5, generator.randbytes(300)),
        frames.ethernet(ue, "ff:ff:ff:ff:ff:ff", 0x88B6, generator.randbytes(46)),
        frames.ethernet(ue, server, frames.IPV4, frames.ipv4(
            wire.ue_address, wire.server_address, frames.UDP,
            frames.udp(wire.ue_address, wire.server_address, 1111, 2222, b"dscp and ttl"), ttl=3, tos=0xB8)),
        frames.ethernet(ue, server, frames.IPV4, frames.ipv4(
            wire.ue_address, wire.server_address, 47, b"\0\0\x08\0" + generator.randbytes(50))),
        frames.ethernet(ue, server, frames.IPV4, frames.ipv4(
            wire.ue_address, wire.server_address, frames.UDP,
            frames.udp(wire.ue_address, wire.server_address, 1, 2, b"options"), options=b"\x94\x04\0\0")),
        frames.ethernet(ue, server, frames.IPV6, frames.ipv6(
            wire.ue_addresses6[0], wire.server_address6, frames.UDP,
            frames.udp(wire.ue_addresses6[0], wire.server_address6, 5, 6, b"six"), hops=9, traffic_class=0x2E)),
    ]
    if path.is_bridge:
        samples = samples[1:]  # a standard bridge keeps LLDP to itself
    for frame in samples:
        assert crosses(radio, core, frame), f"towards the core: {frame.hex()}"
        back = frame[:0] + (frame[:6] if frame[0] & 1 else frames.mac(ue)) + frames.mac(server) + frame[12:]
        assert crosses(core, radio, back), f"towards the radio: {back.hex()}"


def test_a_connection_that_began_before_us_is_left_alone(path, taps, macs):
    """A TCP segment of an unknown connection goes through unchanged."""
    core, radio = taps
    wire = path.wire
    frame = frames.ethernet(macs[1], macs[0], frames.IPV4, frames.ipv4(
        wire.ue_address, wire.server_address, frames.TCP,
        frames.tcp(wire.ue_address, wire.server_address, 33333, 44444, frames.ACK | frames.PSH, 1000, 2000, payload=b"old")))
    assert crosses(radio, core, frame)


VLAN_ID = 42


def test_vlan_tags_stay(path, taps, macs):
    """A whole TCP connection inside a VLAN, both hosts played by hand: every frame of it keeps its tag."""
    core, radio = taps
    server, ue = macs
    ue_address, server_address = "10.77.0.2", "10.77.0.1"
    ports = (40001, 8080)

    def exchange(upwards, flags, seq, ack, payload=b"", options=b""):
        """Sends a segment; returns the acknowledgement number, flags and payload of what arrives at the other side."""
        ends = (ue_address, server_address) if upwards else (server_address, ue_address)
        source_port, destination_port = ports if upwards else ports[::-1]
        segment = frames.tcp(*ends, source_port, destination_port, flags, seq, ack, payload=payload, options=options)
        frame = frames.ethernet(*((ue, server) if upwards else (server, ue)), frames.IPV4,
                                frames.ipv4(*ends, frames.TCP, segment), vlan=VLAN_ID)
        (radio if upwards else core).send(frame)

        def is_it(seen):
            arrived = seen[16:18] == b"\x08\0" and seen[30:34] == socket.inet_aton(ends[0])
            return arrived and (not payload or payload in seen) and (flags & frames.SYN) == (seen[51] & frames.SYN)

        got = (core if upwards else radio).receive(is_it, timeout=3)
        assert got, f"nothing arrived for flags {flags:#x}"
        assert got[12:16] == struct.pack("!HH", frames.VLAN, VLAN_ID)
        assert (got[:6], got[6:12]) == (frame[:6], frame[6:12])
        return struct.unpack("!I", got[46:50])[0]

    mss = b"\x02\x04\x05\xb4"
    exchange(True, frames.SYN, 1000, 0, options=mss)
    assert exchange(False, frames.SYN | frames.ACK, 5000, 1001, options=mss) == 1001
    assert exchange(True, frames.ACK, 1001, 5001) == 5001
    exchange(True, frames.ACK | frames.PSH, 1001, 5001, b"from the UE")
    exchange(False, frames.ACK | frames.PSH, 5001, 1012, b"from the server")
    exchange(True, frames.ACK | frames.PSH, 1012, 5016, b"and once more")


def test_fast_open_still_connects(path):
    """SYNs that ask for a cookie and SYNs that carry data are forwarded; the connection works end to end."""
    wire = path.wire
    for namespace in (wire.server, wire.ue):
        namespace.sysctl("net.ipv4.tcp_fastopen", 3)
    with traffic.Server(wire.server.socket, port=5043, fast_open=True) as server:
        for seed in range(3):  # the first SYN asks for the cookie, the later ones carry the order
            with wire.ue.socket() as connection:
                order = json.dumps({"do": "send", "bytes": 100_000, "seed": seed}).encode() + b"\n"
                connection.sendto(order, socket.MSG_FASTOPEN, (wire.server_address, server.port))
                connection.settimeout(10)
                assert traffic.read_to_end(connection) == (100_000, traffic.digest(seed, 100_000), 0)


def test_mptcp_passes_or_falls_back(path):
    wire = path.wire
    protocol_mptcp = 262
    try:
        listener = wire.server.socket(socket.AF_INET, socket.SOCK_STREAM, protocol_mptcp)
        connection = wire.ue.socket(socket.AF_INET, socket.SOCK_STREAM, protocol_mptcp)
    except OSError as error:
        pytest.skip(f"this kernel has no MPTCP: {error}")
    with listener, connection:
        listener.bind(("", 5044))
        listener.listen(1)
        connection.settimeout(10)
        connection.connect((wire.server_address, 5044))
        accepted, _ = listener.accept()
        with accepted:
            sent = traffic.send_payload(accepted, 4, 300_000)
            accepted.shutdown(socket.SHUT_WR)
            assert traffic.read_to_end(connection) == (300_000, sent, 0)
