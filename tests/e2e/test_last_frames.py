"""The last frames of a program that ended without a word: kept in a file, and read again as tshark reads them."""

import signal
import subprocess

import programs
import pytest
import traffic
from outcomes import PATIENCE, client, server, wire  # noqa: F401 (server and wire are fixtures)
from test_capture import WIRES, by_wire, frames_of
from test_fail_open import wait_until

SIZE = 300_000


def start(wire, name, **last_frames):
    return programs.Sluice(wire.lab, wire.box, name=name, mode="i-tcp", shards={"count": 2},
                           last_frames={"file": str(wire.lab.log_dir / "last-frames"), "size": "4MiB", **last_frames})


def recover(file, out):
    return subprocess.run([programs.program("sluicectl"), "capture", "--recover", file, "-w", out], capture_output=True,
                          timeout=PATIENCE, check=False, text=True)


@pytest.mark.parametrize("how", (signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT))
def test_whatever_ended_it_the_last_frames_are_there(wire, server, tmp_path, how):
    file, out = wire.lab.log_dir / "last-frames", tmp_path / "last.pcapng"
    content = next(traffic.payload(3, SIZE))
    sluice = start(wire, "first")
    assert recover(file, out).returncode == 1 and not out.exists(), "a running program"
    client(wire, server).download(SIZE, seed=3)
    wait_until(lambda: sluice.counters()["flows_closed"] == 1)
    counted = sluice.counters()
    sluice.process.signal(how)
    sluice.process.wait(PATIENCE)
    assert file.stat().st_mode & 0o777 == 0o600
    assert content[1000:1032] not in file.read_bytes(), "headers only"
    run = recover(file, out)
    assert run.returncode == 0, run.stderr
    assert out.stat().st_mode & 0o777 == 0o600
    frames = frames_of(out)
    assert f"{len(frames)} frames of " in run.stderr
    wires = by_wire(frames)
    assert all(wires[name] for name in WIRES), {name: len(of) for name, of in wires.items()}
    for comment, counter in (("action=optimised reason=split", "optimised"), ("action=forwarded reason=handshake", "forward_handshake")):
        received = [frame for name in ("radio-received", "core-received") for frame in wires[name]]
        assert sum(frame["frame.comment"] == comment for frame in received) == counted[counter] > 0
    times = [float(frame["frame.time_epoch"]) for frame in frames]
    assert times == sorted(times)
    second = start(wire, "second")
    second.process.wait_for("sluicectl capture --recover .*last-frames.earlier")
    assert len(frames_of(out)) == len(frames)
    again = tmp_path / "again.pcapng"
    assert recover(f"{file}.earlier", again).returncode == 0
    assert again.read_bytes() == out.read_bytes()
    second.stop_and_check()
    assert not file.exists(), "an end as it should be leaves nothing"


def test_payload_where_it_is_asked_for_and_captures_beside(wire, server, tmp_path):
    file = wire.lab.log_dir / "last-frames"
    content = next(traffic.payload(4, 20_000))
    sluice = start(wire, "whole", payload=True, snap_length="1600B")
    capture = subprocess.Popen([programs.program("sluicectl"), "--socket", sluice.socket, "capture", "--seconds", "1", "-w",
                                tmp_path / "beside.pcapng"], stderr=subprocess.PIPE, text=True)
    while sluice.ask("status")["captures"] == 0:
        assert capture.poll() is None
    client(wire, server).download(20_000, seed=4)
    _, said = capture.communicate(timeout=PATIENCE)
    assert capture.returncode == 0, said
    beside = by_wire(frames_of(tmp_path / "beside.pcapng"))
    assert all(beside.values()), "the capture sees what it would without"
    sluice.kill()
    assert recover(file, tmp_path / "whole.pcapng").returncode == 0
    assert content[1000:1032] in (tmp_path / "whole.pcapng").read_bytes()


def test_what_is_no_such_file_is_refused(tmp_path):
    out = tmp_path / "out.pcapng"
    (tmp_path / "other").write_bytes(b"x" * 100_000)
    for file in (tmp_path / "other", tmp_path / "none", tmp_path):
        run = recover(file, out)
        assert run.returncode == 1 and run.stderr.startswith("sluicectl: ") and not out.exists(), run.stderr
    more = subprocess.run([programs.program("sluicectl"), "capture", "--recover", tmp_path / "other", "--port", "80"],
                          capture_output=True, timeout=PATIENCE, check=False)
    assert more.returncode == 2
