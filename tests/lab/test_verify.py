"""nodeb verify repeats a result byte for byte and says what is not as it was; nodeb run keeps runs, and finds them again."""

import json
import shutil
import subprocess

import pytest

import programs

NODEB = programs.program("nodeb")
SCENARIO = """
duration: 2s
warmup: 500ms
modes: [none, i-tcp]
cell:
  ues:
    - {address: 10.45.0.2, frame: 40B, channel: {type: trace, file: link.down}}
sweep:
  - {column: buffer, keys: [cell.ues.0.buffer], values: [50, 100], unit: " frames"}
"""
FILES = ["results.csv", "series.csv", "summary.csv", "report.html"]


def nodeb(*words, code=0):
    """What it said on standard output, and on standard error."""
    run = subprocess.run([NODEB, *map(str, words)], capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == code, run.stderr + run.stdout
    return run.stdout, run.stderr


@pytest.fixture(name="folder")
def folder_with_scenario(tmp_path):
    (tmp_path / "short.yaml").write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "link.down").write_text("".join(f"{ms}\n" for ms in range(0, 1000, 2)), encoding="utf-8")
    return tmp_path


@pytest.fixture(name="result")
def result_of_run(folder):
    nodeb("run", folder / "short.yaml", "--seeds", 2, "--out", folder / "result")
    return folder / "result"


def test_a_result_says_where_it_is_from(folder, result):
    provenance = json.loads((result / "provenance.json").read_text(encoding="utf-8"))
    assert provenance["scenario"]["text"] == SCENARIO
    assert provenance["seeds"] == [1, 2]
    assert [trace["name"] for trace in provenance["traces"]] == ["link.down"]
    assert sorted(file["name"] for file in provenance["files"]) == sorted(FILES)
    assert len(provenance["program"]["sha256"]) == 64
    assert provenance["program"]["version"] and provenance["program"]["commit"] and provenance["program"]["compiler"]
    assert provenance["machines"][0]["kernel"].startswith("Linux")
    assert str(folder) not in (result / "provenance.json").read_text(encoding="utf-8")


def test_a_result_is_repeated_byte_for_byte(folder, result):
    said, _ = nodeb("verify", result, "--traces", folder)
    assert said == "identical: 8 runs, 4 files\n"


def test_what_was_changed_is_named_with_its_line(folder, result):
    lines = (result / "series.csv").read_text(encoding="utf-8").split("\n")
    lines[4] += "0"
    (result / "series.csv").write_text("\n".join(lines), encoding="utf-8")
    (result / "summary.csv").unlink()
    said, _ = nodeb("verify", result, "--traces", folder, code=1)
    assert "series.csv was changed after the run" in said
    assert "series.csv line 5: " in said
    assert "summary.csv is missing" in said
    assert "results.csv" not in said


def test_another_trace_is_named_and_a_missing_one(folder, result):
    (folder / "link.down").write_text("".join(f"{ms}\n" for ms in range(0, 1000, 3)), encoding="utf-8")
    said, _ = nodeb("verify", result, "--traces", folder, code=1)
    assert "the trace link.down has another content: " in said
    assert "results.csv line 2: " in said
    (folder / "link.down").unlink()
    _, said = nodeb("verify", result, "--traces", folder, code=77)
    assert "the trace link.down is missing" in said


def changed(result, change):
    file = result / "provenance.json"
    provenance = json.loads(file.read_text(encoding="utf-8"))
    change(provenance)
    file.write_text(json.dumps(provenance), encoding="utf-8")


def test_another_program_is_noted_and_the_same_bytes_are_still_the_same(folder, result):
    changed(result, lambda provenance: provenance["program"].update(commit="0123", sources="", version="0.0.1", sha256="0" * 64))
    said, _ = nodeb("verify", result, "--traces", folder)
    assert "note: another program: it was 0.0.1, commit 0123" in said
    assert said.endswith("identical: 8 runs, 4 files\n")


