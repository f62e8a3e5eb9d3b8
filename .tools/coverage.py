#!/usr/bin/python3
"""Which part of the product's lines the unit and simulation tests run, for each folder: a table of what gcov counted
below build/coverage. Lines that only end to end tests run count as not run."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "coverage"
PRODUCT = ("dataplane", "control", "proxy", "emulator")


def folder_of(path):
    """The room of a file."""
    return Path(path).parent.as_posix()


def by_folder(files):
    """{folder: (lines run, lines)} from gcovr's summary of files."""
    sums = {}
    for file in files:
        run, lines = sums.get(folder_of(file["filename"]), (0, 0))
        sums[folder_of(file["filename"])] = run + file["line_covered"], lines + file["line_total"]
    return dict(sorted(sums.items()))


def table(sums):
    """As Markdown, the whole last."""
    whole = tuple(sum(column) for column in zip(*sums.values()))
    rows = [f"| {name} | {lines} | {100 * run / lines:.1f} % |" for name, (run, lines) in [*sums.items(), ("all", whole)] if lines]
    return "\n".join(["| folder | lines | run by unit and simulation tests |", "| --- | --- | --- |", *rows])


def main():
    command = ["gcovr", "--root", ROOT, "--object-directory", BUILD, "--json-summary", "--gcov-ignore-parse-errors",
               *(argument for folder in PRODUCT for argument in ("--filter", f"{folder}/")), BUILD]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if run.returncode:
        sys.exit(f"coverage: gcovr ended with {run.returncode}\n{run.stderr[-2000:]}")
    files = json.loads(run.stdout)["files"]
    if not any(file["line_covered"] for file in files):
        sys.exit("coverage: no test has run")
    print(table(by_folder(files)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
