#!/usr/bin/python3
"""Checks the words of comments and of texts for operators in the C++ sources: sentences that stand alone, standard terms,
file headers.

Prints file:line: message and ends with exit code 1 if it finds anything. With --count it prints the number of findings
of each folder instead. Arguments are files or folders; without any it checks the folders in CHECKED."""

import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHECKED = ("proxy", "control", "dataplane", "emulator")
MAX_WORDS = 25
HEADER_FROM_LINES = 80

# A doc comment is read alone, in a tooltip: none begins with a word that refers to the comment before it.
OPENINGS = re.compile(
    r"^(…|\.\.\.|(The same|Of|As|And|But|Which|Whose|Whom|Who|Whoever|Nobody|Nothing|It|They|Them|So|There|Such|Likewise|Ditto)\b)", re.I
)

# A doc comment that begins as a sentence and does not end as one has lost its last line.
UNFINISHED = re.compile(r"^[A-Z][a-z].*[^.:?!;)…`]$", re.S)

# Words that have a standard one in the RFCs, 3GPP, DPDK or Linux, or that make a person of the code.
BANNED = {
    r"anew": "again",
    r"of late": "recently",
    r"by and by": "gradually",
    r"so (much|long|often|late|many)(?! (as|that)\b)": "the quantity or duration that is meant",
    r"let have|lets have|is let|are let|be let": "granted, allowed",
    r"hears?|heard|hearing|listens? to": "receives",
    r"nobody|somebody|whoever|whom": "the object that is meant",
    r"believes?|believed|believing": "accepts, assumes",
    r"doubts?|doubted|doubtful|beyond hope": "suspects, with the test",
    r"minds|minded": "considers",
    r"says|said|tells|told|spoken|speaks": "reports, states, contains",
    r"under way": "in flight",
    r"before its turn|before their turn": "out of order",
    r"stands? still|stood still": "stalls",
    r"young|newborn": "short (flow), new",
    r"laws? of windows": "per-flow window controller",
    r"laws? by acknowledgements": "ACK-based controller",
    r"hands? on|handed on": "forwards, distributes",
    r"comes? to nothing": "has no effect",
    r"its turn|their turn": "the event that is meant",
    r"appointments?": "timer",
    r"heeds?|heeded": "handles",
    r"forgets|forgotten": "discards",
    r"knows nothing": "has no data",
    r"wants?|wanted": "requests, needs",
}
BANNED_RE = [(re.compile(r"\b(?:" + k + r")\b", re.I), v) for k, v in BANNED.items()]

