"""The program itself: configuration errors, start, stop, counters, the operator's command line."""

import json
import os
import re
import resource
import signal
import socket
import subprocess
import time
from pathlib import Path

import lab as lab_module
import programs
import pytest
import traffic

MEGA = 1_000_000
CONFIGURATION = """\
mode: i-tcp
ports:
  radio:
    device: "net_null0"
  core:
    device: "net_null1"
"""


def run_program(name, *words, timeout=20):
    return subprocess.run([programs.program(name), *map(str, words)], capture_output=True, text=True, timeout=timeout,
                          check=False)


def check(tmp_path, text):
    file = tmp_path / "proxy.yaml"
    file.write_text(text, encoding="utf-8")
    return file, run_program("sluice", "--check", file)


def test_a_good_configuration_passes_the_check(tmp_path):
    _, run = check(tmp_path, CONFIGURATION)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("packet memory: ") and run.stdout.endswith("OK\n")


@pytest.mark.parametrize(("radio", "core", "more", "place", "what"), [
    ("eth0", "net_null1", "", "2:17: ports.radio.device", "expected net_af_packet0,iface=NAME for a Linux interface"),
    ("net_af_packet0,iface=lo", "net_af_packet1,iface=lo", "", "2:", "expected another interface than that of radio"),
    ("net_af_packet0,iface=nonesuch", "net_null1", "", "2:", "expected an interface of this machine"),
    ("net_null0", "net_null1", "admin: {group: nonesuch}", "3:9: admin.group", "expected a group of this machine"),
], ids=("no device of DPDK", "one interface twice", "missing interface", "unknown group"))
def test_what_does_not_fit_the_machine_is_refused_by_the_check_and_at_the_start(tmp_path, radio, core, more, place, what):
    file = tmp_path / "proxy.yaml"
    file.write_text(f"mode: i-tcp\nports: {{radio: {{device: '{radio}'}}, core: {{device: '{core}'}}}}\n{more}\n", encoding="utf-8")
    checked, started = run_program("sluice", "--check", "--system", file), run_program("sluice", "--system", file)
    assert checked.returncode == 2
    assert started.returncode in (1, 2)
    for run in (checked, started):
        assert run.stderr.startswith(f"{file}:{place.split(': ')[0].rstrip(':')}"), run.stderr
        assert place.partition(": ")[2] in run.stderr and what in run.stderr
        assert "running" not in run.stdout + run.stderr and "port radio: " not in run.stdout + run.stderr, "no port was opened"


@pytest.mark.parametrize(("text", "line", "column", "what"), [
    (CONFIGURATION.replace("i-tcp", "i-tpc"), 1, 7, "mode"),
    (CONFIGURATION + "prots: 3\n", 7, 1, "prots"),
    (CONFIGURATION + "tcp:\n  min_rto: 5 parsecs\n", 8, 12, "min_rto"),
    (CONFIGURATION + "shards:\n  count: 99999999999999999999\n", 8, 10, "count"),
    (CONFIGURATION.replace('    device: "net_null0"\n', "    mtu: 1500\n"), None, None, "device"),
    (CONFIGURATION + "mode: bypass\n", 7, 1, "mode"),
    (CONFIGURATION + "limits: [1, 2]\n", 7, 9, "limits"),
    ("mode: [i-tcp\n", None, None, ""),
    ("\x00\xff\xfe", None, None, ""),
    ("", None, None, "ports"),
])
def test_a_malformed_configuration_is_named_by_its_place(tmp_path, text, line, column, what):
    file, run = check(tmp_path, text)
    assert run.returncode == 2, run.stderr
    places = re.findall(rf"^{re.escape(str(file))}:(\d+):(\d+): (.*)$", run.stderr, re.M)
    assert places, run.stderr
    if line is not None:
        assert (str(line), str(column)) in [place[:2] for place in places], run.stderr
    assert any(what in place[2] for place in places), run.stderr


