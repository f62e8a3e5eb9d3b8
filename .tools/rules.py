#!/usr/bin/python3
"""The repository's own rules, checked on the text of the sources: who may include whom, what must stay pure, how long
things may grow. Prints file:line: message; exit code 1 when a rule is broken (length is a warning)."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("dataplane", "control", "proxy", "emulator", "tests")

# A file below the first path may include the repository's files below these, and no others. The longest path wins.
MAY_INCLUDE = {
    "dataplane/units": ("dataplane/units",),
    "dataplane/tcp": ("dataplane/tcp", "dataplane/packet", "dataplane/units"),
    "dataplane": ("dataplane",),
    "control": ("control", "dataplane/units"),
    "proxy": ("proxy", "control", "dataplane"),
    # In virtual time the proxy's own objects stand in the emulated network.
    "emulator": ("emulator", "proxy", "control", "dataplane"),
    "tests": ("tests", "emulator", "proxy", "control", "dataplane"),
}

# The rooms of a top folder, from the ground upwards. A file may include its own room and those on floors below it.
# Rooms on one floor do not know each other.
ORDERED = ("dataplane", "control", "proxy", "emulator")
ROOM_ORDER = (
    ("dataplane/units",),
    ("dataplane/packet",),
    ("dataplane/tcp", "dataplane/flow", "dataplane/dpdk"),
    ("control/feedback",),
    ("control",),
    ("control/smvs", "control/ack_based", "control/window_laws"),
    ("control/decision_log",),
    ("proxy/yaml",),
    ("proxy/engine/policy",),
    ("proxy/engine/base",),
    ("proxy/engine/flow",),
    ("proxy/engine/bearer",),
    ("proxy/engine/flow_table",),
    ("proxy/engine/relay",),
    ("proxy/engine/rate_control",),
    ("proxy/engine/end_to_end",),
    ("proxy/engine/split",),
    ("proxy/engine/shard",),
    ("proxy/ops/http", "proxy/ops/admin"),
    ("proxy/config",),
    ("proxy/ops/capture", "proxy/ops/decision_log", "proxy/ops/ipfix"),
    ("proxy/ops/sluicectl", "proxy/daemon/fail_open", "proxy/daemon/service", "proxy/daemon/threads"),
    ("proxy/daemon/status",),
    ("proxy/daemon/runtime",),
    ("proxy",),
    ("emulator", "emulator/model"),
    ("emulator/link", "emulator/scheduler"),
    ("emulator/channel", "emulator/net"),
    ("emulator/report",),
    ("emulator/aqm", "emulator/hosts"),
    ("emulator/cell",),
    ("emulator/scenario",),
    ("emulator/provenance",),
    ("emulator/runtime",),
    ("emulator/nodeb",),
)
FLOOR = {room: floor for floor, rooms in enumerate(ROOM_ORDER) for room in rooms}

# Time is an argument, randomness a generator handed in, and devices are somebody else's.
PURE = ("dataplane/tcp", "dataplane/flow", "control", "proxy", "emulator")
PURE_EXCEPT = (
    "control/feedback/udp_endpoint",  # the Asio side of the feedback protocol
    "proxy/daemon/runtime",
    "proxy/daemon/threads",
    "proxy/daemon/status",
    "proxy/ops/admin",
    "proxy/ops/sluicectl",
    "proxy/main.cpp",
    "emulator/nodeb",  # the program
    "emulator/runtime/live",
)
IMPURE = (
    (re.compile(r"\b\w*_clock\s*::\s*now\b"), "reads a clock"),
    (re.compile(r"\bdpdk::now\b"), "reads a clock"),
    (re.compile(r"\b(clock_gettime|gettimeofday|rdtscp?|__rdtscp?|__builtin_ia32_rdtscp?|times|ftime)\s*\("), "reads a clock"),
    (re.compile(r"(?<![\w.>:])(std::)?(time|clock)\s*\(\s*(nullptr|NULL|0|&\w+)?\s*\)"), "reads a clock"),
    (re.compile(r"\b(random_device|getrandom|getentropy|arc4random\w*|drand48|srand|RAND_bytes)\b"), "names a random source"),
    (re.compile(r"(?<![\w.>])(std::)?rand\s*\("), "names a random source"),
)
RTE = re.compile(r"\brte_\w+")
RTE_FREE = ("dataplane/tcp", "control", "emulator")
RTE_FREE_EXCEPT = ("emulator/runtime/live",)
DEVICE = re.compile(r"\brte_(eal|eth|dev)_\w+")
DEVICE_ONLY = ("dataplane/dpdk", "tests")

# Tables whose rows are tests, named `Suite.Name`, and the suites all of whose tests must be rows.
TEST_TABLES = {
    "proxy/CLOSING.md": ("Closing",),
    "proxy/LIMITS.md": ("Limits", "SynFlood", "SynFloodEndToEnd"),
}

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60


def below(path, folders):
    """Whether path is one of the folders or lies in one."""
    return any(path == f or path.startswith(f + "/") for f in folders)


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def strip(text):
    """The code alone: comments and literals become blanks, lines stay where they are."""
    pattern = r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\''
    return re.sub(pattern, blank, text, flags=re.S)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def check_includes(path, text):
    allowed = MAY_INCLUDE[max((f for f in MAY_INCLUDE if below(path, (f,))), key=len)]
    for m in re.finditer(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', text, re.M):
        included = m.group(1)
        if not below(included, FOLDERS):
            yield line_of(text, m.start()), f'includes "{included}": write the path from the top of the repository'
        elif not below(included, allowed):
            yield line_of(text, m.start()), f'may not include "{included}" (allowed here: {", ".join(allowed)})'
        else:
            here, there = (Path(name).parent.as_posix() for name in (path, included))
            if here != there and FLOOR.get(there, -1) >= FLOOR.get(here, len(ROOM_ORDER)):
                yield line_of(text, m.start()), f'may not include "{included}": {there} is not below {here}'


def check_purity(path, code):
    if below(path, PURE) and not path.startswith(PURE_EXCEPT):
        for pattern, what in IMPURE:
            for m in pattern.finditer(code):
                yield line_of(code, m.start()), f"{what}: {m.group(0).strip()}"
    if below(path, RTE_FREE) and not path.startswith(RTE_FREE_EXCEPT):
        for m in RTE.finditer(code):
            yield line_of(code, m.start()), f"names {m.group(0)}: DPDK stays in dataplane/dpdk and dataplane/packet"
    if not below(path, DEVICE_ONLY):
        for m in DEVICE.finditer(code):
            yield line_of(code, m.start()), f"calls {m.group(0)}: only dataplane/dpdk touches devices"


def functions(code):
    """Yields (first line, number of lines) of every function body that is not inside another one."""
    stack = []  # True for a brace that opened a function
    starts = []
    for m in re.finditer(r"[{}]", code):
        if m.group(0) == "{":
            head = re.split(r"[;{}]", code[max(0, m.start() - 400):m.start()])[-1]
            inside = any(stack)
            is_scope = re.search(r"\b(namespace|class|struct|union|enum|extern)\b[^()]*$", head) is not None
            is_function = not inside and not is_scope and ")" in head
            stack.append(is_function)
            starts.append(m.start())
        elif stack:
            start = starts.pop()
            if stack.pop():
                first = line_of(code, start)
                yield first, line_of(code, m.start()) - first + 1


def check_length(text, code):
    lines = text.count("\n")
    if lines > MAX_FILE_LINES:
        yield 1, f"{lines} lines; a file holds one idea in at most {MAX_FILE_LINES}"
    for first, length in functions(code):
        if length > MAX_FUNCTION_LINES:
            yield first, f"a function of {length} lines; at most {MAX_FUNCTION_LINES} fit a screen"


def expanded(cmake):
    """The text of a CMakeLists.txt without comments, its loops written out."""
    def written_out(loop):
        return "\n".join(loop[3].replace(f"${{{loop[1]}}}", item) for item in loop[2].split())

    return re.sub(r"foreach\((\w+) ([^)]*)\)(.*?)endforeach\(\)", written_out, re.sub(r"#[^\n]*", "", cmake), flags=re.S)


def check_built(path, exists, read):
    """A source that no CMakeLists.txt names is not built, and a header of a library not checked. The nearest file above counts."""
    for folder in Path(path).parents:
        cmake = (folder / "CMakeLists.txt").as_posix()
        if not exists(cmake):
            continue
        name = Path(path).relative_to(folder).as_posix()
        text = expanded(read(cmake))
        concerned = path.endswith(".cpp") or "HEADERS" in text
        if concerned and not re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w./-])", text):
            yield 1, f"{cmake} does not name it, so it is not built"
        return


def tests_in_sources():
    """Suite.Name of every test."""
    found = set()
    for file in (ROOT / "tests").rglob("*.cpp"):
        found |= {".".join(m) for m in re.findall(r"^TEST(?:_[FP])?\((\w+),\s*(\w+)\)", file.read_text(encoding="utf-8"), re.M)}
    return found


def check_test_tables(tables, tests, read):
    """Yields (table, line, message) for rows without their test, and tests without their row."""
    for table, suites in tables.items():
        text = read(table)
        named = set()
        for m in re.finditer(r"`([A-Z]\w*\.[A-Z]\w*)`", text):
            named.add(m[1])
            if m[1] not in tests:
                yield table, line_of(text, m.start()), f"there is no test {m[1]}"
        for missing in sorted(test for test in tests if test.split(".")[0] in suites and test not in named):
            yield table, 1, f"the test {missing} has no row"


def check_order(order):
    """(folder, message) for each folder with sources that ROOM_ORDER lacks, and each of its rows without a folder."""
    rooms = [room for floor in order for room in floor]
    present = {file.parent.relative_to(ROOT).as_posix() for top in ORDERED for file in (ROOT / top).rglob("*.[ch]pp")}
    for room in sorted(present - set(rooms)):
        yield room, "has no place in ROOM_ORDER of .tools/rules.py"
    for room in sorted(set(rooms) - present):
        yield room, "is in ROOM_ORDER of .tools/rules.py, and holds no sources"


def main():
    errors = warnings = files = 0
    for folder, message in check_order(ROOM_ORDER):
        print(f"{folder}: error: {message}")
        errors += 1
    for path, line, message in check_test_tables(TEST_TABLES, tests_in_sources(),
                                                 lambda table: (ROOT / table).read_text(encoding="utf-8")):
        print(f"{path}:{line}: error: {message}")
        errors += 1
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix not in (".hpp", ".cpp"):
                continue
            files += 1
            path = file.relative_to(ROOT).as_posix()
            text = file.read_text(encoding="utf-8")
            code = strip(text)
            found = [*check_includes(path, text), *check_purity(path, code),
                     *check_built(path, lambda cmake: (ROOT / cmake).is_file(), lambda cmake: (ROOT / cmake).read_text(encoding="utf-8"))]
            if file.suffix == ".hpp" and "#pragma once" not in text:
                found.append((1, "a header without #pragma once"))
            for line, message in found:
                print(f"{path}:{line}: error: {message}")
                errors += 1
            for line, message in check_length(text, code):
                print(f"{path}:{line}: warning: {message}")
                warnings += 1
    print(f"rules: {files} files, {errors} errors, {warnings} warnings")
    return 1 if errors or not files else 0


if __name__ == "__main__":
    sys.exit(main())
