"""UEs spread over several proxies by routers of the kernel: both directions of a UE pass the same one, and a proxy that is
drained, killed or added breaks nothing but what it had acknowledged ahead."""

import hashlib
import socket

import instances
import lab as lab_module
import programs
import pytest
import traffic
from outcomes import PATIENCE, SlowReader
from report_watch import Reports
from test_drain import Transfers, wait_until_drained
from test_fail_open import wait_until

MEGA = 1_000_000
UES = 12
pytestmark = pytest.mark.skipif(instances.why_not() is not None, reason=str(instances.why_not()))


@pytest.fixture
def spread(tmp_path):
    with lab_module.Lab("instances", tmp_path) as lab:
        made = instances.Spread(lab, ues=UES)
        with traffic.Server(made.server.socket) as server:
            made.traffic = server
            yield made


def start(spread, path, name=None, **changes):
    return programs.Sluice(spread.lab, spread.boxes[path], name=name or f"proxy{path}", **changes)


def start_all(spread, **changes):
    spread.over(0, 1, 2)
    return [start(spread, path, **changes) for path in range(3)]


def client(spread, ue):
    return traffic.Client(spread.wire.server_address, spread.ue.socket, spread.traffic.port, source=spread.wire.ue_addresses[ue])


def long_transfers(spread, ues=range(UES)):
    """One of each UE, downloads and both ways, by readers that take their time."""
    return Transfers(*(lambda i=i: client(spread, i).download(8 * MEGA, seed=100 + i, pause=0.05) if i % 3
                       else client(spread, i).duplex(20 * MEGA, seed=200 + i) for i in ues))


def count(proxies, name):
    """Of all of them together."""
    return sum(proxy.counters()[name] for proxy in proxies)


def ues_of(proxy):
    """The UEs whose connections it has split now."""
    return {flow["ue"].split()[0] for flow in proxy.ask("flows") if flow["phase"] != "released"}


def wait_until_split(proxies, count):
    wait_until(lambda: sum(len(ues_of(proxy)) for proxy in proxies) == count)
    return [ues_of(proxy) for proxy in proxies]


def test_both_directions_of_a_ue_pass_the_same_proxy(spread):
    """A proxy that sees one direction alone splits nothing."""
    proxies = start_all(spread)
    traffic.many(UES, 4, lambda i: client(spread, i).download(100_000, seed=i))
    with traffic.Server(spread.server.socket, family=socket.AF_INET6) as server:
        traffic.many(UES, 4, lambda i: traffic.Client(
            spread.wire.server_address6, spread.ue.socket, server.port, socket.AF_INET6,
            source=spread.wire.ue_addresses6[i]).download(100_000, seed=i))
    wait_until(lambda: count(proxies, "flows_split") == 2 * UES)
    assert all(count([proxy], "flows_split") > 0 for proxy in proxies), "each has its part"
    assert count(proxies, "forward_mid_flow") == 0
    for proxy in proxies:
        proxy.stop_and_check()


def stayed(proxies, before):
    """Whether no UE is at another proxy than before; some have come to their end."""
    return all(ues_of(proxy) <= had for proxy, had in zip(proxies, before))


def test_one_is_drained_and_nothing_breaks(spread):
    proxies = start_all(spread)
    leaving, staying = proxies[1], [proxies[0], proxies[2]]
    transfers = long_transfers(spread)
    _, had_leaving, _ = before = wait_until_split(proxies, UES)
    leaving.ask("drain")
    wait_until_drained(leaving)
    assert transfers.running() > UES / 2, "most were over before the drain was"
    spread.over(0, 2)
    leaving.stop_and_check()
    assert stayed(staying, [before[0], before[2]])
    transfers.finish()
    wait_until(lambda: count(staying, "forward_mid_flow") > 0)  # what it let go passes the others untouched
    split = count(staying, "flows_split")
    for i, address in enumerate(spread.wire.ue_addresses):
        if address in had_leaving:
            client(spread, i).download(100_000, seed=i)
    wait_until(lambda: count(staying, "flows_split") == split + len(had_leaving))  # new ones are split there
    for proxy in staying:
        proxy.stop_and_check()


