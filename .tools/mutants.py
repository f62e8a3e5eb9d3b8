#!/usr/bin/python3
"""Do the tests notice when a line of the product is wrong? Draws lines at random, changes one operator, constant or
statement in each, and runs the unit and simulation tests that depend on it.

The tests are built, and copied with the sources into a folder below build/, where the mutants are compiled. It is removed at
the end, also after Ctrl-C. Only what depends on the changed file is compiled, and only the test programs that depend on
that are run; the first that fails has noticed the mutant. End to end tests are not run. A program may take ten times as much
processor time as without the mutant, so a busy machine changes no result. Programs that include headers of the changed
file's folder run first, short ones before long ones, because they notice most mutants. The same seed, folder and commit give the same mutants. Exit code 0 if none survived."""

import argparse
import json
import math
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

sys.dont_write_bytecode = True  # nothing appears beside the sources
import rules  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = ("dataplane", "control", "proxy", "emulator")
EQUIVALENT = ".tools/mutants.equivalent"
TESTS = "unit_and_simulation_tests"
SLOWER = 10  # a program may take so many times its usual processor time,
LEAST_SECONDS = 10  # and so much at least
WAITING = 4  # it may wait for so many times that limit while it could not run, such as for an answer that never comes

SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-", "-": "+",
         "*": "/", "/": "*", "+=": "-=", "-=": "+=", "|": "&", "&": "|", "|=": "&=", "&=": "|="}
# clang-format has blanks around binary operators, and none in templates, pointers and references.
BINARY = re.compile(r"(?<= )(?:" + "|".join(re.escape(o) for o in sorted(SWAPS, key=len, reverse=True)) + r")(?= |$)")
WORDS = {"true": "false", "false": "true", "min": "max", "max": "min", "++": "--", "--": "++"}
WORD = re.compile(r"\b(?:true|false)\b|(?<=std::)(?:min|max)(?=\()|\+\+|--")
NUMBER = re.compile(r"(?<![\w.'])\d+(?=(?:[uU]?[lL]{0,2})(?![\w.']))")
NEGATION = re.compile(r"(?<![\w)\]])!(?=[\w(])")
# The others are what a default value is.
RETURN = re.compile(r"\breturn (?!(?:false|0|0\.0|nullptr|std::nullopt|Duration::zero\(\));)[^;{}]+;")
# A call or an assignment that is all of its line: the first word is followed by no second one, as in a declaration.
STATEMENT = re.compile(r"^\s*(?!return\b|using\b|break\b|continue\b|case\b|goto\b|throw\b|delete\b|friend\b)"
                       r"(?:\+\+|--)?[\w:.>\[\]()*-]+(?:\([^;{}]*\)| [-+|&*/]?= [^;{}]+)?;$")
# Else the line goes on with a statement.
BEGINS_AFTER = re.compile(r"(?:^|[;{}:)]|\belse)$")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
COSTS = "Testing/Temporary/CTestCostData.txt"  # lines of ctest: name, number of runs, seconds
# Nothing of these is executed, or it is a name, or a prefetch, which changes no result.
LEFT_OUT = re.compile(r"^\s*(?:#|using\b|template\b|static_assert\b|namespace\b|friend\b|public:|private:|protected:)|\\$|^\s*$"
                      r"|^[^;={}]*prefetch\w*\([^;]*\);$")


@dataclass(frozen=True)
class Mutant:
    file: str
    line: int  # from 1
    before: str
    after: str

    def diff(self):
        return f"{self.file}:{self.line}\n-{self.before}\n+{self.after}"


