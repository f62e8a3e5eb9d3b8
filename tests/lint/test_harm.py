"""What ./run experiment harm makes of runs, and the networks that it draws."""

import dataclasses
import random
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / ".tools"))
import harm  # noqa: E402
import harm_judge  # noqa: E402
import harm_networks  # noqa: E402
import harm_page  # noqa: E402
from harm_networks import MB, Network  # noqa: E402

PLAIN = harm_judge.Outcome(goodput=9e6, drops=10, server_to_ue_delay_p95_ms=40, radio_queue_delay_p95_ms=40, other_goodput_share=None, ping_p95_ms=50,
                           jain=1, retransmissions=10, timeouts=0, drops_air=0, is_full=True, failed=0)


def runs(law, cubic=None, bbr=None):
    """The outcomes of all senders, each as PLAIN but for what is named."""
    ours = dataclasses.replace(PLAIN, **law)
    return {"cubic": dataclasses.replace(PLAIN, **(cubic or {})), "bbr": dataclasses.replace(PLAIN, **(bbr or {})), "bbr3": PLAIN,
            "split": ours, "end to end": ours}


def ratio(bound, law, cubic=None, bbr=None, network=Network("x"), who="split"):
    return harm_judge.ratios(network, runs(law, cubic, bbr), who)[bound]


def test_goodput_is_compared_with_cubic_where_that_fills_the_buffer():
    assert ratio("goodput", {"goodput": 0.95 * 9e6}, bbr={"goodput": 9.5e6}) == pytest.approx(1)
    assert ratio("goodput", {"goodput": 0.9 * 9.5e6}, cubic={"is_full": False}, bbr={"goodput": 9.5e6}) == pytest.approx(1)


@pytest.mark.parametrize("other", [{"queue": "codel"}, {"buffer": None}, {"policer": "behind", "policer_rate": 5 * MB, "rate": 90 * MB}])
def test_elsewhere_with_the_better_one(other):
    network = Network("x", **other)
    assert ratio("goodput", {"goodput": 0.9 * 4e6}, {"goodput": 2e6}, {"goodput": 4e6}, network) == pytest.approx(1)
    assert ratio("goodput", {"goodput": 0.9 * 2e6}, {"goodput": 2e6}, {"goodput": 4e6}, network, "end to end") == pytest.approx(1), \
        "its server speaks CUBIC"


def test_a_policer_before_the_proxy_is_the_servers_matter():
    network = Network("x", policer="before", policer_rate=5 * MB)
    assert ratio("goodput", {"goodput": 0.9 * 2e6}, {"goodput": 2e6}, {"goodput": 4e6}, network) == pytest.approx(1)


def test_nobody_has_to_take_the_part_of_others():
    network = Network("x", others=("cubic",))
    assert network.fair_to_own == pytest.approx(5 * MB)
    assert ratio("goodput", {"goodput": 0.95 * 5e6 * 1448 / 1500}, network=network) == pytest.approx(1)


def test_drops_may_be_twice_the_greater_and_some():
    assert ratio("drops", {"drops": 220}, {"drops": 100}, {"drops": 30}) == pytest.approx(1)
    assert ratio("drops", {"drops": 20}, {"drops": 0}, {"drops": 0}) == pytest.approx(1)
    assert ratio("drops", {"drops": 0}) == harm_judge.LARGEST_RATIO


def test_delay_may_be_a_quarter_or_sixty_milliseconds_more_than_with_bbr():
    assert ratio("delay", {"server_to_ue_delay_p95_ms": 100}) == pytest.approx(1)
    assert ratio("delay", {"server_to_ue_delay_p95_ms": 1250}, bbr={"server_to_ue_delay_p95_ms": 1000}) == pytest.approx(1)
    assert ratio("delay", {"server_to_ue_delay_p95_ms": None}) == 0, "nothing came"


