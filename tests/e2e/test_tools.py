"""The programs people use: curl, iperf3, and tshark as the judge of what is on both wires."""

import hashlib
import http.server
import json
import random
import re
import subprocess
import threading
import time

import pytest
import traffic

MEGA = 1_000_000
FILES = {f"/{size}": random.Random(size).randbytes(size) for size in (0, 1, 1448, 20_000, 5 * MEGA)}


class Pages(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.answer(200 if self.path in FILES else 404, FILES.get(self.path, b"no such page"))

    def do_PUT(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(200, hashlib.sha256(body).hexdigest().encode())

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Web(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, namespace, port):
        super().__init__(("", port), Pages, bind_and_activate=False)
        self.socket = namespace.socket()
        self.socket.setsockopt(1, 2, 1)  # SO_REUSEADDR
        self.server_bind()
        self.server_activate()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def server_bind(self):
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = "server", self.server_address[1]


@pytest.fixture
def web(path):
    web = Web(path.wire.server, 8080)
    yield f"http://{path.wire.server_address}:8080"
    web.shutdown()
    web.server_close()


def test_curl_fetches_pages_over_one_connection(path, web, tmp_path):
    wanted = [name for name in FILES if name != "/0"]
    arguments = [word for name in wanted for word in (f"{web}{name}", "-o", str(tmp_path / name[1:]))]
    path.wire.ue.run("curl", "-sS", "--fail", "--max-time", "30", *arguments)
    for name in wanted:
        assert (tmp_path / name[1:]).read_bytes() == FILES[name]


def test_curl_uploads(path, web, tmp_path):
    file = tmp_path / "upload"
    file.write_bytes(FILES[f"/{5 * MEGA}"])
    answer = path.wire.ue.run("curl", "-sS", "--fail", "--max-time", "30", "-T", file, f"{web}/put").stdout
    assert answer == hashlib.sha256(file.read_bytes()).hexdigest()


def test_curl_sees_an_empty_page_and_a_missing_one(path, web):
    assert path.wire.ue.run("curl", "-sS", "--max-time", "10", f"{web}/0").stdout == ""
    missing = path.wire.ue.run("curl", "-sS", "--fail", "--max-time", "10", f"{web}/none", check=False)
    assert missing.returncode == 22


def test_curl_gives_up_on_a_refused_port(path):
    refused = path.wire.ue.run("curl", "-sS", "--max-time", "10", f"http://{path.wire.server_address}:81/", check=False)
    assert refused.returncode == 7


@pytest.mark.parametrize("direction", [[], ["--reverse"], ["--bidir"], ["--reverse", "-P", "8"]])
def test_iperf3(path, direction):
    server = path.wire.server.start("iperf3-server", "iperf3", "--server", "--one-off", "--forceflush")
    server.wait_for("listening")
    run = path.wire.ue.run("iperf3", "--client", path.wire.server_address, "--time", "2", "--json", *direction, timeout=30)
    result = json.loads(run.stdout)
    assert "error" not in result
    received = result["end"]["sum_received"]["bits_per_second"]
    print(f"iperf3 {' '.join(direction) or 'upload'}: {received / 1e6:.0f} Mb/s")
    assert received > 20e6
    assert server.wait(10) == 0


TSHARK_OPTIONS = ("-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE",
                  "-o", "tcp.relative_sequence_numbers:FALSE")


def tshark(file, expression, *fields):
    """The rows of a capture that match a display filter."""
    command = ["tshark", "-n", "-r", str(file), *TSHARK_OPTIONS, "-Y", expression, "-T", "fields"]
    for field in fields:
        command += ["-e", field]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return [row.split("\t") for row in run.stdout.splitlines()]


@pytest.fixture
def both_legs(path, client):
    """Captures of a download, an upload and a refused connection at both hosts."""
    captures = {}
    for name, host in (("server", path.wire.server), ("ue", path.wire.ue)):
        file = path.lab.log_dir / f"{name}-full.pcap"
        captures[name] = (file, host.start(f"dumpcap-{name}-full", "dumpcap", "-q", "-P", "-i", "eth0", "-B", 32, "-w", file,
                                           "-f", "tcp"))
        captures[name][1].wait_for("File: ")
    client.download(3 * MEGA, 31)
    client.upload(3 * MEGA, 32)
    traffic.Client(path.wire.server_address, path.wire.ue.socket, 9).connect_error(timeout=5)
    time.sleep(0.5)
    for _, process in captures.values():
        process.signal(2)
        process.wait(10)
    return {name: file for name, (file, _) in captures.items()}


def test_both_wires_are_sane_to_tshark(path, both_legs):
    for name, file in both_legs.items():
        assert len(tshark(file, "tcp.len > 0", "frame.number")) > 1000
        # Linux itself writes 0xffff for a checksum of zero where no device computes it (skb_checksum_help), which
        # tshark calls bad. The proxy must not: of its own segments each field is judged.
        own = f"ip.{'src' if name == 'server' else 'dst'} == {path.wire.server_address}"
        bad_checksum = f"tcp.checksum.status == 0 && !({own} && tcp.checksum == 0xffff)"
        for wrong in (bad_checksum, "ip.checksum.status == 0", "_ws.malformed", "tcp.hdr_len < 20",
                      "tcp.analysis.ack_lost_segment", "tcp.analysis.window_full && tcp.window_size == 0"):
            assert tshark(file, wrong, "frame.number", "_ws.col.Info") == [], f"{name}: {wrong}"


def test_the_endpoints_own_names_are_on_both_wires(path, both_legs):
    """Addresses, ports, MAC addresses, initial sequence numbers and options are the same at both ends."""
    fields = ("eth.src", "eth.dst", "ip.src", "ip.dst", "tcp.srcport", "tcp.dstport", "tcp.seq", "tcp.options", "tcp.window_size_value")
    syns = {name: sorted(tshark(file, "tcp.flags.syn == 1", *fields)) for name, file in both_legs.items()}
    assert len(syns["ue"]) >= 5
    assert syns["ue"] == syns["server"]


def test_sequence_numbers_run_alike_on_both_wires(path, both_legs):
    """Every byte has the same number on both legs: the last one and the FIN show it."""
    ends = {}
    for name, file in both_legs.items():
        rows = tshark(file, "tcp.flags.fin == 1", "tcp.srcport", "tcp.dstport", "tcp.seq", "tcp.len")
        ends[name] = {(r[0], r[1], (int(r[2]) + int(r[3])) % 2**32) for r in rows}
    assert len(ends["ue"]) >= 4
    assert ends["ue"] == ends["server"]


def test_segments_fit_the_agreed_size(path, both_legs):
    for file in both_legs.values():
        sizes = [int(row[0]) for row in tshark(file, "tcp.len > 0", "ip.len")]
        assert max(sizes) <= 1500
        assert re.fullmatch(r"14\d\d|1500", str(max(sizes)))  # and bulk data fills them
