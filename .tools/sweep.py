#!/usr/bin/python3
"""The runs of an experiment, spread over processors and machines by Dask distributed.

    sweep.py NODEB FILE [--out DIR] [--seeds N] [--traces DIR] [--on ADDRESS] [--workers N] [--keep DIR]

A worker runs some of them by its own nodeb and hands back what `nodeb run --keep` wrote. Finished runs are kept in a
folder. `nodeb run --keep` then makes of them what one process would have written, byte for byte. What is kept is not run
again: not when a worker died, nor when the scheduler did. Workers need nothing of this file: Dask sends them what is
below "At a worker", and the experiment's files."""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
RUNS = ROOT / "out" / "runs"
SKIPPED = 77  # exit code of nodeb where a trace is missing
PATIENCE_SECONDS = 60
PARTS_PER_PROCESSOR = 4
LARGEST_PART = 8


class SweepError(Exception):
    """What ends a sweep, in words for who started it."""


# At a worker ----------------------------------------------------------------------------------------------------------


def place_files(dask_worker, name, files):
    """The experiment's files in a folder of the worker; returns it. Written by whoever comes first, whole or not at all."""
    folder = Path(dask_worker.local_directory) / name
    if not folder.is_dir():
        with tempfile.TemporaryDirectory(dir=dask_worker.local_directory) as unfinished:
            for file, content in files.items():
                path = Path(unfinished) / "files" / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            with contextlib.suppress(OSError):  # another thread was first
                os.rename(Path(unfinished) / "files", folder)
    return folder


def program_here(preferred):
    """SLUICE_NODEB of the worker's environment, else the path that the client has, else nodeb of the search path."""
    named = os.environ.get("SLUICE_NODEB")
    return named or (preferred if os.access(preferred, os.X_OK) else "nodeb")


def nodeb_at(folder, program, words):
    """Runs nodeb, which does not outlive the worker."""
    command = ["setpriv", "--pdeathsig", "KILL", program, *words]
    return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                          check=False)


def what_differs(worker, folder, program, words, task):
    """Why the runs of the worker's nodeb would not be those that the client asks for; empty where they would. A worker asks
    once for an experiment."""
    known = worker.__dict__.setdefault("sluice_listings", {})
    key = (task["files"], task["program"], task["seeds"])
    if key not in known:
        listing = nodeb_at(folder, program, [*words, "--list"])
        if listing.returncode:
            return f"{program} does not list the runs: {listing.stderr.strip()[-500:]}"
        here = json.loads(listing.stdout)
        if here["program"] != task["program"]:
            return f"{program} is another program: {here['program']}; this sweep is of {task['program']}"
        known[key] = [run["kept"] for run in here["runs"]]
    if [known[key][number] for number in task["numbers"]] != task["kept"]:
        return "its files are not those of this sweep"
    return ""


def run_part(task):
    """Runs a part of an experiment; returns what it came to: "ran" and the files of the runs by name (a run that lacks
    its trace has none), "refused" or "failed" and why. Raises RuntimeError where trying again may help."""
    from distributed import get_worker  # pylint: disable=import-outside-toplevel

    worker = get_worker()
    plugin = worker.plugins.get(task["files"])
    if plugin is None:
        raise RuntimeError("the experiment's files have not come yet")
    folder = place_files(worker, plugin.name, plugin.files)
    program = program_here(task["nodeb"])
    words = ["run", task["scenario"], "--seeds", str(task["seeds"]), "--traces", "."]
    different = what_differs(worker, folder, program, words, task)
    if different:
        return "refused", f"worker {worker.address}: {different}"
    with tempfile.TemporaryDirectory(dir=worker.local_directory) as kept:
        only = [word for number in task["numbers"] for word in ("--only", str(number))]
        run = nodeb_at(folder, program, [*words, "--workers", "1", "--keep", kept, *only])
        if run.returncode < 0 or run.returncode == 130:
            raise RuntimeError(f"worker {worker.address}: nodeb was ended ({run.returncode})")
        if run.returncode not in (0, SKIPPED):
            return "failed", f"worker {worker.address}: nodeb ended with {run.returncode}: {run.stderr.strip()[-2000:]}"
        return "ran", {name: (Path(kept) / name).read_bytes() for name in task["kept"] if (Path(kept) / name).is_file()}


def files_plugin(name, files):
    """Brings the files to every worker, also to one that comes later."""
    from distributed import WorkerPlugin  # pylint: disable=import-outside-toplevel

    class Files(WorkerPlugin):
        """The files of an experiment."""

        def __init__(self):
            self.name, self.files = name, files

    return Files()


# At the client --------------------------------------------------------------------------------------------------------