@pytest.mark.parametrize("name", ["../outside.yaml", "/tmp/outside.yaml", ""])
def test_a_scenario_is_written_nowhere_else(folder, result, name):
    changed(result, lambda provenance: provenance["scenario"].update(name=name))
    _, said = nodeb("verify", result, "--traces", folder, code=2)
    assert "is not below a folder" in said
    assert not (folder.parent / "outside.yaml").exists()


def test_a_scenario_that_is_not_that_of_its_digest_is_refused(folder, result):
    changed(result, lambda provenance: provenance["scenario"].update(text=SCENARIO.replace("2s", "3s")))
    _, said = nodeb("verify", result, "--traces", folder, code=2)
    assert "does not match its digest" in said


def test_what_is_no_result_is_refused(folder, result):
    _, said = nodeb("verify", folder / "nowhere", code=2)
    assert "provenance.json: cannot be read" in said
    (result / "provenance.json").write_text('{"format": 1', encoding="utf-8")
    _, said = nodeb("verify", result, code=2)
    assert "is not JSON" in said


def test_a_report_of_several_results_names_its_parts(folder, result):
    nodeb("report", "--out", folder / "both", result, result)
    provenance = json.loads((folder / "both" / "provenance.json").read_text(encoding="utf-8"))
    assert [part["provenance"]["seeds"] for part in provenance["parts"]] == [[1, 2], [1, 2]]
    _, said = nodeb("verify", folder / "both", code=2)
    assert "verify each of them" in said
    (result / "provenance.json").write_text("[" * 1_000_000, encoding="utf-8")
    nodeb("report", "--out", folder / "all", result, folder / "both")
    provenance = json.loads((folder / "all" / "provenance.json").read_text(encoding="utf-8"))
    assert [part["provenance"] for part in provenance["parts"]] == [None, None]
    assert "is not JSON" in provenance["parts"][0]["reason"]


def test_runs_made_one_by_one_come_to_the_same_bytes(folder, result):
    common = ["run", folder / "short.yaml", "--seeds", 2]
    listing = json.loads(nodeb(*common, "--list")[0])
    assert [run["run"] for run in listing["runs"]] == list(range(8))
    assert len({run["kept"] for run in listing["runs"]}) == 8
    for run in reversed(listing["runs"]):
        nodeb(*common, "--keep", folder / "kept", "--only", run["run"])
        assert (folder / "kept" / run["kept"]).is_file()
    times = {file.name: file.stat().st_mtime_ns for file in (folder / "kept").iterdir()}
    nodeb(*common, "--keep", folder / "kept", "--out", folder / "merged")
    assert times == {file.name: file.stat().st_mtime_ns for file in (folder / "kept").iterdir()}, "a run was run again"
    for name in FILES:
        assert (folder / "merged" / name).read_bytes() == (result / name).read_bytes(), name
    nodeb("verify", folder / "merged", "--traces", folder)


def test_a_part_of_the_runs_is_verified_as_that_part(folder):
    nodeb("run", folder / "short.yaml", "--only", 1, "--only", 3, "--out", folder / "part")
    assert nodeb("verify", folder / "part", "--traces", folder)[0] == "identical: 2 runs, 3 files\n"
    nodeb("run", folder / "short.yaml", "--only", 4, code=2)


def test_a_kept_run_that_is_broken_is_run_again(folder, result):
    common = ["run", folder / "short.yaml", "--seeds", 2, "--keep", folder / "kept"]
    nodeb(*common)
    (file, *_) = sorted((folder / "kept").iterdir())
    file.write_bytes(file.read_bytes()[:-1])
    _, said = nodeb(*common, "--out", folder / "merged")
    assert f"{file}: is incomplete; it was run again" in said
    assert (folder / "merged" / "results.csv").read_bytes() == (result / "results.csv").read_bytes()


def test_the_same_labels_under_another_scenario_are_other_runs(folder):
    nodeb("run", folder / "short.yaml", "--keep", folder / "kept")
    shutil.copy(folder / "short.yaml", folder / "other.yaml")
    (folder / "other.yaml").write_text(SCENARIO.replace("2s", "3s"), encoding="utf-8")
    nodeb("run", folder / "other.yaml", "--keep", folder / "kept")
    assert len(list((folder / "kept").iterdir())) == 8
