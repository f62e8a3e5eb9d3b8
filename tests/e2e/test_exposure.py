"""How much is acknowledged before it is delivered: capped where configured, and measured. Kernel TCP on both sides."""

import lab as lab_module
import programs
import pytest
import traffic

MEGA = 1_000_000


@pytest.mark.parametrize(("limits", "most"), [
    ({"exposure_per_flow": "0B"}, 0), ({"exposure_per_flow": "50KiB"}, 50 << 10), ({"exposure_per_bearer": "80KiB"}, 80 << 10)])
def test_no_more_is_exposed_than_the_cap(tmp_path, limits, most):
    with lab_module.Lab("exposure", tmp_path) as lab:
        wire = lab.bump()
        sluice = programs.Sluice(lab, wire.box, mode="i-tcp", limits=limits)
        with traffic.Server(wire.server.socket) as server:
            client = traffic.Client(wire.server_address, wire.ue.socket, server.port)
            traffic.many(6, 6, lambda i: client.duplex(4 * MEGA, seed=600 + i))
            client.download(MEGA, seed=1, pause=0.01)
            assert client.reset_by_server(100_000) == 100_000
        sluice.wait_until_at_rest()
        exposure = sluice.ask("exposure")
        sluice.stop_and_check()
        assert exposure["samples"] > 0
        assert exposure["largest_bytes"] <= most
