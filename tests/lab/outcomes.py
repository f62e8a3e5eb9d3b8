"""Connections whose proxy ends: each must come to its end or be reset, with nothing wrong before, and none may hang. With the
fixtures that such tests share."""

import errno
import socket
import threading
import time

import lab as lab_module
import pytest
import traffic

PAUSE = 0.05  # of readers between two reads, so that transfers are under way for some seconds
PATIENCE = 45  # far more than anything takes that is not stuck


@pytest.fixture
def wire(tmp_path, request):
    """Two hosts, nothing between them yet, and the lab they are in: of one test alone."""
    with lab_module.Lab(request.module.__name__, tmp_path) as lab:
        made = lab.bump(ues=4)
        made.lab = lab
        yield made


@pytest.fixture
def server(wire):  # pylint: disable=redefined-outer-name
    with traffic.Server(wire.server.socket) as made:
        yield made


def client(wire, server, ue=0):  # pylint: disable=redefined-outer-name
    return traffic.Client(wire.server_address, wire.ue.socket, server.port, source=wire.ue_addresses[ue])


class Outcomes:
    """Transfers in threads of their own. Each comes to "complete" or to "reset"; anything else fails the test."""

    def __init__(self, wire, server, count, size):
        self.wire, self.server, self.size = wire, server, size
        self.seen, self.failures = [], []
        self._threads = [threading.Thread(target=self._run, args=(i,), daemon=True) for i in range(count)]
        for thread in self._threads:
            thread.start()

    def _run(self, number):
        try:
            self.seen.append((self._upload if number % 2 else self._download)(number))
        except (ConnectionResetError, BrokenPipeError):
            self.seen.append("reset")
        except Exception as error:  # pylint: disable=broad-except
            self.failures.append(repr(error))

    def _download(self, number):
        order = {"do": "send", "bytes": self.size, "seed": number}
        with client(self.wire, self.server, number % 4).connect(order, timeout=PATIENCE) as connection:
            got, sha, error = traffic.read_to_end(connection, PAUSE)
        if error:
            assert error == errno.ECONNRESET
        else:
            assert got == self.size
        assert sha == traffic.digest(number, got), "whatever arrived is right"
        return "reset" if error else "complete"

    def _upload(self, number):
        with client(self.wire, self.server, number % 4).connect({"do": "take", "pause": PAUSE}, timeout=PATIENCE) as connection:
            sent = traffic.send_payload(connection, number, self.size)
            connection.shutdown(socket.SHUT_WR)
            answer = bytearray()
            while block := connection.recv(64):
                answer += block
        assert answer.decode() == sent
        return "complete"

    def running(self):
        return sum(thread.is_alive() for thread in self._threads)

    def finish(self):
        deadline = time.monotonic() + PATIENCE
        for thread in self._threads:
            thread.join(max(0, deadline - time.monotonic()))
        assert not self.running(), f"{self.running()} are stuck; {self.seen}, {self.failures}"
        assert not self.failures
        return self.seen


class SlowReader:
    """A download of 700 kB to a program that does not read: acknowledged to the server, held by the proxy."""

    SIZE = 700_000

    def __init__(self, wire, server, sluice):
        self.server = server
        self.connection = wire.ue.socket()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16384)
        self.connection.settimeout(PATIENCE)
        self.connection.connect((wire.server_address, server.port))
        order = f'{{"do": "leave", "bytes": {self.SIZE}, "seed": 9, "id": "slow"}}\n'
        self.connection.sendall(order.encode())
        deadline = time.monotonic() + PATIENCE
        while not any(flow["radio_held_bytes"] > self.SIZE / 2 for flow in sluice.ask("flows")):
            assert time.monotonic() < deadline, sluice.ask("flows")
            time.sleep(0.05)

    def expect_reset(self):
        assert self.server.result("slow", PATIENCE)[2] == errno.ECONNRESET, "the server knows that not all arrived"
        got, sha, error = traffic.read_to_end(self.connection)
        assert error == errno.ECONNRESET and got < self.SIZE
        assert sha == traffic.digest(9, got)
