"""What the measurement of real QUIC makes of its runs."""

import quic_bench


def run(**values):
    return {**dict.fromkeys(quic_bench.COLUMNS, 1.0), **values}


def test_what_arrived_is_parted_by_what_tcp_delivered():
    by_quic, by_tcp = quic_bench.parts(3 * 1514 + 500, 3 * 1448)
    assert (by_quic, by_tcp) == (500, 3 * 1514)
    assert quic_bench.parts(100, 1448)[0] == 0, "a frame that is still on its way is no negative share"


def test_a_row_has_the_medians_of_its_runs():
    row = quic_bench.row_of("QUIC alone", "queue", "cubic", [run(utilisation=value) for value in (0.5, 0.9, 0.8)])
    assert row["utilisation"] == "0.800"
    assert row["quic_mbps"] == "1.000"


def test_the_table_goes_between_the_marks_of_its_page(tmp_path, monkeypatch):
    page = tmp_path / "quic.md"
    page.write_text(f"before\n{quic_bench.BEGIN}old\n{quic_bench.END}after\n", encoding="utf-8")
    monkeypatch.setattr(quic_bench, "PAGE", page)
    quic_bench.write_page([quic_bench.row_of("QUIC alone", "queue", "cubic", [run(utilisation=0.985)])])
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    assert "| QUIC alone | cubic | queue | 98.5 % | 1 ms, 1 ms | 1.0 Mb/s | 1.0 Mb/s |" in text
