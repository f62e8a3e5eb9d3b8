"""What scenarios gave by both clocks: the record results.csv beside them, and its table in a page. Those of configs/papers/real
are in configs/papers/clocks.md, those of configs/scenarios/real in tests/bench/figures/senders.md."""

import csv
import dataclasses
import statistics
import sys

sys.dont_write_bytecode = True  # nothing appears beside the sources
import papers  # noqa: E402
from papers import PapersError  # noqa: E402,F401  pylint: disable=unused-import

FOLDER = papers.PAPERS / "real"
SENDERS, SENDERS_PAGE = papers.ROOT / "configs" / "scenarios" / "real", papers.ROOT / "tests" / "bench" / "figures" / "senders.md"
BEGIN, END = "<!-- clocks -->\n", "<!-- end -->\n"
# What is compared: column of nodeb's results.csv, its unit and scale, and how the page calls it.
MEASURED = (("throughput_bps", "Mb/s", 1e-6, "downloads"), ("utilisation", "%", 100, "use of the link"),
            ("radio_queue_delay_mean_ms", "ms", 1, "mean queueing delay"), ("radio_queue_delay_p95_ms", "ms", 1, "its p95"),
            ("drops", "", 1, "drops"), ("retransmissions", "", 1, "repeated"), ("flow_jain", "", 1, "Jain of flows"),
            ("up_down_ratio", "", 1, "up over down"))
CLOCKS = ("virtual", "real")


@dataclasses.dataclass(frozen=True)
class Row:
    """All runs of one mode by one clock: mean and interval of each thing that is compared, in words; empty: none."""
    experiment: str
    scenario: str
    seconds: str
    seeds: int
    mode: str
    clock: str
    throughput_bps: str
    utilisation: str
    radio_queue_delay_mean_ms: str
    radio_queue_delay_p95_ms: str
    drops: str
    retransmissions: str
    flow_jain: str
    up_down_ratio: str


COLUMNS = [field.name for field in dataclasses.fields(Row)]


def names(folder=FOLDER):
    return sorted(file.stem for file in folder.glob("*.yaml"))


def cell(column, unit, scale, rows):
    """One thing of several runs, as the page has it."""
    values = [float(row[column]) * scale for row in rows if row.get(column)]
    if not values or (column == "flow_jain" and statistics.fmean(values) == 1 and all(row["flow_jain"] == "1" for row in rows)):
        return ""
    return papers.written(values) + (f" {unit}" if unit else "")


def rows_of(name, results, folder=FOLDER):
    """The rows of the record from rows of results.csv, of all seeds, modes and both clocks."""
    made = []
    for mode in dict.fromkeys(row["mode"] for row in results):
        for clock in CLOCKS:
            runs = [row for row in results if row["mode"] == mode and row["clock"] == clock]
            if not runs:
                raise PapersError(f"real/{name}: {mode} has no run in {clock} time")
            cells = {column: cell(column, unit, scale, runs) for column, unit, scale, _ in MEASURED}
            made.append(Row(name, papers.digest(name, folder), f"{float(runs[0]['measured_s']):.0f}", len(runs), mode, clock, **cells))
    return made


def read(folder=FOLDER):
    file = folder / "results.csv"
    if not file.is_file():
        return []
    with file.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream)
        if reader.fieldnames != COLUMNS:
            raise PapersError(f"real/results.csv: columns {','.join(COLUMNS)} expected")
        return [Row(**{**fields, "seeds": int(fields["seeds"])}) for fields in reader]


def table(rows):
    """The rows as the page has them."""
    told = [(column, title) for column, _, _, title in MEASURED if any(getattr(row, column) for row in rows)]
    lines = ["| scenario | mode | clock | seeds | " + " | ".join(title for _, title in told) + " |",
             "| --- " * (4 + len(told)) + "|"]
    for row in rows:
        cells = (f"`real/{row.experiment}`", f"`{row.mode}`", row.clock, str(row.seeds), *(getattr(row, column) for column, _ in told))
        lines.append("".join(f"| {text} " if text else "| " for text in cells) + "|")
    return "\n".join(lines) + "\n"


def with_table(page, rows):
    """The page with the table of the record in its place."""
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + table(rows) + END + rest.partition(END)[2]


def page_of(folder):
    """Where the table of a folder's record is."""
    return SENDERS_PAGE if folder == SENDERS else folder.parent / "clocks.md"


def write(name, fresh, folder=FOLDER):
    """Puts fresh rows in the place of older ones of the same scenario, and all into the page."""
    rows = sorted([row for row in read(folder) if row.experiment != name] + fresh, key=lambda row: row.experiment)
    with (folder / "results.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(dataclasses.asdict(row) for row in rows)
    page = page_of(folder)
    page.write_text(with_table(page.read_text(encoding="utf-8"), rows), encoding="utf-8")


def problems(folder=FOLDER):
    """What does not agree: the scenarios, results.csv and the page; nothing where there are none of them."""
    if not folder.is_dir():
        return []
    rows = read(folder)
    recorded = {row.experiment for row in rows}
    found = [f"real/results.csv: {name}: nothing of it" for name in names(folder) if name not in recorded]
    found += [f"real/results.csv: {name}: there is no such scenario" for name in sorted(recorded - set(names(folder)))]
    for name in sorted(recorded & set(names(folder))):
        if any(row.scenario != papers.digest(name, folder) for row in rows if row.experiment == name):
            found.append(f"real/results.csv: {name}: the scenario has changed since")
    file = page_of(folder)
    page = file.read_text(encoding="utf-8")
    if BEGIN not in page:
        found.append(f"{file.name}: no <!-- clocks -->")
    elif not found and page != with_table(page, rows):
        found.append(f"{file.name}: its table of both clocks is not that of real/results.csv")
    return found
