"""The networks of ./run experiment harm: what one is, its scenario for nodeb, and the lists of them."""

import collections
import dataclasses
import itertools
import math
import random

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
LEAST_PACKETS = 2  # that a queue holds
MB = 1_000_000
OWN_SERVER, OWN_SERVER_V6 = "192.0.2.1", "2001:db8:1::1"


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
    second_hop: float = 0  # behind the UE, of one further download; 0: none
    others: tuple = ()  # congestion control of further downloads of the first UE that nobody steers
    datagrams: float = 0  # share of the link that datagrams take which nobody steers
    poisson: bool = False  # the times between them
    addresses: int = 1  # of a UE, IPv4 and IPv6, each with the downloads
    policer: str = ""  # a token bucket before the proxy, or behind it
    policer_rate: float = 0
    policer_burst: float = 100
    way_extra: float = 0  # so much longer the way is for a part of the time
    way_every: float = 0  # s between changes; 0: one change, in the middle
    way_where: str = "radio"  # or server: on which side of the proxy
    way: str = "both"  # or down or up
    way_shorter: bool = False  # it begins with the longer way
    ack_every: int = 2  # segments for each acknowledgement of the UE
    scheduled: bool = False  # the uplink
    uplink_rate: float = 0  # of the UE's uplink; 0: infinitely fast
    uploads: int = 0
    uplink_buffer: int = 0  # KiB that the modem holds; 0: the default of nodeb
    timestamps: bool = True  # of the hosts
    loss: float = 0  # on the air, of packets
    loss_run: float = 1  # mean number of packets that are lost in a row
    channel: str = "constant"  # or redrawn each second (piecewise), or fading
    outage: float = 0  # every ten seconds so long
    jitter: float = 0  # of the way between proxy and Node-B

    @property
    def rtt(self):
        return self.radio_rtt + self.server_rtt

    @property
    def radio(self):
        """Bit/s of all UEs. Each has a cell of its own, but those of a scheduled uplink share one."""
        return self.rate * (1 if self.scheduled else self.ues)

    @property
    def bottleneck(self):
        """Bit/s that all downloads together can have."""
        return min(self.radio, self.line_rate or math.inf, self.policer_rate or math.inf)

    @property
    def own(self):
        """Downloads that are steered and judged."""
        return self.ues * self.downloads * self.addresses

    @property
    def flows(self):
        """Downloads of all kinds."""
        return self.own + len(self.others) + bool(self.second_hop)

    @property
    def fair_to_others(self):
        """Bit/s that those have a right to whom nobody steers, or whom another link slows down: max-min fair among all."""
        left, number = self.bottleneck, self.flows + bool(self.datagrams)
        fair = 0.0
        for demand in sorted(each for each in (self.datagrams * self.bottleneck, self.second_hop) if each):
            part = min(demand, left / number)
            left, number, fair = left - part, number - 1, fair + part
        return fair + left / number * len(self.others)

    @property
    def fair_to_own(self):
        """Bit/s that the judged downloads have a right to, together."""
        return self.bottleneck - self.fair_to_others

    @property
    def bottleneck_buffer(self):
        """Bytes that the queue before it holds at most; None: unlimited. A policer has none."""
        if self.policer_rate and self.policer_rate == self.bottleneck:
            return 0
        if self.line_rate and self.line_rate <= self.radio:
            return at_least_packets(self.line_rate, self.line_buffer)
        return None if self.buffer is None else at_least_packets(self.rate, self.buffer)

    @property
    def is_random(self):
        """True if two seeds differ by more than the start of the connections' numbers."""
        return bool(self.loss or self.jitter or self.scheduled or self.poisson or self.channel != "constant" or
                    {self.queue, self.line_queue} & {"red", "pie", "dualpi2"})

    @property
    def warmup(self):
        return math.ceil(max(5, 0.015 * self.rtt))

    @property
    def seconds(self):
        """Measured time: at least 20 s, fifty round trips, and some thousand packets of a slow link."""
        packets = 3000 * MTU * 8 / self.bottleneck
        behind = 500 * MTU * 8 / self.second_hop if self.second_hop else 0
        return math.ceil(max(20, 0.05 * self.rtt, min(300, packets), min(60, behind)))

    @property
    def name(self):
        parts = [rate_text(self.rate), f"{self.rtt:g} ms", buffer_text(self.buffer, self.rate)]
        if self.radio_rtt > self.server_rtt:
            parts[1] += " (radio)"
        if self.queue != "fifo":
            parts.append(self.queue)
        if self.line_rate:
            parts.append(f"line of {rate_text(self.line_rate)}, {buffer_text(self.line_buffer, self.line_rate)}"
                         + (f", {self.line_queue}" if self.line_queue != "fifo" else ""))
        for number, what in ((self.ues, "UEs"), (self.downloads, "downloads")):
            if number > 1:
                parts.append(f"{number} {what}")
        if self.addresses > 1:
            parts.append(f"{self.addresses} addresses")
        if self.second_hop:
            parts.append(f"second hop {rate_text(self.second_hop)}")
        if self.others:
            parts.append("beside " + " and ".join(f"{count} {kind}" for kind, count in sorted(collections.Counter(self.others).items())))
        if self.datagrams:
            parts.append(f"{100 * self.datagrams:.0f} % datagrams" + (" (Poisson)" if self.poisson else ""))
        if self.policer:
            parts.append(f"policer {self.policer} the proxy, {rate_text(self.policer_rate)}, burst {self.policer_burst:g} ms")
        if self.way_extra:
            when = f"every {self.way_every:g} s" if self.way_every else "once"
            parts.append(f"way {'shorter' if self.way_shorter else 'longer'} by {self.way_extra:g} ms {when}, {self.way_where} {self.way}")
        if self.ack_every > 2:
            parts.append(f"acks of {self.ack_every}")
        if self.scheduled:
            parts.append("scheduled uplink")
        if self.uplink_rate:
            parts.append(f"uplink {rate_text(self.uplink_rate)}")
        if self.uploads:
            parts.append(f"{self.uploads} uploads")
        if self.uplink_buffer:
            parts.append(f"modem {self.uplink_buffer} KiB")
        if not self.timestamps:
            parts.append("no timestamps")
        if self.loss:
            parts.append(f"loss {100 * self.loss:.3g} %" + (f" in runs of {self.loss_run:g}" if self.loss_run > 1 else ""))
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


