"""The networks of ./run experiment harm: what one is, its scenario for nodeb, and the lists of them."""

import dataclasses
import math

# The senders that are compared, as the results call them: congestion control of the servers, and mode of the proxy.
SENDERS = {
    "cubic": ("cubic", "none"),
    "bbr": ("bbr", "none"),
    "bbr3": ("bbr3", "none"),
    "split": ("cubic", "smvs"),
    "end to end": ("cubic", "smvs/regulate"),
}
LAWS = ("split", "end to end")
MTU, TCP_PAYLOAD = 1500, 1448
MB = 1_000_000
OWN_SERVER, OTHER_SERVER = "192.0.2.1", "192.0.2.2"


@dataclasses.dataclass(frozen=True)
class Network:
    """One network and what goes through it. Rates are in bit/s, times in ms; a buffer is the time that it takes to send it."""

    kind: str
    rate: float = 10 * MB  # of the radio link of each UE
    radio_rtt: float = 20  # between proxy and UE and back
    server_rtt: float = 40  # between server and proxy and back
    buffer: float | None = 200  # of the radio queue; None: unlimited
    queue: str = "fifo"  # of the radio
    ues: int = 1
    downloads: int = 1  # of each UE
    line_rate: float = 0  # of the line between proxy and Node-B; 0: none
    line_buffer: float = 200
    line_queue: str = "fifo"
    second_hop: float = 0  # of one further download of the UE; 0: none
    datagrams: float = 0  # share of the link that datagrams take which nobody steers
    ack_every: int = 2  # segments for each acknowledgement of the UE
    scheduled: bool = False  # the uplink
    uplink_rate: float = 0  # of the UE's uplink; 0: infinitely fast
    uploads: int = 0
    loss: float = 0  # on the air, of packets
    channel: str = "constant"  # or redrawn each second (piecewise), or fading
    outage: float = 0  # every ten seconds so long
    jitter: float = 0  # of the way between proxy and Node-B

    @property
    def rtt(self):
        return self.radio_rtt + self.server_rtt

    @property
    def bottleneck(self):
        """Bit/s that all downloads together can have."""
        return min(self.rate * self.ues, self.line_rate or math.inf)

    @property
    def own(self):
        """Downloads that are steered and judged."""
        return self.ues * self.downloads

    @property
    def fair_to_others(self):
        """Bit/s that those have a right to whom nobody steers, or whom another link slows down: max-min fair."""
        if self.datagrams:
            return min(self.datagrams * self.bottleneck, self.bottleneck / (self.own + 1))
        if self.second_hop:
            return min(self.second_hop, self.bottleneck / (self.own + 1))
        return 0.0

    @property
    def fair_to_own(self):
        """Bit/s that the judged downloads have a right to, together."""
        return self.bottleneck - self.fair_to_others

    @property
    def bottleneck_buffer(self):
        """Bytes that the queue before it holds at most; None: unlimited."""
        if self.line_rate and self.line_rate <= self.rate * self.ues:
            return at_least_packets(self.line_rate, self.line_buffer)
        return None if self.buffer is None else at_least_packets(self.rate, self.buffer)

    @property
    def is_random(self):
        """True if two seeds differ by more than the start of the connections' numbers."""
        return bool(self.loss or self.jitter or self.scheduled or self.channel != "constant" or
                    {self.queue, self.line_queue} & {"red", "pie", "dualpi2"})

    @property
    def warmup(self):
        return math.ceil(max(5, 0.015 * self.rtt))

    @property
    def seconds(self):
        """Measured time: some ten round trips of the longest, and some thousand packets of the slowest link."""
        packets = 3000 * MTU * 8 / min(self.bottleneck, self.second_hop or math.inf)
        return math.ceil(max(20, 0.05 * self.rtt, min(300, packets)))

    @property
    def name(self):
        parts = [rate_text(self.rate), f"{self.rtt:g} ms", buffer_text(self.buffer)]
        if self.radio_rtt > self.server_rtt:
            parts[1] += " (radio)"
        if self.queue != "fifo":
            parts.append(self.queue)
        if self.line_rate:
            parts.append(f"line of {rate_text(self.line_rate)}, {buffer_text(self.line_buffer)}"
                         + (f", {self.line_queue}" if self.line_queue != "fifo" else ""))
        for number, what in ((self.ues, "UEs"), (self.downloads, "downloads")):
            if number > 1:
                parts.append(f"{number} {what}")
        if self.second_hop:
            parts.append(f"second hop {rate_text(self.second_hop)}")
        if self.datagrams:
            parts.append(f"{100 * self.datagrams:.0f} % datagrams")
        if self.ack_every > 2:
            parts.append(f"acks of {self.ack_every}")
        if self.scheduled:
            parts.append("scheduled uplink")
        if self.uplink_rate:
            parts.append(f"uplink {rate_text(self.uplink_rate)}")
        if self.uploads:
            parts.append(f"{self.uploads} uploads")
        if self.loss:
            parts.append(f"loss {100 * self.loss:g} %")
        if self.channel != "constant":
            parts.append(self.channel)
        if self.outage:
            parts.append(f"outages of {self.outage:g} ms")
        if self.jitter:
            parts.append(f"jitter {self.jitter:g} ms")
        return f"{self.kind}: " + ", ".join(parts)


