"""What the wires themselves saw: captures of TCP headers, and the one-way delays between two places of one machine.

The proxy keeps sequence numbers the same on both legs, so a byte of a connection has one name everywhere, and a delay
is the difference of two kernel timestamps of one clock: nothing relies on what the programs say about themselves."""

import signal
import struct
import time
from bisect import bisect_right
from dataclasses import dataclass

SNAP = 128
PCAP_NANOSECONDS = (0xA1B23C4D, 0x4D3CB2A1)
ETHERNET_HEADER = 14


@dataclass(frozen=True)
class Segment:
    """One TCP segment as captured. Time in seconds; flow is (source, destination, ports) as raw bytes."""

    time: float
    flow: bytes
    seq: int
    size: int
    flags: int
    ip_bytes: int


class Capture:
    """dumpcap on one interface until stop(). A frame that a DPDK port sends is seen at the wire's other end only."""

    def __init__(self, namespace, interface, name, expression="tcp"):
        self.file = namespace.lab.log_dir / f"{name}.pcap"
        self._process = namespace.start(f"dumpcap-{name}", "dumpcap", "-q", "-P", "-i", interface, "-s", SNAP, "-B", 16,
                                        "-w", self.file, "-f", expression)
        self._process.wait_for("File: ")
        time.sleep(0.05)  # it says so a moment before it looks

    def stop(self):
        time.sleep(0.5)  # frames wait in the kernel's block until it is full or old enough
        self._process.signal(signal.SIGINT)
        self._process.wait(10)
        return self

    def segments(self):
        return list(read_segments(self.file))


def read_segments(file):
    """The TCP segments of a pcap file, in order."""
    data = memoryview(file.read_bytes())
    if len(data) < 24:
        return
    magic = struct.unpack_from("<I", data)[0]
    order = "<" if magic in (0xA1B2C3D4, 0xA1B23C4D) else ">"
    fraction = 1e-9 if magic in PCAP_NANOSECONDS else 1e-6
    offset = 24
    while offset + 16 <= len(data):
        seconds, parts, captured, _ = struct.unpack_from(f"{order}IIII", data, offset)
        frame = data[offset + 16:offset + 16 + captured]
        offset += 16 + captured
        segment = _segment(frame, seconds + parts * fraction)
        if segment:
            yield segment


def _segment(frame, at):
    if len(frame) < ETHERNET_HEADER + 40:
        return None
    ip = frame[ETHERNET_HEADER:]
    kind = struct.unpack_from("!H", frame, 12)[0]
    if kind == 0x0800 and ip[9] == 6:
        head, total = (ip[0] & 15) * 4, struct.unpack_from("!H", ip, 2)[0]
        addresses = bytes(ip[12:20])
    elif kind == 0x86DD and ip[6] == 6:
        head, total = 40, 40 + struct.unpack_from("!H", ip, 4)[0]
        addresses = bytes(ip[8:40])
    else:
        return None
    tcp = ip[head:]
    if len(tcp) < 20:
        return None
    seq, size = struct.unpack_from("!I", tcp, 4)[0], total - head - (tcp[12] >> 4) * 4
    return Segment(at, addresses + bytes(tcp[:4]), seq, size, tcp[13], total)


class _Sent:
    """When each byte of a flow was first sent at one place."""

    def __init__(self, first_seq):
        self._base = first_seq
        self._starts, self._times = [], []
        self._end = 0

    def relative(self, seq):
        return (seq - self._base) & 0xFFFFFFFF

    def add(self, segment):
        start = self.relative(segment.seq)
        end = start + segment.size
        if end > self._end and start < 1 << 31:
            self._starts.append(max(start, self._end))
            self._times.append(segment.time)
            self._end = end

    def when(self, byte):
        index = bisect_right(self._starts, byte) - 1
        return self._times[index] if index >= 0 and byte < self._end else None


def one_way_delays(sent, received):
    """(arrival time, delay) in seconds of the last byte of every data segment that arrived, counted from when that byte
    was first sent. Segments that arrive again are left out; one that arrives late because a first copy was lost is not."""
    flows = {}
    for segment in sent:
        if segment.size > 0:
            if segment.flow not in flows:
                flows[segment.flow] = _Sent(segment.seq)
            flows[segment.flow].add(segment)
    seen, delays = set(), []
    for segment in received:
        flow = flows.get(segment.flow)
        if segment.size > 0 and flow and (segment.flow, segment.seq) not in seen:
            seen.add((segment.flow, segment.seq))
            when = flow.when(flow.relative(segment.seq) + segment.size - 1)
            if when is not None:
                delays.append((segment.time, segment.time - when))
    return delays


def retransmissions(segments):
    """Data segments that bring no byte that was not sent here before."""
    newest, again = {}, 0
    for segment in segments:
        if segment.size > 0:
            base, end = newest.setdefault(segment.flow, (segment.seq, 0))
            reach = ((segment.seq - base) & 0xFFFFFFFF) + segment.size
            if reach > 1 << 31 or reach <= end:
                again += 1
            else:
                newest[segment.flow] = (base, reach)
    return again


def percentile(values, share):
    """The smallest value with at least that share of all values at or below it; None of nothing."""
    ordered = sorted(values)
    return ordered[max(0, -(-int(share * 1000) * len(ordered) // 1000) - 1)] if ordered else None
