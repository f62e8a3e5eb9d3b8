"""What ./run experiment harm makes of runs: the figures of each, and how far the law is from each bound."""

import csv
import dataclasses
import math
import statistics

import harm_networks

# The bounds. A ratio of 1 or more keeps one.
GOODPUT_OF_CUBIC = 0.95  # where CUBIC fills a finite buffer
GOODPUT_OF_BETTER = 0.9  # elsewhere, of CUBIC and BBR
DROPS_TIMES, DROPS_MORE = 2, 20  # of the greater of CUBIC and BBR
DELAY_TIMES, DELAY_MORE_MS = 1.25, 60  # of BBR; the greater counts
LEAST_OF_BETTER = 0.5  # goodput below which BBR's queue is no measure: it leaves the path idle; then the greater of CUBIC's and BBR's counts
FAIR_PART = 0.8  # for whom nobody steers
PING_MORE_MS, PING_MORE_PACKETS = 5, 1  # beside BBR's: a few TTIs, and what one packet takes the bottleneck
LARGEST_RATIO = 99.0
BOUNDS = ("goodput", "drops", "delay", "others", "ping")
COLUMNS = ("case", "mode", "seed", "goodput", "drops", "server_to_ue_delay_p95_ms", "radio_queue_delay_p95_ms", "other_goodput_share",
           "ping_p95_ms", "jain", "retransmissions", "timeouts", "drops_air", "is_full", "failed")


@dataclasses.dataclass
class Outcome:
    """One run. None: it has no such figure."""

    goodput: float  # bit/s of payload that reached the UEs' applications on the steered downloads
    drops: float  # packets that queues and policers on the way down dropped; not those lost on the air
    server_to_ue_delay_p95_ms: float | None
    radio_queue_delay_p95_ms: float | None
    other_goodput_share: float | None  # what those that nobody steers get, of their fair part
    ping_p95_ms: float | None
    jain: float | None
    retransmissions: float
    timeouts: float
    drops_air: float
    is_full: bool  # a queue dropped because it was full
    failed: float  # connections that broke, and packets for which the emulator had no buffer


def number(row, column):
    text = row.get(column, "")
    return float(text) if text else None


def outcome_of(network, row, flows):
    """Of one run: its row of results.csv, and its rows of flows.csv."""
    count = lambda column: number(row, column) or 0.0  # noqa: E731
    downloads = [flow for flow in flows if flow["application"] == "bulk" and flow["direction"] == "download"]
    own = [float(flow["measured_bps"] or 0) for flow in downloads if float(flow["opened_s"]) == 0]
    others = [float(flow["measured_bps"] or 0) for flow in downloads if float(flow["opened_s"]) > 0]
    lines = number(row, "hop_drops")
    if lines is None:  # an older program counts the warm-up too
        lines = count("proxy_nodeb_down_drops") + count("server_proxy_down_drops")
    lost = count("drops_air") + count("drops_given_up")
    total = sum(own)
    share = None
    if network.fair_to_others:
        arrived = sum(others) * harm_networks.MTU / harm_networks.TCP_PAYLOAD
        if network.datagrams and number(row, "game_down_p95_ms") is not None:
            arrived += (1 - count("game_down_loss")) * network.datagrams * network.bottleneck
        share = arrived / network.fair_to_others
    return Outcome(
        goodput=total, drops=count("drops") - lost + lines,
        server_to_ue_delay_p95_ms=number(row, "server_to_ue_delay_p95_ms"), radio_queue_delay_p95_ms=number(row, "radio_queue_delay_p95_ms"),
        other_goodput_share=share, ping_p95_ms=number(row, "game_down_p95_ms"),
        jain=total ** 2 / (len(own) * sum(rate ** 2 for rate in own)) if total else None,
        retransmissions=count("retransmissions"), timeouts=count("timeouts"), drops_air=lost, is_full=count("drops_full") + lines > 0,
        failed=count("connections_failed") + count("proxy_copies_failed") + count("payload_corrupted"))


BOUNDS_IN_WORDS = (
    f"goodput of the steered downloads: {GOODPUT_OF_CUBIC} of CUBIC's where CUBIC fills a finite drop-tail buffer, elsewhere {GOODPUT_OF_BETTER} "
    "of the better of CUBIC and BBR (of CUBIC where the servers, which speak it, send into what limits the path: end to end, and "
    "through a policer before the proxy); never more than leaves the others their fair part",
    f"drops of queues and policers on the way down: {DROPS_TIMES} times the greater of CUBIC's and BBR's, and {DROPS_MORE}",
    f"p95 of the delay from server to UE: {DELAY_TIMES} times BBR's, or BBR's and {DELAY_MORE_MS} ms",
    f"others, whom nobody steers: {FAIR_PART} of their fair part, or of what they get beside the better of CUBIC and BBR where that is less",
    f"p95 of a ping beside: BBR's, {PING_MORE_MS} ms and the time of {PING_MORE_PACKETS} packet",
    f"where BBR has less than {LEAST_OF_BETTER} of CUBIC's goodput, delay and ping are compared with the greater of the two",
)


