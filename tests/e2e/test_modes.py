"""Every mode carries real TCP whole, and a running proxy is switched between them: by word, by its file, by signal, and
back where nobody confirms. Kernel hosts, the Node-B in the loop; every byte is checked."""

import signal
import socket as socket_module
import threading
import time

import lab as lab_module
import programs
import pytest
import traffic
from test_radio import PATIENT, STEADY, Radio

MEGA = 1_000_000
# Every mode in each of its interceptions, and what `flows` calls a connection that begins under it.
MODES = [("bypass", "auto", None), ("i-tcp", "auto", "split"), ("smvs", "auto", "split"), ("observe", "auto", "observed"),
         ("ack-regulator", "auto", "regulated")]
MODES += [(law, intercept, {"split": "split", "regulate": "regulated"}[intercept])
          for law in ("clamp", "wrs", "wrd", "wrb", "gwa-rr", "gwa-fcfs", "ba", "fair-share") for intercept in ("split", "regulate")]

# As Radio starts its proxy.
SMVS = {"smvs": {"law": "nodeb", "parameters": {"one_way_delay": "10ms"}}}


@pytest.fixture
def radio(request, tmp_path):
    """A lab with the Node-B and its reports, the proxy in mode i-tcp; parameters are changes of its configuration.
    Laws bear a second without reports: the machine may be busy."""
    with lab_module.Lab("modes", tmp_path) as lab:
        made = Radio(lab, "smvs", STEADY, 140, proxy={"mode": "i-tcp", **PATIENT, **getattr(request, "param", {})})
        with traffic.Server(made.wire.server.socket) as made.server:
            yield made
        assert made.nodeb.process.poll() is None, made.nodeb.process.tail()
        made.sluice.stop_and_check()


def settled(radio, name, timeout=5):
    """The proxy's counters once `name` has not changed for a while: shards publish theirs every now and then."""
    deadline = time.monotonic() + timeout
    before = None
    while (now := radio.sluice.counters())[name] != before and time.monotonic() < deadline:
        before = now[name]
        time.sleep(0.3)
    return now


def mode_of(sluice):
    """What `sluicectl mode` answers without a word."""
    return sluice.ask("mode")


def rewrite(sluice, **changes):
    """Writes other values into the file that the proxy was started from."""
    configuration = programs.sluice_configuration(programs.af_packet(0, "proxy-radio"), programs.af_packet(1, "proxy-core"),
                                                  sluice.socket, **{**SMVS, **changes})
    sluice.file.write_text(programs.to_yaml(configuration), encoding="utf-8")


class Transfer:
    """A download that is under way in a thread of its own."""

    def __init__(self, radio, size, seed):
        self._result = []
        self._thread = threading.Thread(target=self._run, args=(radio.client(radio.server), size, seed), daemon=True)
        self._thread.start()

    def _run(self, client, size, seed):
        try:
            client.download(size, seed)
            self._result.append(None)
        except Exception as error:  # pylint: disable=broad-except
            self._result.append(error)

    def running(self):
        return self._thread.is_alive()

    def finish(self, timeout=90):
        self._thread.join(timeout)
        assert not self.running(), "it is stuck"
        assert self._result == [None], self._result


def phases(sluice):
    return {flow["phase"] for flow in sluice.ask("flows")}


def hold_some(radio):
    """A megabyte may be over before a queue stands, if the machine is busy: then more is sent."""
    for attempt in range(4):
        if radio.sluice.counters()["acks_held"] > 0:
            return
        radio.sluice.ask("mode", "ack-regulator", "auto")
        radio.client(radio.server).download(5 * MEGA, 100 + attempt)