def test_an_absent_configuration_is_said(tmp_path):
    for words in (["--check", tmp_path / "none.yaml"], [tmp_path / "none.yaml"]):
        run = run_program("sluice", *words)
        assert run.returncode == 2
        assert "none.yaml" in run.stderr


def test_the_program_refuses_a_malformed_configuration_too(tmp_path):
    file = tmp_path / "proxy.yaml"
    file.write_text(CONFIGURATION + "prots: 3\n", encoding="utf-8")
    run = run_program("sluice", file)
    assert run.returncode == 2
    assert f"{file}:7:1: " in run.stderr


def test_an_absent_interface_is_said(tmp_path):
    with lab_module.Lab("absent", tmp_path) as lab:
        box = lab.namespace("box")
        file = tmp_path / "absent.yaml"
        programs.write(file, programs.sluice_configuration(
            programs.af_packet(0, "nowhere"), programs.af_packet(1, "neither"), tmp_path / "a.sock"))
        process = box.start("absent", programs.program("sluice"), file, environment={"XDG_RUNTIME_DIR": str(tmp_path)})
        assert process.wait(20) not in (0, -signal.SIGSEGV, -signal.SIGABRT)
        assert "nowhere" in process.output() or "neither" in process.output()


def start_with(tmp_path, *limits, more=""):
    """What becomes of the program under these limits of prlimit."""
    file = tmp_path / "proxy.yaml"
    file.write_text(CONFIGURATION + f"admin: {{socket: {tmp_path}/s.sock}}\n" + more, encoding="utf-8")
    return subprocess.run(["prlimit", *limits, programs.program("sluice"), file], capture_output=True, text=True, timeout=60,
                          check=False, env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)})


def test_too_few_descriptors_are_said(tmp_path):
    for descriptors in (6, 8, 10, 12, 14, 16, 30):
        run = start_with(tmp_path, f"--nofile={descriptors}:{descriptors}")
        assert run.returncode == 1, run.stderr
        assert "too few file descriptors" in run.stderr and f"the limit is {descriptors}; raise it" in run.stderr


def test_too_little_memory_is_said(tmp_path):
    if programs.sanitizers():
        pytest.skip("a sanitizer needs more address space than the limit gives")
    run = start_with(tmp_path, f"--as={1 << 30}", more="limits: {max_flows: 16777216}\n")
    assert run.returncode == 1, run.stderr
    assert "not enough memory to start: tables for 16777216 connections" in run.stderr