def rate_text(rate):
    for unit, size in (("Gb/s", 1e9), ("Mb/s", 1e6), ("kb/s", 1e3)):
        if rate >= size:
            return f"{rate / size:.3g} {unit}"
    return f"{rate:.0f} b/s"


def buffer_text(buffer):
    return "unlimited" if buffer is None else f"{buffer:.3g} ms"


def at_least_packets(rate, milliseconds, packets=2):
    """Bytes of a buffer of so long; no queue holds less than some packets."""
    return max(int(rate * milliseconds / 8000), packets * MTU)


# The scenario ---------------------------------------------------------------------------------------------------------


def flow_style(value):
    """A value in YAML on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {flow_style(each)}" for key, each in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(flow_style, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    return f'"{text}"' if any(c in text for c in ":,{}[]#&*%\"") or text != text.strip() else text


def rate_of(bits):
    return f"{bits:.0f}b/s"


def time_of(milliseconds):
    return f"{round(1000 * milliseconds)}us"


def channel_of(network, rate):
    if network.channel == "piecewise":
        return {"type": "piecewise", "min": rate_of(0.2 * rate), "max": rate_of(1.8 * rate), "period": "1s"}
    if network.channel == "fading":
        return {"type": "generated", "model": {"mean": rate_of(max(rate, 100_000)), "snr": "3dB", "outage_every": "0s"}}
    return {"type": "constant", "rate": rate_of(rate)}


def ue_of(network, index, rate):
    ue = {"address": f"10.45.0.{2 + index}", "frame": "0B",
          "buffer": "unlimited" if network.buffer is None else f"{at_least_packets(rate, network.buffer)}B",
          "cell": index, "channel": channel_of(network, rate)}
    if network.queue != "fifo":
        ue["queue"] = {"type": network.queue}
    if network.loss:
        ue["loss"] = f"{network.loss:.6f}"
    if network.uplink_rate:
        ue["uplink"] = {"channel": {"type": "constant", "rate": rate_of(network.uplink_rate)}}
    return ue


def datagram_apps(network):
    """Games whose datagrams take the share of the link; the least number of them, since each sends one a millisecond at most."""
    bytes_per_ms = network.datagrams * network.bottleneck / 8000
    games = max(1, math.ceil(bytes_per_ms / 1400))
    tick = max(1, math.ceil(300 / bytes_per_ms))
    size = bytes_per_ms * tick / games - 28
    return [{"type": "game", "start": "0s", "tick": f"{tick}ms", "down": f"{round(size)}B", "up": "24B"} for _ in range(games)]


def ping_apps(network):
    """Small datagrams beside, of at most a hundredth of the link."""
    tick = max(100, math.ceil(60 * 8 / (0.01 * min(network.rate, network.bottleneck)) * 1000))
    return [{"type": "game", "start": "0s", "tick": f"{tick}ms", "down": "32B", "up": "24B"}]


def apps_of(network):
    apps = [{"type": "bulk", "ues": network.ues, "connections": network.downloads}]
    if network.second_hop:
        apps.append({"type": "bulk", "ue": network.ues, "start": "1s"})
    if network.uploads:
        apps.append({"type": "bulk", "direction": "upload", "connections": network.uploads})
    return apps + (datagram_apps(network) if network.datagrams else ping_apps(network))


def window_of(network):
    """Bytes of the hosts' buffers: what a Linux host has by default, and more where the path needs it."""
    needed = network.bottleneck * network.rtt / 8000 + (network.bottleneck_buffer or 0)
    return int(min(max(4 << 20, 2.5 * needed), 64 << 20))


def cell_of(network):
    rates = [network.rate] * network.ues + ([network.second_hop] if network.second_hop else [])
    cell = {"tti": "1ms", "cells": len(rates), "ues": [ue_of(network, i, rate) for i, rate in enumerate(rates)],
            "uplink": {"delay": "0ms"}}
    if network.scheduled:
        cell["uplink"]["scheduled"] = {}
    return cell


