"""TCP connections of a host that is no kernel: it sends what it is told to, in any order, and offers what window it likes.
Its address is not one of the namespace's own, so that no kernel answers for it."""

import ctypes
import hashlib
import select
import socket
import struct
import threading
import time

import frames

SO_ATTACH_FILTER = 26
MSS = b"\x02\x04\x05\xb4"
MASK = 0xFFFFFFFF
PATIENCE = 20


def receive_only_to(tap_socket, address):
    """Of all frames only IPv4 to this address is received."""
    ethertype_at, destination_at = 12, 30
    wanted = struct.unpack("!I", socket.inet_aton(address))[0]
    program = [(0x28, 0, 0, ethertype_at), (0x15, 0, 3, frames.IPV4), (0x20, 0, 0, destination_at), (0x15, 0, 1, wanted),
               (0x6, 0, 0, 0xFFFF), (0x6, 0, 0, 0)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in program))
    tap_socket.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HL", len(program), ctypes.addressof(code)))


class Connection:
    """One of a RawHost. Positions count the bytes of payload of each direction, from 0."""

    def __init__(self, host, port, window):
        self.host, self.port, self.window = host, port, window
        self.isn, self.peer_isn = (port * 2654435761) & MASK, None
        self.taken, self.finished, self.acknowledged = 0, False, 0
        self.sha = hashlib.sha256()
        self.answers = True  # acknowledges what comes; else nothing is said of it
        self.unanswered = False

    def frame(self, flags, position, payload=b"", options=b""):
        """A segment of ours; `position` -1 is the SYN's."""
        ack = 0 if self.peer_isn is None else self.peer_isn + 1 + self.taken + self.finished
        return self.host.frame(self.port, flags, self.isn + 1 + position, ack, self.window, payload, options)

    def send(self, position, payload=b"", flags=frames.ACK):
        self.host.tap.send(self.frame(flags, position, payload))

    def answer(self, position=None):
        self.unanswered = False
        self.send(self.acknowledged if position is None else position)

    def take(self, flags, seq, ack, payload):
        """A segment has come in. What reaches beyond the window is cut, what is not in order is not kept."""
        if flags & frames.RST:
            self.finished = True
            return
        if flags & frames.SYN:
            self.peer_isn = seq
            return
        self.acknowledged = max(self.acknowledged, (ack - self.isn - 1) & MASK)
        begin = ((seq - self.peer_isn - 1 + (1 << 31)) & MASK) - (1 << 31)
        fresh = payload[max(self.taken - begin, 0):][:self.window] if begin <= self.taken else b""
        self.sha.update(fresh)
        self.taken += len(fresh)
        if flags & frames.FIN and begin + len(payload) == self.taken:
            self.finished = True
        self.unanswered = self.unanswered or bool(payload) or bool(flags & frames.FIN)

    def reset(self):
        self.send(self.acknowledged, flags=frames.RST)


class RawHost:
    """Speaks for `address` on eth0 of the UEs' namespace."""

    def __init__(self, wire, address, server_port):
        self.wire, self.address, self.server_port = wire, address, server_port
        self._mac, self._server_mac = wire.ue.mac("eth0"), wire.server.mac("eth0")
        wire.server.ip("neigh", "replace", address, "lladdr", self._mac, "dev", "eth0", "nud", "permanent")
        self.tap = frames.Tap(wire.ue, "eth0")
        receive_only_to(self.tap.socket, address)
        self._connections = {}
        self._ended = threading.Event()
        self.pause = 0.01  # between two rounds of acknowledgements
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()
        self.tap.close()

    def frame(self, port, flags, seq, ack, window, payload, options):
        segment = frames.tcp(self.address, self.wire.server_address, port, self.server_port, flags, seq & MASK, ack & MASK,
                             window, options, payload)
        packet = frames.ipv4(self.address, self.wire.server_address, frames.TCP, segment)
        return frames.ethernet(self._mac, self._server_mac, frames.IPV4, packet)

    def connect(self, port, window=65535):
        connection = self._connections[port] = Connection(self, port, window)
        deadline = time.monotonic() + PATIENCE
        while connection.peer_isn is None:
            assert time.monotonic() < deadline, "no SYN-ACK"
            self.tap.send(connection.frame(frames.SYN, -1, options=MSS))
            time.sleep(0.05)
        connection.answer(0)
        return connection

    def _listen(self):
        while not self._ended.is_set():
            end = time.monotonic() + self.pause
            while (left := end - time.monotonic()) > 0:
                if select.select([self.tap.socket], [], [], left)[0]:
                    self._take(self.tap.socket.recv(65536))
            for connection in list(self._connections.values()):
                if connection.unanswered and connection.answers:
                    connection.answer()

    def _take(self, frame):
        packet = frame[14:]
        if packet[9] != frames.TCP:
            return
        segment = packet[(packet[0] & 15) * 4:struct.unpack_from("!H", packet, 2)[0]]
        _, port, seq, ack, offset, flags = struct.unpack_from("!HHIIBB", segment)
        if port in self._connections:
            self._connections[port].take(flags, seq, ack, segment[(offset >> 4) * 4:])
