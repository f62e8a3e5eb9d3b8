"""A flood of SYNs from very many sources beside a transfer. What it takes from the transfer's rate: `./run bench flood`;
what one SYN costs: test_packet_cost.py."""

import flood
import pytest

SECONDS = 4


def test_a_transfer_outlives_a_flood_of_syns_and_nothing_is_opened_for_them(path, client):
    if not flood.FLOOD.is_file():
        pytest.skip(f"{flood.FLOOD} was not built (./run build)")
    generator = flood.start(path.wire, "syn", SECONDS)
    transfers = 0
    while generator.poll() is None:
        client.download(2_000_000, transfers)
        transfers += 1
    assert transfers > 0
    assert flood.sent(generator) > flood.SOURCES / 10, "many sources had their turn"
    if path.sluice:
        # Some transfers wait out their last acknowledgement.
        assert path.sluice.ask("status")["flows"] <= transfers + 1, "nothing was opened for SYNs that nobody has answered"