def buffer_text(buffer, rate):
    if buffer is None:
        return "unlimited"
    return f"{buffer:g} ms" if rate * buffer / 8000 >= LEAST_PACKETS * MTU else f"{LEAST_PACKETS} packets"


def at_least_packets(rate, milliseconds):
    """Bytes of a buffer of so long; no queue holds less than some packets."""
    return max(int(rate * milliseconds / 8000), LEAST_PACKETS * MTU)


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
        return {"type": "generated", "model": {"mean": rate_of(rate), "snr": "3dB", "outage_every": "0s"}}
    return {"type": "constant", "rate": rate_of(rate)}


def ue_of(network, index, rate):
    ue = {"address": f"10.45.0.{2 + index}", "frame": "0B",
          "buffer": "unlimited" if network.buffer is None else f"{at_least_packets(rate, network.buffer)}B",
          "cell": 0 if network.scheduled else index, "channel": channel_of(network, rate)}
    if network.queue != "fifo":
        ue["queue"] = {"type": network.queue}
    if network.addresses > 1:
        ue["more_addresses"] = [f"2001:db8:2::{2 + index}"]
    if network.loss:
        ue["loss"] = f"{network.loss:.6f}"
    if network.loss_run > 1:
        ue["loss_run"] = f"{network.loss_run:g}"
    if network.uplink_rate and not network.uplink_buffer:
        ue["uplink"] = {"channel": {"type": "constant", "rate": rate_of(network.uplink_rate)}}
    return ue


