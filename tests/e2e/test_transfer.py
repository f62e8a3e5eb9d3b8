"""Bytes: what one host sends is what the other one gets, whichever way, however many at once."""

import errno
import socket
import time

import pytest
import traffic

MEGA = 1_000_000


def test_200_megabytes_down(client):
    client.download(200 * MEGA, seed=11)


def test_200_megabytes_up(client):
    client.upload(200 * MEGA, seed=12)


def test_both_ways_at_once(client):
    client.duplex(20 * MEGA, seed=13)


def test_a_thousand_short_connections(client):
    traffic.many(1000, 8, lambda i: client.download(i * 7 % 5000, seed=i) if i % 2 else client.upload(i * 7 % 5000, seed=i))


def test_64_parallel_streams(client):
    traffic.many(64, 64, lambda i: client.duplex(400_000, seed=100 + i))


def test_the_client_closes_its_half_first(client):
    client.upload(3 * MEGA, seed=14)
    client.upload(0, seed=15)


def test_the_server_closes_its_half_first(client, server):
    client.server_leaves_first(server, 3 * MEGA, seed=16)
    client.server_leaves_first(server, 1, seed=17)


def test_a_slow_reader_holds_the_sender_back(client):
    """The relay must not run away with data that nobody reads."""
    client.download(6 * MEGA, seed=18, pause=0.02)


def test_a_reader_that_stops_and_resumes(client):
    """Zero window, probing, and the window opening again."""
    with client.connect({"do": "send", "bytes": 8 * MEGA, "seed": 19}) as connection:
        first = connection.recv(1)
        time.sleep(2.5)
        size, _, error = traffic.read_to_end(connection)
    assert (len(first) + size, error) == (8 * MEGA, 0)


def test_ipv6(path):
    with traffic.Server(path.wire.server.socket, family=socket.AF_INET6) as server6:
        client6 = traffic.Client(path.wire.server_address6, path.wire.ue.socket, server6.port, socket.AF_INET6)
        client6.download(20 * MEGA, seed=20)
        client6.upload(20 * MEGA, seed=21)
        client6.server_leaves_first(server6, MEGA, seed=22)
        assert client6.reset_by_server(100_000) == 100_000
        refused = traffic.Client(path.wire.server_address6, path.wire.ue.socket, 9, socket.AF_INET6)
        assert refused.connect_error(timeout=5) == errno.ECONNREFUSED


def test_several_ues_at_once(path, server):
    clients = [traffic.Client(path.wire.server_address, path.wire.ue.socket, server.port, source=address)
               for address in path.wire.ue_addresses]
    assert len(clients) > 1
    traffic.many(4 * len(clients), 8, lambda i: clients[i % len(clients)].duplex(MEGA, seed=200 + i))


def test_afterwards_every_packet_buffer_is_back(path):
    """Stands last: whatever the tests above did, nothing is left of it."""
    if path.is_bridge:
        pytest.skip("a bridge has no packet buffers")
    path.sluice.wait_until_at_rest()
    counters = path.sluice.counters()
    assert counters["flows_split"] > 1000
    assert counters["acks_misplaced_radio"] == counters["acks_misplaced_core"] == 0, "kernels acknowledge whole segments"
