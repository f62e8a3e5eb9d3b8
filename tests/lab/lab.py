"""A laboratory of network namespaces: hosts, wires and supervised programs that vanish when the run ends.

Everything a lab makes lives in namespaces whose names carry the process that made them, so that several runs can be in
progress at once and what a crashed run left behind is recognised and removed by the next one.

    with Lab("upload", log_dir) as lab:
        wire = lab.bump()                       # server - box - UE, nothing in the box yet
        wire.box.bridge("br0", "core", "radio")
        listener = wire.server.socket()         # a socket of the server, usable from this very process
"""

import atexit
import contextlib
import ctypes
import itertools
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

PREFIX = "sluice-lab"
NETNS_DIR = Path("/run/netns")
CLONE_NEWNET = 0x40000000
PR_SET_PDEATHSIG = 1
# Hosts must put real checksums and frames of at most one MTU on the wire, and whatever stands between them must see
# each frame as it was sent.
NO_OFFLOADS = ("tx", "off", "tso", "off", "gso", "off", "gro", "off")

_libc = ctypes.CDLL(None, use_errno=True)
_numbers = itertools.count()


class LabError(RuntimeError):
    """The machine cannot do what a lab needs, or a program in it misbehaved."""


class TookTooLong(LabError):
    """Something did not come to pass in the time that it was given: it is stuck, or the machine is too slow for it."""


def why_not():
    """The reason this machine cannot run a lab, or None."""
    if os.geteuid() != 0:
        return "needs root for network namespaces"
    for tool in ("ip", "ethtool"):
        if not shutil.which(tool):
            return f"needs the program {tool}"
    probe = f"{PREFIX}-{_owner()}-probe{next(_numbers)}"
    try:
        made = subprocess.run(["ip", "netns", "add", probe], capture_output=True, text=True, check=False)
        return f"cannot make network namespaces: {made.stderr.strip()}" if made.returncode else None
    finally:
        _ip("netns", "del", probe, check=False)


def _start_time(pid):
    """When a process began, in clock ticks since boot; None where there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None


def _owner():
    return f"{os.getpid()}-{_start_time(os.getpid())}"


def _ip(*words, check=True):
    run = subprocess.run(["ip", *map(str, words)], capture_output=True, text=True, check=False)
    if check and run.returncode:
        raise LabError(f"ip {' '.join(map(str, words))}: {run.stderr.strip()}")
    return run.stdout


def _namespace_pids(name):
    return [int(pid) for pid in _ip("netns", "pids", name, check=False).split()]


def _delete_namespace(name):
    for pid in _namespace_pids(name):
        if pid != os.getpid():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    _ip("netns", "del", name, check=False)


def remove_leftovers():
    """Removes the namespaces, and the processes in them, of runs that did not get to clean up."""
    for entry in NETNS_DIR.glob(f"{PREFIX}-*"):
        match = re.match(rf"{PREFIX}-(\d+)-(\d+)-", entry.name)
        if match and _start_time(match[1]) != match[2]:
            _delete_namespace(entry.name)


def exit_on_sigterm():
    """Makes SIGTERM unwind the stack, so that context managers clean up. What comes after it does not disturb them."""

    def leave(signum, _frame):
        for other in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(other, signal.SIG_IGN)
        raise SystemExit(128 + signum)

    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGHUP, leave)


def leave_on_ctrl_c():
    """Makes Ctrl-C a KeyboardInterrupt once; those that follow do not disturb what removes everything."""

    def leave(_signum, _frame):
        for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(signum, signal.SIG_IGN)
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, leave)


@contextlib.contextmanager
def undisturbed():
    """Ctrl-C, SIGTERM and SIGHUP wait until its end: for us, and for what is started in it."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are the main thread's
        return
    came = []
    usual = {signum: signal.getsignal(signum) for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    handled = [signum for signum, handler in usual.items() if handler not in (None, signal.SIG_IGN)]
    for signum in handled:
        signal.signal(signum, lambda number, _frame: came.append(number))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, handled)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for signum in handled:
            signal.signal(signum, usual[signum])
        if came:
            signal.raise_signal(came[0])


