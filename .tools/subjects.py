#!/usr/bin/python3
"""Checks the subjects of commits since FIRST: `area: imperative verb and object`, at most 72 characters.

Prints commit: message and ends with exit code 1 if it finds anything. An argument BASE checks BASE..HEAD instead. A clone
whose history does not reach FIRST is not checked, and the script prints that."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FIRST = "ca793402"
MAX_LENGTH = 72
SHAPE = re.compile(r"^(?P<area>[a-z0-9_][\w./+-]*(?:, ?[a-z0-9_][\w./+-]*)*): (?P<verb>\S+)(?P<rest> .+)$")
NOT_A_VERB = {"a", "an", "the", "this", "that", "what", "which", "who", "whether", "each", "every", "all", "no", "not", "of", "in",
              "on", "by", "as", "it", "its", "more", "less", "some", "where", "when", "how", "why", "there", "if", "with", "without"}


def faults(subject):
    """Yields what is wrong with the subject of a commit."""
    if len(subject) > MAX_LENGTH:
        yield f"{len(subject)} characters, at most {MAX_LENGTH}"
    match = SHAPE.match(subject)
    if not match:
        yield "expected `area: imperative verb and object`"
        return
    verb = match["verb"].lower().rstrip(",")
    if match["verb"] != verb:
        yield f"'{match['verb']}': the verb begins with a small letter"
    if verb in NOT_A_VERB or re.search(r"(?<![su])s$|ing$|(?<!e)ed$", verb) and verb not in ("bring", "ping", "string", "embed"):
        yield f"'{match['verb']}': expected a verb in the imperative"
    if subject.endswith("."):
        yield "a subject has no full stop"


def git(*arguments):
    return subprocess.run(("git", "-C", str(ROOT), *arguments), capture_output=True, text=True, check=False)


def main():
    base = sys.argv[1] if len(sys.argv) > 1 else FIRST
    if git("merge-base", "--is-ancestor", base, "HEAD").returncode != 0:
        print(f"subjects: not checked, the history does not reach {base}")
        return 1 if len(sys.argv) > 1 else 0
    log = git("log", "--no-merges", "--format=%h %s", f"{base}..HEAD").stdout.splitlines()
    errors = 0
    for line in log:
        commit, _, subject = line.partition(" ")
        for message in faults(subject):
            print(f"{commit}: {subject}: {message}")
            errors += 1
    print(f"subjects: {len(log)} commits, {errors} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