def test_what_a_terminal_would_obey_is_not_printed(tmp_path):
    """An answer is another program's text."""
    path = tmp_path / "s.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen()
        for answer in ({"ok": True, "result": {"name": "\x1b[2J\x07"}}, {"ok": False, "error": "\x1b[2J\x07"},
                       {"ok": True, "result": "\x1b[2J\x07\x7f"}):
            for words in ([], ["--json"]):
                process = subprocess.Popen([programs.program("sluicectl"), "--socket", path, *words, "status"],
                                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                with listener.accept()[0] as connection:
                    connection.recv(100)
                    connection.sendall(json.dumps(answer).encode() + b"\n")
                    shown = process.communicate(timeout=20)[0]
                assert not any(octet < 0x20 and octet != 0x0a or octet == 0x7f for octet in shown), shown
                assert b"[2J" in shown


def test_a_secret_that_everybody_may_read_is_refused(tmp_path):
    text = CONFIGURATION + "feedback:\n  listen: 127.0.0.1:0\n  keys: [{id: 1, secret: 00112233445566778899aabbccddeeff}]\n"
    file = tmp_path / "proxy.yaml"
    file.write_text(text, encoding="utf-8")
    file.chmod(0o644)
    run = run_program("sluice", "--check", file)
    assert run.returncode == 2
    assert f"{file}:9:18: feedback.keys[0].secret, expected a file that only its owner and group may read" in run.stderr
    file.chmod(0o600)
    assert run_program("sluice", "--check", file).returncode == 0


def readelf(name, *options):
    return subprocess.run(["readelf", "-W", *options, programs.program(name)], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("name", ["sluice", "nodeb", "sluicectl"])
def test_the_programs_are_built_to_withstand_a_flaw(name):
    """No writable table of functions, no code at a known address or on the stack."""
    if programs.sanitizers():
        pytest.skip("a sanitizer checks more, and in its own way")
    assert "DYN (Position-Independent Executable file)" in readelf(name, "-h")
    segments = readelf(name, "-l")
    assert "GNU_RELRO" in segments
    assert re.search(r"GNU_STACK .* RW +0x", segments), segments
    assert re.search(r"FLAGS_1.*NOW", readelf(name, "-d")), "what is relocated is bound, and made read-only, at start"
    imported = readelf(name, "--dyn-syms")
    assert "__stack_chk_fail" in imported
    assert re.search(r" __\w+_chk@", imported), "_FORTIFY_SOURCE"


def dumps_core(tmp_path, *words):
    """Whether a running proxy leaves a core file when it is told to."""
    file = tmp_path / "proxy.yaml"
    file.write_text(CONFIGURATION + f"admin: {{socket: {tmp_path}/s.sock}}\n", encoding="utf-8")
    few = 1 << 16  # a short one will do
    process = subprocess.Popen([programs.program("sluice"), *words, file], cwd=tmp_path, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (few, few)))
    try:
        for line in process.stderr:
            if "running" in line:
                break
        process.send_signal(signal.SIGQUIT)
        _, status = os.waitpid(process.pid, 0)
        process.returncode = status
    finally:
        process.kill()  # who started us may have SIGQUIT ignored
        process.stderr.close()
    assert os.WTERMSIG(status) == signal.SIGQUIT
    return os.WCOREDUMP(status)


@pytest.mark.skipif(bool(programs.sanitizers()), reason="a sanitizer's memory map is never dumped")
def test_no_core_file_is_left_unless_asked_for(tmp_path):
    """It would hold the keys, and what the connections carry."""
    assert not dumps_core(tmp_path)
    if not Path("/proc/sys/kernel/core_pattern").read_text(encoding="utf-8").startswith("|"):
        assert dumps_core(tmp_path, "--core-dumps")


@pytest.fixture
def busy(tmp_path):
    """A lab of its own, so that programs may be stopped: (lab, wire, sluice, client, server)."""
    with lab_module.Lab("program", tmp_path) as lab:
        wire = lab.bump()
        sluice = programs.Sluice(lab, wire.box, mode="i-tcp")
        with traffic.Server(wire.server.socket) as server:
            yield lab, wire, sluice, traffic.Client(wire.server_address, wire.ue.socket, server.port, timeout=20), server


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly_in_the_middle_of_traffic(busy, signum):
    _, _, sluice, client, _ = busy
    connections = [client.connect({"do": "timed", "seconds": 60}) for _ in range(10)]
    for connection in connections:
        connection.recv(50_000)
    sluice.process.signal(signum)
    assert sluice.process.wait(15) == 0
    for connection in connections:
        connection.close()


def test_every_frame_is_accounted_for(busy):
    _, wire, sluice, client, server = busy

    def missed():
        return wire.box.counters("radio")["rx_packets"] - sluice.counters()["received_radio"]

    before_it_polled = missed()
    client.download(2 * MEGA)
    client.upload(2 * MEGA)
    client.reset_by_server(10_000)
    traffic.Client(wire.server_address, wire.ue.socket, 9).connect_error(timeout=5)
    with wire.ue.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        for _ in range(100):
            out.sendto(b"x", (wire.server_address, 7))
    time.sleep(0.5)
    # What comes between the two readings was not missed.
    assert missed() - before_it_polled < 5
    counters = sluice.counters()
    received = counters["received_radio"] + counters["received_core"]
    accounted = sum(value for name, value in counters.items()
                    if name == "optimised" or name.startswith(("forward_", "drop_")))
    assert received == accounted > 2000
    assert counters["optimised"] > 1000
    assert counters["forward_udp"] >= 100
    assert counters["flows_split"] == 3
    assert counters["flows_refused"] == 1


def test_flows_and_bearers_are_shown_and_forgotten(busy):
    _, wire, sluice, client, _ = busy
    with client.connect({"do": "timed", "seconds": 60}) as connection:
        connection.recv(50_000)
        flows, bearers = sluice.ask("flows"), sluice.ask("bearers")
        assert wire.ue_address in str(flows)
        assert wire.ue_address in str(bearers)
        traffic.reset(connection)
    deadline = time.monotonic() + 5
    while wire.ue_address in str(sluice.ask("flows")) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert wire.ue_address not in str(sluice.ask("flows"))


def test_the_operators_socket_takes_nonsense(busy):
    _, _, sluice, client, _ = busy
    run = run_program("sluicectl", "--socket", sluice.socket, "frobnicate")
    assert run.returncode == 1
    for garbage in (b"\0\xff\xfe\n", b"x" * 100_000, b"\n" * 1000, b"counters" * 50 + b"\n"):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(str(sluice.socket))
            connection.settimeout(2)
            try:
                connection.sendall(garbage)
                connection.recv(65536)
            except (TimeoutError, ConnectionError):
                pass
    assert sluice.counters()["received_radio"] >= 0
    client.download(100_000)


def test_nobody_at_the_operators_socket_is_said(tmp_path):
    run = run_program("sluicectl", "--socket", tmp_path / "none.sock", "status")
    assert run.returncode == 1
    assert "none.sock" in run.stderr


@pytest.mark.real_time
def test_an_idle_proxy_rests_and_still_answers_at_once(busy):
    _, _, sluice, client, _ = busy
    client.download(100_000)
    time.sleep(1)
    before, began = sluice.process.cpu_seconds(), time.monotonic()
    time.sleep(4)
    share = (sluice.process.cpu_seconds() - before) / (time.monotonic() - began)
    print(f"idle: {100 * share:.1f} % of a core")
    assert share < 0.05  # it waits for its ports, it does not look after them all the time
    client.download(100_000)


def test_bypass_carries_everything(tmp_path):
    with lab_module.Lab("bypass", tmp_path) as lab:
        wire = lab.bump()
        sluice = programs.Sluice(lab, wire.box, mode="bypass")
        with traffic.Server(wire.server.socket) as server:
            client = traffic.Client(wire.server_address, wire.ue.socket, server.port)
            client.download(20 * MEGA)
            client.upload(20 * MEGA)
            client.server_leaves_first(server, 100_000)
            client.reset_by_server(100_000)
        counters = sluice.counters()
        assert counters["optimised"] == 0
        assert counters["forward_bypass_mode"] > 1000
        sluice.stop_and_check()


def test_a_proxy_that_is_killed_leaves_the_hosts_to_their_timers(busy):
    """Connections do not survive it, but nothing hangs for ever and a new proxy carries new ones at once."""
    lab, wire, sluice, client, _ = busy
    with client.connect({"do": "timed", "seconds": 60}) as connection:
        connection.recv(50_000)
        sluice.kill()
        again = programs.Sluice(lab, wire.box, name="again", mode="i-tcp")
        client.download(MEGA)
        traffic.reset(connection)
        again.stop_and_check()


def test_two_starts_on_one_socket_do_not_steal_it(busy):
    lab, wire, sluice, client, _ = busy
    second = wire.box.start("second", programs.program("sluice"), sluice.file,
                            environment={"XDG_RUNTIME_DIR": str(lab.log_dir)})
    assert second.wait(20) != 0
    assert sluice.counters()["received_radio"] >= 0
    client.download(100_000)


def test_help_and_version():
    for name in ("sluice", "nodeb", "sluicectl"):
        run = run_program(name, "--help")
        assert run.returncode == 0
        assert name in run.stdout
    assert os.access(programs.program("nodeb"), os.X_OK)