class Process:
    """A program the lab started: its log, its end."""

    def __init__(self, name, popen, log):
        self.name = name
        self.log = log
        self._popen = popen

    @property
    def pid(self):
        return self._popen.pid

    def poll(self):
        """Its exit code, None while it runs; negative for the signal that ended it."""
        return self._popen.poll()

    def output(self):
        return self.log.read_text(encoding="utf-8", errors="replace")

    def wait(self, timeout):
        try:
            return self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            raise TookTooLong(f"{self.name} did not end within {timeout} s\n{self.tail()}") from None

    def tail(self, lines=25):
        return "\n".join(f"  {self.name}| {line}" for line in self.output().splitlines()[-lines:])

    def wait_for(self, text, timeout=20):
        """Returns the first line of the log that holds text (a regular expression)."""
        pattern = re.compile(text)
        deadline = time.monotonic() + timeout
        while True:
            ended = self.poll()  # before reading, so that nothing it wrote last is missed
            for line in self.output().splitlines():
                if pattern.search(line):
                    return line
            if ended is not None:
                raise LabError(f"{self.name} ended with {ended} before it said {text!r}\n{self.tail()}")
            if time.monotonic() > deadline:
                raise TookTooLong(f"{self.name} did not say {text!r} within {timeout} s\n{self.tail()}")
            time.sleep(0.02)

    def signal(self, signum):
        if self.poll() is None:
            os.kill(self.pid, signum)

    def stop(self, timeout=15):
        """SIGTERM, and SIGKILL to what ignores it. Returns the exit code (-9 when it had to be killed)."""
        self.signal(signal.SIGTERM)
        try:
            return self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL)
            return self._popen.wait()

    def cpu_seconds(self):
        """Processor time used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Namespace:
    """One network namespace: a host, or the box between hosts. It is there from make() to close()."""

    def __init__(self, lab, role):
        self.lab = lab
        self.role = role
        self.name = f"{PREFIX}-{_owner()}-{next(_numbers)}-{role}"
        self._fd = -1

    def make(self):
        _ip("netns", "add", self.name)
        self._fd = os.open(NETNS_DIR / self.name, os.O_RDONLY | os.O_CLOEXEC)
        self.ip("link", "set", "lo", "up")

    def close(self):
        """Removes it, also one that was made in part."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        _delete_namespace(self.name)

    def ip(self, *words, check=True):
        return _ip("-n", self.name, *words, check=check)

    @contextlib.contextmanager
    def entered(self):
        """This thread is inside. Sockets made here stay here; other threads are not affected."""
        outside = os.open(f"/proc/self/task/{threading.get_native_id()}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            self._enter(self._fd)
            yield
        finally:
            self._enter(outside)
            os.close(outside)

    @staticmethod
    def _enter(fd):
        if _libc.setns(fd, CLONE_NEWNET):
            raise LabError(f"setns: {os.strerror(ctypes.get_errno())}")

    def socket(self, family=socket.AF_INET, kind=socket.SOCK_STREAM, protocol=0):
        with self.entered():
            return socket.socket(family, kind, protocol)

    def run(self, *words, timeout=60, check=True, **options):
        """Runs a command to its end inside; its output is text."""
        run = subprocess.run(["ip", "netns", "exec", self.name, *map(str, words)], capture_output=True, text=True,
                             timeout=timeout, check=False, **options)
        if check and run.returncode:
            raise LabError(f"{' '.join(map(str, words))} ended with {run.returncode}: {run.stderr.strip()}")
        return run

    def start(self, name, *words, **options):
        return self.lab.start(self, name, *words, **options)

    def sysctl(self, key, value):
        """Sets a network setting of the namespace, e.g. net.ipv4.ip_forward."""
        with self.entered():
            Path("/proc/sys", *key.split(".")).write_text(str(value), encoding="ascii")

    def ethtool(self, interface, *words):
        self.run("ethtool", "-K", interface, *words)

    def address(self, interface, *addresses):
        for address in addresses:
            words = ["addr", "add", address, "dev", interface]
            # No duplicate address detection: the address is usable at once, and nothing but tests is on the wire.
            self.ip(*words, *(["nodad"] if ":" in address else []))

    def route(self, prefix, *words):
        self.ip(*(["-6"] if ":" in prefix else []), "route", "add", prefix, *words)

    def mac(self, interface):
        return re.search(r"link/ether (\S+)", self.ip("link", "show", interface))[1]

    def bridge(self, name, *interfaces):
        """A learning bridge over interfaces: the kernel's own bump in the wire."""
        self.ip("link", "add", name, "type", "bridge", "forward_delay", 0, "mcast_snooping", 0)
        for interface in interfaces:
            self.ip("link", "set", interface, "master", name)
        self.ip("link", "set", name, "up")

    def counters(self, interface):
        """The interface's own counters, e.g. rx_packets."""
        with self.entered():
            lines = Path("/proc/thread-self/net/dev").read_text(encoding="ascii").splitlines()
        values = next(line.split(":")[1].split() for line in lines if line.strip().startswith(f"{interface}:"))
        return {"rx_bytes": int(values[0]), "rx_packets": int(values[1]), "rx_dropped": int(values[3]),
                "tx_bytes": int(values[8]), "tx_packets": int(values[9]), "tx_dropped": int(values[11])}


@dataclass
class Wire:
    """Two hosts and the box that stands between them. The box's interfaces towards them are `core` and `radio`."""

    server: Namespace
    box: Namespace
    ue: Namespace
    server_address: str = "10.99.0.2"
    server_address6: str = "fd00:99::2"
    ue_addresses: list = field(default_factory=list)
    ue_addresses6: list = field(default_factory=list)

    @property
    def ue_address(self):
        return self.ue_addresses[0]


class Lab:
    """Namespaces and programs of one run. Logs go to log_dir, which outlives it."""

    def __init__(self, name, log_dir):
        self.name = name
        self.log_dir = Path(log_dir)
        self._namespaces = []
        self._processes = []

    def __enter__(self):
        remove_leftovers()
        self.log_dir.mkdir(parents=True, exist_ok=True)
        atexit.register(self.close)
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Ends every program, then removes every namespace. Harmless when done twice."""
        with undisturbed():
            for process in reversed(self._processes):
                process.signal(signal.SIGTERM)
            for process in reversed(self._processes):
                process.stop(timeout=5)
            self._processes.clear()
            for namespace in reversed(self._namespaces):
                namespace.close()
            self._namespaces.clear()
            atexit.unregister(self.close)

    def namespace(self, role):
        made = Namespace(self, role)
        self._namespaces.append(made)  # before it is there: a stop in the middle of making it leaves nothing
        made.make()
        return made

    def start(self, namespace, name, *words, environment=None, cwd=None, urgent=False):
        """Starts a program inside a namespace, its output in log_dir/NAME.log. An urgent one goes before others for the
        processor. What a thread started dies with that thread."""
        log = self.log_dir / f"{name}.log"
        for number in itertools.count(2):
            if not log.exists():
                break
            log = self.log_dir / f"{name}.{number}.log"
        with open(log, "wb") as out:
            popen = subprocess.Popen(["ip", "netns", "exec", namespace.name, *map(str, words)], stdout=out,
                                     stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=cwd,
                                     env=dict(os.environ, **(environment or {})),
                                     preexec_fn=_urgent_child if urgent else _die_with_parent)
        process = Process(name, popen, log)
        self._processes.append(process)
        return process

    def link(self, a, a_name, b, b_name, offloads=False):
        """A wire: a veth pair of MTU 1500 between two namespaces (or two ends in one)."""
        a.ip("link", "add", a_name, "type", "veth", "peer", "name", b_name, "netns", b.name)
        for end, name in ((a, a_name), (b, b_name)):
            end.ip("link", "set", name, "mtu", 1500, "txqueuelen", 10000)
            if not offloads:
                end.ethtool(name, *NO_OFFLOADS)
        for end, name in ((a, a_name), (b, b_name)):
            end.ip("link", "set", name, "up")

    def quiet(self, namespace):
        """A box must say nothing of its own: no neighbour discovery, no router solicitation, no forwarding."""
        for key in ("net.ipv6.conf.all.disable_ipv6", "net.ipv6.conf.default.disable_ipv6"):
            namespace.sysctl(key, 1)
        namespace.sysctl("net.ipv4.ip_forward", 0)

    def bump(self, ues=1, offloads=False):
        """server - box - UE. The box's ends, `core` and `radio`, are up and have no addresses."""
        server, box, ue = self.namespace("server"), self.namespace("box"), self.namespace("ue")
        self.quiet(box)
        self.link(server, "eth0", box, "core", offloads)
        self.link(ue, "eth0", box, "radio", offloads)
        wire = Wire(server, box, ue)
        wire.ue_addresses = [f"10.45.{i // 250}.{2 + i % 250}" for i in range(ues)]
        wire.ue_addresses6 = [f"fd00:45::{2 + i:x}" for i in range(ues)]
        server.address("eth0", f"{wire.server_address}/16", f"{wire.server_address6}/64")
        ue.address("eth0", *(f"{a}/16" for a in wire.ue_addresses), *(f"{a}/64" for a in wire.ue_addresses6))
        server.route("10.45.0.0/16", "dev", "eth0")
        server.route("fd00:45::/64", "dev", "eth0")
        ue.route("10.99.0.0/16", "dev", "eth0", "src", wire.ue_address)
        ue.route("fd00:99::/64", "dev", "eth0", "src", wire.ue_addresses6[0])
        return wire

    def radio(self, ues=1, proxy=True):
        """server - Node-B - proxy - Node-B - UE, all of it in the box: the emulator carries the hop from the servers
        to the proxy (`core` to `hop`) as well as the cell (`cell` to `radio`), and the proxy stands between `proxy-core`
        and `proxy-radio`. Without a proxy `hop` and `cell` are the two ends of one wire. Neighbours are known
        beforehand: a radio link has no ARP."""
        wire = self.bump(ues)
        if proxy:
            self.link(wire.box, "hop", wire.box, "proxy-core")
            self.link(wire.box, "proxy-radio", wire.box, "cell")
        else:
            self.link(wire.box, "hop", wire.box, "cell")
        self.know_each_other(wire)
        return wire

    @staticmethod
    def know_each_other(wire):
        """Static neighbour entries on both hosts, so that no ARP or neighbour discovery is needed."""
        server_mac, ue_mac = wire.server.mac("eth0"), wire.ue.mac("eth0")
        for address in (wire.server_address, wire.server_address6):
            wire.ue.ip("neigh", "replace", address, "lladdr", server_mac, "dev", "eth0", "nud", "permanent")
        for address in wire.ue_addresses + wire.ue_addresses6:
            wire.server.ip("neigh", "replace", address, "lladdr", ue_mac, "dev", "eth0", "nud", "permanent")


def _die_with_parent():
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _urgent_child():
    _die_with_parent()
    os.nice(-15)
