"""The whole path in real time: kernel hosts, the proxy, and the Node-B with its radio link and its reports."""

import hashlib
import hmac
import os
import random
import signal
import socket
import struct
import subprocess
import time
from pathlib import Path

import lab as lab_module
import programs
import pytest
import traffic

MEGA = 1_000_000
LAW = {"step": "5ms", "reference": "20ms"}
STEADY = {"type": "constant", "rate": "20Mb/s"}
VARYING = {"type": "piecewise", "min": "4Mb/s", "max": "20Mb/s", "period": "500ms"}
# Of the proxy's configuration: where reports must not be late, that a processor is taken for a moment makes none so.
PATIENT = {"smvs": {"fallback": {"minimum": "1s"}}}
TRACES = Path(os.environ.get("SLUICE_TRACES", "no-traces"))


class Radio:
    """A lab with the Node-B on both sides of the proxy."""

    def __init__(self, lab, mode, channel, seconds, traces=None, ues=1, proxy=None, **changes):
        """changes are of the scenario, those of the proxy's configuration come in proxy (its mode, too, where it is not
        the one that the Node-B is prepared for)."""
        self.lab, self.mode = lab, mode
        self.wire = lab.radio(ues, proxy=mode != "none")
        self.scenario = programs.nodeb_scenario(channel, mode != "none", **programs.merge(
            {"warmup": "2s", "smvs": {"parameters": LAW}}, changes))
        self.sluice = None
        if mode != "none":
            law = {"smvs": {"law": "nodeb", "parameters": {"one_way_delay": "10ms"}}} if mode == "smvs" else {}
            self.sluice = programs.Sluice(lab, self.wire.box, "proxy-radio", "proxy-core",
                                         **programs.merge({"mode": mode, **law}, proxy or {}))
        self.traces = traces
        self.nodeb = self.start_nodeb(seconds)

    def start_nodeb(self, seconds, name="nodeb"):
        return programs.Nodeb(self.lab, self.wire.box, self.scenario, self.mode, seconds, name, self.traces)

    def client(self, server, timeout=60):
        return traffic.Client(self.wire.server_address, self.wire.ue.socket, server.port, timeout=timeout)

    def download_until_the_end(self, server, seconds):
        """One endless download until the Node-B ends by itself; its results."""
        with self.client(server).connect({"do": "timed", "seconds": seconds + 30}) as connection:
            connection.settimeout(1)
            while self.nodeb.process.poll() is None:
                try:
                    if not connection.recv(1 << 20):
                        break
                except TimeoutError:
                    pass
            traffic.reset(connection)
        assert self.nodeb.process.wait(20) == 0, self.nodeb.process.tail()
        return self.nodeb.results()


def run_mode(tmp_path, mode, channel, seconds, **changes):
    with lab_module.Lab(f"radio-{mode}", tmp_path / mode) as lab:
        radio = Radio(lab, mode, channel, seconds, **changes)
        with traffic.Server(radio.wire.server.socket, congestion="cubic") as server:
            results = radio.download_until_the_end(server, seconds)
        if radio.sluice:
            radio.sluice.stop_and_check()
    shown = ("utilisation", "throughput_bps", "radio_queue_delay_p50_ms", "radio_queue_delay_p95_ms", "proxy_to_ue_delay_p95_ms",
             "server_to_ue_delay_p95_ms", "drops", "retransmissions")
    print(f"{mode}: " + ", ".join(f"{name} {results[name]}" for name in shown))
    return {name: float(results[name] or "nan") for name in shown}


def test_bytes_survive_the_radio(tmp_path):
    """Downloads, uploads and resets through the lossy queue of a slow link, steered."""
    with lab_module.Lab("survive", tmp_path) as lab:
        radio = Radio(lab, "smvs", VARYING, 60)
        with traffic.Server(radio.wire.server.socket) as server:
            client = radio.client(server)
            client.download(8 * MEGA, 1)
            client.upload(2 * MEGA, 2)
            client.server_leaves_first(server, MEGA, 3)
            traffic.many(40, 8, lambda i: client.download(20_000, 10 + i))
            assert client.reset_by_server(200_000, 4) == 200_000
            refused = traffic.Client(radio.wire.server_address, radio.wire.ue.socket, 9)
            assert refused.connect_error(timeout=5) != 0
        assert radio.sluice.counters()["reports"] > 100
        assert radio.nodeb.process.stop() == 0
        radio.sluice.stop_and_check()


