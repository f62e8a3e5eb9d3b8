"""Long transfers of kernel hosts as the `apps` of a scenario say them, and kernel hosts as its `hosts` do."""

import contextlib
import dataclasses
import re
import selectors
import socket
import time
from ipaddress import ip_interface

from lab import LabError

CHUNK = bytes(1 << 16)
DOWNLOADS, UPLOADS = 5001, 5002  # ports of the servers
TIMES = {"us": 1e-6, "ms": 1e-3, "s": 1}
SIZES = {"B": 1, "kB": 1000, "MB": 1_000_000, "KiB": 1024, "MiB": 1 << 20}


def number(text, units):
    """A value with its unit, e.g. 40s or 500kB, as a number of the smallest."""
    match = re.fullmatch(r"([\d.]+) ?(\w+)", str(text))
    if not match or match[2] not in units:
        raise LabError(f"a value with one of the units {', '.join(units)} expected, got {text}")
    return float(match[1]) * units[match[2]]


def seconds(text):
    return number(text, TIMES)


@dataclasses.dataclass(frozen=True)
class Flow:
    """One long transfer between a UE and a server."""

    ue: str
    server: str
    upload: bool


def flows_of(scenario):
    """The transfers that a scenario's applications begin with; LabError where it has others."""
    if "server_hops" in scenario:
        raise LabError("in real time no server has a line of its own (server_hops)")
    ues = [ue["address"] for ue in scenario["cell"]["ues"]]
    flows = []
    for app in scenario["apps"]:
        extra = set(app) - {"type", "ue", "ues", "server", "direction", "connections"}
        if app["type"] != "bulk" or extra:
            raise LabError(f"kernel hosts play long transfers from beginning to end, not {app}")
        for ue in ues[app.get("ue", 0):app.get("ue", 0) + app.get("ues", 1)]:
            flow = Flow(ue, servers_of(scenario)[app.get("server", 0)], app.get("direction", "download") == "upload")
            flows += [flow] * app.get("connections", 1)
    return flows


def servers_of(scenario):
    return scenario.get("servers", ["192.0.2.1"])


def congestion_of(scenario):
    """The congestion control of both hosts, as the kernel calls it."""
    word = scenario.get("hosts", {}).get("tcp", {}).get("congestion", "cubic")
    return {"newreno": "reno"}.get(word, word)


def prepare_hosts(wire, scenario):
    """Gives both kernel hosts the addresses of the scenario, and the TCP that its `hosts` ask for as far as a kernel has it:
    what one acknowledges at once, its first window and the largest that it advertises are attributes of routes."""
    hosts = scenario.get("hosts", {})
    tcp = hosts.get("tcp", {})
    words = []
    if tcp.get("delayed_ack") == "0s":
        words += ["quickack", 1]
    if "initial_window" in tcp:
        words += ["initcwnd", tcp["initial_window"]]
    if "receive_buffer" in hosts:
        words += ["window", int(number(hosts["receive_buffer"], SIZES))]
    server_mac = wire.server.mac("eth0")
    for address in servers_of(scenario):
        wire.server.address("eth0", f"{ip_interface(address).ip}/32")
        wire.ue.route(address, "dev", "eth0", "src", wire.ue_address, *words)
        wire.ue.ip("neigh", "replace", address, "lladdr", server_mac, "dev", "eth0", "nud", "permanent")
    wire.server.ip("route", "change", "10.45.0.0/16", "dev", "eth0", *words)
    for host in (wire.server, wire.ue):
        # A segment goes as soon as the window lets it: larger ones would wait for a third of the window, as bursts.
        host.ip("link", "set", "eth0", "mtu", hosts.get("mtu", 1500), "gso_max_segs", 1)
        for key, value in (("tcp_timestamps", int(hosts.get("timestamps", True))), ("tcp_sack", int(hosts.get("sack", True))),
                           ("tcp_no_metrics_save", 1), ("tcp_ecn", 0),
                           ("tcp_rmem", "4096 4194304 8388608"), ("tcp_wmem", "4096 262144 4194304")):
            host.sysctl(f"net.ipv4.{key}", value)


class KernelFlows:
    """All transfers of a run in one thread: both ends of each, in the namespaces of their hosts."""

    def __init__(self, wire, flows, congestion):
        self.received = [0] * len(flows)
        self._flows = flows
        self._congestion = congestion
        self._wire = wire
        self._selector = selectors.DefaultSelector()
        self._sockets = []
        self._by_end = {}  # (address, port) of the UE's end: the flow
        self._buffer = bytearray(1 << 18)
        for server in sorted({flow.server for flow in flows}):
            for port in (DOWNLOADS, UPLOADS):
                listener = self._socket(wire.server)
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listener.bind((server, port))
                listener.listen(256)
                self._selector.register(listener, selectors.EVENT_READ, self._accept)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for made in self._sockets:
            made.close()
        self._selector.close()

    def _socket(self, host):
        made = host.socket()
        made.setblocking(False)
        # Of a socket: of a whole namespace it can be but what the kernel lets everyone use. Accepted ones inherit it.
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, self._congestion.encode())
        self._sockets.append(made)
        return made

    def start(self):
        for index, flow in enumerate(self._flows):
            end = self._socket(self._wire.ue)
            end.bind((flow.ue, 0))
            self._by_end[end.getsockname()] = index
            with contextlib.suppress(BlockingIOError):
                end.connect((flow.server, UPLOADS if flow.upload else DOWNLOADS))
            self._play(end, index, sends=flow.upload)

    def _accept(self, listener):
        connection, peer = listener.accept()
        connection.setblocking(False)
        self._sockets.append(connection)
        index = self._by_end[peer]
        self._play(connection, index, sends=not self._flows[index].upload)

    def _play(self, end, index, sends):
        if sends:
            self._selector.register(end, selectors.EVENT_WRITE, self._send)
        else:
            self._selector.register(end, selectors.EVENT_READ, lambda one: self._read(one, index))

    def _send(self, end):
        with contextlib.suppress(BlockingIOError):
            end.send(CHUNK)

    def _read(self, end, index):
        with contextlib.suppress(BlockingIOError):
            count = end.recv_into(self._buffer)
            self.received[index] += count
            if not count:
                self._selector.unregister(end)

    def play_until(self, moment):
        """Carries on until that time of time.monotonic()."""
        while (left := moment - time.monotonic()) > 0:
            for key, _ in self._selector.select(left):
                try:
                    key.data(key.fileobj)
                except OSError as error:
                    raise LabError(f"a transfer broke: {error}") from error


def fairness(received, flows, measured):
    """What results.csv calls flow_jain and up_down_ratio, and payload per second, of bytes received in `measured` seconds."""
    rates = [8 * count / measured for count in received]
    squares = sum(rate * rate for rate in rates)
    figures = {"throughput_bps": sum(rate for rate, flow in zip(rates, flows, strict=True) if not flow.upload),
               "flow_jain": sum(rates) ** 2 / (len(rates) * squares) if squares else None}
    ups = [rate for rate, flow in zip(rates, flows, strict=True) if flow.upload]
    downs = [rate for rate, flow in zip(rates, flows, strict=True) if not flow.upload]
    if ups and downs and sum(downs):
        figures["up_down_ratio"] = sum(ups) / len(ups) / (sum(downs) / len(downs))
    return figures
