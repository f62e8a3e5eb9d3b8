"""The wire without its program: a bridge of the kernel takes over whenever the proxy ends or hangs, and gives way when it
starts again. No frame is carried twice, whoever carries it."""

import contextlib
import ctypes
import errno
import os
import signal
import socket
import struct
import threading
import time

import lab as lab_module
import programs
import pytest
import traffic
from outcomes import PATIENCE, client, server, wire  # noqa: F401 (fixtures)

MEGA = 1_000_000
PTRACE_ATTACH = 16  # of sys/ptrace.h
WALL = 0x40000000  # __WALL of sys/wait.h
LONGER_THAN_A_HANG = 5


def start(wire, name="sluice", **changes):
    return programs.Sluice(wire.lab, wire.box, name=name,
                           **programs.merge({"mode": "i-tcp", "fail_open": "bridge"}, changes))


def refusal(wire, **changes):
    """What a proxy that does not start has to say."""
    with pytest.raises(lab_module.LabError) as caught:
        start(wire, "refused", **changes)
    return str(caught.value)


def wait_until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


class Datagrams:
    """Numbered datagrams from one host to the other, a millisecond apart: which came, and how often."""

    def __init__(self, sender, receiver, address, port):
        self.sent = 0
        self.came = []
        self._out, self._in = sender.socket(kind=socket.SOCK_DGRAM), receiver.socket(kind=socket.SOCK_DGRAM)
        self._in.bind((address, port))
        self._in.settimeout(0.5)
        self._to = (address, port)
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=run, daemon=True) for run in (self._send, self._receive)]
        for thread in self._threads:
            thread.start()

    def _send(self):
        while not self._ended.wait(0.001):
            with contextlib.suppress(OSError):  # while there is no interface
                self._out.sendto(struct.pack("!Q", self.sent), self._to)
                self.sent += 1

    def _receive(self):
        while True:
            try:
                self.came.append(struct.unpack("!Q", self._in.recv(64))[0])
            except TimeoutError:
                if self._ended.is_set():
                    return

    def wait_for_more(self, count=50):
        """Until so many more have come that were sent from now on."""
        first = self.sent
        wait_until(lambda: sum(number >= first for number in self.came[-2 * count:]) >= count)

    def end(self):
        self._ended.set()
        for thread in self._threads:
            thread.join()
        self._out.close()
        self._in.close()

    def twice(self):
        return len(self.came) - len(set(self.came))


@pytest.fixture
def datagrams(wire):
    """Both ways."""
    streams = [Datagrams(wire.ue, wire.server, wire.server_address, 7001),
               Datagrams(wire.server, wire.ue, wire.ue_address, 7002)]
    yield streams
    for stream in streams:
        stream.end()


def wait_for_more(streams):
    for stream in streams:
        stream.wait_for_more()


def members(box, bridge):
    return {line.split(":")[1].strip().split("@")[0] for line in box.ip("-o", "link", "show", "master", bridge).splitlines()}


def test_no_frame_is_carried_twice_however_it_ends(wire, datagrams):
    """Killed, stopped and started again under traffic."""
    for number in range(3):
        sluice = start(wire, f"killed-{number}")
        wait_for_more(datagrams)
        assert sluice.ask("status")["fail_open"] == {"bridge": "sluice0", "ready": True}
        sluice.kill()
        wait_for_more(datagrams)
    sluice = start(wire, "stopped", stop={"drain": "0s"})
    wait_for_more(datagrams)
    sluice.stop_and_check()
    wait_for_more(datagrams)
    assert members(wire.box, "sluice0") == {"radio", "core"}
    for stream in datagrams:
        stream.end()
        assert stream.twice() == 0


def with_record(wire, name):
    """A proxy that records how it ends, and learns how the last one did."""
    return start(wire, name, state={"file": str(wire.lab.log_dir / "state")})


def thread_of(process, name):
    for thread in os.listdir(f"/proc/{process.pid}/task"):
        with open(f"/proc/{process.pid}/task/{thread}/comm", encoding="ascii") as file:
            if file.read().strip() == name:
                return int(thread)
    raise AssertionError(f"there is no thread {name}")


def stop_thread(thread):
    """Stops one thread, which SIGSTOP cannot do without the others: a tracer can."""
    ptrace = ctypes.CDLL(None, use_errno=True).ptrace
    nothing = ctypes.c_void_p()
    assert ptrace(ctypes.c_long(PTRACE_ATTACH), ctypes.c_long(thread), nothing, nothing) == 0, os.strerror(ctypes.get_errno())
    assert os.WIFSTOPPED(os.waitpid(thread, WALL)[1])


