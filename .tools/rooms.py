"""The way of one segment and of one report through the rooms (folders) of the packet path, and how often it changes room.

gdb steps the relay benchmark through one call, instruction by instruction, and notes the source file of each. Headers are left
out, because what is inlined from them are accessors. A visit of fewer than four instructions is no visit: the compiler mixes
the instructions of inlined functions.

Usage: rooms.py [--all]. With --all every file of a way is printed. The exit status is 1 if a way is longer than its limit."""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BENCH = ROOT / "build" / "release" / "bench" / "relay_bench"
ROUNDS = 400
LEAST_VISIT = 4  # instructions
SIDE_CORE = 1

# Name, case of the benchmark, connections, function and number of the call, side of the burst, what is counted, its limit.
# A burst is cut to one packet, so the whole call is the way of that packet. Numbers of calls are after all is warm.
WAYS = (
    ("a segment from core to radio", "split", 1000, "measured_receive", 300, SIDE_CORE, "changes", 25),
    ("a segment from core to radio, regulated", "regulate", 1000, "measured_receive", 300, SIDE_CORE, "changes", 25),
    ("a report", "reported", 1000, "measured_report", 300, None, "rooms", 5),
)

# What gdb runs: it prints one line of JSON, the source file of each instruction.
STEPS = r"""
import gdb, json, os
way = json.loads(os.environ["WAY"])
for setting in ("pagination off", "confirm off", "debuginfod enabled off"):
    gdb.execute("set " + setting)
number = lambda text: int(gdb.parse_and_eval(text))
stop = gdb.Breakpoint(way["function"])
stop.ignore_count = way["skip"]
gdb.execute("run", to_string=True)
if way["side"] is not None:
    while number("(int)($rsi & 0xff)") != way["side"]:
        gdb.execute("continue", to_string=True)
    gdb.execute("set $rdx = 1")  # one packet of the burst
stop.enabled = False
top = number("(unsigned long)$sp")
counters = []
while number("(unsigned long)$sp") <= top and len(counters) < 100000:
    gdb.execute("stepi", to_string=True)
    counters.append(number("(unsigned long)$pc"))
files = {}
for pc in set(counters):
    table = gdb.find_pc_line(pc).symtab
    files[pc] = table.fullname() if table else ""
print("FILES " + json.dumps([files[pc] for pc in counters]))
gdb.execute("kill")
"""


def files_of(case, flows, function, skip, side):
    """The source files of all instructions of one call, in order, as paths below the project."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(STEPS)
        script.flush()
        way = json.dumps({"function": function, "skip": skip, "side": side})
        run = subprocess.run(["gdb", "-q", "-batch", "-x", script.name, "--args", BENCH, str(ROUNDS), case, str(flows)],
                             env={**os.environ, "WAY": way}, capture_output=True, text=True, check=False)
    found = re.search(r"^FILES (.*)$", run.stdout, re.M)
    if not found:
        sys.exit(f"rooms: gdb stepped through no {function} of {BENCH}\n{run.stdout[-1000:]}{run.stderr[-1000:]}")
    return [os.path.relpath(file, ROOT) for file in json.loads(found[1]) if file]


def runs(items):
    """[item, how many] of equal neighbours."""
    out = []
    for item in items:
        if out and out[-1][0] == item:
            out[-1][1] += 1
        else:
            out.append([item, 1])
    return out


def way_of(files):
    """[room, its files] in the order of the way."""
    sources = [file for file in files if file.endswith(".cpp") and file.startswith(("dataplane/", "control/", "proxy/"))]
    rooms = runs(os.path.dirname(file) for file in sources)
    at, kept = 0, []
    for _, length in rooms:
        if length >= LEAST_VISIT:
            kept += sources[at:at + length]
        at += length
    way = []
    for file in kept:
        room, name = os.path.split(file)
        if not way or way[-1][0] != room:
            way.append((room, []))
        if not way[-1][1] or way[-1][1][-1] != name:
            way[-1][1].append(name)
    return way


def main():
    if not BENCH.exists():
        sys.exit("rooms: ./run bench builds relay_bench first")
    too_long = False
    for name, case, flows, function, skip, side, counted, most in WAYS:
        way = way_of(files_of(case, flows, function, skip, side))
        changes, rooms = len(way) - 1, len({room for room, _ in way})
        value = changes if counted == "changes" else rooms
        print(f"{name}: {changes} changes of room, {rooms} rooms (at most {most} {counted})")
        if "--all" in sys.argv:
            for room, names in way:
                print(f"  {room}: {', '.join(names)}")
        too_long |= value > most
    return 1 if too_long else 0


if __name__ == "__main__":
    sys.exit(main())