def datagram_apps(network):
    """Games whose datagrams take the share of the link; the least number of them, since each sends one a millisecond at most."""
    bytes_per_ms = network.datagrams * network.bottleneck / 8000
    games = max(1, math.ceil(bytes_per_ms / 1400))
    tick = max(1, math.ceil(300 / bytes_per_ms))
    size = min(max(bytes_per_ms * tick / games - 28, 24), 1400)
    game = {"type": "game", "start": "0s", "tick": f"{tick}ms", "down": f"{round(size)}B", "up": "24B"}
    if network.poisson:
        game["exponential"] = True
    return [game] * games


def ping_apps(network):
    """Small datagrams beside, of at most a hundredth of the link."""
    tick = max(100, math.ceil(60 * 8 / (0.01 * min(network.rate, network.bottleneck)) * 1000))
    return [{"type": "game", "start": "0s", "tick": f"{tick}ms", "down": "32B", "up": "24B"}]


def apps_of(network):
    apps = [{"type": "bulk", "ues": network.ues, "connections": network.downloads}]
    if network.addresses > 1:
        apps.append({**apps[0], "address": 1, "server": len(servers_of(network)) - 1})
    # Those that are not judged begin later, by which read_outcomes() knows them.
    apps += [{"type": "bulk", "server": 1 + i, "start": f"{10 * (i + 1)}ms"} for i in range(network.flows - network.own)]
    if network.uploads:
        apps.append({"type": "bulk", "direction": "upload", "connections": network.uploads})
    return apps + (datagram_apps(network) if network.datagrams else ping_apps(network))


def window_of(network):
    """Bytes of the hosts' buffers: what a Linux host has by default, and more where the path needs it."""
    needed = network.bottleneck * network.rtt / 8000 + (network.bottleneck_buffer or 0)
    return int(min(max(4 << 20, 2.5 * needed), 64 << 20))


def servers_of(network):
    """Addresses: that of the judged downloads, one for each of the others, one of IPv6 where UEs have such an address."""
    servers = [OWN_SERVER, *(f"192.0.2.{2 + i}" for i in range(network.flows - network.own))]
    return servers + ([OWN_SERVER_V6] if network.addresses > 1 else [])


def steps_of(network, end):
    """The changes of the way until the end."""
    times = [0, (network.warmup + end) / 2] if network.way_shorter else [(network.warmup + end) / 2]
    if network.way_every:
        first = 0 if network.way_shorter else network.way_every
        times = [first + i * network.way_every for i in range(int(end / network.way_every))]
    return [{"at": time_of(1000 * at), "extra": time_of(0 if i % 2 else network.way_extra), "way": network.way} for i, at in enumerate(times)]


def hops_of(network, end):
    """Of the servers, and of the Node-B."""
    far, near = {"delay": time_of(network.server_rtt / 2)}, {"delay": time_of(network.radio_rtt / 2)}
    if network.jitter and not network.line_rate:  # a router's line has none
        near["jitter"] = time_of(min(network.jitter, network.radio_rtt / 2))
    if network.line_rate:
        near |= {"rate": rate_of(network.line_rate), "buffer": f"{at_least_packets(network.line_rate, network.line_buffer)}B",
                 "queue": {"type": network.line_queue}}  # given for fifo too: its drops are counted
    if network.policer:
        burst = at_least_packets(network.policer_rate, network.policer_burst)
        (far if network.policer == "before" else near)["policer"] = {"rate": rate_of(network.policer_rate), "burst": f"{burst}B"}
    if network.way_extra:
        (far if network.way_where == "server" else near)["steps"] = steps_of(network, end)
    return far, near


