"""REPORTs and STATUSes of several proxies, as they go over the wire at the Node-B."""

import contextlib
import socket
import struct
import threading
import time
from dataclasses import dataclass

from frames import ETH_P_ALL


@dataclass(frozen=True)
class Seen:
    """A datagram with records. `proxy` is the address of the proxy that it is for, or by; `injected` what a STATUS says that
    was sent to its first UE."""

    at: float
    report: bool
    proxy: str
    injected: int


class Reports:
    """What went over an interface since the watch began, in order."""

    def __init__(self, namespace, interface="feedback"):
        self.seen = []
        self._socket = namespace.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL))
        self._socket.bind((interface, ETH_P_ALL))
        self._socket.settimeout(0.2)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self):
        while not self._ended.is_set():
            with contextlib.suppress(TimeoutError):
                self._take(self._socket.recv(2048))

    def _take(self, packet):
        datagram = packet[(packet[0] & 15) * 4 + 8:]
        if packet[0] >> 4 != 4 or packet[9] != socket.IPPROTO_UDP or datagram[:4] != b"SLFB":
            return
        if struct.unpack_from("!H", datagram, 12)[0] == 0:
            return
        report = datagram[5] == 1
        proxy = socket.inet_ntoa(packet[16:20] if report else packet[12:16])
        self.seen.append(Seen(time.monotonic(), report, proxy, 0 if report else injected(datagram)))

    def to(self, proxy, since=0):
        """How many reports went to this proxy."""
        return sum(each.report and each.proxy == proxy for each in self.seen[since:])

    def claim(self, proxy):
        """Where the first status is with which this proxy says that it has sent something; None before."""
        return next((i for i, each in enumerate(self.seen) if each.proxy == proxy and each.injected > 0), None)

    def close(self):
        self._ended.set()
        self._thread.join()
        self._socket.close()


def injected(status):
    """Of the first record of a STATUS."""
    begin = struct.unpack_from("!H", status, 14)[0] + 4
    end = begin + struct.unpack_from("!H", status, begin - 2)[0]
    while begin < end:
        number, size = status[begin], status[begin + 1]
        if number == 2:
            return int.from_bytes(status[begin + 2:begin + 2 + size], "big")
        begin += 2 + size
    return 0