def mutations(line, code, before=""):
    """All lines that a line can become; `code` is the line without comments and literals, as long as the line, and `before`
    the one in front of it."""
    if LEFT_OUT.search(code):
        return []
    found = []

    def replace(match, text):
        found.append(line[:match.start()] + text + line[match.end():])

    for match in BINARY.finditer(code):
        replace(match, SWAPS[match.group()])
    for match in WORD.finditer(code):
        replace(match, WORDS[match.group()])
    for match in NUMBER.finditer(code):
        value = int(match.group())
        replace(match, str(value + 1))
        if value > 0:
            replace(match, str(value - 1))
    for match in NEGATION.finditer(code):
        replace(match, "")
    for match in RETURN.finditer(code):
        replace(match, "return {};")
    if STATEMENT.search(code.rstrip()) and BEGINS_AFTER.search(before.rstrip()):
        indent = len(line) - len(line.lstrip())
        found.append(line[:indent] + ";")
    return [new for new in dict.fromkeys(found) if new != line]


def refuse_changes(root):
    changes = subprocess.run(["git", "status", "--porcelain"], cwd=root, capture_output=True, text=True, check=True).stdout
    if changes:
        raise SystemExit(f"mutants: the tree is not clean, so it would not be what is tested; commit first:\n{changes.rstrip()}")


def candidates(root, folder):
    """{(file, line): what it can become} of every line of the folder that can be changed."""
    listed = subprocess.run(["git", "ls-files", "--", folder], cwd=root, capture_output=True, text=True, check=True).stdout
    sites = {}
    for name in sorted(listed.splitlines()):
        if not name.endswith((".cpp", ".hpp")) or not name.startswith(tuple(f"{top}/" for top in PRODUCT)):
            continue
        text = (root / name).read_text(encoding="utf-8")
        before = ""
        for number, (line, code) in enumerate(zip(text.splitlines(), rules.strip(text).splitlines()), 1):
            if changed := mutations(line, code, before):
                sites[name, number] = (line, changed)
            before = code
    return sites


def equivalent(root):
    """{(file, line, becomes)}: mutants that no test can notice. The file has blocks of four lines: the file, the line
    after -, the line after +, the reason."""
    path = root / EQUIVALENT
    blocks = [block.splitlines() for block in re.split(r"\n{2,}", path.read_text(encoding="utf-8").strip())] if path.is_file() else []
    known = set()
    for block in blocks:
        block = [line for line in block if not line.startswith("#")]
        if not block:
            continue
        if len(block) < 4 or block[1][:1] != "-" or block[2][:1] != "+":
            raise SystemExit(f"mutants: {EQUIVALENT}: expected file, -line, +line and a reason, got {block[0]}")
        known.add((block[0], block[1][1:].strip(), block[2][1:].strip()))
    return known


def stale(root):
    """Blocks of that file whose line is no longer there, or cannot become that."""
    gone = []
    for name, before, after in sorted(equivalent(root)):
        sites = candidates(root, name) if (root / name).is_file() else {}
        if not any(line.strip() == before and after in (c.strip() for c in changed) for line, changed in sites.values()):
            gone.append(f"{name}: {before} -> {after}")
    return gone


def draw(sites, count, seed, known):
    """So many mutants of different lines, each line as likely as any other; then how many equivalent ones were drawn."""
    generator = random.Random(seed)
    places = sorted(sites)
    generator.shuffle(places)
    drawn, skipped = [], 0
    for name, number in places:
        if len(drawn) == count:
            break
        line, changed = sites[name, number]
        after = generator.choice(changed)
        if (name, line.strip(), after.strip()) in known:
            skipped += 1
        else:
            drawn.append(Mutant(name, number, line, after))
    return drawn, skipped


