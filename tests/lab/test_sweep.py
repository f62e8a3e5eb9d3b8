"""A sweep over workers comes to the bytes of a single process: on this machine's processors, and with scheduler and workers
in network namespaces, though a worker is killed, the scheduler is, or a worker has another program."""

import argparse
import importlib.util
import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import lab as lab_module  # noqa: E402
import programs  # noqa: E402
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / ".tools"))
import papers  # noqa: E402
from lab import Lab  # noqa: E402

WHY_NOT = lab_module.why_not()
HAVE_DASK = importlib.util.find_spec("distributed") is not None
in_namespaces = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))
with_dask = pytest.mark.skipif(not HAVE_DASK, reason="python3-distributed is not installed (./run deps)")

ROOT = Path(__file__).resolve().parents[2]
SWEEP = ROOT / ".tools" / "sweep.py"
PYTHON = "/usr/bin/python3"
NODEB = programs.program("nodeb")
SCENARIO = """
duration: 20s
warmup: 1s
modes: [none, i-tcp]
cell:
  ues:
    - {address: 10.45.0.2, frame: 40B, channel: {type: trace, file: link.down}}
output: {flows: true, ues: true, queues: true, ratio: {column: buffer, base: "50", of: [goodput]}}
sweep:
  - {column: buffer, keys: [cell.ues.0.buffer], values: [50, 100, 200], unit: " frames"}
"""
SEEDS = 4
RUNS = 2 * 3 * SEEDS
FILES = ("results.csv", "series.csv", "summary.csv", "ues.csv", "flows.csv", "queues.csv", "report.html")


@pytest.fixture(name="folder")
def folder_with_scenario(tmp_path):
    """The scenario, its trace, and what one process makes of them."""
    (tmp_path / "long.yaml").write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "link.down").write_text("".join(f"{ms}\n" for ms in range(0, 1000, 2)), encoding="utf-8")
    one = subprocess.run([NODEB, "run", tmp_path / "long.yaml", "--seeds", str(SEEDS), "--workers", "1", "--out", tmp_path / "one"],
                         capture_output=True, check=True)
    (tmp_path / "table").write_bytes(one.stdout)
    return tmp_path


def command(folder, *words):
    return [PYTHON, "-B", SWEEP, NODEB, folder / "long.yaml", "--seeds", SEEDS, "--keep", folder / "kept", "--out", folder / "many",
            *words]


