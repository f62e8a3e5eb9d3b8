"""Every kind of port that hosts of this machine can stand behind carries the same transfers, and what comes with them:
segmentation that hosts leave to a device, and pools of any size.

Not here: physical NICs, which a test cannot count on."""

import contextlib
import signal
import socket
import time

import lab as lab_module
import programs
import pytest
import traffic

MEGA = 1_000_000
LARGEST_DATAGRAM = 1472  # with the headers of UDP and IPv4: one MTU
# Megabytes of a download where it is not 30: net_af_xdp has to see every buffer several times, live captures are slow.
BULK = {"af_xdp": 300, "pcap": 5}


def devices(radio, core):
    return {"ports": {"radio": {"device": radio}, "core": {"device": core}}}


@contextlib.contextmanager
def kernel_interfaces(lab, box, driver, keys):
    """A driver that sits on the interfaces of the box."""
    yield programs.Sluice(lab, box, mode="i-tcp", **devices(*(
        f"{driver}{number}," + keys.format(interface=interface) for number, interface in enumerate(("radio", "core")))))


def af_packet(lab, box):
    return kernel_interfaces(lab, box, "net_af_packet", "iface={interface}")


def af_xdp(lab, box):
    return kernel_interfaces(lab, box, "net_af_xdp", "iface={interface}")


def pcap(lab, box):
    return kernel_interfaces(lab, box, "net_pcap", "rx_iface_in={interface},tx_iface={interface}")


@contextlib.contextmanager
def tap(lab, box):
    """The driver makes the interfaces; bridges join them to the wires."""
    sluice = programs.Sluice(lab, box, mode="i-tcp", **devices("net_tap0,iface=tap-radio", "net_tap1,iface=tap-core"))
    box.bridge("br-radio", "radio", "tap-radio")
    box.bridge("br-core", "core", "tap-core")
    yield sluice


@contextlib.contextmanager
def memif(lab, box):
    """The proxy among processes: two others, which only forward, bring the wires' packets into shared memory."""

    def device(side, role):
        return f"net_memif0,role={role},id=0,socket={lab.log_dir}/{side}.memif"

    def forwarder(name, listen, radio, core):
        return programs.Sluice(lab, box, name=name, mode="bypass", pool={"buffers": 8192},
                               feedback={"listen": f"127.0.0.1:{listen}"}, **devices(radio, core))

    ends = [forwarder("radio-end", 39001, programs.af_packet(0, "radio"), device("radio", "server")),
            forwarder("core-end", 39002, device("core", "server"), programs.af_packet(0, "core"))]
    yield programs.Sluice(lab, box, mode="i-tcp", **devices(
        device("radio", "client"), device("core", "client").replace("net_memif0", "net_memif1")))
    for end in ends:
        end.stop_and_check()


@pytest.fixture(scope="module", params=[af_packet, af_xdp, tap, pcap, memif], ids=lambda kind: kind.__name__)
def port(request, tmp_path_factory):
    """The hosts, with a proxy on this kind of port between them."""
    with lab_module.Lab("ports", tmp_path_factory.mktemp(request.param.__name__)) as lab:
        wire = lab.bump()
        lab.know_each_other(wire)
        with request.param(lab, wire.box) as sluice, traffic.Server(wire.server.socket) as server:
            wire.sluice, wire.bulk = sluice, BULK.get(request.param.__name__, 30) * MEGA
            wire.client = traffic.Client(wire.server_address, wire.ue.socket, server.port)
            yield wire
            # What net_af_xdp has sent it takes back when it sends again.
            sluice.wait_until_at_rest(in_device=64 if request.param is af_xdp else 0)
            sluice.stop_and_check()


def test_down(port):
    port.client.download(port.bulk, seed=1)


def test_up(port):
    port.client.upload(min(port.bulk, 30 * MEGA), seed=2)


