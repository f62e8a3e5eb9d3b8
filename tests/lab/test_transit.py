"""What is read of frames by which their time through the box is told."""

import frames
import transit

PORT = 5201
UE, SERVER = "10.45.0.2", "10.99.0.1"
MACS = ("02:00:00:00:00:01", "02:00:00:00:00:02")


def segment(sport, dport, payload, options=b""):
    packet = frames.tcp(UE, SERVER, sport, dport, frames.ACK, options=options, payload=payload)
    return frames.ethernet(*MACS, frames.IPV4, frames.ipv4(UE, SERVER, frames.TCP, packet))


def test_requests_and_answers_are_told_apart_by_their_ports():
    payload = transit.numbered(77, 64)
    assert len(payload) == 64
    assert transit.read(segment(40000, PORT, payload), PORT) == (True, 77)
    assert transit.read(segment(PORT, 40000, payload, options=bytes(12)), PORT) == (False, 77)


def test_what_has_no_number_is_left_out():
    assert transit.read(segment(40000, PORT + 1, transit.numbered(1, 64)), PORT) is None
    assert transit.read(segment(40000, PORT, b"").ljust(60, b"\0"), PORT) is None, "padding is no payload"
    assert transit.read(segment(40000, PORT, b"1234567"), PORT) is None
    whole = segment(40000, PORT, transit.numbered(1, 64))
    assert all(transit.read(whole[:length], PORT) is None for length in range(14 + 20 + 20 + 8))


def test_only_what_both_ends_saw_has_a_time():
    client = {(True, 1): 1_000, (False, 1): 90_000, (True, 2): 200_000}
    server = {(True, 1): 21_000, (False, 1): 55_000}
    assert transit.through(client, server) == [20.0, 35.0]
