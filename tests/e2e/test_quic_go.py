"""Real QUIC of quic-go: downloads that wait in the proxy beside a split download, and downloads alone whose answers are counted."""

import time

import lab as lab_module
import pytest
import quic_go
import traffic
from test_quic import UNLIMITED, proxy_with, split_download
from test_radio import STEADY, Radio

MEGA = 1_000_000


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path, why_not = quic_go.build(tmp_path_factory.mktemp("quicgo"))
    if why_not:
        pytest.skip(why_not)
    return path


@pytest.mark.heavy
def test_documents_arrive_whole_beside_a_split_download(tmp_path, program):
    with lab_module.Lab("quicgo", tmp_path) as lab:
        radio = Radio(lab, "smvs", STEADY, 120, cell=UNLIMITED, proxy=proxy_with())
        client = quic_go.Client(radio.wire, quic_go.Server(radio.wire, program), program)
        with traffic.Server(radio.wire.server.socket) as server, split_download(radio, server):
            time.sleep(2)
            before = radio.sluice.counters()
            for size in (1, 100_000, 4 * MEGA):
                assert client.digest(size) == quic_go.digest(size)
            assert radio.sluice.counters()["cross_traffic_queued"] > before["cross_traffic_queued"]
        assert radio.nodeb.process.stop() == 0
        radio.sluice.stop_and_check()


@pytest.mark.heavy
def test_documents_arrive_whole_while_their_answers_are_counted(tmp_path, program):
    with lab_module.Lab("quicgo-count", tmp_path) as lab:
        smvs = {"law": "acks", "uplink_answers": "count"}
        radio = Radio(lab, "i-tcp", STEADY, 120, cell=UNLIMITED, proxy={"mode": "smvs", "smvs": smvs})
        client = quic_go.Client(radio.wire, quic_go.Server(radio.wire, program), program)
        for size in (4 * MEGA, 8 * MEGA):
            assert client.digest(size) == quic_go.digest(size)
        assert radio.sluice.counters()["answer_clocks_started"] >= 1
        assert radio.nodeb.process.stop() == 0
        radio.sluice.stop_and_check()