def cell_of(network):
    cell = {"tti": "1ms", "cells": 1 if network.scheduled else network.ues, "ues": [ue_of(network, i, network.rate) for i in range(network.ues)],
            "uplink": {"delay": "0ms"}}
    if network.scheduled:
        cell["uplink"]["scheduled"] = {}
    if network.uplink_buffer:
        cell["uplink"] |= {"rate": rate_of(network.uplink_rate), "buffer": f"{network.uplink_buffer}KiB"}
    return cell


def scenario(network, seed=1, senders=tuple(SENDERS)):
    """{key: value} of the scenario's top level."""
    end = network.warmup + network.seconds
    window = window_of(network)
    far, near = hops_of(network, end)
    servers = servers_of(network)
    result = {
        "title": network.name,
        "seed": seed,
        "duration": f"{end}s",
        "warmup": f"{network.warmup}s",
        "modes": ["none"],
        "server_proxy": far,
        "proxy_nodeb": near,
        "cell": cell_of(network),
        "servers": servers,
        "hosts": {"receive_buffer": f"{window}B", "send_buffer": f"{window}B",
                  "tcp": {"congestion": "cubic", "ack_every": network.ack_every}},
        "apps": apps_of(network),
    }
    if not network.timestamps:
        result["hosts"]["timestamps"] = False
    if network.outage:
        result["moves"] = [{"type": "outage", "at": f"{at}s", "duration": time_of(network.outage)} for at in range(7, end, 10)]
    if network.others:
        others = [f"{address}/32" for address in servers[1:1 + len(network.others)]]
        result["server_tcp"] = [{"congestion": each} for each in ["cubic", *network.others, *["cubic"] * (len(servers) - 1 - len(others))]]
        result["proxy"] = {"bypass_servers": others}
    if network.second_hop:
        result["second_hops"] = [{"ue": 0, "server": network.flows - network.own, "delay": "1ms", "rate": rate_of(network.second_hop),
                                  "buffer": f"{at_least_packets(network.second_hop, 200)}B"}]
    result["smvs"] = {"law": "acks"}
    result["buffers"] = min(max(65536, int(2.5 * (network.flows + network.uploads) * window / TCP_PAYLOAD)), 262144)
    result["output"] = {"flows": True, "columns": ["game_down_p95_ms"]}
    own_tcp = [f"server_tcp.{i}.congestion" for i, server in enumerate(servers) if server in (OWN_SERVER, OWN_SERVER_V6)]
    result["sweep"] = [
        {"column": "sender", "keys": ["modes.0"], "values": [SENDERS[name][1] for name in senders], "labels": list(senders)},
        {"column": "congestion", "keys": own_tcp if network.others else ["hosts.tcp.congestion"],
         "values": [SENDERS[name][0] for name in senders], "with": "sender"},
    ]
    return result


