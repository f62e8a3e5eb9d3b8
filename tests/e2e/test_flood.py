"""What a flood of SYNs from very many sources takes from a transfer, beside one of as many datagrams of the same length."""

import re

import pytest
import traffic
from programs import BUILD

FLOOD = BUILD / "bench" / "flood"
PER_SECOND, SOURCES = 20_000, 100_000
SECONDS = 3
ROUNDS = 3
# Both floods cost the kernel and the generator the same. What a SYN may cost the proxy beside that:
LEAST_KEPT = 0.8


def rate_under(path, client, kind):
    """Bytes a second of one download while the flood lasts."""
    if kind == "none":
        return traffic.run_bulk(client, SECONDS)["bytes"] / SECONDS
    wire = path.wire
    flood = wire.ue.start(f"flood-{kind}", FLOOD, "eth0", kind, PER_SECOND, SECONDS + 1, SOURCES, wire.ue.mac("eth0"),
                          wire.server.mac("eth0"))
    result = traffic.run_bulk(client, SECONDS)["bytes"] / SECONDS
    assert flood.wait(30) == 0, flood.tail()
    assert int(re.findall(r"\d+", flood.output())[-1]) > PER_SECOND * SECONDS / 2, "the generator did not get there"
    return result


@pytest.mark.real_time
def test_a_flood_of_syns_takes_no_more_than_one_of_datagrams(path, client):
    if not FLOOD.is_file():
        pytest.skip(f"{FLOOD} was not built (./run build)")
    rates = {"none": [], "udp": [], "syn": []}
    for _ in range(ROUNDS):
        for kind, all_rates in rates.items():
            all_rates.append(rate_under(path, client, kind))
    best = {kind: max(all_rates) for kind, all_rates in rates.items()}
    told = ", ".join(f"{kind} {rate * 8 / 1e6:.0f} Mb/s" for kind, rate in best.items())
    print(f"\n{told}; of the rate without a flood: udp {best['udp'] / best['none']:.2f}, syn {best['syn'] / best['none']:.2f};"
          f" syn / udp {best['syn'] / best['udp']:.2f}")
    assert best["syn"] >= LEAST_KEPT * best["udp"], told
    if path.sluice:
        assert path.sluice.ask("status")["flows"] <= 2, "nothing was opened for SYNs that nobody has answered"
