#!/usr/bin/python3
"""Draws comments and paragraphs at random, for a reader who has not seen the code to sort: clear, second reading, riddle.

prose_sample.py --seed N [--comments 60] [--paragraphs 20] [--subjects 0]. A comment comes with the declaration that it
describes and the class around it, as an editor's tooltip shows them. A paragraph comes with the headings above it. Each of the
four folders gives as many comments. Same seed and commit, same draw."""

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
MIN_PARAGRAPH_WORDS = 20
MAX_TABLE_LINES = 8
MAX_DECLARATION_LINES = 4
WRITTEN_BY_SCRIPTS = {"proxy/config/REFERENCE.md", "proxy/daemon/status/WORDS.md"}
LIST_ITEM = re.compile(r"(?:[-*]|\d{1,2}\.) ")


def load_prose():
    spec = importlib.util.spec_from_file_location("prose", Path(__file__).resolve().parent / "prose.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def whole_comments(prose, lines):
    """(first line, last line, mark, text) of each comment, with all of its paragraphs, as a tooltip shows it."""
    found = []
    for number, mark, text in prose.comments(lines):
        end = number
        while mark != "///<" and end < len(lines) and lines[end].lstrip().startswith("///"):
            end += 1
        if found and mark == "///" == found[-1][2] and found[-1][1] >= number:
            found[-1] = (*found[-1][:3], found[-1][3] + "\n" + " ".join(text.split()))
        else:
            found.append((number, end, mark, " ".join(text.split())))
    return found


def scope_of(lines, at):
    """The class or enumeration around this line, with a blank behind it; empty if there is none."""
    indent = len(lines[at]) - len(lines[at].lstrip())
    for line in reversed(lines[:at]):
        before = len(line) - len(line.lstrip())
        found = re.match(r"\s*(?:(?:class|struct|union) (?:alignas\(\w+\) )?(\w+)|enum (?:class )?(\w+))[^;]*$", line)
        if found and before < indent:
            return f"in {found[1] or found[2]}: "
        if line.strip() and before < indent and not line.strip().endswith(":"):
            indent = before
    return ""


def declaration_of(lines, at):
    """The code from this line to the end of its declaration, at most MAX_DECLARATION_LINES lines."""
    code = []
    for line in lines[at:]:
        if not line.strip() or line.lstrip().startswith("//"):
            if code:
                break
            continue
        code.append(line.split("//")[0].strip())
        if code[-1].endswith((";", "{", "}", ",")) and not code[0].startswith("template") or len(code) == MAX_DECLARATION_LINES:
            if not code[-1].endswith(",") or "(" not in " ".join(code):
                break
        elif code[0].startswith("template") and len(code) > 1 and code[-1].endswith((";", "{", "}")):
            break
    return " ".join(code)


def doc_comments(prose, folder):
    """(path, line, comment, code) of each doc comment with at least MIN_WORDS words."""
    found = []
    for path in sorted((ROOT / folder).rglob("*.[ch]pp")):
        lines = prose.without_raw_strings(path.read_text(encoding="utf-8")).splitlines()
        for number, end, mark, text in whole_comments(prose, lines):
            if mark == "//" or len(text.split()) < MIN_WORDS:
                continue
            if mark == "///<":
                code = lines[number - 1].split("///<")[0]
            else:
                code = declaration_of(lines, end)
            code = scope_of(lines, number - 1) + code.strip()
            found.append((path.relative_to(ROOT).as_posix(), number, text, code))
    return found


def blocks(text):
    """(line, kind, lines) of each block of a document that no script writes. Kinds are text, code, table and heading."""
    found, kind, fence, written = [], None, None, False
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if written or re.match(r"<!-- \w.* -->$", stripped):
            written, kind = stripped != "<!-- end -->", None
        elif fence or stripped.startswith("```"):
            if not fence:
                found.append((number, "code", []))
            found[-1][2].append(line)
            fence, kind = None if fence and stripped.startswith(fence) else "```", None
        elif not stripped:
            kind = None
        else:
            now = "table" if stripped.startswith("|") else "heading" if stripped.startswith("#") else "text"
            if now != kind:
                found.append((number, now, []))
            kind = now
            found[-1][2].append(line)
    return found


def joined(lines):
    """The lines of a text, each list item and each other part joined to one line."""
    found = []
    for line in lines:
        if found and not LIST_ITEM.match(line.lstrip()):
            found[-1] += " " + line.strip()
        else:
            found.append(line.strip())
    return found


def paragraphs_of(document):
    """(line, text) of each whole paragraph of a document, with at least MIN_PARAGRAPH_WORDS words.

    A paragraph that ends with a colon includes the list that it introduces, or the first lines of the table or code. An
    item of any other list is a paragraph, with its indented parts. Headings, other tables and code, and what scripts
    write are left out."""
    whole = []  # line, parts, and whether the next block belongs to them
    for line, kind, lines in blocks(document):
        continues = whole and (lines[0].startswith("  ") or whole[-1][2] and (kind != "text" or LIST_ITEM.match(lines[0])))
        shown = joined(lines) if kind == "text" else lines[:MAX_TABLE_LINES] + ["..."] * (len(lines) > MAX_TABLE_LINES)
        if kind == "heading" or not continues and kind != "text":
            whole.append((line, [], False))
        elif continues:
            whole[-1] = (whole[-1][0], [*whole[-1][1], *shown], shown[-1].endswith(":"))
        else:
            for item in re.split(r"\n(?=[-*] |\d{1,2}\. )", "\n".join(lines)):
                whole.append((line, joined(item.split("\n")), item.endswith(":")))
                line += item.count("\n") + 1
    return [(line, "\n".join(parts)) for line, parts, _ in whole if parts and len(parts[0].split()) >= MIN_PARAGRAPH_WORDS]


def headings_above(document, line):
    """The headings of a page that stand above this line, from the page's title to the nearest."""
    found = []
    for at, kind, lines in blocks(document):
        if at >= line:
            break
        if kind == "heading":
            level = len(lines[0]) - len(lines[0].lstrip("#"))
            found = [one for one in found if one[0] < level] + [(level, lines[0].lstrip("# ").strip())]
    return " / ".join(text for _, text in found)


def paragraphs():
    """(path, line, text) of each paragraph of the documents."""
    names = subprocess.run(("git", "-C", str(ROOT), "ls-files", "*.md"), capture_output=True, text=True, check=True).stdout.split()
    return [(name, *one) for name in sorted(set(names) - WRITTEN_BY_SCRIPTS)
            for one in paragraphs_of((ROOT / name).read_text(encoding="utf-8"))]


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
        print(f"C{number}. {path}:{line}\n" + "".join(f"    {one}\n" for one in comment.splitlines()) + f"    > {code}\n")
    for number, (path, line, text) in enumerate(draw.sample(paragraphs(), arguments.paragraphs), 1):
        above = headings_above((ROOT / path).read_text(encoding="utf-8"), line)
        print(f"P{number}. {path}:{line} [{above}]\n" + "".join(f"    {one}\n" for one in text.splitlines()))
    log = subprocess.run(("git", "-C", str(ROOT), "log", "--format=%s", f"-{arguments.subjects}"), capture_output=True, text=True, check=True)
    for number, subject in enumerate(log.stdout.splitlines() if arguments.subjects else [], 1):
        print(f"S{number}. {subject}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
