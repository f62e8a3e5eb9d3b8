#!/usr/bin/python3
"""clang-tidy over the sources, several at a time, remembering which ones were clean.

tidy.py BUILD [--minutes N] [PATH...]   PATHs narrow it to files below them.

A file is checked again only when it, a header of ours that it includes (directly or not), or .clang-tidy has changed.
When the time is up, what is left over is named and the exit code is 3."""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"]+)"', re.M)


class Sources:
    """File contents and include relations, each read once."""

    def __init__(self):
        self._known = {}

    def _load(self, path):
        if path not in self._known:
            file = ROOT / path
            text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
            self._known[path] = (hashlib.sha256(text.encode()).hexdigest(), INCLUDE.findall(text))
        return self._known[path]

    def fingerprint(self, path, salt):
        seen, todo = set(), [path]
        while todo:
            here = todo.pop()
            if here not in seen:
                seen.add(here)
                todo.extend(self._load(here)[1])
        digest = hashlib.sha256(salt.encode())
        for name in sorted(seen):
            digest.update(f"{name}:{self._load(name)[0]}\n".encode())
        return digest.hexdigest()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("--minutes", type=float, default=40)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("paths", nargs="*")
    args = parser.parse_intermixed_args()

    commands = json.loads((args.build / "compile_commands.json").read_text())
    names = sorted({Path(c["file"]).resolve().relative_to(ROOT).as_posix() for c in commands
                    if Path(c["file"]).resolve().is_relative_to(ROOT)
                    and not Path(c["file"]).resolve().is_relative_to(args.build.resolve())
                    and Path(c["file"]).is_file()})
    if args.paths:
        wanted = [p.rstrip("/") for p in args.paths]
        names = [n for n in names if any(n == p or n.startswith(p + "/") for p in wanted)]
    memory = args.build / "tidy"
    memory.mkdir(exist_ok=True)
    sources = Sources()
    salt = (ROOT / ".clang-tidy").read_text()
    deadline = time.monotonic() + args.minutes * 60
    todo = [(n, memory / sources.fingerprint(n, salt)) for n in names]
    fresh = [(n, mark) for n, mark in todo if not mark.exists()]

    def check(job):
        name, mark = job
        if time.monotonic() > deadline:
            return name, None, ""
        run = subprocess.run(["clang-tidy-14", "-p", str(args.build), "--quiet", str(ROOT / name)], capture_output=True,
                             text=True, check=False)
        if run.returncode == 0 and not run.stdout.strip():
            mark.touch()
        return name, run.returncode, run.stdout + (run.stderr if run.returncode and not run.stdout.strip() else "")

    bad, late = [], []
    with ThreadPoolExecutor(args.jobs) as pool:
        for done, (name, code, output) in enumerate(pool.map(check, fresh), 1):
            if code is None:
                late.append(name)
            elif code or output.strip():
                bad.append(name)
                print(output.replace(f"{ROOT}/", ""), flush=True)
            if sys.stderr.isatty():
                print(f"\rclang-tidy {done}/{len(fresh)}", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    for name in late:
        print(f"{name}: not checked, out of time")
    print(f"clang-tidy: {len(names)} files, {len(names) - len(fresh)} unchanged since they were clean, {len(bad)} with "
          f"findings, {len(late)} not reached")
    if not names:
        return 1
    return 1 if bad else 3 if late else 0


if __name__ == "__main__":
    sys.exit(main())
