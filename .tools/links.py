#!/usr/bin/python3
"""Checks the links between the documents of the repository: files exist, and headings have the anchors that are named.

Prints file:line: message and ends with exit code 1 if it finds anything. Links to other sites are not followed."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(?<!\\)\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^()\s>]+(?:\([^()]*\)[^()\s>]*)?)>?(?:\s+\"[^\"]*\")?\s*\)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$")
FENCE = re.compile(r"^\s*(```|~~~)")


def without_code(text):
    """The text with fenced blocks and code spans blanked; lines stay where they are."""
    lines, fenced = [], False
    for line in text.splitlines():
        if FENCE.match(line):
            fenced = not fenced
            lines.append("")
        else:
            lines.append("" if fenced else re.sub(r"`[^`]*`", lambda m: "`" + "x" * (len(m[0]) - 2) + "`", line))
    return lines


def anchor(heading):
    """The anchor that GitHub and MkDocs give a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = re.sub(r"[^\w\- ]", "", text.replace("`", "").lower())
    return text.strip().replace(" ", "-")


def anchors(text):
    found, fenced = set(), False
    for line in text.splitlines():
        if FENCE.match(line):
            fenced = not fenced
        match = None if fenced else HEADING.match(line)
        if match:
            name, number = anchor(match[1]), 0
            while (candidate := name if number == 0 else f"{name}-{number}") in found:
                number += 1
            found.add(candidate)
    return found


def check(path, root, read=Path.read_text):
    """Yields (line, message) for each link of the document that leads nowhere."""
    for number, line in enumerate(without_code(read(path)), 1):
        for target in LINK.findall(line):
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue
            name, _, fragment = target.partition("#")
            file = (root / name[1:] if name.startswith("/") else path.parent / name).resolve() if name else path
            if not file.exists():
                yield number, f"{target}: there is no such file"
            elif fragment and file.suffix == ".md" and fragment not in anchors(read(file)):
                yield number, f"{target}: {file.name} has no heading with this anchor"


def documents(root):
    names = subprocess.run(("git", "-C", str(root), "ls-files", "-z", "*.md"), capture_output=True, text=True, check=True).stdout
    return [root / name for name in names.split("\0") if name and (root / name).exists()]


def main():
    errors, files = 0, documents(ROOT)
    for path in files:
        for line, message in check(path, ROOT):
            print(f"{path.relative_to(ROOT)}:{line}: {message}")
            errors += 1
    print(f"links: {len(files)} documents, {errors} errors")
    return 1 if errors or not files else 0


if __name__ == "__main__":
    sys.exit(main())