def test_others_keep_their_part_as_far_as_they_can_have_it():
    share = lambda value: {"other_goodput_share": value}  # noqa: E731
    assert ratio("others", share(0.8), share(1.2), share(0.4)) == pytest.approx(1)
    assert ratio("others", share(0.4), share(0.5), share(0.3)) == pytest.approx(1), "half is all that there is"
    assert "others" not in harm_judge.ratios(Network("x"), runs({}), "split")


def test_a_ping_is_not_slower_than_with_bbr():
    assert ratio("ping", {"ping_p95_ms": 55 + 1.2}) == pytest.approx(1)
    assert ratio("ping", {"ping_p95_ms": 2 * 56.2}) == pytest.approx(0.5)


def test_a_sender_that_leaves_the_path_idle_is_no_measure_of_delay():
    idle = {"goodput": 4e6, "server_to_ue_delay_p95_ms": 2, "ping_p95_ms": 30}
    filling = {"server_to_ue_delay_p95_ms": 300, "ping_p95_ms": 320}
    law = {"server_to_ue_delay_p95_ms": 375, "ping_p95_ms": 326.2}
    assert ratio("delay", law, filling, idle) == pytest.approx(1)
    assert ratio("ping", law, filling, idle) == pytest.approx(1)
    assert ratio("delay", law, filling, {**idle, "goodput": 4.5e6}) == pytest.approx(62 / 375)


def test_the_worst_bound_decides():
    outcomes = {(sender, seed): outcome for sender, outcome in runs({"ping_p95_ms": 2 * 56.2}).items() for seed in (1, 2)}
    verdicts = harm_judge.judge(Network("x"), outcomes)
    assert [each.law for each in verdicts] == ["split", "end to end"]
    assert verdicts[0].worst == ("ping", pytest.approx(0.5)) and not verdicts[0].holds
    assert "0.50 *" in harm_page.table(verdicts) and "0 of 2 hold every bound" in harm_page.summary(verdicts)
    said = harm_page.answer(verdicts)
    assert said.startswith("The law keeps every bound in 0 of 2 runs. The bound of ") and "The worst ratio is 0.50, in " in said
    page = harm_page.page(verdicts, "one network")
    assert said in page and page.index(said) < page.index("<table>"), "the answer comes first"
    assert '<td class="bad">0.50</td>' in harm_page.page(verdicts, "one network")


def test_what_one_run_lacks_the_mean_lacks():
    lacking = dataclasses.replace(PLAIN, ping_p95_ms=None, drops=30, is_full=False)
    mean = harm_judge.mean_outcome([PLAIN, lacking])
    assert mean.ping_p95_ms is None and mean.drops == 20 and mean.is_full


def flow(opened, rate, direction="download"):
    return {"application": "bulk", "direction": direction, "opened_s": str(opened), "measured_bps": str(rate)}


def test_a_run_is_read_from_its_rows():
    network = Network("x", others=("cubic",), downloads=2)
    row = {"drops": "50", "drops_air": "7", "drops_full": "3", "hop_drops": "5", "proxy_nodeb_down_drops": "900", "game_down_p95_ms": "33",
           "server_to_ue_delay_p95_ms": "70", "retransmissions": "9"}
    outcome = harm_judge.outcome_of(network, row, [flow(0, 2e6), flow(0, 4e6), flow(0.01, 3e6), flow(0, 8e6, "upload")])
    assert (outcome.goodput, outcome.drops, outcome.drops_air, outcome.ping_p95_ms, outcome.is_full) == (6e6, 48, 7, 33, True)
    assert outcome.other_goodput_share == pytest.approx(3e6 * 1500 / 1448 / (10e6 / 3))
    assert outcome.jain == pytest.approx(36 / (2 * 20))
    del row["hop_drops"]
    assert harm_judge.outcome_of(network, row, []).drops == 943, "a program that does not count the hops' drops after the warm-up"