@pytest.mark.parametrize("cables", ["up", "down"])
def test_nothing_is_lost_without_a_drain_where_nothing_is_acknowledged_ahead(spread, cables):
    """A path is taken away while its proxy lives, which goes on repeating what it sent. Or its machine dies with the cables
    of both sides, and the routers take the path away by themselves."""
    proxies = start_all(spread, limits={"exposure_per_flow": "0B"})
    transfers = long_transfers(spread)
    before = wait_until_split(proxies, UES)
    assert transfers.running() == UES and before[1]
    if cables == "up":
        spread.over(0, 2)
    else:
        spread.pull(1)
        proxies[1].kill()
        wait_until(lambda: 1 not in spread.core.buckets() + spread.access.buckets())
    transfers.finish()
    staying = [proxies[0], proxies[2]]
    wait_until(lambda: count(staying, "forward_mid_flow") > 0)
    for proxy in staying:
        proxy.stop_and_check()


class Quiet:
    """A connection of each UE on which nothing waits: asked now, and answered at the end."""

    def __init__(self, spread, proxies):
        self._connections = []
        for ue in range(UES):
            connection = client(spread, ue).connect({"do": "take"})
            connection.settimeout(PATIENCE)
            connection.sendall(b"before")
            self._connections.append(connection)
        self.homes = wait_until_split(proxies, UES)
        wait_until(lambda: all(flow["radio_held_bytes"] + flow["core_held_bytes"] == 0
                               for proxy in proxies for flow in proxy.ask("flows")))

    def finish(self):
        sha = hashlib.sha256(b"before and after").hexdigest()
        for connection in self._connections:
            connection.sendall(b" and after")
            connection.shutdown(socket.SHUT_WR)
            assert traffic.read_exactly(connection, 64).decode() == sha
            connection.close()


def test_one_that_is_killed_breaks_what_it_had_acknowledged_ahead_alone(spread):
    """Its wire outlives it, so its UEs stay where they are, and its next run tells the hosts."""

    def started(path, name):
        return start(spread, path, name, fail_open="bridge", state={"file": str(spread.lab.log_dir / f"state{path}")})

    spread.over(0, 1, 2)
    proxies = [started(path, f"proxy{path}") for path in range(3)]
    quiet = Quiet(spread, proxies)
    path = next(i for i, home in enumerate(quiet.homes) if spread.wire.ue_address in home)
    reader = SlowReader(spread.wire, spread.traffic, proxies[path])  # of the first UE: much is held for it
    elsewhere = [i for i, address in enumerate(spread.wire.ue_addresses) if address not in quiet.homes[path]]
    transfers = long_transfers(spread, elsewhere)
    proxies[path].kill()
    proxies[path] = started(path, "second")
    proxies[path].process.wait_for(
        f"left split connections: 1 lost bytes and are reset, {len(quiet.homes[path])} continue")
    reader.expect_reset()
    assert transfers.running() > 0, "all were over before"
    transfers.finish()
    quiet.finish()
    assert count([proxy for i, proxy in enumerate(proxies) if i != path], "forward_mid_flow") == 0, "no UE has moved"
    for proxy in proxies:
        proxy.stop_and_check()


