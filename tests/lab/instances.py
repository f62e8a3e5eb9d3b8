"""Several proxies side by side: UEs spread over them by two routers of the kernel, which agree on who goes where.

    server - core router =(path 0, 1, 2 ...)= radio router - UEs

On each path a box stands between the routers, for a proxy to be the wire of. Both routers have a resilient next-hop group
over the same paths, the same hash seed, and hash the UE's address alone: the destination on the core side, the source on
the radio side. With `radio=True` a Node-B stands outside of the routers, as Lab.radio has it, and a network of its own
carries its reports."""

from pathlib import Path

from lab import Wire
from programs import KEY, NODEB_FEEDBACK, PROXY_FEEDBACK

GROUP, GROUP6 = 100, 106
SEED = 0x51C1CE
BUCKETS = 128
SOURCE, DESTINATION = 1, 2  # of net.ipv4.fib_multipath_hash_fields


def why_not():
    """The reason why the routers of this kernel cannot agree, or None."""
    if not Path("/proc/sys/net/ipv4/fib_multipath_hash_seed").exists():
        return "needs a kernel whose hash of next hops has a seed that can be set (6.11)"
    return None


class Router:
    """One of the two: its ways to the other one, of which some are in the group."""

    def __init__(self, namespace, side, paths, prefixes, hashed, idle_timer):
        self.namespace, self.idle_timer = namespace, idle_timer
        self._group_there = False
        self._hashed = hashed
        self._other = 3 - side
        self._prefixes = prefixes
        namespace.sysctl("net.ipv4.ip_forward", 1)
        namespace.sysctl("net.ipv6.conf.all.forwarding", 1)
        for family in ("ipv4", "ipv6"):
            namespace.sysctl(f"net.{family}.fib_multipath_hash_policy", 3)
            namespace.sysctl(f"net.{family}.fib_multipath_hash_fields", hashed)
        namespace.sysctl("net.ipv4.fib_multipath_hash_seed", SEED)
        for path in range(paths):
            namespace.address(f"path{path}", f"10.1.{path}.{side}/24", f"fd00:1:{path}::{side}/64")
            namespace.ip("nexthop", "add", "id", path + 1, "via", f"10.1.{path}.{self._other}", "dev", f"path{path}")
            namespace.ip("nexthop", "add", "id", path + 51, "via", f"fd00:1:{path}::{self._other}", "dev", f"path{path}")

    def spread_over(self, paths):
        """Puts these paths, and no others, into the group."""
        for group, first, prefix in ((GROUP, 1, self._prefixes[0]), (GROUP6, 51, self._prefixes[1])):
            members = "/".join(str(path + first) for path in paths)
            self.namespace.ip("nexthop", "replace", "id", group, "group", members, "type", "resilient", "buckets", BUCKETS,
                              "idle_timer", self.idle_timer, "unbalanced_timer", 0)
            if not self._group_there:
                self.namespace.route(prefix, "nhid", group)
        self._group_there = True

    def prefer(self, table, prefix, first, second):
        """UEs of this IPv4 prefix go over the first of two paths, and over the second while the first's cable is down."""
        self.namespace.sysctl("net.ipv4.conf.all.ignore_routes_with_linkdown", 1)
        where, to = [], prefix
        if self._hashed == SOURCE:
            self.namespace.ip("rule", "add", "from", prefix, "lookup", table)
            where, to = ["table", table], self._prefixes[0]
        for metric, path in ((10, first), (20, second)):
            self.namespace.route(to, "via", f"10.1.{path}.{self._other}", "dev", f"path{path}", "metric", metric, *where)

    def buckets(self, group=GROUP):
        """The path of each bucket."""
        first = 1 if group == GROUP else 51
        lines = self.namespace.ip("nexthop", "bucket", "show", "id", group).splitlines()
        return [int(line.split("nhid")[1].split()[0]) - first for line in lines]