def test_every_mode_carries_every_byte(radio):
    """New connections under each mode, down and up."""
    for number, (mode, intercept, phase) in enumerate(MODES):
        radio.sluice.ask("mode", mode, intercept)
        transfer = Transfer(radio, MEGA, 10 + number)
        seen = set()
        while transfer.running():
            seen |= phases(radio.sluice)
            time.sleep(0.05)
        transfer.finish()
        radio.client(radio.server).upload(MEGA // 4, 50 + number)
        assert phase is None or phase in seen, (mode, intercept, seen)
        assert mode_of(radio.sluice) == mode
    hold_some(radio)
    counters = settled(radio, "forward_regulated")
    assert counters["reports"] > 500
    assert counters["windows_rewritten"] > 0 and counters["acks_held"] > 0


def test_a_transfer_outlives_every_switch(radio):
    """Split, steered, handed back to its hosts in its middle, regulated, left alone, regulated by others."""
    transfer = Transfer(radio, 30 * MEGA, 99)
    time.sleep(1.5)
    assert phases(radio.sluice) == {"split"}
    seen = []
    for mode, intercept in [("smvs", "auto"), ("wrd", "split"), ("clamp", "regulate"), ("bypass", "auto"), ("fair-share", "auto"),
                            ("wrb", "regulate"), ("observe", "auto"), ("i-tcp", "auto")]:
        radio.sluice.ask("mode", mode, intercept)
        time.sleep(1.2)
        seen.append(phases(radio.sluice))
    assert transfer.running(), "it was over before the last switch"
    transfer.finish()
    assert seen[:-1] == [{"split"}, {"split"}, {"regulated"}, {"bypassed"}, {"regulated"}, {"regulated"}, {"observed"}]
    assert seen[-1] in ({"bypassed"}, {"split"}), "split again if there was a moment with nothing under way"
    counters = settled(radio, "forward_tracked")
    assert counters["released_switch"] == 1
    assert counters["flows_split"] == 1
    assert counters["forward_regulated"] > 1000 and counters["forward_tracked"] > 1000
    radio.client(radio.server).download(MEGA, 3)
    assert settled(radio, "flows_split")["flows_split"] == 2, "new connections are split again"


def test_the_file_is_read_again(radio):
    """SIGHUP puts it in force; one with an error, or with what only a restart can change, leaves everything as it was."""
    sluice = radio.sluice
    transfer = Transfer(radio, 16 * MEGA, 5)
    time.sleep(0.5)
    rewrite(sluice, mode="wrs")
    sluice.process.signal(signal.SIGHUP)
    sluice.process.wait_for(r"configuration: mode: i-tcp → wrs")
    assert mode_of(sluice) == "wrs"

    good = sluice.file.read_text(encoding="utf-8")
    sluice.file.write_text("mode: wrb\nprots: 1\n" + good, encoding="utf-8")
    sluice.process.signal(signal.SIGHUP)
    line = sluice.process.wait_for("the configuration stays as it was")
    assert f"{sluice.file}:" in line
    assert mode_of(sluice) == "wrs"
    with pytest.raises(lab_module.LabError, match=rf"{sluice.file}:2:1: "):
        sluice.file.write_text("mode: wrb\nprots: 1\n", encoding="utf-8")
        sluice.ask("reload")
    rewrite(sluice, mode="wrb", limits={"max_flows": 17})
    with pytest.raises(lab_module.LabError, match="only a restart can change limits.max_flows"):
        sluice.ask("reload")
    assert mode_of(sluice) == "wrs"
    sluice.file.unlink()
    with pytest.raises(lab_module.LabError, match=sluice.file.name):
        sluice.ask("reload")
    with pytest.raises(lab_module.LabError, match="mode"):
        sluice.ask("mode", "no-such-mode")
    assert mode_of(sluice) == "wrs"
    transfer.finish()


def test_what_nobody_confirms_is_taken_back(radio):
    sluice = radio.sluice
    transfer = Transfer(radio, 16 * MEGA, 6)
    rewrite(sluice, mode="clamp")
    answer = sluice.ask("reload", "--confirm-within", "1s")
    assert {"key": "mode", "before": "i-tcp", "after": "clamp"} in answer["changed"]
    assert mode_of(sluice) == "clamp"
    with pytest.raises(lab_module.LabError, match="not confirmed"):
        sluice.ask("mode", "wrs")
    sluice.process.wait_for("not confirmed in time and is taken back")
    assert mode_of(sluice) == "i-tcp"
    with pytest.raises(lab_module.LabError, match="no change needs"):
        sluice.ask("confirm")
    sluice.process.signal(signal.SIGHUP)
    sluice.process.wait_for("still contains the change that was taken back")
    assert mode_of(sluice) == "i-tcp"
    sluice.ask("reload", "--confirm-within", "1h")
    sluice.ask("revert")
    assert mode_of(sluice) == "i-tcp"
    sluice.ask("reload", "--confirm-within", "1s")
    sluice.ask("confirm")
    time.sleep(1.5)
    assert mode_of(sluice) == "clamp"
    transfer.finish()


@pytest.mark.parametrize("radio", [{"mode": "observe", "observed": "wrs"}], indirect=True)
def test_observing_records_decisions_and_changes_nothing(radio):
    transfer = Transfer(radio, 6 * MEGA, 7)
    time.sleep(1.5)
    (bearer,) = radio.sluice.ask("bearers")
    transfer.finish()
    assert bearer["mode"] == "observe"
    assert bearer["observed_decisions"] > 100
    assert bearer["observed_decided_mean_bytes"] > 10_000 and bearer["observed_actual_mean_bytes"] > 10_000
    counters = settled(radio, "forward_regulated")
    assert counters["forward_regulated"] > 1000
    assert (counters["windows_rewritten"], counters["acks_held"], counters["optimised"]) == (0, 0, 0)


def test_a_control_group_stays_on_ordinary_tcp(tmp_path):
    """Eight UEs, half of them by hash: both groups are measured, and nothing steers the one."""
    ues = 8
    with lab_module.Lab("groups", tmp_path) as lab:
        cell = {"ues": [{"address": f"10.45.0.{2 + i}", "frame": "0B", "buffer": "200KiB", "channel": STEADY} for i in range(ues)]}
        radio = Radio(lab, "smvs", STEADY, 60, ues=ues, cell=cell, proxy={"control_group": "50%"})
        with traffic.Server(radio.wire.server.socket) as server:
            clients = [traffic.Client(radio.wire.server_address, radio.wire.ue.socket, server.port, source=address)
                       for address in radio.wire.ue_addresses]
            traffic.many(ues, ues, lambda i: clients[i].download(MEGA, 100 + i))
        bearers = radio.sluice.ask("bearers")
        ordinary = {bearer["ue"] for bearer in bearers if bearer["control_group"]}
        assert 0 < len(ordinary) < ues
        assert all(bearer["steered_by"] == "congestion control" for bearer in bearers if bearer["control_group"])
        assert any(bearer["steered_by"] == "feedback" for bearer in bearers)
        time.sleep(0.5)
        treated, control = radio.sluice.ask("groups")
        for group, count in ((treated, ues - len(ordinary)), (control, len(ordinary))):
            assert group["reports"] > 100, group
            assert group["transmitted_bytes"] > count * MEGA, group
            assert group["queue_delay_mean_ms"] > 0, group
        assert radio.nodeb.process.stop() == 0
        radio.sluice.stop_and_check()


def test_a_file_that_names_two_ports_only_is_steered_by_acknowledgements(tmp_path):
    with lab_module.Lab("fresh", tmp_path) as lab:
        wire = lab.bump()
        socket, file = tmp_path / "fresh.sock", tmp_path / "fresh.yaml"
        programs.write(file, {"ports": {side: {"device": programs.af_packet(i, side)} for i, side in enumerate(("radio", "core"))},
                              "admin": {"socket": str(socket)}})
        sluice = wire.box.start("fresh", programs.program("sluice"), file, environment={"XDG_RUNTIME_DIR": str(tmp_path)}, urgent=True)
        sluice.wait_for("running", timeout=30)
        with traffic.Server(wire.server.socket) as server:
            client = traffic.Client(wire.server_address, wire.ue.socket, server.port)
            with client.connect({"do": "send", "bytes": 20 * MEGA, "seed": 3}) as connection:
                connection.recv(100_000, socket_module.MSG_WAITALL)
                (bearer,) = programs.ask(socket, "bearers")
            client.download(5 * MEGA)
        assert (bearer["mode"], bearer["steered_by"]) == ("smvs", "acknowledgements")
        assert programs.ask(socket, "status")["mode"] == "smvs"
        assert "no Node-B" not in sluice.output(), "none is missed"
        assert sluice.stop() == 0
