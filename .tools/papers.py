#!/usr/bin/python3
"""The numbers of the papers' pages, configs/papers/*.md.

    papers.py NODEB [--only NAME]... [--seeds N] [--out DIR] [--traces DIR] [--on ADDRESS] [--workers N] [--keep DIR]
    papers.py NODEB --check [--seed N] [--only NAME]... [--out DIR] [--traces DIR] [--on ADDRESS] [--workers N]
    papers.py --lint

Runs every experiment of the papers (or those named) with the seeds that numbers.toml asks for, at most N; takes from the
results the numbers that it lists, each with half of its 95 % confidence interval over the seeds and with the interval in
which a single run is; and writes them into numbers.csv and between the markers of the pages. --check runs one seed (1, or
N) and says which of its numbers are where the page has a single run's. --lint runs nothing: it compares the three,
numbers.csv with the scenarios of today, and the figures in words with it (papers_words.py)."""

import argparse
import csv
import dataclasses
import hashlib
import itertools
import json
import math
import re
import shutil
import statistics
import sys
import tempfile
import tomllib
from pathlib import Path

sys.dont_write_bytecode = True  # nothing appears beside the sources
import sweep  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
PAPERS = ROOT / "configs" / "papers"
# Columns of results.csv from here on are measured; those before name the run.
FIRST_MEASURED = "measured_s"
UNITS = {"%": 100, "Mb/s": 1e-6, "kb/s": 1e-3, "kB": 1e-3, "ms": 1, "s": 1, "": 1}
# Columns of parts of a whole, and Jain's index: at most 1.
PARTS = re.compile(r"utilisation|goodput|queue_empty|\w*jain|\w+_share|\w+_loss")
# A page describes a paper in this many lines; what is longer belongs into a table that a script writes.
MAX_BY_HAND = 60
COVERAGE = "COVERAGE.md"  # a list, not a page
# A number is {what, column} and some of these.
NUMBER_KEYS = {"what", "column", "over", "unit", "where", "versus", "times", "pick", "paper"}
# Keys at the top of a scenario that are text for people: they change no run.
TEXT_KEYS = ("title", "description", "paper", "output")
STUDENT_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
             2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042)


class PapersError(Exception):
    """What is wrong with a file, in words."""


# What is asked for ----------------------------------------------------------------------------------------------------