class Spread:
    """The network; its boxes are for programs.Sluice(lab, spread.boxes[i])."""

    def __init__(self, lab, paths=3, ues=12, idle_timer=120, radio=False):
        self.lab = lab
        self.server, self.ue = lab.namespace("server"), lab.namespace("ue")
        core, access = lab.namespace("core-router"), lab.namespace("radio-router")
        self.boxes = [lab.namespace(f"box{i}") for i in range(paths)]
        if radio:
            self._with_node_b(core, access)
        else:
            self.node_b = None
            lab.link(self.server, "eth0", core, "servers")
            lab.link(self.ue, "eth0", access, "ues")
        for i, box in enumerate(self.boxes):
            lab.quiet(box)
            lab.link(core, f"path{i}", box, "core")
            lab.link(access, f"path{i}", box, "radio")
        self.wire = Wire(self.server, None, self.ue)
        self.wire.ue_addresses = [f"10.45.0.{2 + i}" for i in range(ues)]
        self.wire.ue_addresses6 = [f"fd00:45::{2 + i:x}" for i in range(ues)]
        self._address(core, access)
        self.core = Router(core, 1, paths, ("10.45.0.0/16", "fd00:45::/64"), DESTINATION, idle_timer)
        self.access = Router(access, 2, paths, ("10.99.0.0/16", "fd00:99::/64"), SOURCE, idle_timer)

    def _with_node_b(self, core, access):
        """server - Node-B - core router, and radio router - Node-B - UE; reports go over `feedback`."""
        self.node_b = self.lab.namespace("node-b")
        self.lab.quiet(self.node_b)
        self.lab.link(self.server, "eth0", self.node_b, "core")
        self.lab.link(self.node_b, "hop", core, "servers")
        self.lab.link(access, "ues", self.node_b, "cell")
        self.lab.link(self.node_b, "radio", self.ue, "eth0")
        self.node_b.ip("link", "add", "feedback", "type", "bridge")
        self.node_b.address("feedback", "10.77.0.1/24")
        self.node_b.ip("link", "set", "feedback", "up")
        for i, box in enumerate(self.boxes):
            self.lab.link(self.node_b, f"to-box{i}", box, "feedback")
            self.node_b.ip("link", "set", f"to-box{i}", "master", "feedback")
            box.address("feedback", f"{self.feedback_address(i)}/24")

    @staticmethod
    def feedback_address(path):
        return f"10.77.0.{10 + path}"

    def _address(self, core, access):
        wire = self.wire
        self.server.address("eth0", f"{wire.server_address}/16", f"{wire.server_address6}/64")
        core.address("servers", "10.99.255.254/16", "fd00:99::fffe/64")
        access.address("ues", "10.45.255.254/16", "fd00:45::fffe/64")
        self.ue.address("eth0", *(f"{a}/16" for a in wire.ue_addresses), *(f"{a}/64" for a in wire.ue_addresses6))
        self.server.route("10.45.0.0/16", "via", "10.99.255.254")
        self.server.route("fd00:45::/64", "via", "fd00:99::fffe")
        self.ue.route("10.99.0.0/16", "via", "10.45.255.254")
        self.ue.route("fd00:99::/64", "via", "fd00:45::fffe")
        # A radio link has no ARP.
        for address in wire.ue_addresses + wire.ue_addresses6:
            access.ip("neigh", "replace", address, "lladdr", self.ue.mac("eth0"), "dev", "ues", "nud", "permanent")
        for address in ("10.45.255.254", "fd00:45::fffe"):
            self.ue.ip("neigh", "replace", address, "lladdr", access.mac("ues"), "dev", "eth0", "nud", "permanent")
        for address in (wire.server_address, wire.server_address6):
            core.ip("neigh", "replace", address, "lladdr", self.server.mac("eth0"), "dev", "servers", "nud", "permanent")
        for address in ("10.99.255.254", "fd00:99::fffe"):
            self.server.ip("neigh", "replace", address, "lladdr", core.mac("servers"), "dev", "eth0", "nud", "permanent")

    def over(self, *paths):
        """Spreads the UEs over these paths, on both routers."""
        for router in (self.core, self.access):
            router.spread_over(paths)

    def by_prefix(self, *rows):
        """Instead of over(): a prefix, the path of its UEs, and the one that they fall back to, in each row."""
        for router in (self.core, self.access):
            for table, row in enumerate(rows, 101):
                router.prefer(table, *row)

    def feedback(self, path):
        """The feedback section of a proxy: it speaks as itself, and answers where the Node-B is heard."""
        return {"listen": f"{self.feedback_address(path)}:{PROXY_FEEDBACK}", "sender": 10 + path,
                "keys": [{"id": 1, "secret": KEY, "learn_from": ["10.77.0.1/32"]}]}

    def node_b_feedback(self):
        """That of a Node-B to which all proxies are peers."""
        return {"listen": f"10.77.0.1:{NODEB_FEEDBACK}",
                "peers": [f"{self.feedback_address(path)}:{PROXY_FEEDBACK}" for path in range(len(self.boxes))]}

    def pull(self, path):
        """Both cables of the path's machine, as when it loses its power."""
        for end in ("core", "radio"):
            self.boxes[path].ip("link", "set", end, "down")