def scenario_text(network, seed=1, senders=tuple(SENDERS)):
    """The scenario's file: a line for each key, for each UE, application and sweep."""
    lines = []
    for key, value in scenario(network, seed, senders).items():
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
    networks += [Network("second-hop", rate=40 * MB, buffer=80, second_hop=hop, radio_rtt=30, server_rtt=20)
                 for hop in (0.2 * MB, 1 * MB, 10 * MB)]
    networks += [Network("addresses", addresses=2), Network("addresses", addresses=2, rate=50 * MB, buffer=None)]
    networks += [Network("policer", rate=100 * MB, policer=where, policer_rate=20 * MB, policer_burst=burst)
                 for where in ("before", "behind") for burst in (20, 200)]
    networks += [Network("others", rate=20 * MB, buffer=buffer, others=others)
                 for buffer, others in ((50, ("cubic",)), (500, ("cubic",)), (200, ("bbr",)), (100, ("cubic",) * 4))]
    networks += [Network("way", buffer=100, way_extra=extra, way_every=every, way=way, way_shorter=shorter)
                 for extra, every, way, shorter in ((100, 0, "down", False), (100, 0, "up", True), (50, 3, "both", False), (200, 5, "down", False))]
    networks += [Network("aqm", queue=queue, buffer=500) for queue in ("codel", "fq-codel", "dualpi2")]
    networks += [Network("aqm", rate=200 * MB, line_rate=10 * MB, line_buffer=500, line_queue=queue) for queue in ("red", "pie")]
    networks += [Network("datagrams", rate=20 * MB, buffer=None, datagrams=share, downloads=downloads)
                 for share, downloads in ((0.25, 1), (0.55, 1), (0.3, 4), (0.9, 1))]
    networks += [Network("acks", ack_every=every, scheduled=scheduled, downloads=downloads, rate=30 * MB)
                 for every, scheduled, downloads in ((8, False, 1), (32, False, 1), (16, True, 4), (2, True, 16))]
    networks += [Network("datagrams", rate=20 * MB, buffer=None, datagrams=0.4, poisson=True)]
    networks += [Network("loss", loss=loss, loss_run=run, rate=20 * MB) for loss, run in ((0.001, 1), (0.01, 1), (0.03, 1), (0.01, 5))]
    networks += [Network("varying", channel="piecewise"), Network("varying", channel="fading", buffer=1000),
                 Network("varying", outage=800, buffer=None), Network("varying", jitter=10, radio_rtt=40, buffer=50)]
    return networks


def _products(kind, **choices):
    """A network for each combination of the choices; what is in one tuple goes together."""
    names = list(choices)
    for values in itertools.product(*choices.values()):
        changes = {}
        for name, value in zip(names, values):
            changes |= value if isinstance(value, dict) else {name: value}
        yield Network(kind, **changes)