@pytest.mark.real_time
def test_smvs_keeps_the_queue_short_and_the_link_busy(tmp_path):
    results = {mode: run_mode(tmp_path, mode, VARYING, 10) for mode in ("none", "i-tcp", "smvs")}
    # A Node-B that is told of i-tcp reports nothing.
    end_to_end = run_mode(tmp_path / "end-to-end", "i-tcp", VARYING, 10,
                          proxy={"mode": "smvs", "intercept": "regulate", "smvs": {"law": "acks"}})
    assert end_to_end["utilisation"] > 0.8
    assert end_to_end["radio_queue_delay_p95_ms"] < 0.5 * results["none"]["radio_queue_delay_p95_ms"]
    assert results["smvs"]["utilisation"] > 0.85
    assert results["smvs"]["radio_queue_delay_p95_ms"] < 0.5 * results["none"]["radio_queue_delay_p95_ms"]
    assert results["smvs"]["radio_queue_delay_p95_ms"] < 0.5 * results["i-tcp"]["radio_queue_delay_p95_ms"]
    assert results["smvs"]["server_to_ue_delay_p95_ms"] < results["none"]["server_to_ue_delay_p95_ms"]


@pytest.mark.real_time
def test_a_recorded_lte_link(tmp_path):
    trace = TRACES / "Verizon-LTE-short.down"
    if not trace.is_file():
        pytest.skip(f"no trace {trace} (SLUICE_TRACES names the folder)")
    channel = {"type": "trace", "file": trace.name}
    buffer = {"address": "10.45.0.2", "frame": "0B", "buffer": "unlimited", "channel": channel}
    results = run_mode(tmp_path, "smvs", channel, 60, traces=TRACES, warmup="5s", cell={"ues": [buffer]})
    assert results["utilisation"] >= 0.93
    assert results["radio_queue_delay_p95_ms"] <= 65


def wait_for_counter(sluice, name, above, timeout=10):
    deadline = time.monotonic() + timeout
    while sluice.counters()[name] <= above:
        assert time.monotonic() < deadline, f"{name} stays at {sluice.counters()[name]}\n{sluice.process.tail()}"
        time.sleep(0.1)


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM])
def test_a_node_b_that_dies_and_comes_back(tmp_path, signum):
    """The proxy falls back, says so, and is steered again; the transfer that was under way still arrives whole."""
    with lab_module.Lab("dies", tmp_path) as lab:
        radio = Radio(lab, "smvs", STEADY, 100)
        with traffic.Server(radio.wire.server.socket) as server:
            with radio.client(server).connect({"do": "send", "bytes": 12 * MEGA, "seed": 5}) as connection:
                first = connection.recv(500_000)
                radio.nodeb.process.signal(signum)
                radio.nodeb.process.wait(10)
                wait_for_counter(radio.sluice, "fallbacks", 0)
                radio.sluice.process.wait_for("mode smvs needs reports, but no Node-B has sent any for ")
                radio.nodeb = radio.start_nodeb(100, "nodeb-again")
                radio.sluice.process.wait_for("reports of a Node-B arrive again after ")
                size, _, error = traffic.read_to_end(connection)
                assert (len(first) + size, error) == (12 * MEGA, 0)
            radio.client(server).download(3 * MEGA, 6)
            wait_for_counter(radio.sluice, "recoveries", 0)
        radio.sluice.stop_and_check()


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("ours", ["server", "client"])
def test_a_memif_peer_that_leaves_and_comes_back_in_mid_traffic(tmp_path, ours, signum):
    """The proxy shares memory with the Node-B on both sides. Three times it goes away while a transfer runs."""
    theirs = {"server": "client", "client": "server"}[ours]

    def device(number, name, role):
        return f"net_memif{number},role={role},id=0,socket={tmp_path}/{name}.memif"

    with lab_module.Lab("memif", tmp_path) as lab:
        proxy = {"ports": {"radio": {"device": device(0, "cell", ours)}, "core": {"device": device(1, "hop", ours)}},
                 "shards": {"longest_sleep": "500us"}}
        live = {"cell_core": device(0, "cell", theirs), "hop_proxy": device(1, "hop", theirs)}
        radio = Radio(lab, "smvs", STEADY, 100, proxy=proxy, live=live)
        with traffic.Server(radio.wire.server.socket) as server:
            with radio.client(server).connect({"do": "send", "bytes": 12 * MEGA, "seed": 7}) as connection:
                read = 0
                for round in range(3):
                    while read < (round + 1) * MEGA:
                        read += len(connection.recv(100_000))
                    radio.nodeb.process.signal(signum)
                    radio.nodeb.process.wait(10)
                    assert radio.sluice.process.poll() is None, radio.sluice.process.tail()
                    radio.nodeb = radio.start_nodeb(100, f"nodeb-{round}")
                size, _, error = traffic.read_to_end(connection)
                assert (read + size, error) == (12 * MEGA, 0)
            radio.client(server).download(MEGA, 8)
            radio.client(server).upload(MEGA, 9)
        assert radio.nodeb.process.stop() == 0
        radio.sluice.stop_and_check()


