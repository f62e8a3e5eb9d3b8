"""The package is replaced by a newer one under a thousand running transfers: what systemd does then, step by step, in a copy of
this machine (test_package)."""

import contextlib
import re
import selectors
import signal
import socket
import threading
import time

import lab as lab_module
import programs
import pytest
import traffic
from test_health import eventually
from test_package import CONFIGURATION, newer, packages, system  # noqa: F401 (fixtures)

TRANSFERS = 1000
UES = 100
BEAT = 0.5  # seconds between two messages of a transfer
MESSAGE = 2000  # bytes
START = f"{{ mountpoint -q /sys || mount -t sysfs sysfs /sys; }} && exec /usr/sbin/sluice {CONFIGURATION}"


class Echo:
    """A server that sends back what comes, on any number of connections. Thread: its own."""

    def __init__(self, make_socket, port):
        self._listener = make_socket(socket.AF_INET, socket.SOCK_STREAM)
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind(("", port))
        self._listener.listen(TRANSFERS)
        self._listener.setblocking(False)
        self.failures = []
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            while not self._ended.is_set():
                for key, _ in selector.select(0.1):
                    if key.fileobj is self._listener:
                        connection, _ = self._listener.accept()
                        selector.register(connection, selectors.EVENT_READ)
                    else:
                        self._answer(selector, key.fileobj)

    def _answer(self, selector, connection):
        try:
            data = connection.recv(65536)
            connection.sendall(data)
        except OSError as error:
            self.failures.append(f"server: {error!r}")
            data = b""
        if not data:
            selector.unregister(connection)
            connection.close()

    def close(self):
        self._ended.set()
        self._thread.join()
        self._listener.close()