def every():
    """The networks of the whole experiment, kind by kind."""
    near, middle, far, satellite = ({"radio_rtt": radio, "server_rtt": server} for radio, server in ((10, 10), (20, 60), (100, 100), (300, 300)))
    ways = (near, middle, far, satellite)
    networks = [*_products("queue", rate=(1 * MB, 10 * MB, 100 * MB), path=ways, buffer=(5, 20, 50, 100, 200, 1000, None))]
    networks += [Network("queue", rate=rate, radio_rtt=20, server_rtt=20, buffer=buffer)
                 for rate in (300 * MB, 1000 * MB) for buffer in (5, 20, 100, None)]
    networks += [*_products("slow", rate=(64e3, 128e3, 256e3, 512e3), path=(near, middle, far), buffer=(500, 2000, None))]
    networks += [*_products("policer", rate=(100 * MB,), policer_rate=(2 * MB, 20 * MB), policer=("before", "behind"), path=(near, middle, far),
                            policer_burst=(10, 50, 100, 200, 500))]
    networks += [*_products("line", rate=(200 * MB,), line_rate=(5 * MB, 20 * MB), path=(near, middle, far), line_buffer=(3, 6, 12, 25, 50, 120, 500))]
    networks += [*_products("aqm", queue=("codel", "fq-codel", "dualpi2"), rate=(2 * MB, 10 * MB, 50 * MB), path=(near, middle, far), buffer=(500,),
                            downloads=(1, 4))]
    networks += [*_products("aqm", line_queue=("red", "pie"), rate=(200 * MB,), line_rate=(2 * MB, 10 * MB, 50 * MB), path=(near, middle, far),
                            line_buffer=(500,), downloads=(1, 4))]
    networks += [*_products("shared", rate=(200 * MB,), line_rate=(20 * MB, 50 * MB), path=(near, middle), line_buffer=(50, 200, 800),
                            ues=(2, 4, 8, 16, 32, 64))]
    networks += [*_products("addresses", addresses=(2,), rate=(2 * MB, 10 * MB, 50 * MB), path=(near, middle, far), buffer=(50, 200, 1000, None))]
    networks += [*_products("second-hop", rate=(20 * MB, 50 * MB), second_hop=(0.1 * MB, 0.3 * MB, 1 * MB, 5 * MB, 20 * MB),
                            path=(near, middle), buffer=(80, 500))]
    networks += [*_products("datagrams", rate=(5 * MB, 20 * MB), buffer=(100, None), datagrams=(0.05, 0.15, 0.25, 0.4, 0.55, 0.75, 0.95),
                            downloads=(1, 4), poisson=(False, True))]
    networks += [*_products("others", rate=(10 * MB, 50 * MB), path=(near, middle, far), buffer=(30, 200, 1000),
                            others=(("cubic",), ("bbr",), ("cubic",) * 4, ("cubic", "bbr")))]
    networks += [*_products("way", rate=(10 * MB, 50 * MB), buffer=(50, 300), way_extra=(10, 50, 200), way_every=(0, 3), way_where=("radio",),
                            way=("down", "up"), way_shorter=(False, True))]
    networks += [*_products("way", rate=(10 * MB,), buffer=(50, 300), way_extra=(50, 200), way_every=(0, 5), way_where=("server",), way=("both",),
                            way_shorter=(False, True))]
    networks += [*_products("acks", rate=(10 * MB, 50 * MB), buffer=(300,), ack_every=(2, 4, 8, 16, 32), scheduled=(False, True),
                            downloads=(1, 4, 16))]
    networks += [*_products("loss", rate=(5 * MB, 20 * MB), path=(near, middle, far), loss=(0.001, 0.003, 0.01, 0.03), loss_run=(1, 5))]
    networks += [*_products("varying", rate=(5 * MB, 20 * MB), channel=("piecewise", "fading"), path=(near, middle), buffer=(100, 1000, None))]
    networks += [*_products("varying", outage=(300, 1500), buffer=(200, None), rate=(5 * MB, 20 * MB))]
    networks += [*_products("varying", jitter=(2, 10, 25), radio_rtt=(60,), buffer=(50, 500), rate=(10 * MB, 50 * MB))]
    networks += [*_products("uplink", rate=(20 * MB,), buffer=(300,), uplink_rate=(0.3 * MB, 1 * MB), uploads=(0, 1), downloads=(1, 4))]
    networks += [*_products("upload", rate=(4.5 * MB, 10 * MB), buffer=(None,), uplink_rate=(0.3 * MB, 1 * MB), uplink_buffer=(32, 128), uploads=(1,),
                            downloads=(1, 4), timestamps=(False, True))]
    return list({each.name: each for each in networks}.values())  # without those whose small buffers come to the same


# Drawn networks -------------------------------------------------------------------------------------------------------

# No drawn network carries more than so many bits in its measured time, so that each is judged in some seconds.
MOST_BITS = 2.0e9
# Drawn fields with the probability that a network has them.
RARE = 0.2


def rounded(value):
    """Two digits, as somebody would write it."""
    return float(f"{value:.2g}")


def log_uniform(draw, low, high):
    return rounded(low * (high / low) ** draw.random())