# Words that operators and researchers cannot look up, in literals: help texts, descriptions, messages.
BANNED_IN_LITERALS = {
    r"without a word": "crash",
    r"(can|cannot) be had": "is not available, cannot be bound",
    r"got hold of": "intercepted",
    r"(what|as) is done with": "action",
    r"(put )?in force": "active, activated",
    r"(made|be|is|was) (up )?anew": "recreated, again",
    r"made again": "recreated",
    r"sent again|repetitions? count": "retransmitted",
    r"under a law|by acknowledgements": "under a controller, ACK-based",
    r"steers?|steered": "controls, limits",
    r"the others?( one)?'s": "the thing that is meant",
    r"(is|are) there twice": "given twice",
    r"(come|go|goes|came) (by|to nothing|nowhere)": "the event that is meant",
    r"for good": "finally",
    r"whose turn": "the discipline that is meant",
    r"(took|takes?) nothing": "acknowledged none",
    r"taken (for|as right)": "accepted",
    r"of what": "a noun phrase",
}
BANNED_IN_LITERALS_RE = BANNED_RE + [(re.compile(r"\b(?:" + k + r")\b", re.I), v) for k, v in BANNED_IN_LITERALS.items()]
LITERAL = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?P<text>(?:\\.|[^"\\\n])*)"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.S
)
MIN_LITERAL_WORDS = 3

COMMENT = re.compile(r"^(?P<before>.*?)(?P<mark>///<|///|//)(?!/)\s?(?P<text>.*)$")
NOT_PROSE = re.compile(r"NOLINT|clang-format|^namespace [\w:]+$|^[-=*─]+$|^\s*$")
ABBREVIATION = re.compile(r"\b(e\.g|i\.e|cf|vs|Fig|Eq|sec|No|al|etc|approx|resp)\.$", re.I)


def in_string(before):
    """True if a quotation is open at the end of `before`: the // belongs to a literal, as in a URL."""
    return before.replace('\\"', "").count('"') % 2 == 1


def comments(lines):
    """Yields (line number, mark, text) for each comment; consecutive comment lines of one mark are joined."""
    current = None
    for number, line in enumerate(lines, 1):
        match = COMMENT.match(line)
        if match and in_string(match["before"]):
            match = None
        alone = bool(match) and not match["before"].strip()
        if match and alone and current and current[3] and (match["mark"] == current[1] or current[1] == "///<" and match["mark"] == "//"):
            if match["text"].strip() or current[1] != match["mark"]:
                current[2].append(match["text"])
                continue
            yield current[0], current[1], " ".join(current[2])
            current = [number, match["mark"], [], True]
            continue
        if current:
            yield current[0], current[1], " ".join(current[2])
            current = None
        if match:
            current = [number, match["mark"], [match["text"]], True]
    if current:
        yield current[0], current[1], " ".join(current[2])


def sentences(text):
    """Splits at full stops, semicolons and colons that end a clause, but not behind an abbreviation or in a number."""
    found, start = [], 0
    for match in re.finditer(r"[.;:!?](?=\s|$)", text):
        if ABBREVIATION.search(text[start : match.end()]):
            continue
        found.append(text[start : match.end()])
        start = match.end()
    if text[start:].strip():
        found.append(text[start:])
    return found


def without_raw_strings(text):
    """The text with raw string literals blanked, in which // is no comment; lines stay where they are."""
    return re.sub(r'R"(\w*)\(.*?\)\1"', lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def literals(text):
    """Yields (line number, text) for each string literal of some words; adjacent literals are joined. Assertions are left out."""
    found, end = [], None
    for match in LITERAL.finditer(text):
        if match["text"] is None:
            continue
        if end is not None and re.fullmatch(r"[\s\\]*", text[end : match.start()]):
            found[-1][1] += match["text"]
        elif "static_assert" not in text[text.rfind(";", 0, match.start()) + 1 : match.start()]:
            found.append([text.count("\n", 0, match.start()) + 1, match["text"]])
        else:
            end = None
            continue
        end = match.end()
    for number, literal in found:
        if len(re.findall(r"[A-Za-z]{2,}", literal)) >= MIN_LITERAL_WORDS:
            yield number, literal


def check_literals(text):
    for number, literal in literals(text):
        for pattern, better in BANNED_IN_LITERALS_RE:
            match = pattern.search(literal)
            if match:
                yield number, f"in a text: '{match.group(0)}': {better}"


def check(path):
    text = path.read_text()
    lines = without_raw_strings(text).splitlines()
    found = list(check_literals(text))
    if path.suffix == ".cpp" and len(lines) > HEADER_FROM_LINES and not lines[0].startswith("//"):
        found.append((1, f"a file of more than {HEADER_FROM_LINES} lines begins with what it is for and who calls it"))
    for number, mark, text in comments(lines):
        text = text.strip()
        if NOT_PROSE.search(text):
            continue
        plain = re.sub(r"`[^`]*`", "x", text)
        opening = OPENINGS.match(plain)
        if opening and mark != "//":
            found.append((number, f"a comment stands alone and does not begin with '{opening.group(0)}'"))
        if mark == "///" and UNFINISHED.search(text):
            found.append((number, f"a comment of sentences ends with a full stop, not with '{text.split()[-1]}'"))
        for pattern, better in BANNED_RE:
            match = pattern.search(plain)
            if match:
                found.append((number, f"'{match.group(0)}': {better}"))
        for sentence in sentences(plain):
            words = len(re.findall(r"[A-Za-z0-9][\w'’./-]*", sentence))
            if words > MAX_WORDS:
                found.append((number, f"a sentence of {words} words, at most {MAX_WORDS}"))
                break
    return found


def sources(arguments):
    for argument in arguments:
        path = Path(argument)
        if path.is_file():
            yield path
        elif path.is_dir():
            yield from sorted(p for p in path.rglob("*") if p.suffix in (".cpp", ".hpp"))
        else:
            sys.exit(f"prose: {argument}: no such file or folder")


def main():
    arguments = sys.argv[1:]
    counting = "--count" in arguments
    arguments = [a for a in arguments if a != "--count"] or [str(ROOT / folder) for folder in CHECKED]
    counts = Counter()
    total = 0
    for path in sources(arguments):
        path = path.resolve()
        shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        for number, message in check(path):
            total += 1
            counts["/".join(shown.parts[:2] if len(shown.parts) > 2 else shown.parts[:1])] += 1
            if not counting:
                print(f"{shown}:{number}: {message}")
    if counting:
        for folder, count in sorted(counts.items()):
            print(f"{count:6} {folder}")
        print(f"{total:6} in all")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main())