def sweep(folder, *words, code=0):
    run = subprocess.run(list(map(str, command(folder, *words))), capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == code, run.stderr
    return run


def kept(folder):
    return sorted((folder / "kept").glob("*.run"))


def assert_same(folder):
    assert sorted(file.name for file in (folder / "many").iterdir()) == sorted((*FILES, "provenance.json"))
    for name in FILES:
        assert (folder / "many" / name).read_bytes() == (folder / "one" / name).read_bytes(), name


@with_dask
def test_processors_of_this_machine_come_to_the_bytes_of_one_process(folder):
    run = sweep(folder, "--workers", 2)
    assert_same(folder)
    assert run.stdout.splitlines()[:-1] == (folder / "table").read_text(encoding="utf-8").splitlines()[:-1]
    assert f"100 % ({RUNS} of {RUNS} runs)" in run.stderr


def test_one_processor_needs_no_dask(folder):
    (folder / "distributed.py").write_text("raise ImportError('there is no Dask here')\n", encoding="utf-8")
    run = subprocess.run(list(map(str, command(folder, "--workers", 1))), env={"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin"},
                         capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    assert_same(folder)


@with_dask
def test_what_is_kept_is_not_run_again_and_a_scenario_that_changed_is(folder):
    sweep(folder, "--workers", 2)
    times = {file: file.stat().st_mtime_ns for file in kept(folder)}
    assert len(times) == RUNS
    kept(folder)[0].unlink()
    run = sweep(folder, "--workers", 2)
    assert f"{RUNS - 1} of {RUNS} runs are kept from before" in run.stderr
    assert sum(file.stat().st_mtime_ns != times[file] for file in kept(folder)) == 1
    assert_same(folder)
    (folder / "long.yaml").write_text(SCENARIO.replace("20s", "2s"), encoding="utf-8")
    sweep(folder, "--workers", 2)
    assert len(kept(folder)) == 2 * RUNS


@with_dask
def test_runs_without_their_trace_are_skipped_as_by_one_process(folder):
    (folder / "link.down").unlink()
    assert "the trace link.down is not in" in sweep(folder, "--workers", 2, code=77).stderr


@with_dask
def test_a_file_outside_is_refused(folder):
    (folder / "long.yaml").write_text(SCENARIO.replace("link.down", "../link.down"), encoding="utf-8")
    shutil.copy(folder / "link.down", folder.parent / "link.down")
    assert "../link.down does not lie below" in sweep(folder, "--workers", 2, code=1).stderr


def test_the_numbers_of_papers_are_written_by_one_command(folder):
    """Those of an experiment that is run anew take the place of older ones; the others stay."""
    (folder / "long.yaml").rename(folder / "one-link.yaml")
    (folder / "numbers.toml").write_text(
        "[one-link]\nseeds = 3\nnumbers = [{what = \"use\", column = \"utilisation\", unit = \"%\", "
        "where = {mode = \"none\"}, pick = \"range\"}]\n"
        "[two-link]\nseeds = 1\nnumbers = [{what = \"drops\", column = \"drops\", where = {mode = \"none\"}, "
        "pick = \"most\"}]\n", encoding="utf-8")
    shutil.copy(folder / "one-link.yaml", folder / "two-link.yaml")
    (folder / "README.md").write_text("<!-- numbers one -->\n<!-- end -->\n\n<!-- numbers two -->\n<!-- end -->\n", encoding="utf-8")

    def run(*only, seeds=None):
        options = argparse.Namespace(nodeb=NODEB, only=only, seeds=seeds, traces=[str(folder)], on=None, workers=1,
                                     keep=folder / "kept", out=folder / "results")
        assert papers.run(options, folder) == 0

    run()
    assert papers.problems(folder) == []
    before = papers.read_record(folder)
    assert [(row.experiment, row.seeds) for row in before] == [("one-link", 3), ("two-link", 1)]
    run("one-link", seeds=2)
    now = papers.read_record(folder)
    assert [(row.experiment, row.seeds) for row in now] == [("one-link", 2), ("two-link", 1)]
    assert now[1] == before[1] and papers.problems(folder) == []
    assert (folder / "results" / "one-link" / "provenance.json").is_file()


class Cluster:
    """A scheduler and workers, each in a network namespace of its own, on one bridge with the client."""

    def __init__(self, lab):
        self.lab = lab
        self.switch = lab.namespace("switch")
        self.hosts = {}
        for number, role in enumerate(("client", "scheduler", "west", "east"), 1):
            host = self.hosts[role] = lab.namespace(role)
            host.ip("link", "add", "eth0", "type", "veth", "peer", "name", role, "netns", self.switch.name)
            host.address("eth0", f"10.99.0.{number}/24")
            host.ip("link", "set", "eth0", "up")
            self.switch.ip("link", "set", role, "up")
        self.switch.bridge("br0", *self.hosts)
        self.address = "tcp://10.99.0.2:8786"

    def start_scheduler(self):
        scheduler = self.hosts["scheduler"].start("scheduler", "dask-scheduler", "--host", "10.99.0.2", "--no-dashboard",
                                                  cwd=self.lab.log_dir)
        scheduler.wait_for("Scheduler at:", timeout=60)
        return scheduler

    def start_worker(self, role, nodeb=NODEB):
        local = self.lab.log_dir / f"local-{role}"
        local.mkdir(exist_ok=True)
        return self.hosts[role].start(f"worker-{role}", "dask-worker", self.address, "--nthreads", 1, "--no-nanny",
                                      "--no-dashboard", "--name", role, "--local-directory", local, cwd=local,
                                      environment={"SLUICE_NODEB": str(nodeb)})

    def start_sweep(self, folder, *words):
        return self.hosts["client"].start("sweep", *command(folder, "--on", self.address, *words))


@pytest.fixture(name="cluster")
def cluster_of_namespaces(tmp_path):
    with Lab("sweep", tmp_path / "logs") as lab:
        yield Cluster(lab)


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "did not happen in time"
        time.sleep(0.05)


@in_namespaces
@with_dask
def test_a_worker_that_is_killed_midway_costs_its_runs_only(folder, cluster):
    cluster.start_scheduler()
    east = cluster.start_worker("east")
    cluster.start_worker("west")
    client = cluster.start_sweep(folder)
    until(lambda: len(kept(folder)) >= 2)
    east.signal(signal.SIGKILL)
    before = {file: file.stat().st_mtime_ns for file in kept(folder)}
    assert len(before) < RUNS, "the worker was killed too late"
    assert client.wait(100) == 0, client.tail()
    assert_same(folder)
    assert all(file.stat().st_mtime_ns == then for file, then in before.items()), "a finished run was run again"


@in_namespaces
@with_dask
def test_a_sweep_goes_on_when_its_scheduler_comes_back(folder, cluster):
    scheduler = cluster.start_scheduler()
    cluster.start_worker("west")
    client = cluster.start_sweep(folder)
    until(lambda: len(kept(folder)) >= 2)
    scheduler.signal(signal.SIGKILL)
    client.wait_for("is away; waiting for it", timeout=60)
    before = {file: file.stat().st_mtime_ns for file in kept(folder)}
    assert len(before) < RUNS, "the scheduler was killed too late"
    cluster.start_scheduler()
    cluster.start_worker("east")
    assert client.wait(100) == 0, client.tail()
    assert_same(folder)
    assert all(file.stat().st_mtime_ns == then for file, then in before.items()), "a finished run was run again"


@in_namespaces
@with_dask
def test_a_worker_with_another_program_is_refused_by_name(folder, cluster):
    other = folder / "nodeb"
    shutil.copy(NODEB, other)
    listing = json.loads(subprocess.run([NODEB, "run", folder / "long.yaml", "--list"], capture_output=True, check=True).stdout)
    if listing["program"].startswith("sources "):
        # The same sources: any build of them will do. A script that says something else stands for another one.
        other.write_text(f"#!/bin/sh\n{NODEB} \"$@\" | sed 's/\"program\": \"sources /&f/'\n", encoding="utf-8")
    else:
        with other.open("ab") as program:
            program.write(b"another build")
    cluster.start_scheduler()
    cluster.start_worker("west", other)
    client = cluster.start_sweep(folder)
    assert client.wait(100) == 1
    assert "is another program" in client.output()
    assert kept(folder) == []
