"""What passes between two kernels beside their bytes: urgent data, keep-alives, routers' words about the path; and
connections that are handed back and split again in their middle."""

import errno
import fcntl
import hashlib
import select
import socket
import struct
import threading
import time

import lab as lab_module
import programs
import pytest
import traffic

MEGA = 1_000_000
SIOCATMARK = 0x8905
FAMILIES = (socket.AF_INET, socket.AF_INET6)


def connected(wire, family=socket.AF_INET, port=6100):
    """Both ends of a connection, the UE's first."""
    with wire.server.socket(family) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("", port))
        listener.listen(1)
        ue = wire.ue.socket(family)
        ue.settimeout(10)
        ue.connect((wire.server_address if family == socket.AF_INET else wire.server_address6, port))
        server, _ = listener.accept()
    server.settimeout(10)
    return ue, server


def read_exactly(connection, size):
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        assert piece, f"the connection ended after {len(data)} of {size} bytes"
        data += piece
    return data


def at_mark(connection):
    return struct.unpack("i", fcntl.ioctl(connection, SIOCATMARK, b"\0" * 4))[0] != 0


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("upwards", [True, False])
def test_urgent_data(path, family, upwards):
    ue, server = connected(path.wire, family)
    sender, receiver = (ue, server) if upwards else (server, ue)
    with ue, server:
        sender.sendall(b"before")
        sender.send(b"!", socket.MSG_OOB)
        _, _, urgent = select.select([], [], [receiver], 5)
        assert urgent, "nothing was announced"
        assert receiver.recv(1, socket.MSG_OOB) == b"!"
        sender.sendall(b"behind")
        assert read_exactly(receiver, 6) == b"before"
        assert at_mark(receiver)
        assert read_exactly(receiver, 6) == b"behind", "the urgent byte is none of the stream"


@pytest.mark.parametrize("upwards", [True, False])
def test_urgent_data_in_line_behind_much_else(path, upwards):
    """Megabytes stand before it: it is announced at the right place, however often segments were cut or repeated."""
    ue, server = connected(path.wire)
    sender, receiver = (ue, server) if upwards else (server, ue)
    receiver.setsockopt(socket.SOL_SOCKET, socket.SO_OOBINLINE, 1)
    before, behind = b"b" * (3 * MEGA), b"h" * 100_000
    with ue, server:

        def send():
            sender.sendall(before)
            sender.send(b"!", socket.MSG_OOB)
            sender.sendall(behind)

        thread = threading.Thread(target=send, daemon=True)
        thread.start()
        seen = 0
        while not at_mark(receiver):
            if seen == len(before):  # the reader is faster than the announcement
                assert select.select([], [], [receiver], 5)[2], "nothing was announced"
                continue
            piece = receiver.recv(65536)
            assert piece == b"b" * len(piece), f"the mark was not at {seen}"
            seen += len(piece)
        assert seen == len(before)
        assert read_exactly(receiver, 1 + len(behind)) == b"!" + behind
        thread.join(10)


@pytest.fixture
def wire(tmp_path):
    with lab_module.Lab("signals", tmp_path) as lab:
        made = lab.bump()
        made.lab = lab
        yield made


@pytest.mark.parametrize("answered", [True, False])
def test_a_peer_that_vanished_is_missed(wire, answered):
    """The proxy must not answer keep-alives for it, and must pass those of a peer that is there."""
    sluice = programs.Sluice(wire.lab, wire.box, mode="i-tcp")
    ue, server = connected(wire)
    with ue, server:
        ue.sendall(b"here")
        assert read_exactly(server, 4) == b"here"
        server.sendall(b"and there")
        assert read_exactly(ue, 9) == b"and there"
        ue.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 1)
        ue.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1)
        ue.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)
        ue.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        if not answered:
            wire.server.ip("route", "del", "10.45.0.0/16")
        began = time.monotonic()
        ue.settimeout(7)
        try:
            ue.recv(1)
            pytest.fail("something came")
        except TimeoutError:
            ended = None
        except OSError as error:
            ended = error.errno
        took = time.monotonic() - began
        # A Python socket's own timeout is a TimeoutError without an errno of the kernel's.
        if answered:
            assert ended is None and took > 6.9
            ue.settimeout(5)
            ue.sendall(b"still")
            assert read_exactly(server, 5) == b"still"
        else:
            assert took < 6.5, "the peer's death was covered up"
            assert ue.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) in (0, errno.ETIMEDOUT)
    sluice.stop_and_check()


