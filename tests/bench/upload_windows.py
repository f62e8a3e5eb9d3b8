#!/usr/bin/python3
"""Downloads, uploads and a game of one UE in random networks, with smvs.upload_windows unlimited and limited.

    python3 tests/bench/upload_windows.py NODEB [NETWORKS]    prints the table of docs/pages/internals/rate-control.md

NODEB is the program, and NETWORKS the number of random networks (120). The same number gives the same networks.
"""

import concurrent.futures
import csv
import random
import subprocess
import sys
import tempfile
from pathlib import Path

MEASURES = ("down", "up", "game_down_p95_ms", "game_up_p95_ms")


def drawn(seed):
    """Rates of the uplink and the downlink, whether hosts use timestamps, and the scenario without its proxy."""
    dice = random.Random(seed)
    uplink, downlink = (low * (high / low) ** dice.random() for low, high in ((0.3e6, 50e6), (2e6, 100e6)))
    delay, modem = dice.uniform(20, 200), 2 ** dice.randint(15, 19)
    kind = dice.choice(["constant", "constant", "scheduled", "varying"])
    uploads, downloads = dice.choice([1, 1, 2, 4]), dice.choice([1, 1, 2, 4])
    timestamps = dice.random() < 0.75
    buffer = dice.choice(["unlimited", f"{downlink / 8 * dice.uniform(0.05, 0.5) + 6000:.0f}B"])
    congestion = dice.choice(["cubic", "cubic", "bbr", "bbr3"])
    line = {"constant": f"{{delay: 0ms, rate: {uplink:.0f}b/s, buffer: {modem}B}}",
            "scheduled": f"{{scheduled: {{rate: {uplink:.0f}b/s}}}}",
            "varying": "{delay: 0ms, rate: 1Gb/s}"}[kind]
    own = ""
    if kind == "varying":
        own = (f", uplink: {{channel: {{type: piecewise, min: {uplink * 0.5:.0f}b/s, max: {uplink * 1.5:.0f}b/s, "
               f"period: {dice.choice([100, 500, 2000])}ms}}, buffer: {modem}B}}")
    return uplink, downlink, timestamps, f"""
seed: {seed}
duration: 30s
warmup: 5s
modes: [smvs]
server_proxy: {{delay: {delay * 300:.0f}us}}
proxy_nodeb: {{delay: {delay * 100:.0f}us}}
cell:
  tti: 1ms
  uplink: {line}
  ues:
    - {{address: 10.45.0.2, frame: 0B, buffer: {buffer}, channel: {{type: constant, rate: {downlink:.0f}b/s}}{own}}}
hosts:
  timestamps: {str(timestamps).lower()}
  receive_buffer: 4MiB
  send_buffer: 4MiB
  tcp: {{congestion: {congestion}}}
apps:
  - {{type: bulk, connections: {downloads}}}
  - {{type: bulk, direction: upload, connections: {uploads}, start: {dice.choice([0, 3])}s}}
  - {{type: game, start: 0s, tick: 100ms, down: 32B, up: 24B}}
output: {{flows: true}}
"""


def measured(nodeb, seed, windows):
    """The shares of downlink and uplink that are used, and the delays of the game's datagrams."""
    uplink, downlink, _, scenario = drawn(seed)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scenario.yaml"
        file.write_text(f"{scenario}smvs: {{law: acks, upload_windows: {windows}}}\n")
        subprocess.run([nodeb, "run", file, "--out", folder, "--workers", "1"], check=True, capture_output=True)
        with open(Path(folder) / "flows.csv", newline="") as rows:
            flows = [row for row in csv.DictReader(rows) if row["application"] == "bulk"]
        with open(Path(folder) / "results.csv", newline="") as rows:
            result = next(csv.DictReader(rows))
    used = {way: sum(float(flow["measured_bps"]) for flow in flows if flow["direction"] == way) for way in ("download", "upload")}
    return {"down": used["download"] / downlink, "up": used["upload"] / uplink,
            **{name: float(result[name]) for name in MEASURES[2:]}}


def main():
    nodeb, networks = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 120
    with concurrent.futures.ThreadPoolExecutor() as workers:
        before = list(workers.map(lambda seed: measured(nodeb, seed, "unlimited"), range(1, networks + 1)))
        after = list(workers.map(lambda seed: measured(nodeb, seed, "limited"), range(1, networks + 1)))
    for timestamps in (True, False):
        pairs = [(before[seed - 1], after[seed - 1]) for seed in range(1, networks + 1) if drawn(seed)[2] == timestamps]
        means = [[sum(run[name] for run in side) / len(pairs) for side in zip(*pairs)] for name in MEASURES]
        shares = " | ".join("{:.3f}, {:.3f}".format(*mean) for mean in means[:2])
        delays = " | ".join("{:.0f}, {:.0f} ms".format(*mean) for mean in means[2:])
        print(f"| {'timestamps' if timestamps else 'no timestamps'} ({len(pairs)} networks) | {shares} | {delays} |")
        for name, part in (("down", 0.95), ("up", 0.9)):
            lost = [pair for pair in pairs if pair[1][name] < part * pair[0][name]]
            gained = sum(pair[1][name] * part > pair[0][name] for pair in pairs)
            also = sum(pair[1]["down"] * 0.95 > pair[0]["down"] for pair in lost)
            print(f"{name}: below {part} in {len(lost)} networks, in {also} of them the downloads gain; gains in {gained}")


if __name__ == "__main__":
    main()
