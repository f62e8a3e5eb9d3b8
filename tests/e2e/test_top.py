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