def test_both_ways_at_once(port):
    port.client.duplex(port.bulk // 10, seed=3)


def test_many_connections(port):
    traffic.many(100, 10, lambda i: port.client.duplex(50_000, seed=100 + i))
    wait_until(lambda: port.sluice.counters()["flows_split"] > 100)


def test_datagrams_of_every_size_are_forwarded(port):
    with port.server.socket(kind=socket.SOCK_DGRAM) as server, port.ue.socket(kind=socket.SOCK_DGRAM) as ue:
        server.bind((port.server_address, 7000))
        for size in (0, 1, 100, 1000, LARGEST_DATAGRAM):
            sent = bytes(index % 251 for index in range(size))
            assert asked_again(ue, server, sent, (port.server_address, 7000)) == sent


def asked_again(ue, server, payload, to):
    """What comes back when the server returns what it got; some kinds of port may lose a datagram now and then."""
    ue.settimeout(2)
    server.settimeout(2)
    for _ in range(5):
        ue.sendto(payload, to)
        with contextlib.suppress(TimeoutError):
            back, source = server.recvfrom(65536)
            server.sendto(back, source)
            return ue.recv(65536)
    return None


def test_a_ring_gives_back_what_it_is_given(tmp_path):
    """The two ports that lead nowhere: what goes into a ring comes out of it again, what goes to null is gone."""
    for device, comes_back in (("net_ring0", True), ("net_null0,no-rx=1", False)):
        with lab_module.Lab("nowhere", tmp_path) as lab:
            wire = lab.bump()
            lab.know_each_other(wire)
            sluice = programs.Sluice(lab, wire.box, mode="bypass", **devices(programs.af_packet(0, "radio"), device))
            before = wire.ue.counters("eth0")["rx_packets"]
            with wire.ue.socket(kind=socket.SOCK_DGRAM) as ue:
                for _ in range(50):
                    ue.sendto(b"out", (wire.server_address, 7000))
            wait_until(lambda sluice=sluice: sluice.counters()["ports.core.transmitted"] >= 50)
            sluice.stop_and_check()
            assert (wire.ue.counters("eth0")["rx_packets"] - before >= 50) == comes_back


def wait_until(condition, timeout=10):
    """Asks until it is so."""
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def segments_for_itself(host):
    """Whether this host cuts its segments before they reach its interface."""
    return "tcp-segmentation-offload: off" in host.run("ethtool", "-k", "eth0").stdout


def rate_of(tmp_path, name, offloads, mode, kind):
    """Bytes per second of one download, and whether the hosts segmented for themselves meanwhile."""
    with lab_module.Lab("offloads", tmp_path / name) as lab:
        wire = lab.bump(offloads=offloads)
        sluice = programs.Sluice(lab, wire.box, mode=mode, ports={
            side: {"device": f"net_{kind}{number},iface={side}", "fix_offloads": True}
            for number, side in enumerate(("radio", "core"))})
        with traffic.Server(wire.server.socket) as server:
            client = traffic.Client(wire.server_address, wire.ue.socket, server.port)
            result = traffic.run_bulk(client, 2)
            client.upload(5 * MEGA, seed=4)
        assert all(segments_for_itself(host) for host in (wire.server, wire.ue))
        assert sluice.counters()["ports.core.oversized"] == 0
        sluice.stop_and_check()
        assert segments_for_itself(wire.server) != offloads, "its settings are its own again"
        return result["bytes"] / result["seconds"]


@pytest.mark.parametrize("mode", ["i-tcp", "bypass"])
@pytest.mark.parametrize("kind", ["af_packet", "af_xdp"])
def test_hosts_that_leave_segmentation_to_a_device_are_as_fast(tmp_path, mode, kind):
    plain = rate_of(tmp_path, "plain", False, mode, kind)
    assert rate_of(tmp_path, "offloads", True, mode, kind) > plain / 3


def test_a_killed_proxy_leaves_hosts_as_they_were(tmp_path):
    with lab_module.Lab("killed", tmp_path) as lab:
        wire = lab.bump(offloads=True)
        sluice = programs.Sluice(lab, wire.box, mode="bypass", ports={side: {"fix_offloads": True} for side in ("radio", "core")})
        assert segments_for_itself(wire.server)
        sluice.process.signal(signal.SIGKILL)
        wait_until(lambda: not segments_for_itself(wire.server))


def test_frames_that_nobody_segmented_are_counted_and_the_remedy_is_said(tmp_path):
    with lab_module.Lab("oversized", tmp_path) as lab:
        wire = lab.bump(offloads=True)
        for side in ("core", "radio"):
            wire.box.ethtool(side, "gro", "off")
        sluice = programs.Sluice(lab, wire.box, mode="bypass")
        with traffic.Server(wire.server.socket) as server:
            traffic.Client(wire.server_address, wire.ue.socket, server.port).download(200_000)
        said = sluice.process.wait_for("ports.core.oversized: .*fix_offloads: true, or run there: ethtool -K")
        assert "other end of core" in said
        assert sluice.counters()["ports.core.oversized"] > 0
        sluice.stop_and_check()


def test_half_a_million_buffers_need_no_huge_pages(tmp_path):
    with lab_module.Lab("memory", tmp_path) as lab:
        wire = lab.bump()
        sluice = programs.Sluice(lab, wire.box, mode="i-tcp", pool={"buffers": 500_000})
        with traffic.Server(wire.server.socket) as server:
            traffic.Client(wire.server_address, wire.ue.socket, server.port).download(5 * MEGA)
        assert sluice.ask("status")["packet_buffers"]["total"] == 500_000
        sluice.stop_and_check()


def test_more_buffers_than_this_machine_can_hold_are_refused(tmp_path):
    with lab_module.Lab("memory", tmp_path) as lab:
        lab.log_dir.mkdir(exist_ok=True)
        wire = lab.bump()
        available = next(int(line.split()[1]) for line in open("/proc/meminfo", encoding="ascii")
                         if line.startswith("MemAvailable:"))
        buffers = available // 2 + 1024  # of more than 2 KiB each
        if buffers > 16_777_216:
            pytest.skip("this machine can hold the largest pool")
        with pytest.raises(lab_module.LabError, match="MiB left; take fewer buffers"):
            programs.Sluice(lab, wire.box, mode="i-tcp", pool={"buffers": buffers})
