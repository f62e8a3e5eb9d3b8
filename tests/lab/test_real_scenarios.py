"""The scenarios of the papers that are played by both clocks: what kernel hosts are asked for, and what is written of it."""

import pytest

import both_clocks
import kernel_flows
import yaml
from kernel_flows import Flow
from lab import LabError

clocks = both_clocks.clocks
SCENARIO = """
duration: 3s
warmup: 1s
modes: [none, fair-share/regulate]
server_proxy: {delay: 5ms}
proxy_nodeb: {delay: 1ms}
cell:
  ues:
    - {address: 10.45.0.2, frame: 0B, channel: {type: constant, rate: 5Mb/s}}
    - {address: 10.45.0.3, frame: 0B, channel: {type: constant, rate: 5Mb/s}}
apps:
  - {type: bulk, ue: 0, direction: upload}
  - {type: bulk, ue: 0, ues: 2, connections: 2}
"""


@pytest.mark.parametrize("folder", both_clocks.FOLDERS.values(), ids=both_clocks.FOLDERS)
def test_every_scenario_can_be_played_by_kernel_hosts(folder):
    assert clocks.names(folder)
    for name in clocks.names(folder):
        scenario = yaml.safe_load((folder / f"{name}.yaml").read_text(encoding="utf-8"))
        assert kernel_flows.flows_of(scenario), name
        assert kernel_flows.seconds(scenario["duration"]) > kernel_flows.seconds(scenario["warmup"]), name
        assert len(both_clocks.points_of(scenario)) > 1, name


def test_the_transfers_are_those_of_the_applications():
    up, down, other = (Flow(ue, "192.0.2.1", upload) for ue, upload in
                       (("10.45.0.2", True), ("10.45.0.2", False), ("10.45.0.3", False)))
    assert kernel_flows.flows_of(yaml.safe_load(SCENARIO)) == [up, down, down, other, other]


@pytest.mark.parametrize("app", [{"type": "web"}, {"type": "bulk", "size": 1000}, {"type": "bulk", "stop": "5s"}])
def test_what_kernel_hosts_do_not_play_is_refused(app):
    with pytest.raises(LabError, match="long transfers"):
        kernel_flows.flows_of({**yaml.safe_load(SCENARIO), "apps": [app]})


def test_lines_of_single_servers_are_refused():
    with pytest.raises(LabError, match="server_hops"):
        kernel_flows.flows_of({**yaml.safe_load(SCENARIO), "server_hops": [{"delay": "1ms"}]})


def test_values_have_units():
    assert kernel_flows.seconds("250ms") == 0.25
    assert kernel_flows.number("500kB", kernel_flows.SIZES) == 500_000
    with pytest.raises(LabError, match="got 5 parsecs"):
        kernel_flows.seconds("5 parsecs")


def test_fairness_is_that_of_the_results():
    flows = [Flow("a", "s", True), Flow("a", "s", False), Flow("b", "s", False)]
    figures = kernel_flows.fairness([4000, 1000, 3000], flows, 2)
    assert figures == {"throughput_bps": 16_000, "flow_jain": pytest.approx(64 / (3 * 26)), "up_down_ratio": 2}


def test_a_sweep_is_played_point_by_point_as_nodeb_does():
    scenario = yaml.safe_load(SCENARIO) | {"sweep": [
        {"column": "sender", "keys": ["proxy.tcp.congestion"], "values": ["copa", "cubic"], "labels": ["copa", "law"]},
        {"keys": ["modes.0"], "values": ["i-tcp", "smvs"], "with": "sender"},
        {"column": "rate", "keys": ["cell.ues.*.channel.rate", "cell.ues.1.buffer"], "values": ["1Mb/s", "2Mb/s"]}]}
    points = both_clocks.points_of(scenario)
    assert [words for words, *_ in points] == ["copa, 1Mb/s", "copa, 2Mb/s", "law, 1Mb/s", "law, 2Mb/s"]
    assert [mode for _, mode, _ in points] == ["i-tcp", "i-tcp", "smvs", "smvs"]
    _, _, last = points[-1]
    assert last["proxy"] == {"tcp": {"congestion": "cubic"}}
    assert [ue["channel"]["rate"] for ue in last["cell"]["ues"]] == ["2Mb/s", "2Mb/s"]
    assert last["cell"]["ues"][1]["buffer"] == "2Mb/s"
    assert "buffer" not in last["cell"]["ues"][0]
    assert "sweep" not in last
    assert both_clocks.words_of({"mode": "smvs", "sender": "law", "rate": "2Mb/s"}, scenario) == "law, 2Mb/s"


