#!/usr/bin/python3
"""How well the mean rate of a recorded link predicts the mean of the next 67 s, for the key scone_link_share.

    python3 tests/bench/long_term_rate.py [FOLDER]    prints the table of docs/pages/internals/rate-control.md

FOLDER has the recorded links (../shared/traces by default). A line of a link is the time in ms of one packet of 1504 bytes.
"""

import math
import sys
from pathlib import Path

TRACES = Path(__file__).resolve().parents[3] / "shared" / "traces"
LINKS = {"Verizon LTE": "Verizon-LTE-short.down", "T-Mobile UMTS": "TMobile-UMTS-driving.down", "AT&T LTE": "ATT-LTE-driving.down"}
STEP = 0.1  # s
EVERY = 7  # steps from one prediction to the next
PERIOD = 67  # s
MIN_OBSERVED = 2  # s, of the mean that decays
BLOCKS = (2, 10, 20)  # s
SHARES = (0.9, 0.8, 0.7)


def rates_of(path):
    """Packets in each step."""
    times = [int(line) for line in path.read_text().split()]
    rates = [0] * (times[-1] // int(1000 * STEP) + 1)
    for time in times:
        rates[time // int(1000 * STEP)] += 1
    return rates


def steps(seconds):
    return round(seconds / STEP)


def block_ratios(rates, seconds):
    """Mean of the next PERIOD, divided by the mean of the last `seconds`."""
    last, coming = steps(seconds), steps(PERIOD)
    for now in range(last, len(rates) - coming, EVERY):
        known = sum(rates[now - last:now]) / last
        if known > 0:
            yield sum(rates[now:now + coming]) / coming / known


def decaying_ratios(rates):
    """Mean of the next PERIOD, divided by the mean with that time constant."""
    decay, coming = math.exp(-STEP / PERIOD), steps(PERIOD)
    packets = weight = 0.0
    for now, rate in enumerate(rates[:len(rates) - coming]):
        packets, weight = packets * decay + rate, weight * decay + 1
        if weight * STEP >= MIN_OBSERVED and now % EVERY == 0 and packets > 0:
            yield sum(rates[now + 1:now + 1 + coming]) / coming / (packets / weight)


def factor(ratios):
    """Typical factor between both: root mean square of the logarithm."""
    squares = [math.log(ratio) ** 2 for ratio in ratios]
    return math.exp(math.sqrt(sum(squares) / len(squares)))


def row(name, cells):
    print(f"| {name} | {' | '.join(cells)} |")


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else TRACES
    if not folder.is_dir():
        sys.exit(f"long_term_rate: {folder} does not exist")
    links = [rates_of(folder / name) for name in LINKS.values()]
    row("mean over", LINKS)
    row("---", ["---"] * len(links))
    for seconds in BLOCKS:
        row(f"the last {seconds} s", [f"{factor(block_ratios(link, seconds)):.1f}" for link in links])
    row(f"time constant {PERIOD} s", [f"{factor(decaying_ratios(link)):.1f}" for link in links])
    for share in SHARES:
        reached = [[ratio >= share for ratio in decaying_ratios(link)] for link in links]
        row(f"of these, cases in which the link reached {share:.0%}", [f"{sum(one) / len(one):.0%}" for one in reached])
    return 0


if __name__ == "__main__":
    sys.exit(main())