def test_fair_parts_are_max_min():
    assert Network("x", datagrams=0.1).fair_to_others == pytest.approx(1 * MB)
    assert Network("x", datagrams=0.9).fair_to_others == pytest.approx(5 * MB)
    assert Network("x", datagrams=0.9, downloads=4).fair_to_others == pytest.approx(2 * MB)
    assert Network("x", second_hop=2 * MB, others=("bbr",)).fair_to_others == pytest.approx(2 * MB + 4 * MB)


def test_a_drawn_network_is_that_of_its_seed_and_can_be_run_in_seconds():
    assert [harm_networks.drawn(seed) for seed in range(50)] == [harm_networks.drawn(seed) for seed in range(50)]
    draw = random.Random(7)
    for seed in range(200):
        network = harm_networks.drawn(seed)
        for each in (network, harm_networks.changed(network, draw), *harm_networks.simpler(network)):
            assert each.bottleneck * each.seconds <= 1.1 * harm_networks.MOST_BITS
            assert harm_networks.scenario_text(each)


def test_listed_networks_have_names_of_their_own():
    for networks in (harm_networks.quick(), harm_networks.every()):
        assert len({each.name for each in networks}) == len(networks)
    assert {each.kind for each in harm_networks.quick()} <= {each.kind for each in harm_networks.every()}


def test_a_way_changes_once_or_again_and_again():
    once = Network("x", way_extra=50)
    assert [step["extra"] for step in harm_networks.steps_of(once, 25)] == ["50000us"]
    shorter = dataclasses.replace(once, way_shorter=True)
    assert [step["extra"] for step in harm_networks.steps_of(shorter, 25)] == ["50000us", "0us"]
    often = dataclasses.replace(once, way_every=5)
    assert [step["at"] for step in harm_networks.steps_of(often, 25)] == [f"{at}000000us" for at in (5, 10, 15, 20, 25)]


def test_baselines_are_kept_and_the_law_is_measured_anew(tmp_path, monkeypatch):
    asked = []

    def run(_nodeb, _network, seeds, senders):
        asked.append(senders)
        return {(sender, seed + 1): PLAIN for sender in senders for seed in range(seeds)}

    monkeypatch.setattr(harm, "run_senders", run)
    first = harm.run_network("nodeb", Network("x"), 2, tmp_path)
    assert harm.run_network("nodeb", Network("x"), 2, tmp_path) == first and len(first) == 10
    assert asked == [harm.BASELINES, harm_networks.LAWS, harm_networks.LAWS]
    harm.run_network("nodeb", Network("x", rate=20 * MB), 2, tmp_path)
    assert asked[3:] == [harm.BASELINES, harm_networks.LAWS]


def test_an_older_program_skips_what_it_does_not_know(monkeypatch):
    def run(_nodeb, network, *_):
        if network.policer:
            raise harm.UnknownKey("unknown key 'policer'")
        return {("cubic", 1): PLAIN}

    monkeypatch.setattr(harm, "run_senders", run)
    measurer = harm.Measurer("nodeb", 1, 2)
    networks = [Network("x", policer="before", policer_rate=MB), Network("x")]
    assert [network for network, _ in measurer.measure(networks)] == [networks[1]]
    assert measurer.skipped == {networks[0].name: "unknown key 'policer'"}


def test_ues_of_a_scheduled_uplink_share_one_cell():
    network = Network("x", ues=4, scheduled=True)
    assert network.bottleneck == 10 * MB and Network("x", ues=4).bottleneck == 40 * MB
    assert harm_networks.scenario(network)["cell"]["cells"] == 1


def test_a_network_that_does_not_run_is_told_and_the_others_are_measured(monkeypatch):
    def run(_nodeb, network, *_):
        if network.ues > 1:
            raise harm.HarmError("no")
        return {("cubic", 1): PLAIN}

    monkeypatch.setattr(harm, "run_senders", run)
    measurer = harm.Measurer("nodeb", 1, 2)
    networks = [Network("x", ues=2), Network("x")]
    assert [network for network, _ in measurer.measure(networks)] == [networks[1]]
    assert measurer.failed == {networks[0].name: "no"}
