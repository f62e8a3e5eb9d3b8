"""Readers that stall: nothing is lost, nobody is given up, and everything goes on when they read again. Kernel TCP on both
sides, the reader on either, over IPv4 and IPv6."""

import contextlib
import hashlib
import socket
import threading
import time

import lab as lab_module
import programs
import pytest
import traffic

FAMILIES = (socket.AF_INET, socket.AF_INET6)
SMALL_BUFFER = 16 << 10
STALL = 4  # seconds: longer than a sender with so few retries waits for an acknowledgement
RETRIES = 3


class Pair:
    """A connection between a program on the UE and one on the server, each a plain socket."""

    def __init__(self, wire, family, reader_buffer, ue_reads):
        listener = wire.server.socket(family, socket.SOCK_STREAM)
        ue = wire.ue.socket(family, socket.SOCK_STREAM)
        with contextlib.closing(listener):
            (ue if ue_reads else listener).setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, reader_buffer)
            listener.bind(("", 0))
            listener.listen(1)
            ue.settimeout(60)
            address = wire.server_address if family == socket.AF_INET else wire.server_address6
            ue.connect((address, listener.getsockname()[1]))
            server, _ = listener.accept()
        server.settimeout(60)
        self.reader, self.writer = (ue, server) if ue_reads else (server, ue)
        self.writer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def close(self):
        self.reader.close()
        self.writer.close()

    def write(self, size, piece):
        """Writes in a thread of its own, in pieces, then closes this direction. Returns it, and the bytes' digest."""
        data = b"".join(traffic.payload(size, size))

        def work():
            for at in range(0, size, piece):
                self.writer.sendall(data[at:at + piece])
            self.writer.shutdown(socket.SHUT_WR)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        return thread, hashlib.sha256(data).hexdigest()

    def expect(self, size, digest):
        assert traffic.read_to_end(self.reader) == (size, digest, 0)


@pytest.fixture(scope="module", params=[{}, {"exposure_per_flow": "0B"}, {"exposure_per_flow": "20KiB"}],
                ids=["uncapped", "nothing exposed", "little exposed"])
def wire(request, tmp_path_factory):
    with lab_module.Lab("stalls", tmp_path_factory.mktemp("stalls")) as lab:
        made = lab.bump()
        # Whoever is left without an answer for long gives up within the test: after 3 repetitions instead of 15.
        made.ue.sysctl("net.ipv4.tcp_retries2", RETRIES)
        made.server.sysctl("net.ipv4.tcp_retries2", RETRIES)
        sluice = programs.Sluice(lab, made.box, mode="i-tcp", limits=request.param,
                                 tcp={"max_retransmissions": RETRIES, "time_wait": "1s"})
        yield made
        sluice.wait_until_at_rest()
        assert sluice.counters()["flows_timed_out"] == 0
        sluice.stop_and_check()


# Large pieces fill the window that was offered. Small ones fill the reader's memory before, so that its kernel takes
# window back.
@pytest.mark.parametrize(("size", "piece"), [(700_000, 100_000), (60_000, 20)], ids=["large pieces", "small pieces"])
def test_a_reader_that_stalls_goes_on(wire, size, piece):
    """The UE and the server read, over IPv4 and IPv6, all at once."""

    def stall(number):
        with contextlib.closing(Pair(wire, FAMILIES[number // 2], SMALL_BUFFER, ue_reads=number % 2 == 0)) as pair:
            writer, digest = pair.write(size, piece)
            time.sleep(STALL)
            pair.expect(size, digest)
            writer.join(10)
            assert not writer.is_alive()

    traffic.many(4, 4, stall)


@pytest.mark.parametrize("ue_reads", [True, False], ids=["the UE", "the server"])
def test_a_stop_that_breaks_nothing_breaks_nothing(tmp_path, ue_reads):
    """The writer's bytes and FIN are acknowledged and held for a reader that stalls; a drain says so, and when it says
    that a stop is safe, it is."""
    with lab_module.Lab("stop", tmp_path) as lab:
        wire = lab.bump()
        sluice = programs.Sluice(lab, wire.box, mode="i-tcp")
        with contextlib.closing(Pair(wire, socket.AF_INET, SMALL_BUFFER, ue_reads)) as pair:
            writer, digest = pair.write(700_000, 100_000)
            writer.join(20)
            traffic.wait_until_acknowledged(pair.writer)
            sluice.ask("drain")
            time.sleep(0.3)
            status = sluice.ask("drain", "status")
            assert status["broken_by_a_stop"] == 1, status
            reading = threading.Thread(target=pair.expect, args=(700_000, digest), daemon=True)
            reading.start()
            deadline = time.monotonic() + 30
            while sluice.ask("drain", "status")["broken_by_a_stop"]:
                assert time.monotonic() < deadline
            sluice.stop_and_check()
            second = programs.Sluice(lab, wire.box, mode="i-tcp", name="second")
            reading.join(20)
            assert not reading.is_alive()
        second.stop_and_check()
