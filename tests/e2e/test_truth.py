"""Truth: what the client learns of the server is what it would learn without anybody in between."""

import errno
import socket
import time

import pytest
import traffic

MEGA = 1_000_000


def test_refused(path):
    refused = traffic.Client(path.wire.server_address, path.wire.ue.socket, port=9)
    began = time.monotonic()
    assert refused.connect_error(timeout=5) == errno.ECONNREFUSED
    assert time.monotonic() - began < 1


def test_an_absent_host(path):
    """Nobody answers ARP for it, so the client's own kernel says so."""
    absent = traffic.Client("10.99.0.250", path.wire.ue.socket)
    assert absent.connect_error(timeout=10) == errno.EHOSTUNREACH


def test_a_silent_host(path):
    """SYNs disappear; nothing may answer in the host's stead."""
    wire = path.wire
    wire.ue.ip("neigh", "replace", "10.99.0.251", "lladdr", wire.server.mac("eth0"), "dev", "eth0", "nud", "permanent")
    assert traffic.Client("10.99.0.251", wire.ue.socket).connect_error(timeout=3) == errno.ETIMEDOUT


def test_a_router_behind_which_the_host_is_unreachable(path):
    """An ICMP error about the SYN reaches the client."""
    wire = path.wire
    wire.server.sysctl("net.ipv4.ip_forward", 1)
    wire.server.route("10.98.0.0/16", "via", "10.99.0.77", "dev", "eth0")
    wire.server.ip("route", "replace", "unreachable", "10.98.0.0/16")
    wire.ue.route("10.98.0.0/16", "via", wire.server_address, "dev", "eth0", "onlink")
    try:
        assert traffic.Client("10.98.0.5", wire.ue.socket).connect_error(timeout=5) == errno.EHOSTUNREACH
    finally:
        wire.ue.ip("route", "del", "10.98.0.0/16")
        wire.server.ip("route", "flush", "10.98.0.0/16")
        wire.server.sysctl("net.ipv4.ip_forward", 0)


def test_a_server_that_answers_late(path):
    """The listener appears only after the first SYN was refused; the next one gets through."""
    port = 6001
    late = traffic.Client(path.wire.server_address, path.wire.ue.socket, port)
    assert late.connect_error(timeout=5) == errno.ECONNREFUSED
    with traffic.Server(path.wire.server.socket, port=port):
        late.download(1000)


def test_a_full_backlog_is_not_answered_for(path):
    """While the server's accept queue is full its SYN-ACKs stop, and the client must not be told otherwise."""
    listener = path.wire.server.socket()
    listener.bind(("", 6002))
    listener.listen(0)
    client = traffic.Client(path.wire.server_address, path.wire.ue.socket, 6002)
    filling = []
    try:
        for _ in range(8):
            try:
                filling.append(client.connect(timeout=1.5))
            except TimeoutError:
                break
        else:
            pytest.fail("connections were accepted that the server never had room for")
    finally:
        for connection in filling:
            connection.close()
        listener.close()


@pytest.mark.parametrize("size", [1, 100_000, 2 * MEGA])
def test_a_reset_by_the_server_comes_after_what_was_acknowledged(client, size):
    assert client.reset_by_server(size, seed=size, pause=0.001) == size


@pytest.mark.parametrize("size", [1, 100_000, 2 * MEGA])
def test_a_reset_by_the_client_comes_after_what_was_acknowledged(client, server, size):
    assert client.reset_by_client(server, size, seed=size) == size


def test_resets_in_mid_transfer(client, server):
    for seed in range(10):
        client.reset_by_server(5 * MEGA, seed=seed, settle=False)
        client.reset_by_client(server, 5 * MEGA, seed=seed, settle=False)


def test_a_client_that_vanishes(path, server):
    """The UE resets while the server still sends: the server learns it and stops."""
    client = traffic.Client(path.wire.server_address, path.wire.ue.socket, server.port)
    before = len(server.failures)
    connection = client.connect({"do": "timed", "seconds": 60})
    connection.recv(100_000)
    traffic.reset(connection)
    deadline = time.monotonic() + 10
    while len(server.failures) == before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert any("Reset" in failure or "Pipe" in failure for failure in server.failures[before:])


def split_flow(sluice, ue):
    """The state of the split connection of this address and port of a UE."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        for flow in sluice.ask("flows"):
            if flow["ue"] == ue and flow["phase"] == "split":
                return flow
        time.sleep(0.02)
    raise AssertionError(f"{ue} is not split: {sluice.ask('flows')}")


def test_a_near_server_has_a_known_round_trip_after_the_handshake(path):
    """An unknown one has a retransmission timeout of a second, so that a lost first segment costs that long."""
    if path.is_bridge:
        pytest.skip("a bridge measures no round trip")
    with path.wire.server.socket() as listener, path.wire.ue.socket() as client:
        listener.bind(("", 0))
        listener.listen(1)
        client.connect((path.wire.server_address, listener.getsockname()[1]))
        ours = f"{client.getsockname()[0]} {client.getsockname()[1]}"
        flow = split_flow(path.sluice, ours)
        assert flow["core_srtt_ms"] is not None
        assert flow["core_rto_ms"] < 1000


@pytest.mark.real_time
def test_no_delay_for_interactive_traffic(path):
    """A byte, its answer, a thousand times: nothing may sit on a lone small segment."""
    listener = path.wire.server.socket()
    listener.bind(("", 6003))
    listener.listen(1)
    connection = traffic.Client(path.wire.server_address, path.wire.ue.socket, 6003).connect()
    accepted, _ = listener.accept()
    with listener, connection, accepted:
        accepted.settimeout(5)
        for end in (connection, accepted):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        times = []
        for _ in range(1000):
            began = time.monotonic()
            connection.sendall(b"q")
            assert accepted.recv(1) == b"q"
            accepted.sendall(b"a")
            assert connection.recv(1) == b"a"
            times.append(time.monotonic() - began)
    times.sort()
    print(f"round trip: median {times[500] * 1e6:.0f} us, p99 {times[990] * 1e6:.0f} us")
    assert times[500] < 0.02  # a delayed ACK or a Nagle timer in the way would show as 40 ms and more