class Transfers:
    """Connections that send a message each beat, and read it when it comes back. Every byte is compared. Thread: its own."""

    def __init__(self, wire, port):
        self.failures, self.late, self.echoed, self.longest_wait = [], [], 0, 0.0
        self._content = b"".join(traffic.payload(1, 1 << 20))
        self._sent, self._read, self._since = {}, {}, {}
        for number in range(TRANSFERS):
            connection = wire.ue.socket(socket.AF_INET, socket.SOCK_STREAM)
            connection.bind((wire.ue_addresses[number % UES], 0))
            connection.settimeout(20)
            connection.connect((wire.server_address, port))
            self._sent[connection] = self._read[connection] = number  # each its own part of the content
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def running(self):
        return len(self._sent)

    def wait_for(self, messages, timeout=60):
        """Until so many more have come back than there are transfers, times that."""
        wanted = self.echoed + messages * TRANSFERS * MESSAGE
        deadline = time.monotonic() + timeout
        while self.echoed < wanted:
            if self.late:  # first: part of what it sends is missing after that
                raise lab_module.TookTooLong("; ".join(self.late[:5]))
            assert not self.failures, self.failures[:5]
            if time.monotonic() >= deadline:
                raise lab_module.TookTooLong(f"{wanted - self.echoed} bytes have not come back yet")
            time.sleep(0.05)

    def finish(self):
        """Everything that was sent has come back, and every connection ends by its FINs."""
        self._closing.set()
        self._thread.join(60)
        if self._thread.is_alive() and not self.failures:
            raise lab_module.TookTooLong(f"{len(self._sent)} transfers have not ended yet")
        assert not self.failures, self.failures[:5]
        assert not self._sent

    def _run(self):
        with selectors.DefaultSelector() as selector:
            for connection in self._sent:
                selector.register(connection, selectors.EVENT_READ)
            order, due = list(self._sent), time.monotonic()
            closing = False
            while self._sent:
                # A tenth of the connections at each tenth of a beat.
                if time.monotonic() >= due and not closing:
                    closing = self._closing.is_set()
                    share, order = order[:TRANSFERS // 10], order[TRANSFERS // 10:] + order[:TRANSFERS // 10]
                    for connection in (list(self._sent) if closing else share):
                        self._send(connection, closing)
                    due += BEAT / 10
                for key, _ in selector.select(max(0.0, min(0.05, due - time.monotonic()))):
                    if not self._receive(key.fileobj):
                        selector.unregister(key.fileobj)
                        key.fileobj.close()

    def _send(self, connection, last):
        at = self._sent.get(connection)
        if at is None:
            return
        try:
            if last:
                connection.shutdown(socket.SHUT_WR)
                return
            connection.sendall(self._content[at:at + MESSAGE])
            self._sent[connection] = at + MESSAGE
            self._since.setdefault(connection, time.monotonic())
        except TimeoutError:
            self.late.append(f"nothing of the bytes from {at} on was taken in {connection.gettimeout()} s")
        except OSError as error:
            self.failures.append(f"client sends: {error!r}")

    def _receive(self, connection):
        """False when it is over."""
        try:
            data = connection.recv(65536)
        except OSError as error:
            self.failures.append(f"client reads: {error!r}")
            data = b""
        at, now = self._read[connection], time.monotonic()
        if data != self._content[at:at + len(data)]:
            self.failures.append(f"wrong bytes at {at}")
        if not data:
            if self._sent[connection] != at:
                self.failures.append(f"{self._sent[connection] - at} bytes did not come back")
            del self._sent[connection]
            return False
        self._read[connection] = at + len(data)
        self.echoed += len(data)
        self.longest_wait = max(self.longest_wait, now - self._since.pop(connection, now))
        if self._read[connection] != self._sent[connection]:
            self._since[connection] = now
        return True


@pytest.fixture
def wire(tmp_path):
    with lab_module.Lab("upgrade", tmp_path) as lab:
        made = lab.bump(ues=UES)
        made.lab = lab
        lab.know_each_other(made)
        yield made


def ask(system, *words):  # noqa: F811
    return programs.json.loads(system.run("sluicectl", "--json", *words).stdout)


def start(wire, system, name):  # noqa: F811
    process = wire.box.start(name, *system.command("sh", "-c", START))
    process.wait_for("running", 30)
    return process


def reset_by_stop(process):
    return int(re.search(r"(\d+) were reset on both sides", process.output())[1])


@pytest.mark.heavy
@pytest.mark.parametrize("meanwhile", [{"fail_open": "bridge"}, {}], ids=["bridge", "no wire"])
def test_no_transfer_notices_an_upgrade(packages, system, wire, tmp_path, meanwhile):  # noqa: F811
    """Without the bridge the wire is cut until the new version runs, and hosts repeat what they sent."""
    system.install(packages["sluice"])
    configuration = programs.sluice_configuration(
        programs.af_packet(0, "radio"), programs.af_packet(1, "core"), "/run/sluice/sluice.sock", mode="smvs",
        smvs={"law": "acks"}, state={"file": "/run/sluice/state"}, **meanwhile)
    programs.write(tmp_path / "sluice.yaml", configuration)
    system.write(CONFIGURATION, (tmp_path / "sluice.yaml").read_text(encoding="utf-8"))
    old = start(wire, system, "old")
    with contextlib.closing(Echo(wire.server.socket, 5001)) as echo:
        transfers = Transfers(wire, 5001)
        transfers.wait_for(3)
        assert ask(system, "status")["flows"] == TRANSFERS, "all are split"

        system.install(newer(packages["sluice"], tmp_path, "# newer\n"))
        old.signal(signal.SIGTERM)
        assert old.wait(20) == 0
        assert reset_by_stop(old) == 0, "every one could go back to its hosts"
        system.run("/usr/sbin/sluice", "--check", CONFIGURATION)
        new = start(wire, system, "new")
        transfers.wait_for(3)
        assert transfers.running() == TRANSFERS
        print(f"the longest wait for an answer was {transfers.longest_wait * 1000:.0f} ms")
        with wire.ue.socket(socket.AF_INET, socket.SOCK_STREAM) as fresh:
            fresh.settimeout(10)
            fresh.connect((wire.server_address, 5001))
            fresh.sendall(b"new")
            assert fresh.recv(3) == b"new"
            eventually(lambda: ask(system, "counters")["proxy.flows_split"] > 0, "the new version splits nothing")
        transfers.finish()
        assert transfers.failures == [] and echo.failures == []
        assert system.run("dpkg-query", "-W", "-f=${Version}", "sluice").stdout.endswith("+1")
        assert new.stop() == 0
