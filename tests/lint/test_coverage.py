"""The table of coverage: sums for each folder, and over all."""

import importlib.util
from pathlib import Path

SPEC = importlib.util.spec_from_file_location("coverage_table", Path(__file__).resolve().parents[2] / ".tools" / "coverage.py")
coverage = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(coverage)


def test_files_are_summed_by_folder():
    files = [{"filename": "proxy/engine/split/relay.cpp", "line_covered": 30, "line_total": 40},
             {"filename": "proxy/engine/split/stall_timeout.hpp", "line_covered": 0, "line_total": 10},
             {"filename": "control/feedback/codec.cpp", "line_covered": 5, "line_total": 5},
             {"filename": "control/smvs/smvs.cpp", "line_covered": 1, "line_total": 2}]
    sums = coverage.by_folder(files)
    assert sums == {"control/feedback": (5, 5), "control/smvs": (1, 2), "proxy/engine/split": (30, 50)}
    assert "| proxy/engine/split | 50 | 60.0 % |" in coverage.table(sums)
    assert coverage.table(sums).endswith("| all | 57 | 63.2 % |")