@pytest.mark.parametrize("forwarding", ["true", "false"])
def test_a_ue_that_goes_from_one_node_b_to_another(tmp_path, forwarding):
    """Two Node-Bs with reports of their own: the proxy follows at every handover, and every byte arrives."""
    handovers = 4
    moves = [{"type": "handover", "at": f"{4 + 3 * i}s", "nodeb": ("second", "first")[i % 2], "duration": "50ms", "path_switch": "20ms",
              "forwarding": forwarding} for i in range(handovers)]
    second = {"listen": f"127.0.0.1:{programs.NODEB_FEEDBACK + 1}", "peers": [f"127.0.0.1:{programs.PROXY_FEEDBACK}"],
              "sender": 3, "keys": [{"id": 1, "secret": programs.KEY}]}
    with lab_module.Lab(f"handover-{forwarding}", tmp_path) as lab:
        radio = Radio(lab, "smvs", STEADY, 60, nodebs=[{"name": "second", "feedback": second}], moves=moves)
        with traffic.Server(radio.wire.server.socket) as server:
            client = radio.client(server)
            for number in range(6):
                client.download(6 * MEGA, number)
            client.upload(MEGA, 9)
        wait_for_counter(radio.sluice, "reporters_changed", handovers - 1, timeout=20)
        assert radio.nodeb.process.stop() == 0
        results = radio.nodeb.results()
        assert int(results["handovers"]) == handovers
        assert int(results["end_markers_missed"]) == 0
        assert (int(results["forwarded_packets"]) > 0) == (forwarding == "true")
        assert (int(results["drops_handover"]) > 0) == (forwarding == "false")
        radio.sluice.stop_and_check()


def test_further_node_bs_need_reports_of_their_own(tmp_path):
    file = tmp_path / "scenario.yaml"
    programs.write(file, programs.nodeb_scenario(STEADY, nodebs=[{"name": "second"}]))
    run = subprocess.run([programs.program("nodeb"), "live", str(file), "--mode", "smvs"], capture_output=True, text=True, timeout=20,
                         check=False)
    assert run.returncode == 2, run.stderr
    assert "nodebs[0].feedback, expected addresses and a key in mode smvs, got none" in run.stderr


def test_without_reports_the_proxy_goes_on(tmp_path):
    """Feedback with another key is refused and counted; the bearer stays with congestion control."""
    with lab_module.Lab("forged", tmp_path) as lab:
        feedback = {"feedback": {"keys": [{"id": 1, "secret": "00" * 32}]}}
        radio = Radio(lab, "smvs", STEADY, 60, live=feedback)
        with traffic.Server(radio.wire.server.socket) as server:
            radio.client(server).download(3 * MEGA, 1)
        status = radio.sluice.ask("status")["feedback"]
        assert (status["accepted"], radio.sluice.counters()["reports"]) == (0, 0)
        assert status["refused"] > 50
        radio.sluice.stop_and_check()


def test_garbage_to_both_feedback_ports(tmp_path):
    with lab_module.Lab("garbage", tmp_path) as lab:
        radio = Radio(lab, "smvs", STEADY, 60, proxy=PATIENT)
        generator = random.Random(6)
        with traffic.Server(radio.wire.server.socket) as server:
            with radio.client(server).connect({"do": "send", "bytes": 10 * MEGA, "seed": 9}) as connection:
                with radio.wire.box.socket(socket.AF_INET, socket.SOCK_DGRAM) as attacker:
                    for _ in range(5000):
                        garbage = generator.randbytes(generator.choice([0, 1, 40, generator.randrange(1500)]))
                        for port in (programs.PROXY_FEEDBACK, programs.NODEB_FEEDBACK):
                            attacker.sendto(garbage, ("127.0.0.1", port))
                assert traffic.read_to_end(connection) == (10 * MEGA, traffic.digest(9, 10 * MEGA), 0)
        assert radio.nodeb.process.poll() is None, radio.nodeb.process.tail()
        assert radio.sluice.ask("status")["feedback"]["refused"] > 1000
        assert radio.sluice.counters()["fallbacks"] == 0
        assert radio.nodeb.process.stop() == 0
        radio.sluice.stop_and_check()