def test_one_is_added_and_ues_stay_where_they_are(tmp_path):
    """The new one gets UEs that were silent, and no other."""
    with lab_module.Lab("added", tmp_path) as lab:
        spread = instances.Spread(lab, ues=UES, idle_timer=2)
        with traffic.Server(spread.server.socket) as spread.traffic:
            spread.over(0, 1)
            proxies = [start(spread, path) for path in (0, 1)]
            busy = UES // 2
            transfers = long_transfers(spread, range(busy))
            wait_until_split(proxies, busy)
            new = start(spread, 2)
            spread.over(0, 1, 2)
            wait_until(lambda: spread.core.buckets().count(2) >= instances.BUCKETS // 4)
            wait_until(lambda: spread.core.buckets() == spread.access.buckets())
            assert transfers.running() > 0, "all were over before"
            transfers.finish()
            assert count([new], "forward_mid_flow") == 0, "a connection of another one came to it"
            traffic.many(4 * UES, 4, lambda i: client(spread, i % UES).download(50_000, seed=i))
            proxies.append(new)
            wait_until(lambda: count(proxies, "flows_split") == busy + 4 * UES)
            assert count([new], "flows_split") > 0
            for proxy in proxies:
                proxy.stop_and_check()


def test_a_route_for_each_prefix_is_as_good(spread):
    """Without a hash; what loses its cables is taken over by another one."""
    spread.by_prefix(("10.45.0.0/29", 0, 1), ("10.45.0.8/29", 1, 0))
    proxies = [start(spread, path) for path in range(2)]
    traffic.many(UES, 4, lambda i: client(spread, i).download(100_000, seed=i))
    wait_until(lambda: [count([proxy], "flows_split") for proxy in proxies] == [6, 6])
    spread.pull(0)
    traffic.many(UES, 4, lambda i: client(spread, i).download(100_000, seed=i))
    wait_until(lambda: [count([proxy], "flows_split") for proxy in proxies] == [6, 6 + UES])
    for proxy in proxies:
        proxy.stop_and_check()


@pytest.fixture
def reported(tmp_path):
    """Three proxies, and a Node-B with one UE that reports its queue to them."""
    with lab_module.Lab("reported", tmp_path) as lab:
        spread = instances.Spread(lab, ues=1, radio=True)
        spread.over(0, 1, 2)
        spread.proxies = [start(spread, path, mode="smvs", feedback=spread.feedback(path)) for path in range(3)]
        scenario = programs.nodeb_scenario({"type": "constant", "rate": "20Mb/s"}, warmup="1s", reports={"delay": "0s"},
                                           smvs={"parameters": {"step": "20ms", "reference": "20ms", "delta": 20}},
                                           live={"feedback": spread.node_b_feedback()})
        spread.reports = Reports(spread.node_b)
        nodeb = programs.Nodeb(lab, spread.node_b, scenario, "smvs", 100)
        with traffic.Server(spread.server.socket) as spread.traffic:
            yield spread
        spread.reports.close()
        assert nodeb.process.stop() == 0


def claimer_of(spread, paths):
    """The path of the proxy that says first that it sends to the UE."""
    claims = {}

    def claimed():
        claims.update({path: at for path in paths
                       if (at := spread.reports.claim(spread.feedback_address(path))) is not None})
        return claims

    wait_until(claimed)
    (path, at), = claims.items()
    return path, at


@pytest.mark.real_time
@pytest.mark.parametrize("end", ["drained", "killed"])
def test_reports_follow_a_ue(reported, end):
    """Within two of their periods: at most two more go to the proxy that had the UE, or to those that never had it."""
    reports = reported.reports
    everybody = [reported.feedback_address(path) for path in range(3)]
    wait_until(lambda: all(reports.to(address) > 5 for address in everybody))
    paths = [0, 1, 2]
    for seed in range(2):
        client(reported, 0).download(2 * MEGA, seed=seed)
        path, at = claimer_of(reported, paths)
        now = reported.feedback_address(path)
        wait_until(lambda: reports.to(now, at) > 50)  # pylint: disable=cell-var-from-loop
        assert all(reports.to(other, at) <= 2 for other in everybody if other != now)
        counters = reported.proxies[path].counters()
        assert counters["reports"] - counters["reports_unknown_bearer"] > 40, "they are of use there"
        if seed == 1:
            break
        if end == "killed":
            reported.proxies[path].kill()
        else:
            reported.proxies[path].ask("drain")
            wait_until_drained(reported.proxies[path])
        paths.remove(path)
        reported.over(*paths)
