"""Delays between two captures, on files made by hand and on a wire."""

import socket
import struct
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import captures  # noqa: E402
import frames  # noqa: E402
import lab as lab_module  # noqa: E402
import traffic  # noqa: E402

A, B = "10.99.0.2", "10.45.0.2"
WHY_NOT = lab_module.why_not()


def pcap(file, packets):
    """Writes (microseconds, seq, payload size) as a capture."""
    out = bytearray(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 128, 1))
    for at, seq, size in packets:
        frame = frames.ethernet("02:00:00:00:00:01", "02:00:00:00:00:02", frames.IPV4,
                                frames.ipv4(A, B, frames.TCP, frames.tcp(A, B, 80, 999, frames.ACK, seq, payload=b"x" * size)))
        out += struct.pack("<IIII", at // 1_000_000, at % 1_000_000, min(128, len(frame)), len(frame)) + frame[:128]
    file.write_bytes(out)
    return list(captures.read_segments(file))


def test_delays_count_from_the_first_sending(tmp_path):
    near_the_wrap = 0xFFFFFF00
    sent = pcap(tmp_path / "a", [(0, near_the_wrap, 1000), (1000, near_the_wrap + 1000, 1000),
                                 (50_000, near_the_wrap, 1000), (60_000, near_the_wrap + 2000, 500)])
    received = pcap(tmp_path / "b", [(11_000, near_the_wrap + 1000, 1000), (70_000, near_the_wrap, 1000),
                                     (71_000, near_the_wrap + 1000, 1000), (72_000, near_the_wrap + 2000, 500)])
    delays = [round(delay * 1e6) for _, delay in captures.one_way_delays(sent, received)]
    assert delays == [10_000, 70_000, 12_000]
    assert captures.retransmissions(sent) == 1
    assert captures.retransmissions(received) == 2  # what came late, and what came twice


def test_segments_that_were_joined_or_cut_on_the_way_still_match(tmp_path):
    sent = pcap(tmp_path / "a", [(0, 100, 1000), (1000, 1100, 1000)])
    received = pcap(tmp_path / "b", [(10_000, 100, 1200), (11_000, 1300, 800)])
    assert [round(d * 1e6) for _, d in captures.one_way_delays(sent, received)] == [9000, 10_000]


def test_percentiles():
    assert captures.percentile([], 0.5) is None
    assert captures.percentile(range(1, 101), 0.5) == 50
    assert captures.percentile(range(1, 101), 0.95) == 95
    assert captures.percentile([7], 0.99) == 7


@pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))
def test_on_a_wire(tmp_path):
    with lab_module.Lab("captures", tmp_path) as lab:
        wire = lab.bump()
        wire.box.bridge("br0", "core", "radio")
        at_server = captures.Capture(wire.server, "eth0", "server")
        at_ue = captures.Capture(wire.ue, "eth0", "ue")
        with traffic.Server(wire.server.socket) as server:
            traffic.Client(wire.server_address, wire.ue.socket, server.port).download(2_000_000)
        sent, received = at_server.stop().segments(), at_ue.stop().segments()
        downwards = [s for s in received if s.size > 0 and s.flow.startswith(socket.inet_aton(wire.server_address))]
        delays = [delay for _, delay in captures.one_way_delays(sent, received)]
        first = downwards[0].seq
        assert max((s.seq - first) % 2**32 + s.size for s in downwards) == 2_000_000
        assert sum(s.size for s in downwards) >= 2_000_000  # a host may repeat what is acknowledged late
        assert len(delays) >= len(downwards)
        assert 0 < captures.percentile(delays, 0.5) < 0.05