# How each field is drawn, alone; fields that go together are one entry.
DRAWS = {
    "rate": lambda r: {"rate": log_uniform(r, 64e3, 200e6)},
    "radio_rtt": lambda r: {"radio_rtt": log_uniform(r, 4, 300)},
    "server_rtt": lambda r: {"server_rtt": log_uniform(r, 4, 300)},
    "buffer": lambda r: {"buffer": None if r.random() < 0.15 else log_uniform(r, 5, 2000)},
    "queue": lambda r: {"queue": r.choice(("fifo", "codel", "fq-codel", "dualpi2"))},
    "downloads": lambda r: {"downloads": r.choice((2, 4, 8, 16))},
    "line": lambda r: {"line_rate": log_uniform(r, 200e3, 50e6), "line_buffer": log_uniform(r, 3, 1000),
                       "line_queue": r.choice(("fifo", "fifo", "codel", "red", "pie"))},
    "ues": lambda r: {"ues": r.choice((2, 4, 8, 16))},
    "addresses": lambda r: {"addresses": 2},
    "second_hop": lambda r: {"second_hop": log_uniform(r, 100e3, 20e6)},
    "others": lambda r: {"others": tuple(r.choice(("cubic", "bbr")) for _ in range(r.choice((1, 1, 2, 4))))},
    "datagrams": lambda r: {"datagrams": rounded(r.uniform(0.05, 0.95)), "poisson": r.random() < 0.5},
    "policer": lambda r: {"policer": r.choice(("before", "behind")), "policer_rate": log_uniform(r, 200e3, 50e6),
                          "policer_burst": log_uniform(r, 10, 500)},
    "way": lambda r: {"way_extra": log_uniform(r, 10, 200), "way_every": r.choice((0.0, 2.0, 5.0)), "way_where": r.choice(("radio", "server")),
                      "way": r.choice(("down", "up", "both")), "way_shorter": r.random() < 0.5},
    "ack_every": lambda r: {"ack_every": r.choice((4, 8, 16, 32))},
    "scheduled": lambda r: {"scheduled": True},
    "loss": lambda r: {"loss": log_uniform(r, 0.001, 0.03), "loss_run": r.choice((1.0, 1.0, 5.0))},
    "channel": lambda r: {"channel": r.choice(("piecewise", "fading"))},
    "outage": lambda r: {"outage": log_uniform(r, 100, 3000)},
    "jitter": lambda r: {"jitter": log_uniform(r, 1, 30)},
    "uplink": lambda r: {"uplink_rate": log_uniform(r, 200e3, 10e6), "uploads": r.choice((0, 1))},
}
ALWAYS_DRAWN = ("rate", "radio_rtt", "server_rtt", "buffer")


def possible(network):
    """The network, with what would not be one taken off."""
    changes = {}
    if network.channel == "fading" and network.rate < 150e3:
        changes["channel"] = "constant"
    if network.bottleneck * network.seconds > MOST_BITS:
        changes["rate"] = rounded(network.rate * MOST_BITS / (network.bottleneck * network.seconds))
    if network.datagrams and network.datagrams * min(network.radio, network.line_rate or math.inf) > 500e6:
        changes["datagrams"] = 0.0
    return dataclasses.replace(network, **changes) if changes else network


def drawn(seed):
    """The network of that number: the same for the same seed."""
    draw = random.Random(seed)
    changes = {}
    for name, field in DRAWS.items():
        if name in ALWAYS_DRAWN or draw.random() < RARE:
            changes |= field(draw)
    return possible(Network("drawn", **changes))


def changed(network, draw):
    """A neighbour: one or two fields drawn again, taken off, or a number made larger or smaller."""
    plain = Network("drawn")
    for _ in range(draw.choice((1, 1, 2))):
        name = draw.choice(list(DRAWS))
        fresh = DRAWS[name](draw)
        has = any(getattr(network, key) != getattr(plain, key) for key in fresh)
        if has and draw.random() < 0.5:
            key = draw.choice(list(fresh))
            value = getattr(network, key)
            if isinstance(value, float) and value > 0 and isinstance(fresh[key], float):
                most = 0.95 if key == "datagrams" else 0.03 if key == "loss" else math.inf
                fresh = {key: min(rounded(value * 2 ** draw.uniform(-1, 1)), most)}
        elif has and name not in ALWAYS_DRAWN and draw.random() < 0.4:
            fresh = {key: getattr(plain, key) for key in fresh}
        network = dataclasses.replace(network, **fresh)
    return possible(network)


def simpler(network):
    """Neighbours with one group of fields as in a plain network."""
    plain = Network("drawn")
    for name, field in DRAWS.items():
        keys = field(random.Random(0))
        if any(getattr(network, key) != getattr(plain, key) for key in keys):
            yield possible(dataclasses.replace(network, **{key: getattr(plain, key) for key in keys}))
