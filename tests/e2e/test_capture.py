"""sluicectl capture: frames from inside the program, of both legs, as tshark reads them."""

import signal
import subprocess
import time
from types import SimpleNamespace

import programs
import pytest
import streams
import traffic
from outcomes import PATIENCE, wire  # noqa: F401 (fixture)

WIRES = {"radio-received", "radio-sent", "core-received", "core-sent"}
FIELDS = ("frame.interface_name", "frame.comment", "ip.src", "ip.dst", "tcp.srcport", "tcp.dstport", "tcp.flags.syn", "frame.len",
          "frame.cap_len", "frame.time_epoch", "frame.packet_flags_direction")


class Capture(streams.Stream):
    """sluicectl capture with these words."""

    def __init__(self, path, file, *words):
        super().__init__(path.sluice, file, "capture", *words)

    def frames(self):
        return frames_of(self.file)


def frames_of(file):
    """A dictionary of FIELDS for each frame; tshark must have nothing against the file."""
    run = subprocess.run(["tshark", "-n", "-r", file, "-T", "fields", *(word for name in FIELDS for word in ("-e", name))],
                         capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert run.returncode == 0, run.stderr
    return [dict(zip(FIELDS, line.split("\t"))) for line in run.stdout.splitlines()]


@pytest.fixture
def capture(path, tmp_path):
    captures = []

    def begin(*words):
        captures.append(Capture(path, tmp_path / f"{len(captures)}.pcapng", *words))
        return captures[-1]

    yield begin
    for each in captures:
        each.kill()


def sluicectl(path, *words):
    return subprocess.run([programs.program("sluicectl"), "--socket", path.sluice.socket, "capture", *map(str, words)],
                          capture_output=True, timeout=PATIENCE, check=False)


def by_wire(frames):
    return {wire: [frame for frame in frames if frame["frame.interface_name"] == wire] for wire in WIRES}


def test_both_legs_and_directions_with_what_became_of_each(path, client, capture):
    before = path.sluice.counters()
    running = capture("--filter", f"tcp port {client.port}")
    client.download(300_000, seed=1)
    said = running.stop()
    after = path.sluice.counters()
    frames = running.frames()
    assert f"{len(frames)} frames captured, 0 lost" in said
    wires = by_wire(frames)
    assert all(wires.values()), {wire: len(of) for wire, of in wires.items()}
    for wire, of in wires.items():
        towards_ue = wire in ("radio-sent", "core-received")
        assert {frame["ip.dst"] for frame in of} == {path.wire.ue_address if towards_ue else path.wire.server_address}
    for comment, counter in (("action=optimised reason=split", "optimised"), ("action=forwarded reason=handshake", "forward_handshake")):
        received = [frame for wire in ("radio-received", "core-received") for frame in wires[wire]]
        assert sum(frame["frame.comment"] == comment for frame in received) == after[counter] - before[counter] > 0
    syns = [frame for frame in frames if frame["tcp.flags.syn"] in ("1", "True")]
    assert [frame["frame.interface_name"] for frame in syns] == ["radio-received", "core-sent", "core-received", "radio-sent"]
    assert {frame["frame.comment"] for frame in syns} == {"action=forwarded reason=handshake"}, "a frame that passes is the same when sent"
    assert "action=sent reason=own" in {frame["frame.comment"] for frame in wires["radio-sent"]}


def test_times_are_the_wall_clocks_and_in_order(client, capture):
    begin = time.time()
    running = capture()
    client.download(100_000, seed=2)
    running.stop()
    times = [float(frame["frame.time_epoch"]) for frame in running.frames()]
    assert times == sorted(times)
    assert begin - 1 < times[0] < times[-1] < time.time() + 1


def test_only_headers_unless_told_how_much(client, capture):
    content = next(traffic.payload(3, 50_000))
    headers = capture()
    whole = capture("--snaplen", 65535)
    client.download(50_000, seed=3)
    headers.stop()
    whole.stop()
    frames = headers.frames()
    assert max(int(frame["frame.cap_len"]) for frame in frames) <= 14 + 20 + 60
    assert max(int(frame["frame.len"]) for frame in frames) > 1000
    assert content[1000:1032] not in headers.file.read_bytes()
    assert content[1000:1032] in whole.file.read_bytes()


def test_filters_by_ue_port_leg_and_reason(path, client, server, capture):
    other = traffic.Client(path.wire.server_address, path.wire.ue.socket, server.port, source=path.wire.ue_addresses[1])
    filters = {"ue": ("--ue", path.wire.ue_addresses[1]), "leg": ("--leg", "core"), "reason": ("--reason", "handshake"),
               "port": ("--port", server.port, "--ue", path.wire.ue_addresses[0])}
    running = {name: capture(*words) for name, words in filters.items()}
    client.download(50_000, seed=4)
    other.download(50_000, seed=5)
    for each in running.values():
        each.stop()
    frames = {name: each.frames() for name, each in running.items()}
    assert all(path.wire.ue_addresses[1] in (frame["ip.src"], frame["ip.dst"]) for frame in frames["ue"])
    assert all(by_wire(frames["ue"]).values())
    assert {frame["frame.interface_name"] for frame in frames["leg"]} == {"core-received", "core-sent"}
    assert {frame["frame.comment"] for frame in frames["reason"]} == {"action=forwarded reason=handshake"}
    for frame in frames["port"]:
        assert str(server.port) in (frame["tcp.srcport"], frame["tcp.dstport"])
        assert path.wire.ue_addresses[0] in (frame["ip.src"], frame["ip.dst"])


def test_it_ends_by_itself_after_the_seconds(path, tmp_path):
    file = tmp_path / "short.pcapng"
    run = sluicectl(path, "--seconds", "0.3", "-w", file)
    assert run.returncode == 0, run.stderr
    assert b"frames captured, 0 lost" in run.stderr
    assert file.stat().st_mode & 0o777 == 0o600
    assert isinstance(frames_of(file), list)


def test_tshark_reads_it_from_a_pipe_as_it_comes(path, client):
    capture = subprocess.Popen([programs.program("sluicectl"), "--socket", path.sluice.socket, "capture", "-w", "-"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    tshark = subprocess.Popen(["tshark", "-l", "-n", "-r", "-", "-Y", "tcp.flags.syn == 1 && tcp.flags.ack == 0"],
                              stdin=capture.stdout, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    capture.stdout.close()
    try:
        deadline = time.monotonic() + PATIENCE
        while path.sluice.ask("status")["captures"] == 0:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        time.sleep(0.2)
        client.download(20_000, seed=6)
        assert path.wire.ue_address in tshark.stdout.readline()
    finally:
        tshark.kill()
        tshark.communicate()
    client.download(20_000, seed=6)  # it writes to nobody, and ends
    assert capture.wait(PATIENCE) == 0
    capture.stderr.close()


def test_a_reader_that_stalls_loses_frames_and_slows_nobody(path, client):
    capture = subprocess.Popen([programs.program("sluicectl"), "--socket", path.sluice.socket, "capture", "--snaplen", "65535"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert capture.stdout.read(4) == b"\x0a\x0d\x0d\x0a"  # nothing more is read for now
        time.sleep(0.2)
        client.download(60_000_000, seed=7)
        capture.send_signal(signal.SIGINT)
        rest, said = capture.communicate(timeout=PATIENCE)
    finally:
        capture.kill()
    assert len(rest) < 40_000_000, "the rest was lost"
    captured, _, lost = said.decode().partition(" frames captured, ")
    assert int(lost.split()[0]) > 10_000, said
    assert int(captured.rpartition(" ")[2]) > 1000
    client.duplex(1_000_000, seed=8)


def test_only_so_many_run_at_once(path, capture):
    running = [capture("--port", 9) for _ in range(4)]
    refused = sluicectl(path, "-w", running[0].file.with_name("refused.pcapng"))
    assert refused.returncode == 1 and b"4 captures run already" in refused.stderr
    assert not running[0].file.with_name("refused.pcapng").exists()
    running[0].process.kill()
    running[0].process.wait(PATIENCE)
    deadline = time.monotonic() + PATIENCE
    while path.sluice.ask("status")["captures"] != 3:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert sluicectl(path, "--seconds", "0.1", "-w", running[0].file).returncode == 0


def test_a_proxy_that_stops_says_that_the_capture_was_cut_off(wire, tmp_path):
    sluice = programs.Sluice(wire.lab, wire.box, mode="i-tcp")
    path = SimpleNamespace(sluice=sluice)
    running = Capture(path, tmp_path / "cut.pcapng")
    sluice.stop_and_check()
    _, said = running.process.communicate(timeout=PATIENCE)
    assert running.process.returncode == 1 and "cut off" in said
    running.frames()


def test_several_shards_make_one_capture(wire, tmp_path):
    sluice = programs.Sluice(wire.lab, wire.box, mode="i-tcp", shards={"count": 2})
    running = Capture(SimpleNamespace(sluice=sluice), tmp_path / "shards.pcapng")
    with traffic.Server(wire.server.socket) as server:
        for ue in wire.ue_addresses:
            traffic.Client(wire.server_address, wire.ue.socket, server.port, source=ue).download(200_000, seed=9)
    said = running.stop()
    frames = running.frames()
    assert f"{len(frames)} frames captured, 0 lost" in said
    assert set(wire.ue_addresses) <= {frame["ip.dst"] for frame in frames}
    splits = [shard["flows_split"] for shard in sluice.ask("shards")]
    assert all(splits), "both shards had some of them"
    sluice.stop_and_check()


@pytest.mark.parametrize(("code", "words"), (
    (2, ("--filter", "tcp port port")), (2, ("--filter", "ip6 protochain 6")), (2, ("--filter",)), (2, ("tcp port 80",)),
    (1, ("--ue", "10.45.0")), (1, ("--port", "65536")), (1, ("--leg", "air")), (1, ("--reason", "weather")), (1, ("--snaplen", "0")),
    (1, ("--seconds", "nan")), (1, ("--seconds", "0")), (1, ("--ue",)), (1, ("--port", "1", "--port", "2")), (1, ("more",)),
    (1, ("--program", "zz")), (1, ("--program", "0005000000000000" * 2)), (1, ("--program", "00050000ffffffff0006000000000000"))))
def test_what_cannot_be_is_refused(path, code, words):
    run = sluicectl(path, *words)
    assert run.returncode == code, run.stderr
    assert run.stderr.startswith(b"sluicectl: ") and run.stdout == b""
