"""Recorded links in virtual time: one setting of smvs for all of them, as configs/scenarios/traces.yaml has it."""

import csv
import os
import re
import subprocess
from pathlib import Path

import programs
import pytest

TRACES = Path(os.environ.get("SLUICE_TRACES", "no-traces"))
SCENARIO = Path(__file__).parents[2] / "configs" / "scenarios" / "traces.yaml"


def results(tmp_path, **changes):
    """smvs on the scenario with some of its lines changed; its rows by trace and round trip."""
    text = SCENARIO.read_text()
    for pattern, replacement in changes.values():
        text, count = re.subn(pattern, replacement, text)
        assert count == 1, pattern
    (tmp_path / "traces.yaml").write_text(text)
    subprocess.run([programs.program("nodeb"), "run", tmp_path / "traces.yaml", "--traces", TRACES, "--mode", "smvs", "--out",
                    tmp_path / "out"], check=True, capture_output=True, timeout=300)
    with (tmp_path / "out" / "results.csv").open() as file:
        return {(row["trace"], int(row["radio_round_trip_ms"])): row for row in csv.DictReader(file)}


@pytest.mark.real_time
def test_one_setting_of_smvs_serves_lte_and_umts(tmp_path):
    names = ["Verizon-LTE-short.down", "TMobile-UMTS-driving.down"]
    for name in names:
        if not (TRACES / name).is_file():
            pytest.skip(f"no trace {TRACES / name} (SLUICE_TRACES names the folder)")
    rows = results(tmp_path, traces=(r"values: \[Verizon.*", f"values: [{', '.join(names)}]"),
                   delays=(r"values: \[10, 20, 50\]", "values: [10, 20]"), labels=("labels: .*", "labels: [20, 40]"),
                   buffers=("values: .100 packets.*", "values: [unlimited]"))
    assert len(rows) == 4
    for (trace, round_trip), row in rows.items():
        # A recorded link serves once a millisecond: delays are whole ones, and some microseconds of the way before.
        used, delay = float(row["utilisation"]), round(float(row["radio_queue_delay_p95_ms"]))
        least, most = {20: (0.95, 55), 40: (0.94, 70)}[round_trip]
        assert used >= least and delay <= most, (trace, round_trip, used, delay)
