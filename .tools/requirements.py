#!/usr/bin/python3
"""dataplane/tcp/REQUIREMENTS.md against the repository: each row names sources and tests that exist, every requirement
of RFC 9293 has a row, and, after a run of the tests, every test that a row names has passed."""

import re
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = "dataplane/tcp"
TABLE = f"{FOLDER}/REQUIREMENTS.md"
# What RFC 9293 labels, without gaps.
LABELS = {"MUST": 69, "SHLD": 31, "MAY": 18, "REC": 1}
EXCUSES = ("not applicable: ", "not done: ")


@dataclass
class Row:
    line: int
    label: str
    sources: list  # paths from the top of the repository
    tests: list  # Suite.Name
    excuse: str  # why there are none


def rows(text):
    """The rows of all tables. One that is not a row of four cells is returned as a message."""
    found, errors = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("|") or re.match(r"\|( *-+ *\|)+$|\| label ", line):
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.rstrip().endswith("| |") and len(cells) == 3:
            cells.append("")
        if len(cells) != 4:
            errors.append((number, f"{len(cells)} cells, expected 4"))
            continue
        label, _, where, tests = cells
        excuse = next((cell for cell in (where, tests) if cell.startswith(EXCUSES)), "")
        if excuse:
            found.append(Row(number, label, [], [], excuse))
            continue
        sources = [name if "/" in name else f"{FOLDER}/{name}" for name in where.split(", ") if name]
        found.append(Row(number, label, sources, [name for name in tests.split(", ") if name], ""))
    return found, errors


def known_tests(folder):
    """Every GoogleTest case below a folder, as Suite.Name; scripts of tests/conformance are cases, too."""
    names = set()
    for file in sorted(folder.rglob("*.cpp")):
        text = file.read_text(encoding="utf-8")
        names |= {f"{suite}.{name}" for suite, name in re.findall(r"\bTEST(?:_[FP])?\((\w+),\s*(\w+)\)", text)}
    return names | {f"Conformance.{script.stem}" for script in folder.rglob("*.script")}


def check(found, root, tests):
    """What is wrong with the rows, as (line, message)."""
    for row in found:
        if row.excuse:
            continue
        if not row.sources or not row.tests:
            yield row.line, f"{row.label} names no source or no test, and no reason"
        for source in row.sources:
            if not (root / source).is_file():
                yield row.line, f"{row.label}: there is no {source}"
        for test in row.tests:
            if test not in tests:
                yield row.line, f"{row.label}: there is no test {test}"
    labels = {row.label for row in found}
    for kind, count in LABELS.items():
        for missing in sorted({f"{kind}-{i}" for i in range(1, count + 1)} - labels):
            yield 0, f"{missing} of RFC 9293 has no row"


def outcomes(results):
    """Of every GoogleTest case in a folder of reports whether it passed, instances of a parametrised one together."""
    passed = {}
    for report in sorted(Path(results).glob("*.xml")):
        for case in ElementTree.parse(report).iter("testcase"):
            name = f"{case.get('classname', '').split('/')[-1]}.{case.get('name', '').split('/')[0]}"
            good = case.find("failure") is None and case.get("result") == "completed"
            passed[name] = passed.get(name, True) and good
    return passed


def unproven(results, root=ROOT):
    """After a run: the tests that rows name and that did not pass, as (label, test)."""
    found, _ = rows((root / TABLE).read_text(encoding="utf-8"))
    passed = outcomes(results)
    return [(row.label, test) for row in found for test in row.tests if not passed.get(test, False)]


def main():
    found, errors = rows((ROOT / TABLE).read_text(encoding="utf-8"))
    errors += check(found, ROOT, known_tests(ROOT / "tests"))
    for line, message in sorted(errors):
        print(f"{TABLE}:{line}: error: {message}")
    undone = sum(row.excuse.startswith("not done") for row in found)
    print(f"requirements: {len(found)} rows, {undone} not done, {len(errors)} errors")
    return 1 if errors or not found else 0


if __name__ == "__main__":
    sys.exit(main())
