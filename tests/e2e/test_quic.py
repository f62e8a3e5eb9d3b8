"""Real QUIC (ngtcp2) beside a split download of the same UE: its datagrams wait in the proxy while the radio queue is full."""

import contextlib
import threading
import time

import lab as lab_module
import pytest
import quic
import traffic
from test_radio import STEADY, Radio

pytestmark = pytest.mark.skipif(bool(quic.MISSING), reason=str(quic.MISSING))
MEGA = 1_000_000
UNLIMITED = {"ues": [{"address": "10.45.0.2", "frame": "0B", "buffer": "unlimited", "channel": STEADY}]}


def proxy_with(cross_traffic="queue"):
    return {"smvs": {"law": "acks", "cross_traffic": cross_traffic}}


@contextlib.contextmanager
def split_download(radio, server):
    """One endless split download of the UE, read as fast as it arrives."""
    with radio.client(server).connect({"do": "timed", "seconds": 120}) as connection:
        ended = threading.Event()

        def read():
            with contextlib.suppress(OSError):
                while not ended.is_set() and connection.recv(1 << 20):
                    pass

        reader = threading.Thread(target=read)
        reader.start()
        yield
        ended.set()
        traffic.reset(connection)
        reader.join(10)


@pytest.fixture(scope="module")
def radio(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quic")
    with lab_module.Lab("quic", folder) as lab:
        radio = Radio(lab, "smvs", STEADY, 300, cell=UNLIMITED, proxy=proxy_with())
        yield radio
        assert radio.nodeb.process.stop() == 0
        radio.sluice.stop_and_check()


@pytest.fixture(scope="module")
def beside(radio):
    """A split download that lasts as long as the tests of this file."""
    with traffic.Server(radio.wire.server.socket) as server, split_download(radio, server):
        time.sleep(2)
        yield


@pytest.fixture(scope="module")
def server(radio, tmp_path_factory):
    return quic.Server(radio.wire, tmp_path_factory.mktemp("server"))


@pytest.fixture
def client(radio, server, tmp_path):
    return quic.Client(radio.wire, server, tmp_path)


OPTIONS = {
    "plain": (),
    "zero-length connection id": ("--scid=",),
    "migration": ("--change-local-addr=300ms",),
    "new keys": ("--key-update=300ms",),
    "small datagrams": ("--max-udp-payload-size=1200", "--no-pmtud"),
    "losses at the client": ("--rx-loss=0.01",),
}


@pytest.mark.heavy
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
@pytest.mark.usefixtures("beside")
def test_a_document_arrives_whole_beside_a_split_download(radio, server, client, options):
    expected = server.make_file("document", 2 * MEGA, 1)
    before = radio.sluice.counters()
    assert client.digest("document", *options) == expected
    after = radio.sluice.counters()
    # A sender that sees losses of its own may stay below its share, so that nothing waits.
    assert any("loss" in option for option in options) or after["cross_traffic_queued"] > before["cross_traffic_queued"]


@pytest.mark.heavy
@pytest.mark.usefixtures("beside")
def test_early_data_of_a_resumed_connection(server, client):
    expected = server.make_file("early", 200_000, 2)
    resumed = (f"--session-file={client.folder / 'session'}", f"--tp-file={client.folder / 'parameters'}")
    assert client.digest("early", *resumed) == expected
    assert (client.folder / "session").is_file()
    assert client.digest("early", *resumed) == expected


@pytest.mark.heavy
@pytest.mark.usefixtures("beside")
def test_documents_at_the_same_time(server, client):
    expected = {f"part-{i}": server.make_file(f"part-{i}", 300_000, 10 + i) for i in range(8)}
    names = list(expected)
    arrived = {}
    traffic.many(len(names), len(names), lambda i: arrived.update({names[i]: client.digest(names[i])}))
    assert arrived == expected


@pytest.mark.heavy
@pytest.mark.usefixtures("beside")
def test_modes_change_while_datagrams_wait(radio, server, client):
    expected = server.make_file("switched", 4 * MEGA, 3)
    arrived = []
    download = threading.Thread(target=lambda: arrived.append(client.digest("switched")))
    download.start()
    for mode in ("bypass", "smvs", "i-tcp", "smvs"):
        time.sleep(0.4)
        radio.sluice.ask("mode", mode)
    download.join(60)
    assert arrived == [expected]


def radio_queue(tmp_path, cross_traffic, congestion, alone=False):
    """Results of the Node-B while a QUIC download fills the UE's queue, beside a split download or alone."""
    with lab_module.Lab(f"quic-{cross_traffic}", tmp_path / f"{cross_traffic}-{congestion}") as lab:
        radio = Radio(lab, "smvs", STEADY, 20, cell=UNLIMITED, warmup="8s", proxy=proxy_with(cross_traffic))
        server = quic.Server(radio.wire, lab.log_dir / "server", congestion)
        bulk = quic.Client(radio.wire, server, lab.log_dir).endless()
        if alone:
            assert radio.nodeb.process.wait(40) == 0, radio.nodeb.process.tail()
            results = radio.nodeb.results()
        else:
            with traffic.Server(radio.wire.server.socket, congestion="cubic") as tcp_server:
                results = radio.download_until_the_end(tcp_server, 20)
        assert bulk.poll() is None, bulk.tail()
        radio.sluice.stop_and_check()
    shown = {name: float(results[name]) for name in ("utilisation", "radio_queue_delay_p95_ms", "throughput_bps")}
    print(cross_traffic, congestion, shown)
    return shown


@pytest.mark.real_time
@pytest.mark.parametrize("congestion", ["cubic", "bbr2"])
def test_the_radio_queue_stays_short_beside_quic(tmp_path, congestion):
    results = {name: radio_queue(tmp_path, name, congestion) for name in ("forward", "queue")}
    assert results["queue"]["utilisation"] > 0.85
    assert results["queue"]["radio_queue_delay_p95_ms"] < max(60, 0.5 * results["forward"]["radio_queue_delay_p95_ms"])


@pytest.mark.real_time
def test_reports_keep_the_radio_queue_short_without_any_tcp(tmp_path):
    results = {name: radio_queue(tmp_path, name, "cubic", alone=True) for name in ("forward", "queue")}
    assert results["queue"]["utilisation"] > 0.85
    assert results["queue"]["radio_queue_delay_p95_ms"] < max(60, 0.5 * results["forward"]["radio_queue_delay_p95_ms"])
