#!/usr/bin/python3
"""The repository's own rules, checked on the text of the sources: who may include whom, what must stay pure, how long
things may grow. Prints file:line: message; exit code 1 when a rule is broken (length is a warning)."""

import re
import sys
from collections import Counter
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
RTE_FREE_EXCEPT = ("emulator/nodeb", "emulator/runtime/live")
DEVICE = re.compile(r"\brte_(eal|eth|dev)_\w+")
DEVICE_ONLY = ("dataplane/dpdk", "tests")

# Tables whose rows are tests, named `Suite.Name`, and the suites all of whose tests must be rows.
TEST_TABLES = {
    "proxy/CLOSING.md": ("Closing",),
    "proxy/LIMITS.md": ("Limits", "SynFlood", "SynFloodEndToEnd"),
}

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60
MAX_CLASS_FUNCTIONS = 40
MAX_ROOM_FILES = 20  # of a folder below proxy/
LARGE_CLASSES = ("Endpoint",)  # tcp::Endpoint is a connection: one object, in many sources


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


def classes(code):
    """Yields (first line, name, functions it declares) of every class; those of nested ones are their own."""
    for head in re.finditer(r"\b(?:class|struct)\s+(\w+)[^;{}()]*\{", code):
        depth, parentheses, declared, statement = 1, 0, 0, ""
        for c in code[head.end():]:
            parentheses += (c == "(") - (c == ")")
            begins, ends = c == "{" and not parentheses, c == "}" and not parentheses
            if depth == 1 and (c == ";" or begins or ends) and not parentheses:
                declared += re.search(r"[\w\]=!<>+*/-]\s*\(", statement.split(" = ")[0]) is not None
                statement = ""
            elif depth == 1:
                statement += c
            depth += begins - ends
            if not depth:
                break
        yield line_of(code, head.start()), head[1], declared


def check_length(text, code):
    lines = text.count("\n")
    if lines > MAX_FILE_LINES:
        yield 1, f"{lines} lines; a file holds one idea in at most {MAX_FILE_LINES}"
    for first, length in functions(code):
        if length > MAX_FUNCTION_LINES:
            yield first, f"a function of {length} lines; at most {MAX_FUNCTION_LINES} fit a screen"
    for first, name, declared in classes(code):
        if declared > MAX_CLASS_FUNCTIONS and name not in LARGE_CLASSES:
            yield first, f"{name} declares {declared} functions; a class that owns one thing has at most {MAX_CLASS_FUNCTIONS}"


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


def check_rooms(files):
    """(folder, message) for each folder below proxy/ that holds more files than one looks through."""
    counts = Counter(Path(file).parent.as_posix() for file in files)
    for folder, count in sorted(counts.items()):
        if folder.startswith("proxy/") and count > MAX_ROOM_FILES:
            yield folder, f"{count} files; a room has at most {MAX_ROOM_FILES}"


def main():
    errors = warnings = files = 0
    everything = [file.relative_to(ROOT).as_posix() for file in (ROOT / "proxy").rglob("*") if file.is_file()]
    for folder, message in check_rooms(everything):
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