def test_a_program_of_which_a_thread_hangs_is_ended(wire, datagrams):
    """A thread that hangs is ended with its program, and the next run names it."""
    for name, text in (("shard0", "the poll thread of shard 0 hung"), ("sluice", "the control thread hung")):
        sluice = with_record(wire, f"{name}-hangs")
        wait_for_more(datagrams)
        thread = thread_of(sluice.process, name)
        stop_thread(thread)
        wait_for_more(datagrams)
        if thread != sluice.process.pid:  # its tracer waits for it before its process is gone
            os.waitpid(thread, WALL)
        assert sluice.process.wait(PATIENCE) == -signal.SIGKILL
        following = with_record(wire, f"after-{name}")
        last = following.ask("status")["last_run"]
        assert last["ended"] == "hang" and text in last["text"]
        following.process.wait_for(f"the last run: {last['text']}")
        following.stop_and_check()
    assert all(stream.twice() == 0 for stream in datagrams)


def test_a_program_that_is_paused_continues(wire, datagrams):
    """A pause that is longer than a hang may be ends nothing; one without an end does."""
    sluice = with_record(wire, "paused")
    wait_for_more(datagrams)
    for _ in range(2):
        sluice.process.signal(signal.SIGSTOP)
        time.sleep(LONGER_THAN_A_HANG)
        sluice.process.signal(signal.SIGCONT)
        wait_for_more(datagrams)
    assert sluice.ask("status")["last_run"] is None
    sluice.process.signal(signal.SIGSTOP)
    wait_for_more(datagrams)
    assert sluice.process.wait(PATIENCE) == -signal.SIGKILL
    assert with_record(wire, "after-pause").ask("status")["last_run"]["ended"] == "stopped"
    assert all(stream.twice() == 0 for stream in datagrams)


def test_interfaces_that_go_and_come_are_put_back(wire, datagrams):
    sluice = start(wire)
    wire.box.ip("link", "set", "core", "down")
    wire.box.ip("link", "set", "core", "up")
    wait_for_more(datagrams)
    wire.box.ip("link", "set", "radio", "nomaster")
    sluice.process.wait_for("were added to the bridge sluice0 again")
    wire.box.ip("link", "del", "core")
    sluice.process.wait_for("no fallback is ready: there is no interface core")
    assert sluice.ask("status")["fail_open"]["ready"] is False
    wire.lab.link(wire.server, "eth0", wire.box, "core")
    wire.server.address("eth0", f"{wire.server_address}/16")
    wire.server.route("10.45.0.0/16", "dev", "eth0")
    wait_until(lambda: sluice.ask("status")["fail_open"]["ready"])
    assert sluice.counters()["fail_open.repairs"] >= 2
    wait_for_more(datagrams)
    sluice.kill()
    wait_for_more(datagrams)
    assert all(stream.twice() == 0 for stream in datagrams)


def test_the_host_is_not_on_the_wire(wire):
    """A bridge would take what is sent to all for its host's too, and have it answer."""
    sluice = start(wire)
    sluice.kill()
    wire.box.sysctl("net.ipv6.conf.sluice0.disable_ipv6", 0)
    wire.box.address("sluice0", "10.99.0.7/16", "fd00:99::7/64")
    for family, address in ((socket.AF_INET, "10.99.0.7"), (socket.AF_INET6, "fd00:99::7")):
        nobody = traffic.Client(address, wire.server.socket, family=family)
        assert nobody.connect_error(1) != errno.ECONNREFUSED, "the bridge's own address answers"
    assert client(wire, traffic.Server(wire.server.socket)).connect_error(PATIENCE) == 0


def test_it_refuses_what_is_no_wire_of_its_own(wire):
    wire.box.bridge("br7", "radio")
    wire.box.ip("link", "add", "other", "type", "veth", "peer", "name", "end")
    wire.box.ip("link", "set", "other", "master", "br7")
    assert "br7 has another member, other" in refusal(wire)
    wire.box.ip("link", "del", "other")
    first = start(wire)  # takes the bridge up that radio is in
    assert first.ask("status")["fail_open"]["bridge"] == "br7"
    assert "is already in use" in refusal(
        wire, admin={"socket": str(wire.lab.log_dir / "second.sock")}, feedback={"listen": "127.0.0.1:38427"})
    first.stop_and_check()


def test_the_wire_outlives_a_death_with_the_file_of_the_package(wire, datagrams, tmp_path):
    """Only the names of the interfaces and the places of its files are changed."""
    text = (programs.ROOT / "configs/inline/smvs-by-acks.yaml").read_text(encoding="utf-8")
    for before, after in (("radio0", "radio"), ("core0", "core"), ("/run/sluice", str(tmp_path))):
        text = text.replace(before, after)
    if programs.sanitizers():
        text = text.replace("seccomp: true", "seccomp: false")
    file = tmp_path / "sluice.yaml"
    file.write_text(text + f"admin: {{socket: {tmp_path}/sluice.sock}}\n", encoding="utf-8")
    process = wire.box.start("packaged", programs.program("sluice"), "--system", file,
                             environment={"XDG_RUNTIME_DIR": str(tmp_path)})
    process.wait_for("running", timeout=30)
    wait_for_more(datagrams)
    process.signal(signal.SIGKILL)
    process.wait(5)
    wait_for_more(datagrams)
    for stream in datagrams:
        stream.end()
        assert stream.twice() == 0