class Copy:
    """The last commit and the build of its tests, in a folder of its own. Everything is gone when it ends.

    Builds hold the path of their folder. So the build of `./run test` is brought up to date and copied, and what is started
    here sees the copy in the place of the original, in a mount namespace of its own (unshare(1)): nothing is compiled twice.
    Where that is not allowed the copy is built from the beginning."""

    def __init__(self, root, jobs, only=""):
        self._jobs = str(jobs)
        self._only = re.compile(only)  # of the names of test programs
        self._original = root
        self.root = root / "build" / f"mutants-{os.getpid()}"
        self._stands_in = False
        self._worked = True
        self.programs = {}  # of the tests, by their paths in the build: what starts them
        self._inputs = {}  # of each of them, the objects that it is linked of
        self._usual = {}  # seconds of processor time that a program takes without a mutant, None where it fails, of those that had to be run
        self._readers = {}  # of each source, by its path from the top: the objects that depend on it
        self._near = {}  # of each of the programs, the folders of the product whose headers its sources include
        self._costs = {}  # of each of them, the seconds that ctest measured
        self._environment = dict(os.environ, NINJA_STATUS="", GTEST_FAIL_FAST="1", GTEST_BRIEF="1",
                                 GIT_CEILING_DIRECTORIES=str(root.parent))

    def __enter__(self):
        try:
            self._make()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, *_):
        self._remove()

    @property
    def _build(self):
        return self._seen / "build" / "release"

    @property
    def _seen(self):
        """Where the copy is for what is started here."""
        return self._original if self._stands_in else self.root

    def _make(self):
        for folder in (self._original / "build").glob("mutants-*"):  # of runs that were killed
            if not Path(f"/proc/{folder.name.split('-')[1]}").exists():
                shutil.rmtree(folder, ignore_errors=True)
        self.root.mkdir(parents=True)
        self._call(["true"], self._original, as_copy=True, must_work=False)
        may_stand_in = self._worked
        if may_stand_in:
            self._call(["cmake", "--preset", "release"], self._original, as_copy=False)
            self._call(["ninja", "-j", self._jobs, TESTS], self._original / "build" / "release", as_copy=False)
        for name in self._call(["git", "ls-files", "-z"], self._original, as_copy=False).split("\0")[:-1]:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self._original / name, self.root / name, follow_symlinks=False)
        if may_stand_in:
            (self.root / "build").mkdir(exist_ok=True)
            self._call(["cp", "-a", "--reflink=auto", "build/release", self.root / "build" / "release"], self._original, as_copy=False)
        self._stands_in = may_stand_in
        refuse_changes(self._original)  # nobody has changed anything meanwhile
        if not may_stand_in:
            self._call(["cmake", "--preset", "release"], self._seen)

    def _remove(self):
        shutil.rmtree(self.root, ignore_errors=True)

    def _command(self, command, folder, as_copy):
        if not as_copy:
            return command
        user = [] if os.geteuid() == 0 else ["--map-root-user"]
        return ["unshare", "--mount", *user, "sh", "-c", 'mount --bind "$0" "$1" && cd "$2" && shift 2 && exec "$@"', self.root,
                self._original, folder, *command]

    def _call(self, command, folder, as_copy=None, must_work=True):
        """What the command prints. It does not outlive us, nor does what it has started."""
        as_copy = self._stands_in if as_copy is None else as_copy
        process = subprocess.Popen(self._command(command, folder, as_copy), cwd=None if as_copy else folder, env=self._environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   errors="replace", start_new_session=True)
        try:
            printed = process.communicate()[0]
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        if must_work and process.returncode != 0:
            raise SystemExit(f"mutants: {command[0]} failed\n{printed[-2000:]}")
        self._worked = process.returncode == 0
        return printed

    def build(self, *targets):
        """Whether the targets could be built, and what was printed."""
        printed = self._call(["ninja", "-j", self._jobs, *targets], self._build, must_work=False)
        return self._worked, printed

    def build_tests(self):
        """Builds all test programs, and finds out how they are started and what they are made of."""
        built, printed = self.build(TESTS)
        if not built:
            raise SystemExit(f"mutants: the tests do not build\n{printed[-2000:]}")
        tests = json.loads(self._call(["ctest", "--show-only=json-v1"], self._build))["tests"]
        commands = [test["command"] for test in tests if test.get("command")]
        self.programs = {os.path.relpath(command[0], self._build): command for command in commands
                         if self._only.search(os.path.basename(command[0]))}
        (self.root / "usual").mkdir()
        for program in self.programs:
            # Linkers make a new file, so this one stays.
            os.link(self.root / "build" / "release" / program, self.root / "usual" / os.path.basename(program))
            self._inputs[program] = set(self._call(["ninja", "-t", "inputs", program], self._build).splitlines())
        built = ""
        for line in self._call(["ninja", "-t", "deps"], self._build).splitlines():
            if line.startswith("    "):
                name = os.path.relpath(os.path.join(self._build, line.strip()), self._seen)
                self._readers.setdefault(name, set()).add(built)
            else:
                built = line.split(": #")[0]

        self._costs = costs(self.root / "build" / "release" / COSTS)
        for program, inputs in self._inputs.items():
            sources = [os.path.relpath(os.path.join(self._build, name), self._seen) for name in inputs if name.endswith(".cpp")]
            self._near[program] = near_folders(self.root, [name for name in sources if name.startswith("tests/")])

    def dependents(self, mutant):
        """The test programs that have something of this file in them. Those whose sources include headers of its folder come
        first, then short ones, then small ones, because the first that fails ends the judgement."""
        found = [program for program, inputs in self._inputs.items() if inputs & self._readers.get(mutant.file, set())]
        folder = os.path.dirname(mutant.file)
        return sorted(found, key=lambda program: (folder not in self._near[program], self._costs.get(os.path.basename(program), 0),
                                                  len(self._inputs[program]), program))

    def usual(self, program):
        """Processor time of the program without a mutant, in seconds; None if it fails even so."""
        if program not in self._usual:
            passed, seconds = self.run([self._seen / "usual" / os.path.basename(program), *self.programs[program][1:]], None)
            self._usual[program] = seconds if passed else None
            if not passed:
                print(f"mutants: {program} fails without a mutant and is left out", flush=True)
        return self._usual[program]

    def write(self, mutant):
        """The file as the mutant has it; returns what puts it right again."""
        path = self.root / mutant.file
        text = path.read_bytes()
        lines = text.decode().split("\n")
        lines[mutant.line - 1] = mutant.after
        path.write_bytes("\n".join(lines).encode())
        return lambda: path.write_bytes(text)

    def run(self, command, limit):
        """True if it passed, False if not, None if it took more processor time than the limit; and the seconds of that."""
        def limit_time():
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 1))

        before = processor_seconds()
        folder = None if self._stands_in else self._build
        process = subprocess.Popen(self._command(command, self._build, self._stands_in), cwd=folder, env=self._environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True, preexec_fn=limit_time)
        try:
            code = result_of(process, None if limit is None else WAITING * limit)
            passed = None if code in (None, -signal.SIGXCPU, -signal.SIGKILL) else code == 0
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        return passed, processor_seconds() - before


