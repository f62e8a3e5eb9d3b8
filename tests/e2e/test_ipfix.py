"""Records of ended connections reach a collector as IPFIX, and tshark reads them; what passes untouched is listed."""

import json
import shutil
import signal
import socket
import struct
import subprocess
import time

import programs
import pytest
from outcomes import PATIENCE, client, server, wire  # noqa: F401 (fixtures)

MEGA = 1_000_000
RAW_IP = 101  # link type of frames that begin with the IP header


class Collector:
    """A UDP socket beside the proxy that keeps every datagram."""

    def __init__(self, box):
        self.socket = box.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(0.2)
        self.port = self.socket.getsockname()[1]
        self.datagrams = []

    def take(self):
        try:
            while True:
                self.datagrams.append(self.socket.recv(65536))
        except TimeoutError:
            pass

    def records(self):
        """Number of data records, by the sequence number of the last message and the sets behind it."""
        return sum(1 for datagram in self.datagrams if struct.unpack_from("!H", datagram, 16)[0] >= 256)

    def pcap(self, file):
        with open(file, "wb") as out:
            out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, RAW_IP))
            for datagram in self.datagrams:
                length = 28 + len(datagram)
                ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, length, 0, 0, 64, 17, 0, b"\x7f\0\0\1", b"\x7f\0\0\1")
                udp = struct.pack("!HHHH", 40000, 4739, 8 + len(datagram), 0)
                out.write(struct.pack("<IIII", 0, 0, length, length) + ip + udp + datagram)


def flows_of(file):
    """What tshark reads from the records: one dictionary for each."""
    text = subprocess.run(["tshark", "-r", file, "-d", "udp.port==4739,cflow", "-T", "json", "--no-duplicate-keys"],
                          check=True, capture_output=True, text=True).stdout
    found = []

    def search(node):
        if isinstance(node, dict):
            if "cflow.srcaddr" in node or "cflow.srcaddrv6" in node:
                found.append(node)
            for value in node.values():
                search(value)
        elif isinstance(node, list):
            for value in node:
                search(value)

    search(json.loads(text))
    return found


@pytest.mark.parametrize("mode", ["i-tcp", "observe"])
def test_each_ended_connection_is_a_record_that_tshark_reads(wire, server, tmp_path, mode):
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    collector = Collector(wire.box)
    sluice = programs.Sluice(wire.lab, wire.box, mode=mode,
                             ipfix={"collector": f"127.0.0.1:{collector.port}", "domain": 42, "template_refresh": "1s"})
    client(wire, server).download(MEGA)
    client(wire, server).upload(MEGA // 2)
    deadline = time.monotonic() + PATIENCE
    while sluice.ask("status")["flows"] != 0 and time.monotonic() < deadline:
        time.sleep(0.1)
    while sluice.ask("counters", "ipfix.records") < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    sluice.stop_and_check()
    collector.take()
    file = tmp_path / "ipfix.pcap"
    collector.pcap(file)
    flows = [flow for flow in flows_of(file) if flow["cflow.dstport"] == str(server.port)]
    assert len(flows) == 2, flows
    for flow in flows:
        assert flow["cflow.srcaddr"] == wire.ue_address and flow["cflow.dstaddr"] == wire.server_address
        assert flow["cflow.protocol"] == "6"
        assert flow["cflow.flow_end_reason"] == "3", "closed by its hosts"
    text = subprocess.run(["tshark", "-r", file, "-d", "udp.port==4739,cflow", "-V"], check=True, capture_output=True,
                          text=True).stdout
    assert "Observation Domain Id: 42" in text
    assert "Malformed" not in text and "No template found" not in text
    downloaded, uploaded = sorted(flows, key=lambda flow: int(first(flow["cflow.octets"])))
    assert int(first(downloaded["cflow.octets"])) < MEGA // 2 <= int(first(uploaded["cflow.octets"])) < MEGA


def test_nfdump_lists_the_records_that_its_daemon_collects(wire, server, tmp_path):
    if shutil.which("nfcapd") is None or shutil.which("nfdump") is None:
        pytest.skip("needs the package nfdump")
    folder = tmp_path / "flows"
    folder.mkdir()
    collector = wire.box.start("nfcapd", "nfcapd", "-b", "127.0.0.1", "-p", "4739", "-w", folder)
    deadline = time.monotonic() + PATIENCE
    while ":4739 " not in wire.box.run("ss", "--udp", "--listening", "--numeric").stdout:
        assert time.monotonic() < deadline, "nfcapd does not listen"
        time.sleep(0.1)
    sluice = programs.Sluice(wire.lab, wire.box, mode="i-tcp", ipfix={"collector": "127.0.0.1:4739"})
    client(wire, server).download(MEGA)
    client(wire, server).upload(MEGA // 2)
    while sluice.ask("counters", "ipfix.records") < 2:
        assert time.monotonic() < deadline, "a connection has no record"
        time.sleep(0.1)
    sluice.stop_and_check()
    time.sleep(0.5)
    collector.signal(signal.SIGTERM)  # it completes its file
    assert collector.wait(PATIENCE) == 0, collector.output()
    listed = subprocess.run(["nfdump", "-R", folder, "-q", "-o", "fmt:%pr %sa %sp %da %dp %ibyt %obyt"], check=True,
                            capture_output=True, text=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    assert len(rows) == 2, listed
    assert all((row[0], row[1], row[3], row[4]) == ("TCP", wire.ue_address, wire.server_address, str(server.port)) for row in rows), rows
    uploaded = max(int(row[5]) for row in rows if row[5].isdigit())
    assert MEGA // 2 <= uploaded < MEGA


def first(value):
    """The first value of a field that a record has several times: that of the initiator's direction."""
    return value[0] if isinstance(value, list) else value


def test_a_collector_that_is_down_costs_records_and_nothing_else(wire, server):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    sluice = programs.Sluice(wire.lab, wire.box, mode="i-tcp", ipfix={"collector": f"127.0.0.1:{port}"})
    client(wire, server).download(MEGA)
    client(wire, server).download(MEGA)
    deadline = time.monotonic() + PATIENCE
    while sluice.ask("status")["flows"] != 0 and time.monotonic() < deadline:
        time.sleep(0.1)
    client(wire, server).download(MEGA)
    sluice.stop_and_check()


def test_datagrams_that_pass_are_listed_with_their_share(wire, server):
    sluice = programs.Sluice(wire.lab, wire.box, mode="i-tcp")
    client(wire, server).download(MEGA)
    with wire.ue.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        for _ in range(2000):
            out.sendto(b"x" * 1200, (wire.server_address, 443))
            time.sleep(0.0002)
    time.sleep(0.5)
    passing = sluice.ask("flows", "--passing")
    top = passing[0]
    assert top["server"] == f"{wire.server_address} 443" and top["ue"].startswith(wire.ue_address)
    assert top["protocol"] == "udp (QUIC by its port)" and top["passes_for"] == "udp"
    assert 0.8 * 2000 * 1242 < top["bytes"] < 1.2 * 2000 * 1242
    rows = {(row["handling"], row["reason"]): row for row in sluice.ask("traffic")}
    counted = rows["passed", "udp"]["bytes"]
    assert 0.9 * 2000 * 1242 < counted < 1.1 * 2000 * 1242
    assert rows["split", None]["bytes"] > MEGA
    assert abs(sum(row["share_percent"] for row in rows.values()) - 100) < 1
    status = sluice.ask("status")["traffic"]
    assert status["controlled_bytes"] == 0 and status["split_bytes"] >= rows["split", None]["bytes"]
    sluice.stop_and_check()
