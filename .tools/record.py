#!/usr/bin/python3
"""The record of what a segment and an idle connection pair cost (tests/bench/record.csv), and its check: the newest row
is compared with the best earlier one. More than 2 % worse is an error, unless the row has a reason; rows before one with
a reason are not compared with any more."""

import csv
import dataclasses
import datetime
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "tests" / "bench" / "record.csv"
FIGURES_PAGE = ROOT / "tests" / "bench" / "figures" / "relay.md"
BEGIN, END = "<!-- record -->\n", "<!-- end -->\n"
TOLERANCE = 0.02


@dataclasses.dataclass(frozen=True)
class Row:
    """What was measured of one commit: instructions for each relayed segment, and bytes for each idle pair."""
    date: str
    commit: str
    split: int
    regulated: int
    untouched: int
    pair_bytes: int
    reason: str = ""

    @staticmethod
    def of_today(commit, *, split, regulated, untouched, pair_bytes, reason):
        """Figures are rounded; a reason is one line."""
        today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
        return Row(today, commit, round(split), round(regulated), round(untouched), round(pair_bytes), " ".join(reason.split()))

    def __str__(self):
        return (f"{self.date} {self.commit}: {self.split} instructions split, {self.regulated} regulated, "
                f"{self.untouched} untouched, {self.pair_bytes} bytes for a pair")


COLUMNS = [field.name for field in dataclasses.fields(Row)]
FIGURES = {"split": "instructions per split segment", "regulated": "instructions per regulated segment",
           "untouched": "instructions per untouched segment", "pair_bytes": "bytes per idle pair"}


def read(file=FILE):
    """All rows, oldest first; ValueError where the file is not a record."""
    with file.open(encoding="utf-8", newline="") as text:
        reader = csv.DictReader(text)
        if reader.fieldnames != COLUMNS:
            raise ValueError(f"columns {','.join(COLUMNS)} expected, got {','.join(reader.fieldnames or [])}")
        rows = []
        for fields in reader:
            if None in fields or None in fields.values():
                raise ValueError(f"line {reader.line_num}: {len(COLUMNS)} fields expected")
            figures = {name: int(fields[name]) for name in FIGURES}
            if any(figure <= 0 for figure in figures.values()):
                raise ValueError(f"line {reader.line_num}: a figure is not above 0")
            rows.append(Row(**{**fields, **figures}))
        return rows


def append(row, file=FILE):
    """Adds a row; begins the file where there is none."""
    fresh = not file.exists()
    with file.open("a", encoding="utf-8", newline="") as text:
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        if fresh:
            writer.writeheader()
        writer.writerow(dataclasses.asdict(row))


def worse(rows):
    """What the newest row has more of than is allowed, in words."""
    if not rows or rows[-1].reason:
        return []
    newest, earlier = rows[-1], rows[:-1]
    accepted = max((i for i, row in enumerate(earlier) if row.reason), default=0)
    found = []
    for name, text in FIGURES.items():
        best = min(earlier[accepted:], key=lambda row, name=name: getattr(row, name), default=None)
        if best is None:
            continue
        now, before = getattr(newest, name), getattr(best, name)
        if now > before * (1 + TOLERANCE):
            found.append(f"{text}: {now} in {newest.commit}, {before} in {best.commit}: {100 * (now / before - 1):.1f} % more")
    return found


def grouped(number):
    return f"{number:,}".replace(",", " ")


def with_figures(page, row):
    """The page with the table of a row in its place."""
    table = "\n".join(["| | |", "| --- | --- |",
                       *(f"| {text} | {grouped(getattr(row, name))} |" for name, text in FIGURES.items())]) + "\n"
    before, _, rest = page.partition(BEGIN)
    return before + BEGIN + table + END + rest.partition(END)[2]


def main(file=FILE, page=FIGURES_PAGE):
    try:
        rows = read(file)
    except (OSError, ValueError) as error:
        print(f"{file.name}: error: {error}")
        return 1
    found = worse(rows)
    for message in found:
        print(f"{file.name}: error: {message}; at most {TOLERANCE:.0%}, or a reason (./run bench --record REASON)")
    text = page.read_text(encoding="utf-8")
    if rows and text != with_figures(text, rows[-1]):
        found.append("another row")
        print(f"{page.name}: error: its table is not that of the newest row (./run bench --record writes it)")
    print(f"record: {len(rows)} rows, {len(found)} errors")
    return 1 if found or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
