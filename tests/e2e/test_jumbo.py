"""Frames longer than Ethernet's 1500 bytes, where both ports are told to take them."""

import lab as lab_module
import programs
import traffic

MEGA = 1_000_000
MTU = 9000


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
