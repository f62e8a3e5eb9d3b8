"""What the proxy tells the manager that started it as a service (sd_notify(3))."""

import signal
import socket
import time

import programs
import pytest
from outcomes import PATIENCE, wire  # noqa: F401 (fixtures)
from test_health import eventually, thread_held

WATCHDOG = 2  # seconds


class Manager:
    """Stands for systemd: starts the proxy with a notify socket, and keeps what it is told."""

    def __init__(self, wire, **changes):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        path = wire.lab.log_dir / "notify"
        self._socket.bind(str(path))
        self._socket.settimeout(0.1)
        environment = {"NOTIFY_SOCKET": str(path), "WATCHDOG_USEC": str(WATCHDOG * 1_000_000)}
        self.sluice = programs.Sluice(wire.lab, wire.box, environment=environment, **changes)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()

    def next(self):
        """The next message by its keys; nothing where none comes soon."""
        try:
            lines = self._socket.recv(4096).decode().splitlines()
        except TimeoutError:
            return {}
        return dict(line.split("=", 1) for line in lines)

    def wait_for(self, key):
        """The next message that has the key, and what came before it."""
        seen = []
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            message = self.next()
            if key in message:
                return message, seen
            seen += [message] if message else []
        pytest.fail(f"no {key} came, only {seen}\n{self.sluice.process.tail()}")

    def forget(self):
        """Leaves out what has come by now."""
        while self.next():
            pass


def test_start_reload_and_end_are_told_in_their_order(wire):
    with Manager(wire, mode="i-tcp", stop={"drain": "3s"}) as manager:
        ready, before = manager.wait_for("READY")
        assert before == [] and ready["STATUS"].startswith("mode i-tcp, 0 connection(s)")
        file = manager.sluice.file
        file.write_text(file.read_text(encoding="utf-8").replace("i-tcp", "bypass"), encoding="utf-8")
        for reload in (lambda: manager.sluice.process.signal(signal.SIGHUP), lambda: manager.sluice.ask("reload")):
            asked = time.clock_gettime(time.CLOCK_MONOTONIC)
            reload()
            reloading, before = manager.wait_for("RELOADING")
            assert not any("READY" in message for message in before)
            assert int(reloading["MONOTONIC_USEC"]) >= int(asked * 1e6)
            ready, _ = manager.wait_for("READY")
            assert ready["STATUS"].startswith("mode bypass")
        manager.sluice.process.signal(signal.SIGTERM)
        stopping, _ = manager.wait_for("STOPPING")
        assert int(stopping["EXTEND_TIMEOUT_USEC"]) > 3_000_000
        assert manager.sluice.process.wait(PATIENCE) == 0


def test_a_poll_thread_that_stands_still_silences_the_watchdog(wire):
    with Manager(wire, mode="i-tcp", shards={"count": 2}) as manager:
        manager.wait_for("READY")
        for _ in range(3):
            manager.wait_for("WATCHDOG")
        with thread_held(manager.sluice.process.pid, "shard1"):
            manager.sluice.process.wait_for("shard 1 is stalled", PATIENCE)
            eventually(lambda: "is stalled" in manager.next().get("STATUS", ""), "the status does not tell")
            manager.forget()
            silent_until = time.monotonic() + 2 * WATCHDOG
            while time.monotonic() < silent_until:
                assert "WATCHDOG" not in manager.next()
        manager.wait_for("WATCHDOG")
        manager.sluice.stop_and_check()


def test_a_manager_that_cannot_be_reached_is_said(wire):
    runtime = wire.lab.log_dir / "runtime"
    runtime.mkdir()
    file = wire.lab.log_dir / "sluice.yaml"
    programs.write(file, programs.sluice_configuration(
        programs.af_packet(0, "radio"), programs.af_packet(1, "core"), wire.lab.log_dir / "a.sock", mode="i-tcp"))
    process = wire.box.start("sluice", programs.program("sluice"), file,
                             environment={"XDG_RUNTIME_DIR": str(runtime), "NOTIFY_SOCKET": "/nonexistent/notify"})
    assert process.wait(PATIENCE) == 1
    assert "NOTIFY_SOCKET /nonexistent/notify: No such file or directory" in process.output()