def nodeb_here(program, *words):
    return subprocess.run([program, *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def below(name):
    """A name that leads to a file below any folder."""
    path = PurePosixPath(name)
    return bool(path.parts) and not path.is_absolute() and ".." not in path.parts


@dataclass
class Experiment:
    """A scenario and the runs that it asks for."""
    nodeb: str
    file: Path
    seeds: int = 1
    traces: tuple = ()
    keep: Path = RUNS

    def __post_init__(self):
        self.nodeb = os.path.abspath(self.nodeb)
        listing = nodeb_here(self.nodeb, *self.words(), "--list")
        if listing.returncode:
            raise SweepError(listing.stderr.strip() or f"{self.nodeb} ended with {listing.returncode}")
        self.listing = json.loads(listing.stdout)
        self.skipped = set()

    @property
    def name(self):
        return self.listing["experiment"]

    @property
    def runs(self):
        return self.listing["runs"]

    def words(self):
        """What both nodeb run have in common."""
        return ["run", self.file, "--seeds", self.seeds, *(word for folder in self.traces for word in ("--traces", folder))]

    def missing(self):
        """The runs that are not kept, and not known to lack their trace."""
        return [run for run in self.runs if run["kept"] not in self.skipped and not (self.keep / run["kept"]).is_file()]

    def take(self, kept):
        """Keeps finished runs, each whole or not at all."""
        self.keep.mkdir(parents=True, exist_ok=True)
        for name, content in kept.items():
            unfinished = self.keep / f"{name}.{os.getpid()}"
            unfinished.write_bytes(content)
            unfinished.replace(self.keep / name)

    def files(self):
        """{name: bytes} of all that a worker needs."""
        needed = [self.listing["scenario"], *self.listing["profiles"], *self.listing["traces"]]
        for file in needed:
            if not below(file["name"]):
                raise SweepError(f"{self.file}: {file['name']} does not lie below the scenario or a folder of traces, "
                                 "where workers would have it, too")
        return {file["name"]: Path(file["path"]).read_bytes() for file in needed}

    def plugin_name(self):
        digests = [self.listing["scenario"]["sha256"], *(f["sha256"] for f in self.listing["profiles"] + self.listing["traces"])]
        return f"sluice-{self.name}-{'-'.join(digest[:12] for digest in digests)}"[:200]

    def tasks(self, processors):
        """The missing runs in parts, some for each processor: small ones are run together."""
        missing = self.missing()
        size = max(1, min(LARGEST_PART, len(missing) // (max(1, processors) * PARTS_PER_PROCESSOR)))
        common = {"nodeb": self.nodeb, "program": self.listing["program"], "files": self.plugin_name(),
                  "scenario": self.listing["scenario"]["name"], "seeds": self.seeds}
        for first in range(0, len(missing), size):
            part = missing[first:first + size]
            yield {**common, "numbers": [run["run"] for run in part], "kept": [run["kept"] for run in part]}

    def merge(self, out=None, quiet=False):
        """What one process would have written and printed, from the kept runs; those that are missing are run. Returns
        nodeb's exit code."""
        words = [self.nodeb, *self.words(), "--workers", 1, "--keep", self.keep, *(["--out", out] if out else [])]
        sys.stdout.flush()
        stdout = subprocess.DEVNULL if quiet else None
        return subprocess.run(list(map(str, words)), stdin=subprocess.DEVNULL, stdout=stdout, check=False).returncode

    def forget(self):
        """Removes the kept runs of this experiment."""
        for run in self.runs:
            (self.keep / run["kept"]).unlink(missing_ok=True)


class Progress:
    """A line on standard error for every tenth of the way."""

    def __init__(self, name, total, done):
        self.name, self.total, self.done, self.told = name, total, done, 10 * done // max(1, total)
        if done:
            print(f"{name}: {done} of {total} runs are kept from before", file=sys.stderr, flush=True)

    def add(self, count):
        self.done += count
        tenth = 10 * self.done // max(1, self.total)
        if tenth > self.told:
            self.told = tenth
            print(f"{self.name}: {10 * tenth} % ({self.done} of {self.total} runs)", file=sys.stderr, flush=True)


def require_one_version(client, address):
    """Raises SweepError where the scheduler or a worker has another version of distributed than this client: their messages
    are not made for each other, and end in lost runs or in a traceback."""
    from distributed import __version__ as ours  # pylint: disable=import-outside-toplevel

    theirs = client.get_versions()
    parts = {f"the scheduler at {address}": theirs["scheduler"]}
    parts.update((f"worker {worker}", versions) for worker, versions in theirs["workers"].items())
    for name, versions in parts.items():
        version = ((versions or {}).get("packages") or {}).get("distributed")
        if version != ours:
            raise SweepError(f"{name} has distributed {version or 'of an unknown version'}, and this client has {ours}: "
                             "install one version everywhere")


def register(client, plugin, name):
    """Client.register_plugin() is there since distributed 2023.9.2, and took the place of register_worker_plugin()."""
    (client.register_plugin if hasattr(client, "register_plugin") else client.register_worker_plugin)(plugin, name)


def spread(client, experiments, progress):
    """Has the cluster run what is missing, and keeps it as it comes. False: the connection to the scheduler broke."""
    from distributed import as_completed  # pylint: disable=import-outside-toplevel

    processors = sum(client.nthreads().values())
    submitted = {}
    for experiment in experiments:
        if experiment.missing():
            register(client, files_plugin(experiment.plugin_name(), experiment.files()), experiment.plugin_name())
        for task in experiment.tasks(processors):
            future = client.submit(run_part, task, pure=False, retries=3)
            submitted[future] = (experiment, task)
    for future in as_completed(list(submitted), raise_errors=False):
        experiment, task = submitted.pop(future)
        if future.status in ("cancelled", "lost"):
            return False
        if future.status == "error":
            raise SweepError(f"{experiment.name}: {future.exception()!r}")
        outcome, what = future.result()
        if outcome != "ran":
            raise SweepError(f"{experiment.name}: {what}")
        experiment.take(what)
        experiment.skipped.update(name for name in task["kept"] if name not in what)
        progress.add(len(task["kept"]))
    return True


def connected(client, address, gone):
    """A client of the scheduler at `address`. Raises one of `gone` where nothing answers there, and SweepError where what
    answers is not understood."""
    try:
        return client(address, timeout=5)
    except gone:
        raise
    except Exception as problem:
        raise SweepError(f"the scheduler at {address} is not understood; has it another version of distributed? {problem!r}") \
            from problem


def on_cluster(address, experiments, progress, patience=PATIENCE_SECONDS):
    """Runs what is missing on the cluster at `address`, and goes on when its scheduler comes back."""
    import cloudpickle  # pylint: disable=import-outside-toplevel
    from distributed import Client  # pylint: disable=import-outside-toplevel
    from distributed.comm import CommClosedError  # pylint: disable=import-outside-toplevel

    if __name__ != "__main__":
        cloudpickle.register_pickle_by_value(sys.modules[__name__])
    gone = (OSError, TimeoutError, CommClosedError)
    last_seen = time.monotonic()
    while any(experiment.missing() for experiment in experiments):
        with contextlib.suppress(*gone):
            with connected(Client, address, gone) as client:
                require_one_version(client, address)
                last_seen = time.monotonic()
                if spread(client, experiments, progress):
                    return
                last_seen = time.monotonic()
        if time.monotonic() - last_seen > patience:
            left = sum(len(experiment.missing()) for experiment in experiments)
            raise SweepError(f"no scheduler at {address}; {left} runs are missing, the others are kept: the same command goes on")
        print(f"the scheduler at {address} is away; waiting for it", file=sys.stderr, flush=True)
        time.sleep(2)


def on_this_machine(workers, experiments, progress):
    """The same on this machine's processors: a cluster of one worker with so many threads, each of which waits for a nodeb."""
    from distributed import LocalCluster  # pylint: disable=import-outside-toplevel

    with tempfile.TemporaryDirectory() as folder, LocalCluster(
            n_workers=1, threads_per_worker=workers, processes=False, dashboard_address=None, local_directory=folder) as cluster:
        on_cluster(cluster.scheduler.address, experiments, progress)


def run_all(experiments, on=None, workers=0):
    """Has every run of the experiments made and kept. `on`: a scheduler; else this machine's processors, or so many. On one
    processor there is nothing to spread: merge() makes the runs, without Dask."""
    total = sum(len(experiment.runs) for experiment in experiments)
    missing = sum(len(experiment.missing()) for experiment in experiments)
    name = experiments[0].name if len(experiments) == 1 else f"{len(experiments)} experiments"
    progress = Progress(name, total, total - missing)
    processors = workers or len(os.sched_getaffinity(0))
    if missing and on:
        on_cluster(on, experiments, progress)
    elif missing and processors > 1:
        on_this_machine(processors, experiments, progress)


def add_options(parser):
    """Those of every sweep."""
    parser.add_argument("nodeb", help="the program")
    parser.add_argument("--traces", action="append", default=[], help="folder of capacity traces")
    parser.add_argument("--on", metavar="ADDRESS", help="a Dask scheduler, tcp://host:8786; else this machine's processors")
    parser.add_argument("--workers", type=int, default=0, help="so many processors of this machine; 1 needs no Dask")
    parser.add_argument("--keep", type=Path, help="folder of finished runs, which stay there; else they go with the result")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    parser.add_argument("file", type=Path, help="scenario")
    parser.add_argument("--out", type=Path, help="folder for the results")
    parser.add_argument("--seeds", type=int, default=1, help="per point")
    options = parser.parse_args()
    experiment = Experiment(options.nodeb, options.file, options.seeds, tuple(options.traces), options.keep or RUNS)
    run_all([experiment], options.on, options.workers)
    code = experiment.merge(options.out)
    if code == 0 and not options.keep:
        experiment.forget()
    return code


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SweepError as problem:
        sys.exit(f"sweep: {problem}")
    except KeyboardInterrupt:
        print("sweep: stopped; the finished runs are kept", file=sys.stderr)
        sys.exit(130)