def sealed(sender, epoch, sequence, records=b"", count=0, period_ns=60_000_000_000):
    """A REPORT of PROTOCOL.md under the lab's key."""
    header = struct.pack(">4sBBHIHHQQQQQ", b"SLFB", 1, 1, 0, 1, count, 56, sender, epoch, sequence, 10**9, period_ns)
    body = header + records
    return body + hmac.new(bytes.fromhex(programs.KEY), body, hashlib.sha256).digest()[:16]


def report_record(ue, queue=0, rate=1000):
    """A bearer report of this queue (bytes) and service rate (bit/s)."""
    fields = struct.pack(">BB4s", 1, 4, socket.inet_aton(ue)) + struct.pack(">BBQ", 3, 8, queue)
    fields += struct.pack(">BBQ", 10, 8, rate) + struct.pack(">BBQ", 11, 8, rate)
    return struct.pack(">HH", 1, len(fields)) + fields


def test_a_holder_of_the_key_that_has_lost_its_mind(tmp_path):
    """The last epoch there is under the Node-B's own id, figures of no cell, hundreds of sender ids: steering goes on."""
    with lab_module.Lab("mad", tmp_path) as lab:
        radio = Radio(lab, "smvs", STEADY, 60, proxy=PATIENT)
        with traffic.Server(radio.wire.server.socket) as server, radio.wire.box.socket(socket.AF_INET, socket.SOCK_DGRAM) as mad:
            with radio.client(server).connect({"do": "send", "bytes": 10 * MEGA, "seed": 9}) as connection:
                wait_for_counter(radio.sluice, "reports", 50, timeout=20)
                before = radio.sluice.counters()
                implausible = report_record(radio.wire.ue_address, queue=1 << 40)
                ids = range(1000, 1353)
                for number in range(1, 101):
                    mad.sendto(sealed(2, 2**64 - 1, number, report_record(radio.wire.ue_address), 1), ("127.0.0.1", programs.PROXY_FEEDBACK))
                for sender in ids:
                    mad.sendto(sealed(sender, 1, 1, implausible, 1), ("127.0.0.1", programs.PROXY_FEEDBACK))
                    time.sleep(0.001)  # no more than the socket's buffer takes
                assert traffic.read_to_end(connection) == (10 * MEGA, traffic.digest(9, 10 * MEGA), 0)
                after = radio.sluice.counters()
        grown = {name: after[name] - before[name] for name in after}
        assert grown["feedback.refused_epoch_ahead"] > 0
        assert grown["feedback.reports_implausible"] > 100
        assert grown["feedback.refused_stale_epoch"] == 0, "the Node-B itself"
        assert (grown["fallbacks"], grown["reporters_changed"]) == (0, 0)
        # To the Node-B and to one place more, a few for each report; not to each id.
        assert grown["feedback.datagrams_sent"] < 20 * grown["reports"]
        assert radio.nodeb.process.stop() == 0
        radio.sluice.stop_and_check()


@pytest.mark.parametrize(("text", "place"), [
    ("cell: {}\n", None), ("cel: 1\n", "1:1"), ("duration: 5 parsecs\ncell: {ues: []}\n", "1:11"), ("seed: [\n", None), ("", None)])
def test_a_malformed_scenario_is_named_by_its_place(tmp_path, text, place):
    file = tmp_path / "scenario.yaml"
    file.write_text(text, encoding="utf-8")
    for words in (["--check", file], ["run", file, "--out", tmp_path / "out"], ["live", file]):
        run = subprocess.run([programs.program("nodeb"), *map(str, words)], capture_output=True, text=True, timeout=20, check=False)
        assert run.returncode == 2, (words, run.stderr)
        assert f"{file}:{place}: " in run.stderr if place else str(file) in run.stderr, run.stderr


def nodeb(*words):
    return subprocess.run([programs.program("nodeb"), *map(str, words)], capture_output=True, text=True, timeout=20, check=False)


