"""One scenario of the papers by both clocks, with kernel hosts by the one."""

import lab as lab_module
import papers_real
import pytest
import yaml

clocks = papers_real.clocks


@pytest.mark.real_time  # the link is kept busy
def test_kernel_hosts_under_clamp_do_what_built_in_hosts_do(tmp_path):
    """Three flows of CLAMP's figure 2 in passing ACKs: the same link, full and even, by either clock."""
    scenario = yaml.safe_load((clocks.FOLDER / "clamp.yaml").read_text(encoding="utf-8"))
    scenario.update(duration="10s", warmup="5s", modes=["clamp/regulate"])
    file = tmp_path / "clamp.yaml"
    file.write_text(yaml.safe_dump(scenario), encoding="utf-8")
    rows = papers_real.in_virtual_time(file, 1, tmp_path / "virtual")
    (tmp_path / "real").mkdir()
    rows.append(papers_real.in_real_time(scenario, "clamp/regulate", 1, tmp_path / "real"))
    for row in rows:
        assert float(row["utilisation"]) > 0.75, row
        assert float(row["flow_jain"]) > 0.75, row
        assert float(row["throughput_bps"]) > 6e6, row
    assert [row["clock"] for row in rows] == ["virtual", "real"]


def test_what_kernel_hosts_cannot_play_is_said_before_anything_starts(tmp_path):
    scenario = yaml.safe_load((clocks.FOLDER / "clamp.yaml").read_text(encoding="utf-8"))
    scenario["apps"] = [{"type": "web"}]
    with pytest.raises(lab_module.LabError, match="long transfers"):
        papers_real.in_real_time(scenario, "none", 1, tmp_path)