def test_without_a_sweep_each_mode_is_a_point():
    scenario = yaml.safe_load(SCENARIO)
    assert both_clocks.points_of(scenario) == [(mode, mode, scenario) for mode in scenario["modes"]]
    assert both_clocks.words_of({"mode": "none"}, scenario) == "none"


@pytest.mark.parametrize(("law", "told"), [("acks", {"law": "acks"}), ("proxy", {"law": "nodeb", "parameters": {"one_way_delay": "1ms"}})])
def test_the_proxy_steers_by_acknowledgements_where_the_scenario_does(law, told):
    scenario = yaml.safe_load(SCENARIO) | {"smvs": {"law": law}}
    assert both_clocks.proxy_settings(scenario, "smvs/regulate") == {"mode": "smvs", "intercept": "regulate", "smvs": told}
    live = both_clocks.live_scenario(scenario, "smvs", 1, 3)["live"]
    assert ("feedback" in live) == (law != "acks"), "reports are for the Node-B's law"


def test_kernel_hosts_have_the_congestion_control_of_the_scenario():
    assert kernel_flows.congestion_of({}) == "cubic"
    assert kernel_flows.congestion_of({"hosts": {"tcp": {"congestion": "newreno"}}}) == "reno"


def row(clock, mode, seed, drops):
    return {"mode": mode, "clock": clock, "seed": str(seed), "measured_s": "2", "throughput_bps": "5e6", "utilisation": "0.9",
            "drops": str(drops), "flow_jain": ""}


def test_the_record_has_a_row_for_each_mode_and_clock_and_the_page_its_table(tmp_path):
    folder = tmp_path / "real"
    folder.mkdir()
    (folder / "one.yaml").write_text(SCENARIO, encoding="utf-8")
    page = tmp_path / "clocks.md"
    page.write_text(f"before\n{clocks.BEGIN}{clocks.END}after\n", encoding="utf-8")
    assert clocks.problems(folder) == ["real/results.csv: one: nothing of it"]
    runs = [row(clock, mode, seed, 10 * seed) for mode in ("none", "smvs") for clock in clocks.CLOCKS for seed in (1, 2)]
    clocks.write("one", clocks.rows_of("one", runs, folder), folder)
    assert clocks.problems(folder) == []
    text = page.read_text(encoding="utf-8")
    assert "| `real/one` | `smvs` | real | 2 | 5.00 ± 0.00 Mb/s | 90.0 ± 0.0 % | 15 ± 64 |" in text
    assert text.startswith("before\n") and text.endswith("after\n")
    page.write_text(text.replace("15 ± 64", "15 ± 63"), encoding="utf-8")
    assert clocks.problems(folder) == ["clocks.md: its table of both clocks is not that of real/results.csv"]
    (folder / "one.yaml").write_text(SCENARIO.replace("3s", "4s"), encoding="utf-8")
    assert clocks.problems(folder) == ["real/results.csv: one: the scenario has changed since"]


def test_a_mode_that_was_played_by_one_clock_only_is_no_comparison(tmp_path):
    (tmp_path / "one.yaml").write_text(SCENARIO, encoding="utf-8")
    with pytest.raises(clocks.PapersError, match="none has no run in real time"):
        clocks.rows_of("one", [row("virtual", "none", 1, 1)], tmp_path)