def asked(papers=PAPERS):
    """{experiment: {"seeds": n, "numbers": [...]}}; PapersError where numbers.toml is not as it should be."""
    try:
        table = tomllib.loads((papers / "numbers.toml").read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise PapersError(f"numbers.toml: {error}") from error
    for name, entry in table.items():
        if set(entry) != {"seeds", "numbers"} or not isinstance(entry["seeds"], int) or entry["seeds"] < 1 or not entry["numbers"]:
            raise PapersError(f"numbers.toml: {name}: seeds and numbers expected")
        names = [number.get("what") for number in entry["numbers"]]
        if len(set(names)) < len(names):
            raise PapersError(f"numbers.toml: {name}: two numbers of one name")
        for number in entry["numbers"]:
            wrong = set(number) - NUMBER_KEYS
            if wrong or not {"what", "column"} <= set(number) or number.get("unit", "") not in UNITS:
                reason = ", ".join(sorted(wrong)) or "what, column or unit"
                raise PapersError(f"numbers.toml: {name}: {number.get('what', number)}: {reason}")
            if number.get("pick", "least") not in ("least", "most", "range", "mean"):
                raise PapersError(f"numbers.toml: {name}: {number['what']}: pick is least, most, range or mean")
    return table


def without_texts(text):
    """A scenario's lines that runs depend on: no comments, none of TEXT_KEYS, which say what is told and drawn of them."""
    kept, skipping = [], False
    for line in text.splitlines():
        key = re.match(r"([a-z_]+):", line)
        if key:
            skipping = key[1] in TEXT_KEYS
        if not skipping and not re.match(r"\s*(#|$)", line):
            kept.append(line)
    return "\n".join(kept)


def digest(name, papers=PAPERS):
    """What the runs of a scenario depend on, and of the scenarios that it takes profiles from; 12 digits."""
    text = without_texts((papers / f"{name}.yaml").read_text(encoding="utf-8"))
    for other in sorted(set(re.findall(r"\bfile: ([\w.-]+\.yaml)", text))):
        text += "\n" + without_texts((papers / other).read_text(encoding="utf-8"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


# What the results say -------------------------------------------------------------------------------------------------


def interval(values):
    """Half of the 95 % confidence interval of the mean, as nodeb computes it; None of a single value."""
    if len(values) < 2:
        return None
    freedom = len(values) - 1
    t = STUDENT_T[freedom - 1] if freedom <= len(STUDENT_T) else 1.96 + 2.4 / freedom
    return t * statistics.stdev(values) / math.sqrt(len(values))


def one_run(values, signed, bound=math.inf):
    """Where a single run is, (least, most): the 95 % prediction interval for one more, and as far as any of these. What is not
    `signed` is not below 0, and nothing is above `bound`. None of a single value."""
    half = interval(values)
    if half is None:
        return None
    half *= math.sqrt(len(values) + 1)
    mean = statistics.fmean(values)
    least = min(mean - half, *values)
    return least if signed else max(least, 0.0), max(min(mean + half, bound), *values)


class Results:
    """results.csv of one experiment."""

    def __init__(self, folder):
        with (Path(folder) / "results.csv").open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            columns = reader.fieldnames
            self.rows = list(reader)
        self.columns = columns
        self.keys = [key for key in columns[:columns.index(FIRST_MEASURED)] if key not in ("scenario", "clock", "seed")]

    def point(self, row):
        return tuple(row[key] for key in self.keys)

    @staticmethod
    def fits(row, where):
        return all(row[key] in ([value] if isinstance(value, str) else value) for key, value in where.items())

    def other(self, row, changes):
        """The row of the same seed that differs from this one in `changes`, and in keys that go with them: a law's parameter
        that no row has there."""
        found = [other for other in self.rows if self.fits(other, changes) and other["seed"] == row["seed"]]
        for key in self.keys:
            if key not in changes and any(other[key] == row[key] for other in found):
                found = [other for other in found if other[key] == row[key]]
        if len(found) != 1:
            raise PapersError(f"{len(found)} rows to compare {self.point(row)} with, one expected")
        return found[0]

    def value(self, row, number):
        """The number of one run, in its unit; None where the run has none."""
        def cell(of):
            if not of[number["column"]]:
                return None
            if "over" not in number:
                return float(of[number["column"]])
            return float(of[number["column"]]) / float(of[number["over"]]) if of[number["over"]] else None

        value = cell(row)
        for word in ("versus", "times"):
            if word in number:
                base = cell(self.other(row, number[word]))
                if value is None or not base:
                    return None
                return 100 * (value / base - 1) if word == "versus" else value / base
        return None if value is None else value * UNITS[number.get("unit", "")]

    def points(self, number):
        """[(point, values by seed)] of the rows that a number is of."""
        for column in (number["column"], number.get("over", number["column"])):
            if column not in self.columns:
                raise PapersError(f"{number['what']}: there is no column {column}")
        unknown = {key for word in ("where", "versus", "times") for key in number.get(word, {})} - set(self.keys)
        if unknown:
            raise PapersError(f"{number['what']}: no sweep of {', '.join(unknown)}")
        rows = [row for row in self.rows if self.fits(row, number.get("where", {}))]
        points = []
        for point, group in itertools.groupby(rows, key=self.point):
            values = [value for value in (self.value(row, number) for row in group) if value is not None]
            if values:
                points.append((point, values))
        if not points or ("pick" not in number and len(points) != 1):
            raise PapersError(f"{number['what']}: {len(points)} points, expected {'some' if 'pick' in number else 'one'}")
        return points

    def label(self, point, points):
        """What tells a point from the others."""
        def distinct(keys):
            return len({tuple(other[i] for i in keys) for other, _ in points})

        told = []
        for i in range(len(self.keys)):  # of sweeps that go together the first is enough
            if distinct([*told, i]) > distinct(told):
                told.append(i)
        return ", ".join(f"{self.keys[i].replace('_', ' ')} {point[i]}" for i in told)


def digits(value, half):
    """How many decimals a value is written with: two digits of its interval, else three of its own. An interval that
    rounding has left of equal values is none."""
    least = half if half and half > 1e-9 * abs(value) else abs(value) / 10
    return 0 if not least else max(0, min(4, 1 - math.floor(math.log10(least))))


def written(values):
    """Mean and interval, in words."""
    mean, half = statistics.fmean(values), interval(values)
    decimals = digits(mean, half)
    text = f"{mean:.{decimals}f}"
    if half is not None:
        text += f" ± {half:.{decimals}f}"
    return text.replace("-", "−")


def unit_of(number):
    return "%" if "versus" in number else number.get("unit", "")


def bound_of(number):
    """What a number is never above, in its unit."""
    compared_with = {"versus", "times", "over"} & set(number)
    return UNITS[number.get("unit", "")] if PARTS.fullmatch(number["column"]) and not compared_with else math.inf


def all_points(results, number):
    """[(what tells the point from the others, values by seed)]; of a number that is a mean over points one, seed by seed."""
    points = results.points(number)
    if number.get("pick") == "mean":
        return [("", [statistics.fmean(of) for of in zip(*(values for _, values in points), strict=True)])]
    return [(results.label(point, points), values) for point, values in points]


def picked_points(results, number):
    """Those of all_points() that a number is of."""
    ordered = sorted(all_points(results, number), key=lambda one: statistics.fmean(one[1]))
    picked = {"least": ordered[:1], "most": ordered[-1:], "range": [ordered[0], ordered[-1]], "mean": ordered}
    return picked[number.get("pick", "least")]


def number_text(picked, number):
    """A number as the pages have it."""
    unit = unit_of(number)
    texts = [f"{written(values)}{' ' + unit if unit else ''}{f' ({label})' if label else ''}" for label, values in picked]
    return " … ".join(dict.fromkeys(texts))


def printed_bounds(values, number):
    """one_run() as it is printed: (least, most, decimals), rounded away from each other; None of a single value."""
    bounds = one_run(values, "versus" in number, bound_of(number))
    if bounds is None:
        return None
    decimals = digits(statistics.fmean(values), (bounds[1] - bounds[0]) / 2)
    unit = 10 ** decimals
    nothing = 1e-9 * max(1.0, *(abs(bound) * unit for bound in bounds))  # of rounding
    return math.floor(bounds[0] * unit + nothing) / unit, math.ceil(bounds[1] * unit - nothing) / unit, decimals


def one_run_text(picked, number):
    """Where a single run is, as the pages have it: for each of the points."""
    unit = unit_of(number)
    texts = []
    for _, values in picked:
        bounds = printed_bounds(values, number)
        if bounds is None:
            continue
        least, most, decimals = bounds
        text = f"{least:.{decimals}f}" + (f" to {most:.{decimals}f}" if most > least else "")
        texts.append(text.replace("-", "−") + (f" {unit}" if unit else ""))
    return "; ".join(texts)


# Record and page ------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Row:
    """One number of numbers.csv: from which scenario, by which sources, of how many seeds."""
    experiment: str
    scenario: str
    sources: str
    seeds: int
    what: str
    here: str
    one_run: str
    values: str  # JSON: [[what tells a point from the others, [values by seed]]]


COLUMNS = [field.name for field in dataclasses.fields(Row)]


def read_record(papers=PAPERS):
    with (papers / "numbers.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != COLUMNS:
            raise PapersError(f"numbers.csv: columns {','.join(COLUMNS)} expected")
        rows = []
        for fields in reader:
            if None in fields or None in fields.values() or not fields["seeds"].isdigit():
                raise PapersError(f"numbers.csv: line {reader.line_num}: {len(COLUMNS)} fields and whole seeds expected")
            rows.append(Row(**{**fields, "seeds": int(fields["seeds"])}))
        return rows


def write_record(rows, papers=PAPERS):
    with (papers / "numbers.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(dataclasses.asdict(row) for row in rows)


def pages(papers=PAPERS):
    """{file: text} of the pages."""
    return {file: file.read_text(encoding="utf-8") for file in sorted(papers.glob("*.md"))}


def tables(page):
    """The prefixes of the experiments whose table stands in the page."""
    return re.findall(r"^<!-- numbers (\w+) -->$", page, re.M)


def lines_by_hand(page):
    """The number of lines outside of the tables that scripts write."""
    return re.sub(r"^<!-- \w.*? -->\n.*?^<!-- end -->\n", "", page, flags=re.M | re.S).count("\n")


def with_numbers(page, rows, asked_for):
    """The page with the tables of the record in their places."""
    for prefix in tables(page):
        lines = ["| experiment | seeds | number | the paper | here | one run |", "| --- | --- | --- | --- | --- | --- |"]
        for name, entry in asked_for.items():
            if name.split("-")[0] != prefix:
                continue
            paper = {number["what"]: number.get("paper", "") for number in entry["numbers"]}
            for row in (row for row in rows if row.experiment == name):
                cells = (f"`{name}`", str(row.seeds), row.what, paper.get(row.what, ""), row.here, row.one_run)
                lines.append("".join(f"| {cell} " if cell else "| " for cell in cells) + "|")
        begin, end = f"<!-- numbers {prefix} -->\n", "<!-- end -->\n"
        before, _, rest = page.partition(begin)
        page = before + begin + "\n".join(lines) + "\n" + end + rest.partition(end)[2]
    return page


def problems(papers=PAPERS):
    """What does not agree: numbers.toml, the scenarios, numbers.csv and the pages."""
    asked_for, rows = asked(papers), read_record(papers)
    scenarios = {file.stem for file in papers.glob("*.yaml")}
    found = [f"numbers.toml: {name}: there is no such scenario" for name in asked_for if name not in scenarios]
    found += [f"numbers.toml: {name}: no numbers of it" for name in sorted(scenarios - set(asked_for))]
    for name, entry in asked_for.items():
        of_it = [row for row in rows if row.experiment == name]
        if [row.what for row in of_it] != [number["what"] for number in entry["numbers"]]:
            found.append(f"numbers.csv: {name}: its numbers are not those of numbers.toml")
        elif name in scenarios and any(row.scenario != digest(name, papers) for row in of_it):
            found.append(f"numbers.csv: {name}: the scenario has changed since")
    found += [f"numbers.csv: {name}: not in numbers.toml" for name in sorted({row.experiment for row in rows} - set(asked_for))]
    texts = pages(papers)
    missing = {name.split("-")[0] for name in asked_for} - {prefix for page in texts.values() for prefix in tables(page)}
    found += [f"{prefix}.md: no <!-- numbers {prefix} -->" for prefix in sorted(missing)]
    found += [f"{file.name}: its tables are not those of numbers.csv" for file, page in texts.items()
              if not found and page != with_numbers(page, rows, asked_for)]
    return found + [f"{file.name}: {count} lines by hand, at most {MAX_BY_HAND}" for file, page in texts.items()
                    if file.name != COVERAGE and (count := lines_by_hand(page)) > MAX_BY_HAND]


def lint(papers=PAPERS):
    # These need this module.
    import papers_clocks  # pylint: disable=import-outside-toplevel
    import papers_words  # pylint: disable=import-outside-toplevel

    try:
        found = problems(papers) + papers_clocks.problems(papers / "real") + papers_clocks.problems(papers_clocks.SENDERS)
        found += papers_words.problems(papers)
        short = {row.experiment: row.seeds for row in read_record(papers)}
        for name, entry in asked(papers).items():
            if short.get(name, entry["seeds"]) < entry["seeds"]:
                print(f"numbers.csv: warning: {name}: {short[name]} seeds, numbers.toml asks for {entry['seeds']}")
    except (OSError, PapersError) as problem:
        found = [str(problem)]
    for message in found:
        print(f"{message.replace(':', ': error:', 1)} (./run experiment papers writes numbers.csv and the pages)")
    print(f"papers: {len(found)} errors")
    return 1 if found else 0


# Running --------------------------------------------------------------------------------------------------------------


def rows_of(experiment, entry, folder, papers=PAPERS):
    """The numbers of one experiment."""
    results = Results(folder)
    sources = re.sub(r"^sources (\w{12}).*", r"\1", experiment.listing["program"])
    if len(sources) != 12:
        sources = "changed"  # built from a tree with changes: no commit has these sources
    rows = []
    for number in entry["numbers"]:
        try:
            picked = picked_points(results, number)
        except PapersError as problem:
            raise PapersError(f"{experiment.name}: {problem}") from problem
        values = json.dumps([[label, [float(f"{value:.6g}") for value in of]] for label, of in picked], separators=(",", ":"))
        rows.append(Row(experiment.name, digest(experiment.name, papers), sources, experiment.seeds, number["what"],
                        number_text(picked, number), one_run_text(picked, number), values))
    return rows


def write_numbers(fresh, asked_for, papers=PAPERS):
    """Puts fresh numbers into numbers.csv, in the place of older ones of the same experiments, and all into the pages."""
    known = read_record(papers) if (papers / "numbers.csv").is_file() else []
    renewed = {row.experiment for row in fresh}
    order = list(asked_for)
    rows = [row for row in known if row.experiment in order and row.experiment not in renewed] + fresh
    write_record(sorted(rows, key=lambda row: order.index(row.experiment)), papers)
    for file, page in pages(papers).items():
        file.write_text(with_numbers(page, read_record(papers), asked_for), encoding="utf-8")


def run(options, papers=PAPERS):
    asked_for = asked(papers)
    names = options.only or list(asked_for)
    unknown = [name for name in names if name not in asked_for]
    if unknown:
        raise PapersError(f"numbers.toml has no {', '.join(unknown)}")
    keep = options.keep or sweep.RUNS
    experiments = [sweep.Experiment(options.nodeb, papers / f"{name}.yaml",
                                    min(asked_for[name]["seeds"], options.seeds or asked_for[name]["seeds"]),
                                    tuple(options.traces), keep) for name in names]
    sweep.run_all(experiments, options.on, options.workers)
    fresh = []
    for experiment in experiments:
        folder = options.out / experiment.name
        code = experiment.merge(folder, quiet=True)
        if code:
            raise PapersError(f"{experiment.name}: nodeb ended with {code}")
        fresh += rows_of(experiment, asked_for[experiment.name], folder, papers)
    write_numbers(fresh, asked_for, papers)
    print(f"Written: {papers}/numbers.csv and the pages beside it; results in {options.out}/")
    if not options.keep:
        for experiment in experiments:
            experiment.forget()
    return 0


# Checking -------------------------------------------------------------------------------------------------------------


def with_seed(papers, seed, folder):
    """A copy of the scenarios that begin with `seed`."""
    shutil.copytree(papers, folder)
    for file in folder.glob("*.yaml"):
        text = file.read_text(encoding="utf-8")
        file.write_text(re.sub(r"^seed: \d+$", f"seed: {seed}", text, flags=re.M), encoding="utf-8")
    return folder


def compared(row, number, results):
    """[(point, value of the run, least, most)] of a number of the record."""
    if not row.values:
        raise PapersError(f"{row.experiment}: {row.what}: the record has no single runs; run it again")
    fresh = dict(all_points(results, number))
    found = []
    for label, values in json.loads(row.values):
        bounds = printed_bounds(values, number)
        if label not in fresh or bounds is None:
            raise PapersError(f"{row.experiment}: {row.what}: nothing to compare with at ({label})")
        found += [(label, value, *bounds[:2]) for value in fresh[label]]
    return found


def told(row, label, value, least, most):
    """One line, where a run is outside. Six digits are kept of what it is compared with."""
    room = 1e-5 * max(abs(least), abs(most))
    if least - room <= value <= most + room:
        return ""
    return f"outside: {row.experiment}: {row.what}{f' ({label})' if label else ''}: {value:.6g}, printed {least:g} to {most:g}"


def check(options, papers=PAPERS):
    """Runs one seed and compares; 1 where more than a tenth of the numbers are outside, or any with a seed of the record."""
    asked_for, record = asked(papers), read_record(papers)
    names = options.only or list(asked_for)
    lines, count, recorded = [], 0, True
    with tempfile.TemporaryDirectory() as scratch:
        folder = with_seed(papers, options.seed, Path(scratch) / "papers")
        experiments = [sweep.Experiment(options.nodeb, folder / f"{name}.yaml", 1, tuple(options.traces), Path(scratch) / "runs")
                       for name in names]
        sweep.run_all(experiments, options.on, options.workers)
        for experiment in experiments:
            out = options.out / experiment.name
            if experiment.merge(out, quiet=True):
                raise PapersError(f"{experiment.name}: nodeb failed")
            results = Results(out)
            numbers = {number["what"]: number for number in asked_for[experiment.name]["numbers"]}
            for row in (row for row in record if row.experiment == experiment.name):
                recorded = recorded and options.seed <= row.seeds
                found = [told(row, *one) for one in compared(row, numbers[row.what], results)]
                count += len(found)
                lines += [line for line in found if line]
    print("\n".join([*lines, f"seed {options.seed}: {count - len(lines)} of {count} numbers are where a single run's are printed"]))
    return 1 if len(lines) > (0 if recorded else max(1, count // 10)) else 0


def main():
    if sys.argv[1:] == ["--lint"]:
        return lint()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    sweep.add_options(parser)
    parser.add_argument("--only", action="append", help="this experiment; may be given several times")
    parser.add_argument("--seeds", type=int, help="at most so many per point")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "papers", help="folder for the results, one each")
    parser.add_argument("--check", action="store_true", help="compare one run of each with what is printed; writes no page")
    parser.add_argument("--seed", type=int, default=1, help="of that run")
    options = parser.parse_args()
    return check(options) if options.check else run(options)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (PapersError, sweep.SweepError) as error:
        sys.exit(f"papers: {error}")
    except KeyboardInterrupt:
        print("papers: stopped; the finished runs are kept", file=sys.stderr)
        sys.exit(130)
