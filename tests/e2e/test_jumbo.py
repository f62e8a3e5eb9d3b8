"""Frames that are longer than usual: than Ethernet's 1500 bytes, and than what the far end of a veth takes."""

import socket

import lab as lab_module
import programs
import pytest
import traffic

MEGA = 1_000_000
MTU = 9000
IP_MTU_DISCOVER, IP_PMTUDISC_DONT = 10, 0  # of Linux; the socket module has no names for them


def test_jumbo_segments_are_split_like_any_other(tmp_path):
    with lab_module.Lab("jumbo", tmp_path) as lab:
        wire = lab.bump()
        for namespace, interface in ((wire.server, "eth0"), (wire.ue, "eth0"), (wire.box, "core"), (wire.box, "radio")):
            namespace.ip("link", "set", interface, "mtu", MTU)
        sluice = programs.Sluice(lab, wire.box, mode="i-tcp", ports={"radio": {"mtu": MTU}, "core": {"mtu": MTU}},
                                 pool={"buffers": 16384})
        with traffic.Server(wire.server.socket) as server:
            client = traffic.Client(wire.server_address, wire.ue.socket, server.port)
            client.download(20 * MEGA, seed=1)
            client.upload(20 * MEGA, seed=2)
        sluice.wait_until_at_rest()
        counters = sluice.counters()
        sluice.stop_and_check()
        assert counters["flows_split"] == 2
        assert wire.ue.counters("eth0")["rx_bytes"] / wire.ue.counters("eth0")["rx_packets"] > 2000, "no jumbo frames"


def test_frames_that_the_far_end_of_a_veth_drops_do_not_stop_the_port(tmp_path):
    with lab_module.Lab("farmtu", tmp_path) as lab:
        wire = lab.bump()
        sluice = programs.Sluice(lab, wire.box, mode="i-tcp")
        udp = wire.server.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DONT)

        def send_long():
            for _ in range(200):
                udp.sendto(b"l" * 1400, (wire.ue_address, 7))

        with udp, traffic.Server(wire.server.socket) as server:
            client = traffic.Client(wire.server_address, wire.ue.socket, server.port)
            client.download(MEGA, seed=1)
            wire.ue.ip("link", "set", "eth0", "mtu", 1280)
            send_long()  # before the proxy has noticed the change
            client.download(MEGA, seed=2)
            sluice.process.wait_for("the MTU is 1280 bytes now")
            send_long()
            client.download(MEGA, seed=3)
            client.upload(MEGA, seed=4)
        sluice.wait_until_at_rest()
        counters = sluice.counters()
        sluice.stop_and_check()
        assert counters["flows_split"] == 4
        assert counters["drop_too_long"] >= 200


@pytest.mark.parametrize("port", ("core", "radio"))
@pytest.mark.parametrize("intercept", ("split", "regulate"))
def test_hosts_send_what_a_port_with_a_smaller_mtu_carries(tmp_path, port, intercept):
    with lab_module.Lab("smallport", tmp_path) as lab:
        wire = lab.bump()
        for host in (wire.server, wire.ue):
            host.sysctl("net.ipv4.tcp_mtu_probing", 0)  # a host would find the size itself after some timeouts
        wire.box.ip("link", "set", port, "mtu", 1400)
        sluice = programs.Sluice(lab, wire.box, mode="smvs", intercept=intercept, smvs={"law": "acks"},
                                 ports={port: {"mtu": 1400}}, clamp_mss=True)
        with traffic.Server(wire.server.socket) as server:
            client = traffic.Client(wire.server_address, wire.ue.socket, server.port)
            client.download(MEGA, seed=1)
            client.upload(MEGA, seed=2)
        counters = sluice.counters_at_rest()
        sluice.stop_and_check()
        assert counters["mss_clamped"] == 4
        assert counters["drop_too_long"] == 0
