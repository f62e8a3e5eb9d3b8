"""Wireshark's TCP analysis of both legs: what an outside observer would call odd, and why we expect each of it."""

import shutil
import subprocess
from collections import Counter

import captures
import lab as lab_module
import programs
import pytest
import traffic

MEGA = 1_000_000

# What the analysis may say of these transfers, and why. Anything else fails the test.
EXPECTED = {
    "Connection reset (RST)": "the traffic has resets",
    "TCP window update": "the relay has room again, or the reader has read",
    "TCP Zero Window segment": "a reader that pauses; the relay passes that on",
    "TCP window specified by the receiver is now completely full": "the sender uses all that was promised",
    "TCP keep-alive segment": "our zero-window probe is an empty segment below SND.UNA, and the kernel's looks the same",
    "ACK to a TCP keep-alive segment": "its answer",
    "TCP Zero Window Probe": "the kernel's probe while the relay is full",
    "ACK to a TCP Zero Window Probe": "its answer",
    "Duplicate ACK": "an answer to a probe repeats the last acknowledgement",
}
# Only where frames were lost: a machine that is busy with other things lets the ports' rings overflow.
AFTER_LOSS = (
    "This frame is a (suspected) retransmission",
    "This frame is a (suspected) fast retransmission",
    "This frame is a (suspected) spurious retransmission",
    "This frame is a (suspected) out-of-order segment",
    "Previous segment(s) not captured (common at capture start)",
    "ACKed segment that wasn't captured (common at capture start)",
    "Duplicate ACK",
    "D-SACK Sequence",
)

pytestmark = pytest.mark.skipif(not shutil.which("tshark"), reason="needs the program tshark (./run deps installs it)")


def analysis(file):
    """How often Wireshark says what about the segments of a capture."""
    run = subprocess.run(["tshark", "-r", file, "-Y", "tcp.analysis.flags || tcp.flags.reset == 1", "-T", "fields",
                          "-E", "separator=|", "-E", "aggregator=|", "-e", "_ws.expert.message"],
                         capture_output=True, text=True, timeout=120, check=True)
    said = Counter()
    for line in run.stdout.splitlines():
        said.update(message.split("#")[0].split("(#")[0].strip().rstrip("(").strip() for message in line.split("|") if message)
    return said


def is_one_of(message, known):
    return any(message.startswith(start) for start in known)


def unexpected(said, lossy):
    allowed = [*EXPECTED, *(AFTER_LOSS if lossy else ())]
    # Messages of FINs, SYNs and options are no warnings.
    harmless = ("Connection establish", "Connection finish", "This frame initiates", "This frame undergoes", "No-Operation")
    return {message: count for message, count in said.items() if not is_one_of(message, (*allowed, *harmless))}


def exercise(wire, server):
    client = traffic.Client(wire.server_address, wire.ue.socket, server.port)
    client.download(2 * MEGA, seed=1)
    client.upload(2 * MEGA, seed=2)
    client.duplex(MEGA, seed=3)
    client.server_leaves_first(server, MEGA, seed=4)
    assert client.reset_by_server(100_000) == 100_000
    assert client.reset_by_client(server, 100_000) == 100_000
    client.download(2 * MEGA, seed=5, pause=0.02)  # the window closes and opens
    traffic.many(20, 4, lambda i: client.download(1000 * i, seed=i))


def test_both_legs_look_sound_to_wireshark(tmp_path):
    with lab_module.Lab("analysis", tmp_path) as lab:
        wire = lab.bump()
        sluice = programs.Sluice(lab, wire.box, mode="i-tcp")
        legs = {"core": captures.Capture(wire.server, "eth0", "core-leg"),
                "radio": captures.Capture(wire.ue, "eth0", "radio-leg")}
        with traffic.Server(wire.server.socket) as server:
            exercise(wire, server)
            repeated = server.retransmissions
        sluice.wait_until_at_rest()
        counters = sluice.counters()
        repeated += counters["retransmitted_core"] + counters["retransmitted_radio"]
        for capture in legs.values():
            capture.stop()
        sluice.stop_and_check()
        for name, capture in legs.items():
            said = analysis(capture.file)
            print(f"{name}: {dict(said)}")
            assert not unexpected(said, lossy=repeated > 0), f"{name} leg, {repeated} segments were repeated"
