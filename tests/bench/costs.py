#!/usr/bin/python3
"""What the dearest packets cost that anybody can send, in instructions, beside an ordinary one (packet_cost under callgrind).

    python3 tests/bench/costs.py           prints the table
    python3 tests/bench/costs.py --write   puts it into README.md beside this file
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAM = HERE.parent.parent / "build" / "release" / "bench" / "packet_cost"
BEGIN, END = "<!-- costs.py --write -->\n", "<!-- end -->\n"
# A packet may cost so many times what an ordinary one does: about 5 µs of a processor.
BUDGET = 12
# Others. A segment that covers many small ones takes out what as many packets have brought. What ends is no packet: its cost must not grow
# with how many others end
EXCEPTIONS = {"covering_segment": 24, "ends_of_many_at_once": 2.5}


def measure(program=PROGRAM, timeout=900):
    """Instructions for each packet of each case; RuntimeError where the program or callgrind fails."""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(["valgrind", "--tool=callgrind", "--instr-atstart=no", "--collect-atstart=no",
                              f"--callgrind-out-file={folder}/out", program],
                             capture_output=True, text=True, check=False, timeout=timeout)
        if run.returncode:
            raise RuntimeError(run.stderr[-2000:])
        packets = re.findall(r"^(\w+) (\d+)$", run.stdout, re.M)
        costs = {}
        for number, (name, count) in enumerate(packets, 1):
            text = (Path(folder) / f"out.{number}").read_text(encoding="utf-8", errors="replace")
            costs[name] = int(re.search(r"^(?:totals|summary): (\d+)", text, re.M)[1]) / int(count)
        return costs


def allowed(name):
    return EXCEPTIONS.get(name, BUDGET)


def table(costs):
    """As Markdown; the first case is the ordinary one."""
    ordinary = next(iter(costs.values()))
    rows = [f"| {name.replace('_', ' ')} | {cost:.0f} | {cost / ordinary:.1f} | {allowed(name)} |"
            for name, cost in costs.items()]
    return "\n".join(["| packet | instructions | times an ordinary one | allowed |", "| --- | --- | --- | --- |", *rows]) + "\n"


def main():
    text = table(measure())
    if sys.argv[1:] != ["--write"]:
        print(text, end="")
        return 0
    readme = HERE / "README.md"
    before, _, rest = readme.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    readme.write_text(before + BEGIN + text + END + after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
