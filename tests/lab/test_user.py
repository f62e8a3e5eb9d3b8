"""What the real-time measurement of users fetches with, and what it makes of it."""

import random
import threading

import pytest

import user
import web


@pytest.fixture(name="port")
def server_on_loopback():
    server = web.Server(0, "cubic")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


def test_pages_and_segments_come_whole(port):
    assert web.page_by_curl(f"http://127.0.0.1:{port}", random.Random(1)) > 0
    assert web.fetch_alone("127.0.0.1", port, web.SEGMENT) > 0


def test_what_is_not_there_is_no_measurement(port):
    with pytest.raises(OSError):
        web.fetch_alone("127.0.0.1", port, "nothing")


def test_a_row_has_ratios_of_each_pair_and_their_interval():
    runs = [({what: 0.1 for what in user.WHAT}, {what: 0.1 * times for what in user.WHAT}) for times in (1, 2, 3)]
    row = user.row_of(user.MODES[0], runs)
    assert row["page_ms"] == "200"
    assert row["ratio_first_segment"] == "2.00"
    assert row["ratio_probe_ci"] == "2.48", "Student's t of two degrees of freedom: 4.303 / sqrt(3)"
    assert user.row_of(user.MODES[0], runs[:1])["ratio_page_ci"] == "0.00"