def costs(path):
    """The seconds that ctest has measured of each test program; empty if it has not run here."""
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()] if path.is_file() else []
    return {row[0]: float(row[2]) for row in rows if len(row) == 3}


def near_folders(root, sources):
    """The folders of the product whose headers the sources include, by themselves or through headers of the tests."""
    folders, seen, left = set(), set(), list(sources)
    while left:
        name = left.pop()
        if name in seen or not (root / name).is_file():
            continue
        seen.add(name)
        for included in INCLUDE.findall((root / name).read_text(encoding="utf-8")):
            if included.startswith("tests/"):
                left.append(included)
            elif included.startswith(tuple(f"{top}/" for top in PRODUCT)):
                folders.add(os.path.dirname(included))
    return folders


def result_of(process, limit):
    """The exit code of a process that leads a session; None if the session could not run for so many seconds in all. Time in
    which it could run and other programs had the processor does not count."""
    waited = 0
    while limit is None or waited < limit:
        try:
            return process.wait(None if limit is None else 1)
        except subprocess.TimeoutExpired:
            waited += not may_run(process.pid)
    return None


def may_run(session):
    """Whether a thread of the session has the processor, waits for it, or waits for a disk."""
    for entry in Path("/proc").glob("[0-9]*/task/[0-9]*/stat"):
        try:
            state, _, _, of, *_ = entry.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(of) == session and state in "RD":
            return True
    return False


