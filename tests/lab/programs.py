"""sluice and nodeb as a lab runs them: their configuration, their start, their end."""

import csv
import json
import os
import signal
import subprocess
import time
from pathlib import Path

from lab import LabError

ROOT = Path(__file__).resolve().parent.parent.parent
# Where the programs that are run were built: SLUICE_BUILD=build/debug runs those of another preset.
BUILD = Path(os.environ.get("SLUICE_BUILD", ROOT / "build" / "release"))
# Where both ends of the feedback listen, on the box's own loopback, and their shared secret; worth nothing outside.
PROXY_FEEDBACK, NODEB_FEEDBACK = 38425, 38426
KEY = "6c61622d6f6e6c792d6b65792d6f662d6e6f2d76616c75652d6f757473696465"


def program(name):
    path = BUILD / "bin" / name
    if not path.is_file():
        raise LabError(f"{path} was not built (./run build)")
    return path


def make_folder(parser, folder):
    """The folder that --out names; where there can be none the parser says so, and ends the program."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        parser.error(f"--out: {folder}: {problem.strerror}")


def sanitizers():
    """What the programs were built with to find their faults ("address,undefined", "thread"); "" for nothing."""
    cache = BUILD / "CMakeCache.txt"
    lines = cache.read_text(encoding="utf-8").splitlines() if cache.is_file() else []
    return next((line.partition("=")[2] for line in lines if line.startswith("SLUICE_SANITIZE:")), "")


def af_packet(number, interface):
    """Device arguments for a kernel interface."""
    return f"net_af_packet{number},iface={interface},qdisc_bypass=1"


def to_yaml(value):
    """A configuration as YAML: JSON is YAML that needs no rules of quoting."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def write(file, configuration):
    """A configuration into a file that only its owner may read, as one with a secret has to be."""
    file.touch(mode=0o600)
    file.write_text(to_yaml(configuration), encoding="utf-8")


def merge(base, changes):
    """base with changes laid over it, section by section."""
    merged = dict(base)
    for key, value in changes.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = merge(merged[key], value) if both else value
    return merged


def sluice_configuration(radio_device, core_device, socket, **changes):
    """The proxy's configuration; changes are laid over it."""
    base = {
        "mode": "i-tcp",  # ordinary TCP unless a test steers, and then by the Node-B unless it says otherwise
        "smvs": {"law": "nodeb"},
        "confine": {"seccomp": not sanitizers()},  # which need more
        "ports": {"radio": {"device": radio_device}, "core": {"device": core_device}},
        "feedback": {"listen": f"127.0.0.1:{PROXY_FEEDBACK}", "keys": [{"id": 1, "secret": KEY}]},
        "tcp": {"time_wait": "1s"},  # so that tests see connections forgotten
        "admin": {"socket": str(socket)},
        "logging": {"level": "info", "statistics_period": "2s"},
    }
    return merge(base, changes)


def ask(socket, *words):
    """What a program answers to a command of sluicectl."""
    run = subprocess.run([program("sluicectl"), "--socket", socket, "--json", *map(str, words)],
                         capture_output=True, text=True, timeout=20, check=False)
    if run.returncode:
        raise LabError(f"sluicectl {' '.join(map(str, words))}: {run.stderr.strip()}")
    return json.loads(run.stdout)