def read_outcomes(network, folder):
    """{(sender, seed): Outcome} of a folder that nodeb run wrote."""
    with (folder / "results.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    flows = {}
    with (folder / "flows.csv").open(encoding="utf-8", newline="") as file:
        for flow in csv.DictReader(file):
            flows.setdefault((flow["sender"], flow["seed"]), []).append(flow)
    return {(row["sender"], int(row["seed"])): outcome_of(network, row, flows.get((row["sender"], row["seed"]), [])) for row in rows}


def mean_outcome(outcomes):
    """Mean of every figure over the seeds; a figure that some run lacks is missing."""
    values = {}
    for field in dataclasses.fields(Outcome):
        each = [getattr(outcome, field.name) for outcome in outcomes]
        if field.name == "is_full":
            values[field.name] = any(each)
        else:
            values[field.name] = None if any(value is None for value in each) else statistics.fmean(each)
    return Outcome(**values)


def over(allowed, seen):
    """How many times what is seen would be allowed, for figures that are to be small."""
    if allowed is None:
        return LARGEST_RATIO
    if seen is None:
        return 0.0
    return min(LARGEST_RATIO, allowed / seen) if seen > 0 else LARGEST_RATIO


def needed_goodput(network, by_sender, law):
    """What the law has to reach. Where the servers' CUBIC sends into what limits the path - a policer before the proxy, or a
    connection that stays end to end - a proxy cannot have more than that. Where others share the queue the law need not take
    their fair part from them."""
    cubic, bbr = by_sender["cubic"], by_sender["bbr"]
    bounded = cubic.is_full and bool(network.bottleneck_buffer) and "fifo" == network.queue == network.line_queue
    by_servers = law == "end to end" or (network.policer == "before" and network.policer_rate == network.bottleneck)
    wanted = cubic.goodput if bounded or by_servers else max(cubic.goodput, bbr.goodput)
    wanted = min(wanted, network.fair_to_own * harm_networks.TCP_PAYLOAD / harm_networks.MTU)
    return (GOODPUT_OF_CUBIC if bounded else GOODPUT_OF_BETTER) * wanted


def allowed_by(by_sender, name):
    """The delay that the law's is compared with: BBR's, unless that leaves the path idle. None: there is none."""
    cubic, bbr = by_sender["cubic"], by_sender["bbr"]
    values = [getattr(bbr, name)]
    if bbr.goodput < LEAST_OF_BETTER * cubic.goodput:
        values.append(getattr(cubic, name))
    return max((each for each in values if each is not None), default=None)


def ratios(network, by_sender, law):
    """{bound: how far the law is within it; below 1: it is broken}; a bound that the network has not is missing."""
    cubic, bbr, ours = by_sender["cubic"], by_sender["bbr"], by_sender[law]
    needed = needed_goodput(network, by_sender, law)
    result = {
        "goodput": min(LARGEST_RATIO, ours.goodput / needed) if needed > 0 else LARGEST_RATIO,
        "drops": over(DROPS_TIMES * max(cubic.drops, bbr.drops) + DROPS_MORE, ours.drops),
    }
    delay = allowed_by(by_sender, "server_to_ue_delay_p95_ms")
    if delay is not None:
        result["delay"] = over(max(DELAY_TIMES * delay, delay + DELAY_MORE_MS), ours.server_to_ue_delay_p95_ms)
    if ours.other_goodput_share is not None:
        attainable = min(1.0, max(cubic.other_goodput_share, bbr.other_goodput_share))
        result["others"] = min(LARGEST_RATIO, ours.other_goodput_share / (FAIR_PART * attainable)) if attainable else LARGEST_RATIO
    ping = allowed_by(by_sender, "ping_p95_ms")
    if ping is not None:
        packets_ms = 1000 * PING_MORE_PACKETS * 8 * harm_networks.MTU / network.bottleneck
        result["ping"] = over(ping + PING_MORE_MS + packets_ms, ours.ping_p95_ms)
    return result


@dataclasses.dataclass
class Verdict:
    """How a law fares in a network, by the means over the seeds."""

    network: object
    law: str
    by_sender: dict
    ratios: dict
    file: object = None

    @property
    def worst(self):
        """The bound that is kept least, and its ratio."""
        return min(self.ratios.items(), key=lambda each: each[1])

    @property
    def score(self):
        return self.worst[1]

    @property
    def holds(self):
        return self.score >= 1 and not math.isnan(self.score)


def judge(network, outcomes, file=None):
    """A verdict for each law, by what read_outcomes() has."""
    seeds = sorted({seed for _, seed in outcomes})
    by_sender = {sender: mean_outcome([outcomes[sender, seed] for seed in seeds]) for sender in harm_networks.SENDERS}
    return [Verdict(network, law, by_sender, ratios(network, by_sender, law), file) for law in harm_networks.LAWS]
