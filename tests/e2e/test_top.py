"""What sluicectl shows again and again: the largest bearers and flows, and any command's answer."""

import json
import os
import pty
import select
import subprocess
import time

import programs
import pytest
from outcomes import PATIENCE


@pytest.fixture
def download(client):
    """One that goes on while the test runs."""
    with client.connect({"do": "until"}) as connection:
        connection.recv(50_000)
        yield connection


def sluicectl(path, *words):
    return subprocess.run([programs.program("sluicectl"), "--socket", path.sluice.socket, *words], capture_output=True, text=True,
                          timeout=PATIENCE, check=False)


def test_top_tells_the_rate_of_what_is_under_way(path, download):
    run = sluicectl(path, "top", "--json", "--count", "2", "--interval", "0.3")
    assert run.returncode == 0, run.stderr
    looks = [json.loads(line) for line in run.stdout.splitlines()]
    assert len(looks) == 2
    for look in looks:
        assert look["mode"] == "i-tcp"
        assert look["bearers"][0]["ue"] == path.wire.ue_address
        assert look["bearers"][0]["rate_bps"] == pytest.approx(sum(flow["rate_bps"] or 0 for flow in look["flows"]))
        assert look["flows"][0]["rate_bps"] is not None


def test_top_shows_one_picture_to_who_is_no_terminal(path, download):
    run = sluicectl(path, "top", "--interval", "0.2")
    assert run.returncode == 0, run.stderr
    assert "\x1b" not in run.stdout
    assert run.stdout.count("rate_Mbps") == 2, "bearers, and flows"
    assert path.wire.ue_address in run.stdout


def test_top_goes_on_on_a_terminal(path, download):
    ours, theirs = pty.openpty()
    top = subprocess.Popen([programs.program("sluicectl"), "--socket", path.sluice.socket, "top", "--interval", "0.1"],
                           stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
    os.close(theirs)
    try:
        seen, deadline = "", time.monotonic() + PATIENCE
        while seen.count("\x1b[H\x1b[J") < 3:
            assert time.monotonic() < deadline, seen
            if select.select([ours], [], [], 0.1)[0]:
                seen += os.read(ours, 65536).decode()
        assert path.wire.ue_address in seen
        assert top.poll() is None
    finally:
        top.terminate()
        top.wait(PATIENCE)
        os.close(ours)


def test_watch_repeats_a_command(path):
    run = sluicectl(path, "watch", "--count", "2", "--interval", "0.1", "counters", "flows_split")
    assert run.returncode == 0, run.stderr
    assert len(run.stdout.splitlines()) == 2
    assert all(line.isdigit() for line in run.stdout.splitlines())


@pytest.mark.parametrize("words", (["top", "--by", "name"], ["top", "--interval", "0"], ["top", "more"], ["watch"],
                                   ["watch", "--count", "x", "status"]))
def test_a_wrong_command_line_is_said(path, words):
    run = sluicectl(path, *words)
    assert run.returncode == 2
    assert run.stderr.startswith("sluicectl: ") and run.stdout == ""


def test_what_the_program_refuses_is_said_once(path):
    run = sluicectl(path, "watch", "no-such-command")
    assert run.returncode == 1
    assert "unknown command" in run.stderr


def test_a_word_is_explained_and_a_wrong_one_corrected(path):
    """Of every kind that has a table of its own, whole and as tables show it."""
    def kinds(word):
        run = sluicectl(path, "--json", "explain", word)
        assert run.returncode == 0, run.stderr
        found = json.loads(run.stdout)
        assert all(entry["meaning"] for entry in found)
        return {entry["kind"] for entry in found}

    assert "counter" in kinds("proxy.flows_split")
    assert "counter" in kinds("flows_split")
    assert kinds("sluice_group_queue_samples_total") == kinds("sluice_group_queue_samples") == {"metric"}
    assert "reason" in kinds("reset_stalled")
    assert "reason" in kinds("stalled"), "without its prefix"
    assert "mode" in kinds("wrb")
    assert kinds("smvs.law") == {"key"}
    assert "key" in kinds("mtu")
    assert "command" in kinds("drain")
    wrong = sluicectl(path, "explain", "flows_splitt")
    assert (wrong.returncode, wrong.stderr) == (1, "sluicectl: unknown word 'flows_splitt'; did you mean flows_split?\n")
    assert "did you mean status?" in sluicectl(path, "statu").stderr
    assert "did you mean flows_split?" in sluicectl(path, "counters", "flows_splitt").stderr


def test_counters_are_found_by_the_beginning_of_their_names(path):
    some = json.loads(sluicectl(path, "--json", "counters", "proxy.flows").stdout)
    assert "proxy.flows_split" in some and all(name.startswith("proxy.flows") for name in some)
    assert json.loads(sluicectl(path, "--json", "counters", "flows").stdout).keys() == some.keys()
    assert isinstance(json.loads(sluicectl(path, "--json", "counters", "flows_split").stdout), int)
    assert "proxy.flows_split" in sluicectl(path, "counters", "proxy.flows").stdout


def test_ports_are_shown_with_their_interfaces(path):
    assert [path.sluice.ask("ports")[side]["interface"] for side in ("radio", "core")] == ["radio", "core"]
    assert path.sluice.ask("status")["ports"]["core"]["interface"] == "core"


def test_counts_are_whole_numbers_in_json(path, download):
    (line,) = sluicectl(path, "top", "--json", "--count", "1", "--interval", "0.3").stdout.splitlines()
    top = json.loads(line)
    for row in top["bearers"] + top["flows"]:
        for key in row.keys() & {"flows", "in_flight_bytes", "held_bytes", "queue_bytes", "retransmissions", "rate_bps", "link_bps"}:
            assert row[key] is None or isinstance(row[key], int), (key, row[key])
    (bearer,) = path.sluice.ask("bearers")
    assert all(bearer[key] is None or isinstance(bearer[key], int) for key in bearer if key.endswith("_bps"))


def test_a_ue_without_connections_is_refused(path, download):
    for command in ("release", "split-again"):
        run = sluicectl(path, command, "10.45.99.99")
        assert (run.returncode, run.stderr) == (
            1, "sluicectl: no split connection of UE 10.45.99.99 is known; bearers lists the UEs\n")
    assert sluicectl(path, "release", path.wire.ue_address).returncode == 0


def test_no_table_has_json_in_it(path, download):
    for command in ("status", "counters", "bearers", "flows", "exposure", "ports", "shards", "groups", "reload", "help"):
        for words in ((command,), (command, "--wide")):
            run = sluicectl(path, *words)
            assert run.returncode == 0, run.stderr
            assert not any(mark in run.stdout for mark in ('{"', '["', "[{", '":')), run.stdout
