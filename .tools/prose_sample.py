#!/usr/bin/python3
"""Draws comments and paragraphs at random, for a reader who has not seen the code to sort: clear, second reading, riddle.

prose_sample.py --seed N [--comments 60] [--paragraphs 20] [--subjects 0]. A comment comes with the next line of code, or the
code in front of it, and with nothing else, as a tooltip shows it. Each of the four folders gives as many. Same seed and
commit, same draw."""

import argparse
import importlib.util
import random
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("proxy", "control", "dataplane", "emulator")
MIN_WORDS = 5


def load_prose():
    spec = importlib.util.spec_from_file_location("prose", Path(__file__).resolve().parent / "prose.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def doc_comments(prose, folder):
    """(path, line, comment, code) of each doc comment with at least MIN_WORDS words."""
    found = []
    for path in sorted((ROOT / folder).rglob("*.[ch]pp")):
        lines = prose.without_raw_strings(path.read_text(encoding="utf-8")).splitlines()
        for number, mark, text in prose.comments(lines):
            if mark == "//" or len(text.split()) < MIN_WORDS:
                continue
            if mark == "///<":
                code = lines[number - 1].split("///<")[0]
            else:
                code = next((line for line in lines[number:] if line.strip() and not line.lstrip().startswith("//")), "")
            found.append((path.relative_to(ROOT).as_posix(), number, " ".join(text.split()), code.strip()))
    return found


def paragraphs():
    """(path, line, text) of each paragraph of the documents; tables, lists of links, code and what scripts write are left out."""
    names = subprocess.run(("git", "-C", str(ROOT), "ls-files", "*.md"), capture_output=True, text=True, check=True).stdout.split()
    found = []
    for name in sorted(names):
        text = re.sub(r"^```.*?^```", lambda m: re.sub(r"[^\n]", "", m[0]), (ROOT / name).read_text(encoding="utf-8"), flags=re.M | re.S)
        line = 1
        for block in re.split(r"(\n\s*\n)", text):
            if len(block.split()) >= 20 and not re.match(r"\s*(?:[#|]|<!--)", block):
                found.append((name, line + len(block) - len(block.lstrip("\n")), " ".join(block.split())))
            line += block.count("\n")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--comments", type=int, default=60)
    parser.add_argument("--paragraphs", type=int, default=20)
    parser.add_argument("--subjects", type=int, default=0, help="newest commit subjects to print besides")
    arguments = parser.parse_args()
    prose, draw = load_prose(), random.Random(arguments.seed)
    drawn = [one for folder in FOLDERS for one in draw.sample(doc_comments(prose, folder), arguments.comments // len(FOLDERS))]
    for number, (path, line, comment, code) in enumerate(drawn, 1):
        print(f"C{number}. {path}:{line}\n    {comment}\n    > {code}\n")
    for number, (path, line, text) in enumerate(draw.sample(paragraphs(), arguments.paragraphs), 1):
        print(f"P{number}. {path}:{line}\n    {text}\n")
    log = subprocess.run(("git", "-C", str(ROOT), "log", "--format=%s", f"-{arguments.subjects}"), capture_output=True, text=True, check=True)
    for number, subject in enumerate(log.stdout.splitlines() if arguments.subjects else [], 1):
        print(f"S{number}. {subject}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
