"""Scenarios by both clocks, with kernel hosts or nodeb's own by the one."""

import both_clocks
import lab as lab_module
import pytest
import yaml

clocks = both_clocks.clocks


@pytest.mark.real_time  # the link is kept busy
def test_kernel_hosts_under_clamp_do_what_built_in_hosts_do(tmp_path):
    """Three flows of CLAMP's figure 2 in passing ACKs: the same link, full and even, by either clock."""
    scenario = yaml.safe_load((clocks.FOLDER / "clamp.yaml").read_text(encoding="utf-8"))
    scenario.update(duration="10s", warmup="5s", modes=["clamp/regulate"])
    file = tmp_path / "clamp.yaml"
    file.write_text(yaml.safe_dump(scenario), encoding="utf-8")
    rows = both_clocks.in_virtual_time(file, 1, tmp_path / "virtual")
    (tmp_path / "real").mkdir()
    rows.append(both_clocks.in_real_time(scenario, "clamp/regulate", 1, tmp_path / "real"))
    for row in rows:
        assert float(row["utilisation"]) > 0.75, row
        assert float(row["flow_jain"]) > 0.75, row
        assert float(row["throughput_bps"]) > 6e6, row
    assert [row["clock"] for row in rows] == ["virtual", "real"]


def test_what_kernel_hosts_cannot_play_is_said_before_anything_starts(tmp_path):
    scenario = yaml.safe_load((clocks.FOLDER / "clamp.yaml").read_text(encoding="utf-8"))
    scenario["apps"] = [{"type": "web"}]
    with pytest.raises(lab_module.LabError, match="long transfers"):
        both_clocks.in_real_time(scenario, "none", 1, tmp_path)


SENDER = {"seed": 1, "duration": "10s", "warmup": "4s", "modes": ["i-tcp"], "server_proxy": {"delay": "20ms"},
          "proxy_nodeb": {"delay": "10ms"}, "apps": [{"type": "bulk"}], "smvs": {"law": "acks"},
          "cell": {"tti": "1ms", "uplink": {"delay": "0ms"},
                   "ues": [{"address": "10.45.0.2", "frame": "0B", "buffer": "600KiB",
                            "channel": {"type": "constant", "rate": "10Mb/s"}}]}}


@pytest.mark.real_time  # the link is kept busy
@pytest.mark.parametrize("congestion", ["bbr3", "copa"])
def test_the_proxy_sends_to_a_kernel_by_a_new_congestion_control(tmp_path, congestion):
    row = both_clocks.in_real_time({**SENDER, "proxy": {"tcp": {"congestion": congestion}}}, "i-tcp", 1, tmp_path)
    assert float(row["utilisation"]) > 0.75, row
    # CUBIC would fill the buffer, which takes half a second to send.
    assert float(row["radio_queue_delay_p95_ms"]) < 250, row


@pytest.mark.real_time  # the link is kept busy
@pytest.mark.parametrize(("congestion", "queue", "mode"), [("prague", "dualpi2", "bypass"), ("abc", "abc", "bypass"),
                                                           ("prague", "dualpi2", "i-tcp")])
def test_senders_with_accurate_ecn_keep_it_through_the_proxy(tmp_path, congestion, queue, mode):
    tcp = {"tcp": {"congestion": congestion}}
    scenario = {**SENDER, "hosts": {"accurate_ecn": True, **tcp}, "proxy": tcp}
    scenario["cell"]["ues"][0]["queue"] = {"type": queue}
    row = both_clocks.in_real_time(scenario, mode, 1, tmp_path)  # which says so where the proxy has split them, or has not
    assert float(row["utilisation"]) > 0.3, row
    assert float(row["radio_queue_delay_p95_ms"]) < 150, row
