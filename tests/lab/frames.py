"""Single Ethernet frames: built by hand, put on a wire of the lab and taken off it."""

import random
import select
import socket
import struct
import time

ETH_P_ALL = 3
IPV4, IPV6, ARP, VLAN, LLDP = 0x0800, 0x86DD, 0x0806, 0x8100, 0x88CC
ICMP, TCP, UDP, ICMP6 = 1, 6, 17, 58
FIN, SYN, RST, PSH, ACK, URG = 1, 2, 4, 8, 16, 32
SOL_PACKET = 263
PACKET_AUXDATA = 8
PACKET_IGNORE_OUTGOING = 23
TP_STATUS_VLAN_VALID = 1 << 4


def mac(text):
    return bytes.fromhex(text.replace(":", ""))


def checksum(data):
    """RFC 1071."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ethernet(source, destination, kind, payload, vlan=None):
    tag = struct.pack("!HH", VLAN, vlan) if vlan is not None else b""
    return mac(destination) + mac(source) + tag + struct.pack("!H", kind) + payload


def ipv4(source, destination, protocol, payload, ttl=64, tos=0, identification=0, fragment=0, options=b""):
    words = 5 + len(options) // 4
    head = struct.pack("!BBHHHBBH4s4s", 0x40 | words, tos, 4 * words + len(payload), identification, fragment, ttl,
                       protocol, 0, socket.inet_aton(source), socket.inet_aton(destination)) + options
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def ipv6(source, destination, protocol, payload, hops=64, traffic_class=0):
    return struct.pack("!IHBB16s16s", 6 << 28 | traffic_class << 20, len(payload), protocol, hops,
                       socket.inet_pton(socket.AF_INET6, source), socket.inet_pton(socket.AF_INET6, destination)) + payload


def pseudo_header(source, destination, protocol, length):
    if ":" in source:
        return (socket.inet_pton(socket.AF_INET6, source) + socket.inet_pton(socket.AF_INET6, destination)
                + struct.pack("!II", length, protocol))
    return socket.inet_aton(source) + socket.inet_aton(destination) + struct.pack("!HH", protocol, length)


def tcp(source, destination, sport, dport, flags, seq=0, ack=0, window=65535, options=b"", payload=b"", bad_checksum=False):
    """A TCP segment for the pseudo header of the two addresses."""
    options += b"\0" * (-len(options) % 4)
    head = struct.pack("!HHIIBBHHH", sport, dport, seq & 0xFFFFFFFF, ack & 0xFFFFFFFF, (5 + len(options) // 4) << 4, flags,
                       window, 0, 0)
    segment = head + options + payload
    value = checksum(pseudo_header(source, destination, TCP, len(segment)) + segment)
    if bad_checksum:
        value ^= 0x5555
    return segment[:16] + struct.pack("!H", value) + segment[18:]


def udp(source, destination, sport, dport, payload):
    segment = struct.pack("!HHHH", sport, dport, 8 + len(payload), 0) + payload
    value = checksum(pseudo_header(source, destination, UDP, len(segment)) + segment) or 0xFFFF
    return segment[:6] + struct.pack("!H", value) + segment[8:]


def icmp_echo(identifier, sequence, payload, kind=8):
    head = struct.pack("!BBHHH", kind, 0, 0, identifier, sequence)
    return head[:2] + struct.pack("!H", checksum(head + payload)) + head[4:] + payload


class Tap:
    """Raw access to one interface of a namespace: frames out, frames in (without those sent by this host)."""

    def __init__(self, namespace, interface):
        self.socket = namespace.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.socket.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        self.socket.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        self.socket.bind((interface, ETH_P_ALL))
        self.socket.setblocking(False)

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, frame):
        while True:
            try:
                return self.socket.send(frame)
            except BlockingIOError:
                select.select([], [self.socket], [], 1)

    def receive(self, wanted=lambda frame: True, timeout=2.0):
        """The next frame for which wanted(frame) holds, None when none comes in time."""
        deadline = time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0:
            if select.select([self.socket], [], [], left)[0]:
                frame = self._read()
                if wanted(frame):
                    return frame
        return None

    def _read(self):
        """One frame. The kernel takes the outer VLAN tag off and tells it beside; it is put back."""
        frame, beside, _, _ = self.socket.recvmsg(65536, 256)
        for level, kind, data in beside:
            if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
                status, _, _, _, _, tag, tpid = struct.unpack("IIIHHHH", data[:20])
                if status & TP_STATUS_VLAN_VALID:
                    frame = frame[:12] + struct.pack("!HH", tpid or VLAN, tag) + frame[12:]
        return frame


def hostile(seed, count, source_mac, destination_mac, source, destination):
    """Yields frames no honest host sends, between the two hosts named: noise, truncations at every depth, lying
    lengths, wrong checksums, impossible flags and options."""
    generator = random.Random(seed)

    def segment(**changes):
        fields = {"sport": generator.randrange(1, 65536), "dport": generator.choice([80, 443, 5001]),
                  "flags": generator.randrange(256), "seq": generator.getrandbits(32), "ack": generator.getrandbits(32),
                  "payload": generator.randbytes(generator.randrange(0, 200)), **changes}
        return tcp(source, destination, **fields)

    def noise():
        return mac(destination_mac) + mac(source_mac) + generator.randbytes(generator.randrange(0, 1400))

    def noise_after_type():
        return ethernet(source_mac, destination_mac, generator.choice([IPV4, IPV6, ARP, VLAN]),
                        generator.randbytes(generator.randrange(0, 200)))

    def truncated():
        packet = ipv4(source, destination, TCP, segment(options=b"\x02\x04\x05\xb4\x01\x03\x03\x07"))
        return ethernet(source_mac, destination_mac, IPV4, packet[:generator.randrange(0, len(packet))])

    def lying_length():
        packet = bytearray(ipv4(source, destination, TCP, segment()))
        packet[2:4] = generator.randbytes(2)
        packet[10:12] = b"\0\0"
        packet[10:12] = struct.pack("!H", checksum(bytes(packet[:20])))
        return ethernet(source_mac, destination_mac, IPV4, bytes(packet))

    def lying_header_length():
        packet = bytearray(ipv4(source, destination, TCP, segment()))
        packet[generator.choice([0, 32])] = generator.randrange(256)
        return ethernet(source_mac, destination_mac, IPV4, bytes(packet))

    def bad_checksum():
        return ethernet(source_mac, destination_mac, IPV4, ipv4(source, destination, TCP, segment(bad_checksum=True)))

    def bad_options():
        options = generator.randbytes(4 * generator.randrange(1, 10))
        return ethernet(source_mac, destination_mac, IPV4,
                        ipv4(source, destination, TCP, segment(flags=generator.choice([SYN, SYN | ACK, ACK]), options=options)))

    def christmas_tree():
        return ethernet(source_mac, destination_mac, IPV4, ipv4(source, destination, TCP, segment(flags=255)))

    def fragment():
        return ethernet(source_mac, destination_mac, IPV4,
                        ipv4(source, destination, TCP, segment(), fragment=generator.randrange(0x4000)))

    def extension_headers():
        chain = b"".join(bytes([generator.choice([0, 43, 44, 60, 6]), generator.randrange(256)]) + generator.randbytes(6)
                         for _ in range(generator.randrange(1, 12)))
        return ethernet(source_mac, destination_mac, IPV6,
                        ipv6("fd00:45::2", "fd00:99::2", generator.choice([0, 43, 44, 60]), chain + segment()[:20]))

    makers = (noise, noise_after_type, truncated, lying_length, lying_header_length, bad_checksum, bad_options,
              christmas_tree, fragment, extension_headers)
    for _ in range(count):
        frame = generator.choice(makers)()
        yield frame if len(frame) >= 14 else frame + b"\0" * (14 - len(frame))