class Sluice:
    """A proxy between the interfaces `radio` and `core` of a box."""

    def __init__(self, lab, box, radio="radio", core="core", name="sluice", environment=None, **changes):
        self.lab = lab
        self.socket = lab.log_dir / f"{name}.sock"
        self.file = lab.log_dir / f"{name}.yaml"
        write(self.file, sluice_configuration(af_packet(0, radio), af_packet(1, core), self.socket, **changes))
        runtime = lab.log_dir / f"{name}-runtime"
        runtime.mkdir(exist_ok=True)
        self.process = box.start(name, program("sluice"), self.file,
                                 environment={"XDG_RUNTIME_DIR": str(runtime), **(environment or {})}, urgent=True)
        self.process.wait_for("running", timeout=30)
        self.buffers_at_rest = self.buffers_in_use()

    def ask(self, *words):
        return ask(self.socket, *words)

    def counters(self):
        """Every counter by name, those of the shards without their prefix."""
        return {name.removeprefix("proxy."): value for name, value in self.ask("counters").items()}

    def counters_at_rest(self, timeout=15):
        """The counters once nothing has come in for so long that every shard has published its last ones. Those of the
        ports are read from the devices at the moment of the question, so only then do they agree with the shards'."""
        deadline = time.monotonic() + timeout
        before = self.counters()
        while True:
            time.sleep(0.3)
            after = self.counters()
            if all(after[f"ports.{side}.received"] == before[f"ports.{side}.received"] for side in ("radio", "core")):
                return after
            if time.monotonic() > deadline:
                raise LabError(f"frames still come in after {timeout} s")
            before = after

    def buffers_in_use(self):
        return self.ask("status")["packet_buffers"]["in_use"]

    def wait_until_at_rest(self, timeout=15, in_device=0):
        """Waits until every connection is forgotten and every packet buffer they held is back, but for so many that a
        driver may keep until it sends again."""
        deadline = time.monotonic() + timeout
        while True:
            status = self.ask("status")
            flows, held = status["flows"], status["packet_buffers"]["in_use"] - self.buffers_at_rest
            if flows == 0 and held <= in_device:
                return
            if time.monotonic() > deadline:
                raise LabError(f"{flows} flows and {held} packet buffers are still there after {timeout} s")
            time.sleep(0.1)

    def stop_and_check(self):
        """A clean end."""
        code = self.process.stop()
        if code != 0:
            raise LabError(f"sluice ended with {code}\n{self.process.tail(60)}")
        return code

    def kill(self):
        self.process.signal(signal.SIGKILL)
        self.process.wait(5)


def nodeb_scenario(channel, proxy=True, **changes):
    """A Node-B in real time between the interfaces of a box (Lab.radio); changes are laid over it."""
    base = {
        "seed": 1,
        "duration": "25s",
        "warmup": "5s",
        "server_proxy": {"delay": "20ms"},
        "proxy_nodeb": {"delay": "10ms"},
        "cell": {
            "tti": "1ms",
            "ues": [{"address": "10.45.0.2", "more_addresses": ["fd00:45::2"], "frame": "0B", "buffer": "600KiB",
                     "channel": channel}],
            "uplink": {"delay": "10ms"},
        },
        "live": {
            "hop_server": af_packet(0, "core"),
            "hop_proxy": af_packet(1, "hop"),
            "cell_core": af_packet(2, "cell"),
            "cell_ue": af_packet(3, "radio"),
            "priority": "real-time",
        },
    }
    if proxy:
        base["live"]["feedback"] = {"listen": f"127.0.0.1:{NODEB_FEEDBACK}", "peers": [f"127.0.0.1:{PROXY_FEEDBACK}"],
                                    "sender": 2, "keys": [{"id": 1, "secret": KEY}]}
    return merge(base, changes)


class Nodeb:
    """A Node-B in real time; its results are in `out` when it has ended."""

    def __init__(self, lab, box, scenario, mode, seconds, name="nodeb", traces=None):
        self.out = lab.log_dir / f"{name}-results"
        self.file = lab.log_dir / f"{name}.yaml"
        write(self.file, scenario)
        runtime = lab.log_dir / f"{name}-runtime"
        runtime.mkdir(exist_ok=True)
        more = ["--traces", traces] if traces else []
        self.process = box.start(name, program("nodeb"), "live", self.file, "--mode", mode, "--seconds", seconds, "--out",
                                 self.out, *more, environment={"XDG_RUNTIME_DIR": str(runtime)}, urgent=True)
        self.process.wait_for("ready: ", timeout=30)

    def results(self):
        """The row of results.csv."""
        with open(self.out / "results.csv", newline="", encoding="utf-8") as file:
            (row,) = csv.DictReader(file)
        return row

    def series(self):
        """The rows of series.csv."""
        with open(self.out / "series.csv", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