def scenario(network, seed=1):
    """{key: value} of the scenario's top level."""
    end = network.warmup + network.seconds
    flows = network.ues * network.downloads + network.uploads + 2
    window = window_of(network)
    near = {"delay": time_of(network.radio_rtt / 2)}
    if network.jitter:
        near["jitter"] = time_of(min(network.jitter, network.radio_rtt / 2))
    if network.line_rate:
        near |= {"rate": rate_of(network.line_rate), "buffer": f"{at_least_packets(network.line_rate, network.line_buffer)}B"}
        near["queue"] = {"type": network.line_queue}  # given for fifo too: its drops are counted
    result = {
        "title": network.name,
        "seed": seed,
        "duration": f"{end}s",
        "warmup": f"{network.warmup}s",
        "modes": ["none"],
        "server_proxy": {"delay": time_of(network.server_rtt / 2)},
        "proxy_nodeb": near,
        "cell": cell_of(network),
        "servers": [OWN_SERVER, OTHER_SERVER],
        "hosts": {"receive_buffer": f"{window}B", "send_buffer": f"{window}B",
                  "tcp": {"congestion": "cubic", "ack_every": network.ack_every}},
        "apps": apps_of(network),
    }
    if network.outage:
        result["moves"] = [{"type": "outage", "at": f"{at}s", "duration": time_of(network.outage)} for at in range(7, end, 10)]
    if network.second_hop:
        result["proxy"] = {"shared_queues": ["10.45.0.0/24"]}
    result["smvs"] = {"law": "acks"}
    result["buffers"] = min(max(65536, int(2.5 * flows * window / TCP_PAYLOAD)), 262144)
    result["output"] = {"flows": True, "columns": ["game_down_p95_ms"]}
    names = list(SENDERS)
    result["sweep"] = [
        {"column": "sender", "keys": ["modes.0"], "values": [SENDERS[name][1] for name in names], "labels": names},
        {"column": "congestion", "keys": ["hosts.tcp.congestion"], "values": [SENDERS[name][0] for name in names], "with": "sender"},
    ]
    return result


def scenario_text(network, seed=1):
    """The scenario's file: a line for each key, for each UE, application and sweep."""
    lines = []
    for key, value in scenario(network, seed).items():
        if key == "cell":
            lines.append("cell:")
            for inner, each in value.items():
                if inner == "ues":
                    lines += ["  ues:", *(f"    - {flow_style(ue)}" for ue in each)]
                else:
                    lines.append(f"  {inner}: {flow_style(each)}")
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            lines += [f"{key}:", *(f"  - {flow_style(each)}" for each in value)]
        else:
            lines.append(f"{key}: {flow_style(value)}")
    return "\n".join(lines) + "\n"


# The lists ------------------------------------------------------------------------------------------------------------


def quick():
    """Some forty networks, of every kind a few, that run in some minutes."""
    shapes = [(10, 20, 40, 5), (10, 20, 40, 100), (10, 50, 50, 10), (10, 100, 20, 50), (10, 100, 100, 20), (10, 40, 60, None),
              (10, 300, 300, 200), (10, 50, 550, None), (1, 40, 40, 50), (100, 20, 20, 20), (100, 20, 80, 200), (100, 20, 80, None),
              (300, 20, 20, 50)]
    networks = [Network("queue", rate=mbps * MB, radio_rtt=radio, server_rtt=server, buffer=buffer)
                for mbps, radio, server, buffer in shapes]
    networks += [Network("slow", rate=rate, buffer=buffer) for rate, buffer in ((64e3, None), (64e3, 1000), (256e3, None), (256e3, 500))]
    networks += [Network("line", rate=100 * MB, line_rate=20 * MB, line_buffer=buffer, radio_rtt=20, server_rtt=20)
                 for buffer in (3, 6, 25, 120)]
    networks += [Network("shared", rate=400 * MB, line_rate=20 * MB, line_buffer=800, ues=ues, radio_rtt=20, server_rtt=20)
                 for ues in (2, 8, 32)]
    networks += [Network("second-hop", rate=100 * MB, line_rate=40 * MB, line_buffer=80, second_hop=hop, radio_rtt=30, server_rtt=20)
                 for hop in (0.2 * MB, 1 * MB, 10 * MB)]
    networks += [Network("aqm", queue=queue, buffer=500) for queue in ("codel", "fq-codel", "dualpi2")]
    networks += [Network("datagrams", rate=20 * MB, buffer=None, datagrams=share, downloads=downloads)
                 for share, downloads in ((0.25, 1), (0.55, 1), (0.3, 4), (0.9, 1))]
    networks += [Network("acks", ack_every=every, scheduled=scheduled, downloads=downloads, rate=30 * MB)
                 for every, scheduled, downloads in ((8, False, 1), (32, False, 1), (16, True, 4), (2, True, 16))]
    networks += [Network("loss", loss=loss, rate=20 * MB) for loss in (0.001, 0.01, 0.03)]
    networks += [Network("varying", channel="piecewise"), Network("varying", channel="fading", buffer=1000),
                 Network("varying", outage=800, buffer=None), Network("varying", jitter=10, radio_rtt=40, buffer=50)]
    return networks