def processor_seconds():
    """Of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def outcome(copy, mutant):
    """What became of a mutant, and what noticed it."""
    restore = copy.write(mutant)
    by = "no test program has it"
    try:
        for program in copy.dependents(mutant):
            built, printed = copy.build(program)
            if not built:
                return ("did not compile", "") if "error" in printed else ("failed to build", printed[-200:])
            usual = copy.usual(program)
            if usual is None:
                continue
            by = ""
            passed, _ = copy.run(copy.programs[program], max(LEAST_SECONDS, SLOWER * usual))
            if not passed:
                return ("timed out" if passed is None else "noticed"), os.path.basename(program)
        return "survived", by
    finally:
        restore()


def report(tally, survivors, skipped):
    """The last lines: what survived, and the share that was noticed."""
    for mutant in survivors:
        print(f"\nsurvived: {mutant.diff()}")
    judged = tally["noticed"] + tally["timed out"] + tally["survived"]
    noticed = judged - tally["survived"]
    share = f", {100 * noticed / judged:.1f} %" if judged else ""
    parts = ", ".join(f"{count} {name}" for name, count in sorted(tally.items()))
    print(f"\nmutants: {noticed} of {judged} noticed{share} ({parts or 'none'}; {skipped} equivalent ones left out)")


def judge(copy, drawn):
    """Judges the mutants one after the other; returns how many ended how, and the survivors."""
    print(f"mutants: building the tests for {len(drawn)} of them", flush=True)
    copy.build_tests()
    tally, survivors = Counter(), []
    for number, mutant in enumerate(drawn, 1):
        begin = time.monotonic()
        name, by = outcome(copy, mutant)
        tally[name] += 1
        if name == "survived":
            survivors.append(mutant)
        print(f"[{number}/{len(drawn)}, {time.monotonic() - begin:.0f} s] {name}{f' ({by})' if by else ''}: {mutant.diff()}", flush=True)
    return tally, survivors


def main(arguments=None, root=ROOT):
    parser = argparse.ArgumentParser(prog="./run mutants", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", metavar="FOLDER", help=f"a folder or file of the product (all of {', '.join(PRODUCT)})")
    parser.add_argument("--seed", type=int, default=1, help="what is drawn (default 1)")
    parser.add_argument("--count", type=int, default=10, help="so many mutants (default 10)")
    parser.add_argument("--programs", default="", metavar="REGEX",
                        help="runs only the test programs whose names match, such as '^(?!nodeb_)' (all)")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="compilers at once")
    parser.add_argument("--list", action="store_true", help="show what would be drawn, and build nothing")
    options = parser.parse_args(arguments)
    folder = (options.folder or "").rstrip("/")
    if folder and not (rules.below(folder, PRODUCT) and (root / folder).exists()):
        parser.error(f"expected a folder below {', '.join(PRODUCT)}, got {options.folder}")
    if options.count < 1 or options.jobs < 1:
        parser.error("expected at least one mutant, and one compiler")
    if not options.list:
        refuse_changes(root)
    drawn, skipped = draw(candidates(root, folder or "."), options.count, options.seed, equivalent(root))
    if not drawn:
        raise SystemExit("mutants: no line there can be changed")
    if options.list:
        print("\n".join(mutant.diff() for mutant in drawn))
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with Copy(root, options.jobs, options.programs) as copy:
        tally, survivors = judge(copy, drawn)
    report(tally, survivors, skipped)
    if options.programs:
        print(f"mutants: of the test programs only those that match {options.programs} were run")
    return 1 if survivors else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