class Routed:
    """server - box - UE, with a router between the box and one of the hosts whose link to that host is narrow."""

    def __init__(self, lab, side, mtu):
        self.server, self.box, self.ue = lab.namespace("server"), lab.namespace("box"), lab.namespace("ue")
        self.router = lab.namespace("router")
        self.lab = lab
        lab.quiet(self.box)
        host, near, other, far = ((self.ue, "radio", self.server, "core") if side == "radio"
                                  else (self.server, "core", self.ue, "radio"))
        lab.link(other, "eth0", self.box, far)
        lab.link(self.router, "box", self.box, near)
        lab.link(self.router, "host", host, "eth0")
        self.router.ip("link", "set", "host", "mtu", mtu)
        self.router.sysctl("net.ipv4.ip_forward", 1)
        self.router.sysctl("net.ipv6.conf.all.forwarding", 1)
        self.server_address, self.server_address6 = "10.99.0.2", "fd00:99::2"
        addresses = {self.server: ("10.99.0.2/16", "fd00:99::2/64"), self.ue: ("10.45.0.2/16", "fd00:45::2/64")}
        nets = {self.server: ("10.99.0.1/16", "fd00:99::1/64"), self.ue: ("10.45.0.1/16", "fd00:45::1/64")}
        for end in (self.server, self.ue):
            end.address("eth0", *addresses[end])
        self.router.address("host", *nets[host])
        self.router.address("box", *nets[other])
        for end in (self.server, self.ue):
            to = "10.45.0.0/16" if end is self.server else "10.99.0.0/16"
            to6 = "fd00:45::/64" if end is self.server else "fd00:99::/64"
            via, via6 = (gateway.split("/")[0] for gateway in nets[end])
            end.route(to, "via", via, "dev", "eth0")
            end.route(to6, "via", via6, "dev", "eth0")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("side", ["radio", "core"])
def test_a_router_with_a_narrow_link(tmp_path, side, family):
    """Its ICMP errors are about segments that the proxy sent: the leg cuts them, and nobody waits for a timeout."""
    with lab_module.Lab("narrow", tmp_path) as lab:
        wire = Routed(lab, side, mtu=1300)
        sluice = programs.Sluice(lab, wire.box, mode="i-tcp")
        with traffic.Server(wire.server.socket, family=family) as server:
            client = traffic.Client(wire.server_address if family == socket.AF_INET else wire.server_address6,
                                    lambda *_: wire.ue.socket(family), server.port)
            if side == "radio":
                client.download(3 * MEGA, seed=1)
            else:
                client.upload(3 * MEGA, seed=1)
        time.sleep(0.3)
        counters = sluice.counters()
        assert counters["flows_split"] == 1
        assert counters[f"paths_smaller_{side}"] == 1
        assert counters["icmp_rejected"] <= counters["icmp_accepted"]
        assert counters[f"timeouts_{side}"] == 0
        sluice.stop_and_check()


def test_taken_up_again_and_again(wire):
    """Questions and answers go on while their connection is handed back and split again, by word and by a switch of the mode;
    every byte is compared."""
    sluice = programs.Sluice(wire.lab, wire.box, mode="i-tcp")
    ue, server = connected(wire)
    stop, rounds, failures = threading.Event(), [0], []

    def answer():
        with server:
            while size := server.recv(4):
                server.sendall(hashlib.sha256(read_exactly(server, struct.unpack("I", size)[0])).digest() * 2000)

    def ask():
        with ue:
            for number, chunk in enumerate(traffic.payload(7, 100 * MEGA)):
                if stop.is_set():
                    break
                ue.sendall(struct.pack("I", len(chunk)) + chunk)
                if read_exactly(ue, 64_000) != hashlib.sha256(chunk).digest() * 2000:
                    failures.append(number)
                rounds[0] += 1
                time.sleep(0.01)

    threads = [threading.Thread(target=work, daemon=True) for work in (answer, ask)]
    for thread in threads:
        thread.start()
    for turn in range(1, 4):
        time.sleep(0.3)
        sluice.ask("release", "all")
        wait_for(lambda: sluice.ask("status")["flows"] == 0, "the connection is still split")
        assert sluice.ask("status")["flows_released"] == 1
        time.sleep(0.2)
        sluice.ask("split-again", "all")
        wait_for(lambda: sluice.counters()["flows_split_again"] == turn, "it was not split again")  # noqa: B023
    for turn in range(1, 3):
        time.sleep(0.2)
        sluice.ask("mode", "bypass")
        wait_for(lambda: sluice.counters()["released_switch"] == turn, "it was not handed back to its hosts")  # noqa: B023
        sluice.ask("mode", "i-tcp")
        wait_for(lambda: sluice.counters()["flows_split_by_switch"] == turn, "it stays end to end")  # noqa: B023
    before = rounds[0]
    time.sleep(0.5)
    assert rounds[0] > before, "it stands still"
    stop.set()
    for thread in threads:
        thread.join(10)
    assert not failures
    counters = sluice.counters()
    assert counters["flows_split"] == 1 and counters["released_command"] == 3
    with pytest.raises(lab_module.LabError):
        sluice.ask("split-again", "nobody")
    sluice.wait_until_at_rest()
    sluice.stop_and_check()


def wait_for(condition, otherwise, timeout=10):
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.05)
