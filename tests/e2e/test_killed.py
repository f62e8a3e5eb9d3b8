"""Killed under many transfers, with a bridge that takes over: what was acknowledged is what the other host has, so nothing
is lost, and the next run takes the connections up. Where the proxy may acknowledge ahead, exactly those break that it has
acknowledged ahead, and their hosts are told."""

import programs
import traffic
from outcomes import PATIENCE, Outcomes, SlowReader, client, server, wire  # noqa: F401 (fixtures)
from test_fail_open import wait_until

MEGA = 1_000_000
TRANSFERS = 50
MANY = 20  # at least; of so many SYNs at once some pass unsplit


def start(wire, name, **changes):
    return programs.Sluice(wire.lab, wire.box, name=name, **programs.merge(
        {"mode": "i-tcp", "fail_open": "bridge", "state": {"file": str(wire.lab.log_dir / "state")}},
        changes))


class Chat:
    """A connection on which one asks and the other answers, now and then."""

    def __init__(self, wire, server):
        self._listener = wire.server.socket()
        self._listener.bind((wire.server_address, 7100))
        self._listener.listen()
        self._ue = wire.ue.socket()
        self._ue.connect((wire.server_address, 7100))
        self._server, _ = self._listener.accept()
        for end in (self._ue, self._server):
            end.settimeout(PATIENCE)

    def exchange(self):
        for sender, receiver in ((self._ue, self._server), (self._server, self._ue)):
            sender.sendall(b"a question, or its answer")
            assert traffic.read_exactly(receiver, 25) == b"a question, or its answer"

    def close(self):
        for end in (self._ue, self._server, self._listener):
            end.close()


def test_nothing_is_lost_where_nothing_is_acknowledged_ahead(wire, server):
    nothing_ahead = {"limits": {"exposure_per_flow": "0B"}}
    first = start(wire, "first", **nothing_ahead)
    chat = Chat(wire, server)
    chat.exchange()
    transfers = Outcomes(wire, server, TRANSFERS, 5 * MEGA)
    wait_until(lambda: first.counters()["flows_split"] >= MANY)
    first.kill()
    assert transfers.running() >= MANY / 2, "all were over before"
    second = start(wire, "second", **nothing_ahead)
    second.process.wait_for("left split connections: 0 lost bytes and are reset, [2-5][0-9] continue")
    assert second.ask("status")["flows_released"] >= MANY / 2, "they are tracked, to be split again when they are quiet"
    second.kill()
    third = start(wire, "third", **nothing_ahead)
    chat.exchange()
    assert transfers.finish() == ["complete"] * TRANSFERS
    chat.close()
    client(wire, server).download(MEGA, seed=3)
    third.stop_and_check()


def test_exactly_those_break_that_were_acknowledged_ahead(wire, server):
    first = start(wire, "first")
    reader = SlowReader(wire, server, first)  # much is held for it
    chat = Chat(wire, server)
    chat.exchange()
    wait_until(lambda: all(flow["radio_held_bytes"] == 0 for flow in first.ask("flows") if "7100" in flow["server"]))
    first.kill()
    second = start(wire, "second")
    second.process.wait_for("left split connections: 1 lost bytes and are reset, 1 continue")
    reader.expect_reset()
    chat.exchange()
    chat.close()
    second.stop_and_check()
