"""How long frames take through the box: the kernel's own times of when one left a host and when it reached the other.

What hosts do before and after, and how late their programs are woken, is not among it."""

import socket
import struct

import frames

SO_RCVBUFFORCE = 33
SO_TIMESTAMPNS = 35
HEADERS = 14 + 60 + 60  # bytes at most before the payload: Ethernet, IPv4, TCP
NUMBER = struct.Struct("!Q")


def numbered(number, size):
    """A payload by which its frame is known at both ends."""
    return NUMBER.pack(number).ljust(size, b"?")


class Watch:
    """Notes when numbered payloads pass an interface, sent or received. The first time counts: a repetition has been
    through the box before."""

    def __init__(self, namespace, interface, port):
        self._port = port
        self._socket = namespace.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(frames.ETH_P_ALL))
        self._socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
        self._socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self._socket.bind((interface, frames.ETH_P_ALL))
        self._socket.setblocking(False)

    def close(self):
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def times(self):
        """What has passed since the last call: nanoseconds by (to the port, number)."""
        passed = {}
        while True:
            try:
                frame, beside, _, _ = self._socket.recvmsg(HEADERS + NUMBER.size, socket.CMSG_SPACE(16))
            except BlockingIOError:
                return passed
            if known := read(frame, self._port):
                passed.setdefault(known, stamp(beside))


def read(frame, port):
    """(To the port, number) of a frame of TCP over IPv4 with a numbered payload to or from the port, or None."""
    if len(frame) < 34 or frame[12:14] != struct.pack("!H", frames.IPV4) or frame[23] != frames.TCP:
        return None
    segment = 14 + (frame[14] & 15) * 4
    ends = 14 + struct.unpack_from("!H", frame, 16)[0]
    if len(frame) < segment + 20:
        return None
    source, destination = struct.unpack_from("!HH", frame, segment)
    payload = segment + (frame[segment + 12] >> 4) * 4
    if port not in (source, destination) or min(ends, len(frame)) < payload + NUMBER.size:
        return None
    return destination == port, NUMBER.unpack_from(frame, payload)[0]


def stamp(beside):
    for level, kind, data in beside:
        if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
            seconds, nanoseconds = struct.unpack("qq", data)
            return seconds * 1_000_000_000 + nanoseconds
    raise OSError("the kernel told no time of a frame")


def through(client, server):
    """Microseconds that each numbered payload took from one end to the other, sorted, by what each end's Watch noted:
    requests from the client, answers from the server."""
    both = client.keys() & server.keys()
    return sorted((server[known] - client[known] if known[0] else client[known] - server[known]) / 1000 for known in both)
