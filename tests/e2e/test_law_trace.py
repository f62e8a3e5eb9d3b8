"""sluicectl trace and replay: what the laws decide about real traffic, and the same laws again from the lines."""

import json
import subprocess
import time

import lab as lab_module
import programs
import pytest
import streams
import traffic
from test_modes import Transfer
from test_radio import STEADY, Radio

MEGA = 1_000_000
PATIENCE = 20


@pytest.fixture
def radio(tmp_path):
    """A lab with the Node-B and its reports, the proxy in mode i-tcp."""
    with lab_module.Lab("lawtrace", tmp_path) as lab:
        made = Radio(lab, "smvs", STEADY, 140, proxy={"mode": "i-tcp"})
        with traffic.Server(made.wire.server.socket) as made.server:
            made.ue = made.wire.ue_addresses[0]
            yield made
        made.sluice.stop_and_check()


def sluicectl(*words):
    return subprocess.run([programs.program("sluicectl"), *map(str, words)], capture_output=True, text=True, timeout=PATIENCE,
                          check=False)


class Trace(streams.Stream):
    """sluicectl trace with these words."""

    def __init__(self, sluice, file, *words):
        super().__init__(sluice, file, "trace", *words)

    def lines(self):
        return [json.loads(line) for line in self.file.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def trace(radio, tmp_path):
    traces = []

    def begin(*words):
        traces.append(Trace(radio.sluice, tmp_path / f"{len(traces)}.jsonl", *words))
        return traces[-1]

    yield begin
    for each in traces:
        each.kill()


def decisions(lines):
    return [line for line in lines if "in" in line]


def check_replay(file, lines):
    """Every decision comes out the same again."""
    run = sluicectl("replay", file)
    assert run.returncode == 0, run.stdout[:2000] + run.stderr
    laws = {line["of"] for line in lines if line.get("event") == "state"}
    expected = f"{len(decisions(lines))} decisions of {len(laws)} law"
    assert expected in run.stderr and "all as recorded" in run.stderr, run.stderr
    assert "not told" not in run.stderr and "cut off" not in run.stderr, run.stderr


def put_law(sluice, place):
    """SMVS is computed there from now on."""
    before = sluice.file.read_text(encoding="utf-8")
    after = before.replace('"law": "nodeb"', f'"law": "{place}"')
    assert after != before
    sluice.file.write_text(after, encoding="utf-8")
    sluice.ask("reload")


def test_every_law_comes_to_the_same_again(radio, trace):
    """It begins in the middle of a transfer, and each law takes over from another."""
    transfer = Transfer(radio, 27 * MEGA, 7)
    radio.sluice.ask("mode", "smvs", "split")
    time.sleep(1)
    running = trace(radio.ue)
    laws = {"smvs": {"node-b", "receive-window"}}
    for mode, intercept in [("smvs", "split"), ("wrd", "split"), ("clamp", "split"), ("gwa-fcfs", "split"), ("ba", "split"),
                            ("wrb", "regulate"), ("clamp", "regulate"), ("ack-regulator", "auto"), ("fair-share", "auto")]:
        radio.sluice.ask("mode", mode, intercept)
        time.sleep(0.8)
        laws.setdefault(mode, {mode})
    assert transfer.running(), "it was over before the last switch"
    assert " 0 lost" in running.stop()
    transfer.finish()

    lines = running.lines()
    assert lines[0]["sluice_trace"] == 1 and lines[0]["ue"] == radio.ue
    assert lines[-1]["event"] == "end" and lines[-1]["lines"] == len(lines) - 2
    told = {line["law"] for line in decisions(lines)}
    assert told == set().union(*laws.values())
    assert [line["at"] for line in lines[1:]] == sorted(line["at"] for line in lines[1:])
    check_replay(running.file, lines)


@pytest.mark.parametrize("intercept", ["split", "regulate"])
def test_the_law_by_acknowledgements(radio, trace, intercept, tmp_path):
    put_law(radio.sluice, "acks")
    radio.sluice.ask("mode", "smvs", intercept)
    running = trace(radio.ue)
    Transfer(radio, 6 * MEGA, 3).finish()
    running.stop()
    lines = running.lines()
    acks = [line for line in decisions(lines) if line["law"] == "acks"]
    assert len(acks) > 500
    assert {"acknowledged", "report"} <= {line["event"] for line in acks}
    check_replay(running.file, lines)

    # What it would have decided: a larger gain is a larger window.
    more = sluicectl("replay", running.file, "--set", "gain=1.75")
    assert more.returncode == 0, more.stderr
    others = [json.loads(line) for line in more.stdout.splitlines()]
    grown = [line for line in others if line["law"] == "acks" and not line["recorded"]["starting"]
             and not line["recorded"]["draining"]]
    assert grown and all(line["replayed"]["window"] >= line["recorded"]["window"] for line in grown)

    # A line that was tampered with is found.
    text = running.file.read_text(encoding="utf-8").splitlines()
    at = next(i for i, line in enumerate(text) if '"event":"acknowledged"' in line)
    window = json.loads(text[at])["out"]["window"]
    text[at] = text[at].replace(f'"window":{window}', f'"window":{window + 1}')
    other = tmp_path / "other.jsonl"
    other.write_text("\n".join(text) + "\n", encoding="utf-8")
    run = sluicectl("replay", other)
    assert run.returncode == 1 and "1 otherwise than recorded" in run.stderr
    assert json.loads(run.stdout)["line"] == at + 1
    assert json.loads(run.stdout)["replayed"]["window"] == window


def test_smvs_in_the_steps_of_the_reports(radio, trace):
    put_law(radio.sluice, "proxy")
    radio.sluice.ask("mode", "smvs", "split")
    running = trace(radio.ue)
    Transfer(radio, 4 * MEGA, 3).finish()
    running.stop()
    lines = running.lines()
    steps = [line for line in decisions(lines) if line["law"] == "smvs" and line["event"] == "step"]
    assert len(steps) > 100
    check_replay(running.file, lines)
    shorter = sluicectl("replay", running.file, "--set", "alpha=0.8", "--set", "reference=10ms")
    assert shorter.returncode == 0 and shorter.stdout, shorter.stderr


def test_one_connection_and_only_so_many_lines(radio, trace):
    radio.sluice.ask("mode", "wrd", "split")
    first = radio.client(radio.server).connect({"do": "timed", "seconds": 60})
    second = radio.client(radio.server).connect({"do": "timed", "seconds": 60})
    port = second.getsockname()[1]
    running = trace(f"{radio.ue}:{port}", "--lines", 40)
    deadline = time.monotonic() + PATIENCE
    while running.process.poll() is None and time.monotonic() < deadline:
        first.recv(1 << 20)
        second.recv(1 << 20)
    assert "40 lines" in running.end()
    lines = running.lines()
    assert lines[0]["ue_port"] == port and len(lines) == 42
    states = [line for line in lines if line.get("event") == "state"]
    assert {line["ue_port"] for line in states if line["law"] == "wrd"} == {port}
    for connection in (first, second):
        traffic.reset(connection)


def test_a_reader_that_is_killed_leaves_room_for_another(radio, trace):
    radio.sluice.ask("mode", "smvs", "split")
    killed = trace(radio.ue)
    refused = sluicectl("--socket", radio.sluice.socket, "trace", radio.ue)
    assert refused.returncode == 1 and "a trace runs already" in refused.stderr
    killed.kill()
    Transfer(radio, MEGA, 1).finish()
    again = trace(radio.ue, "--seconds", "0.5")
    Transfer(radio, MEGA, 2).finish()
    again.end()
    assert decisions(again.lines())
    check_replay(again.file, again.lines())


def test_what_is_no_trace_is_named(radio, tmp_path):
    def said(*words):
        run = sluicectl("--socket", radio.sluice.socket, *words)
        assert run.returncode in (1, 2) and not run.stdout, run
        return run.stderr

    assert "name a UE" in said("trace")
    assert "name a UE" in said("trace", "nobody")
    assert "name a UE" in said("trace", "10.0.0.1:0")
    assert "no argument --many" in said("trace", radio.ue, "--many", "3")
    assert "--seconds: more than 0" in said("trace", radio.ue, "--seconds", "0")
    assert "--lines: a whole number" in said("trace", radio.ue, "--lines", "x")
    assert "--lines is given twice" in said("trace", radio.ue, "--lines", "1", "--lines", "2")
    assert "name a file" in said("replay")
    assert "cannot be read" in said("replay", tmp_path / "none")
    (tmp_path / "empty").write_text("", encoding="utf-8")
    assert "it is empty" in said("replay", tmp_path / "empty")
    (tmp_path / "other").write_text("{}\n", encoding="utf-8")
    assert "line 1: a trace begins with" in said("replay", tmp_path / "other")
    (tmp_path / "only").write_text('{"sluice_trace":1}\n', encoding="utf-8")
    assert "NAME=VALUE" in said("replay", tmp_path / "only", "--set", "gain")
    assert "no law in this trace has a parameter gain" in said("replay", tmp_path / "only", "--set", "gain=2")