def test_a_missing_trace_is_named_by_its_place(tmp_path):
    file = tmp_path / "scenario.yaml"
    file.write_text("cell:\n  ues:\n    - {address: 10.45.0.2, channel: {type: trace, file: absent.down}}\n", encoding="utf-8")
    check = nodeb("--check", file)
    assert check.returncode == 2
    assert f"{file}:3:57: the trace absent.down is not in {tmp_path}" in check.stderr


@pytest.mark.parametrize("words", [["live"], ["run"]])
def test_an_unknown_mode_is_answered_with_the_known_ones(tmp_path, words):
    file = tmp_path / "scenario.yaml"
    programs.write(file, programs.nodeb_scenario(STEADY))
    run = nodeb(*words, file, "--mode", "smsv")
    assert run.returncode == 2
    assert all(mode in run.stderr for mode in ('"smsv"', "none", "i-tcp", "smvs", "wrb", "fair-share")), run.stderr


def test_a_feedback_mode_needs_somebody_to_report_to(tmp_path):
    """In the scenario's own mode by --check, in another by live --check, which opens nothing."""
    file = tmp_path / "scenario.yaml"
    scenario = programs.nodeb_scenario(STEADY, proxy=False, modes=["i-tcp"])
    programs.write(file, scenario)
    assert nodeb("--check", file).returncode == 0
    assert nodeb("live", file, "--check").returncode == 0
    other = nodeb("live", file, "--check", "--mode", "smvs")
    assert other.returncode == 2
    assert "live.feedback, expected addresses and a key in mode smvs" in other.stderr
    programs.write(file, {**scenario, "modes": ["smvs"]})
    assert "live.feedback, expected addresses and a key in mode smvs" in nodeb("--check", file).stderr


@pytest.mark.parametrize("scenario", [
    "cell: {ues: [{address: 10.45.0.2, channel: {type: trace, file: broken.down}}]}\n",
    "cell: {ues: [{address: 10.45.0.2, channel: {type: constant}, uplink: {channel: {type: trace, file: broken.down}}}]}\n",
    "cell: {ues: [{address: 10.45.0.2, channel: {type: constant}}]}\n"
    "moves: [{type: handover, at: 1s, channel: {type: trace, file: broken.down}}]\n"])
def test_a_broken_trace_is_named_by_its_line_wherever_the_scenario_uses_it(tmp_path, scenario):
    (tmp_path / "broken.down").write_text("1\n2\nthree\n", encoding="utf-8")
    file = tmp_path / "scenario.yaml"
    file.write_text("duration: 2s\nwarmup: 1s\nmodes: [none]\n" + scenario, encoding="utf-8")
    for words, code in ((["--check", file], 2), (["run", file], 1)):
        run = subprocess.run([programs.program("nodeb"), *map(str, words)], capture_output=True, text=True, timeout=20, check=False)
        assert run.returncode == code, (words, run.stderr)
        assert f"{tmp_path}/broken.down:3: expected a time in whole milliseconds, got \"three\"" in run.stderr


def test_a_log_that_nobody_reads_stops_neither_packets_nor_the_end(tmp_path):
    """Standard error is a full pipe before the Node-B begins: even its thread of the radio has warnings to write."""
    with lab_module.Lab("full-log", tmp_path) as lab:
        wire = lab.radio(1, proxy=False)
        reading, writing = os.pipe()
        os.set_blocking(writing, False)
        with pytest.raises(BlockingIOError):
            while True:
                os.write(writing, b"x" * 4096)
        os.set_blocking(writing, True)
        file, runtime = tmp_path / "nodeb.yaml", tmp_path / "runtime"
        runtime.mkdir()
        programs.write(file, programs.nodeb_scenario(STEADY, False, live={"cpu": 1023}))
        nodeb = subprocess.Popen(["ip", "netns", "exec", wire.box.name, programs.program("nodeb"), "live", file, "--mode", "none"],
                                 stdout=subprocess.DEVNULL, stderr=writing, env={**os.environ, "XDG_RUNTIME_DIR": str(runtime)})
        try:
            with traffic.Server(wire.server.socket) as server:
                traffic.Client(wire.server_address, wire.ue.socket, server.port, timeout=60).download(MEGA, seed=1)
            nodeb.send_signal(signal.SIGTERM)
            assert nodeb.wait(20) == 0
        finally:
            nodeb.kill()
            nodeb.wait()
            os.close(writing)
            os.close(reading)
