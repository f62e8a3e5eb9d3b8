"""End to end: kernel TCP on both sides, the programs between them, everything inside network namespaces.

With SLUICE_BUILD=build/debug (or tsan) the programs of that preset are run; tests that ask for a rate, a delay or a share of
the processor are left out then, for sanitizers take several times as long. With SLUICE_E2E_CONTROL=1 the kernel's bridge takes the proxy's place: the tests of what hosts see must pass over it as
well, or they ask for more than a cable gives."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lab"))
import lab as lab_module  # noqa: E402
import processors  # noqa: E402
import programs  # noqa: E402
import traffic  # noqa: E402

WHY_NOT = lab_module.why_not()
CONTROL = os.environ.get("SLUICE_E2E_CONTROL") == "1"
SANITIZERS = programs.sanitizers()
LATE = (lab_module.TookTooLong, TimeoutError, subprocess.TimeoutExpired)
BUSY = 3  # times as many that want to run as there are processors
RUNS = 3  # of a test by the clock, at most
TEST_SECONDS = 600 if SANITIZERS else 150


def pytest_configure(config):
    config.addinivalue_line("markers", "real_time: asks for a rate, a delay or a share of the processor")
    config.addinivalue_line("markers", "heavy: does so much that a machine which is busy with other things is too slow for it")


def pytest_collection_modifyitems(items):
    for item in items:
        if WHY_NOT:
            item.add_marker(pytest.mark.skip(reason=WHY_NOT))
        elif SANITIZERS and item.get_closest_marker("real_time"):
            item.add_marker(pytest.mark.skip(reason=f"asks for more speed than programs have under {SANITIZERS}"))
        elif CONTROL and "path" not in item.fixturenames:
            item.add_marker(pytest.mark.skip(reason="tests the programs; SLUICE_E2E_CONTROL=1 runs without them"))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    report.missed_an_aim = call.excinfo is not None and call.excinfo.errisinstance(AssertionError)
    if item.get_closest_marker("heavy") and call.excinfo is not None and call.excinfo.errisinstance(LATE):
        mark_too_slow(report, call.excinfo.value)


def mark_too_slow(report, late):
    """What ran out of time on a machine that others keep busy is an expected failure. On one that has time it is stuck, and on
    either whatever is wrong, such as a reset or a byte that differs, fails as ever: no error of LATE."""
    load = os.getloadavg()[0]
    if load < BUSY * os.cpu_count():
        return
    report.outcome = "skipped"
    report.wasxfail = f"too slow, not broken: load {load:.0f} on {os.cpu_count()} processors: {str(late).splitlines()[0]}"


def pytest_runtest_protocol(item, nextitem):
    """A test by the clock that misses its aim while the hypervisor takes the processors for others was not given what it asks
    for: it runs again, a few times, and the last run counts. What it missed is printed. Programs that end count at once."""
    if not item.get_closest_marker("real_time"):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for more in reversed(range(RUNS)):
        before = processors.times()
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        share = processors.taken(before, processors.times())
        failed = [report for report in reports if report.failed]
        if not more or share < processors.MUCH or not failed or not all(report.missed_an_aim for report in failed):
            break
        item.config.get_terminal_writer().line(f"\n{item.nodeid} again: {share:.0%} of the processors were taken: {failed[0].longrepr.reprcrash.message}")
        item._initrequest()  # its fixtures begin anew
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.fixture(autouse=True, scope="session")
def clean_up_on_sigterm():
    lab_module.exit_on_sigterm()


@pytest.fixture(autouse=True)
def bounded_time(request):
    """No test hangs."""

    def late(_signum, _frame):
        raise TimeoutError(f"{request.node.name} took longer than {TEST_SECONDS} s")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(TEST_SECONDS)
    yield
    signal.alarm(0)


class ThroughPath:
    """Two hosts with the proxy between them (or the bridge)."""

    def __init__(self, lab, wire, sluice):
        self.lab, self.wire, self.sluice = lab, wire, sluice

    @property
    def is_bridge(self):
        return self.sluice is None


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A fresh lab for each file of tests, the proxy in mode i-tcp."""
    with lab_module.Lab("e2e", tmp_path_factory.mktemp("e2e")) as lab:
        wire = lab.bump(ues=4)
        if CONTROL:
            wire.box.bridge("br0", "core", "radio")
            yield ThroughPath(lab, wire, None)
        else:
            sluice = programs.Sluice(lab, wire.box, mode="i-tcp")
            yield ThroughPath(lab, wire, sluice)
            sluice.stop_and_check()


@pytest.fixture(autouse=True)
def still_alive(request):
    """Whatever a test does to it, the proxy is there afterwards; its log says why not."""
    yield
    if "path" in request.fixturenames:
        sluice = request.getfixturevalue("path").sluice
        if sluice and sluice.process.poll() is not None:
            pytest.fail(f"sluice ended with {sluice.process.poll()}\n{sluice.process.tail(60)}")


@pytest.fixture(scope="module")
def server(path):
    with traffic.Server(path.wire.server.socket) as server:
        yield server


@pytest.fixture
def client(path, server):
    return traffic.Client(path.wire.server_address, path.wire.ue.socket, server.port)
