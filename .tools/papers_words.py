"""The figures in words: what the rows of the papers' pages and the notes of a scenario say that an experiment gave is in the record
numbers.csv, or it is set by the scenario, or the paper's."""

import json
import re
import statistics
import sys

sys.dont_write_bytecode = True  # nothing appears beside the sources
import papers  # noqa: E402

DIGITS = r"(?:\d{1,3}(?: \d{3})+|\d+)(?:\.\d+)?"
# What names a figure of a paper, a power of ten, or a file is no figure.
REFERENCE = re.compile(r"\b(?:figures?|tables?|sections?|equations?|eqs?\.) [\d.]+|\d+[⁻⁰-⁹²³]+|\b10\^-\d+")
SEEDS = re.compile(r"\b(\d+) seeds\b")
PAIR = re.compile(rf"({DIGITS}) ± ({DIGITS})")
FIGURE = re.compile(rf"(?<![\w.])({DIGITS})(?![\w]|\.\d)")
# Of a scenario's notes, those that say what came out.
NOTES = re.compile(r"^  (?:reproduces|differs):\n((?:    .*\n?|\s*\n)*)", re.M)


def number_of(text):
    return float(text.replace(" ", ""))


def is_written(value, text):
    """Whether `text` is this value, rounded as it is; its sign may be in words."""
    decimals = len(text.partition(".")[2])
    return abs(abs(value) - number_of(text)) <= 0.5 * 10 ** -decimals * (1 + 1e-6)


def measured(names, record):
    """[(mean, half of its interval or None)] of what the record has of these experiments."""
    return [(statistics.fmean(values), papers.interval(values))
            for row in record if row.experiment in names and row.values for _, values in json.loads(row.values)]


def given(name, asked_for, folder):
    """The figures that are no result of an experiment: its scenario's, those in the names of its numbers, and the paper's."""
    text = papers.without_texts((folder / f"{name}.yaml").read_text(encoding="utf-8"))
    text += " ".join(f" {number['what']} {number.get('paper', '')}" for number in asked_for[name]["numbers"])
    return {number_of(figure) for figure in re.findall(DIGITS, text) + re.findall(r"\d+(?:\.\d+)?", text)}


def without_record(text, names, record, known):
    """The figures of a text that are neither `known` nor numbers of these experiments."""
    text = REFERENCE.sub("", text)
    seeds = {row.seeds for row in record if row.experiment in names}
    values = measured(names, record)
    found = [f"{count} seeds" for count in SEEDS.findall(text) if int(count) not in seeds]
    text = SEEDS.sub("", text)
    for mean, half in PAIR.findall(text):
        swing = number_of(half) in known  # of what was set, as delays ± 45 ms
        if not swing and not any(of is not None and is_written(value, mean) and is_written(of, half) for value, of in values):
            found.append(f"{mean} ± {half}")
    text = PAIR.sub("", text)
    for figure in FIGURE.findall(text):
        if number_of(figure) not in known and not any(is_written(value, figure) for value, _ in values):
            found.append(figure)
    return found


def of_page(name, page, record, asked_for, folder):
    """Of the rows `figure | experiment | the paper | here | what differs`: figures of the last two that come from nowhere."""
    found = []
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        names = [of for of in re.findall(r"`([\w-]+)", line) if of in asked_for]
        if len(cells) != 5 or not names:
            continue
        known = set().union(*(given(of, asked_for, folder) for of in names))
        known |= {number_of(figure) for figure in FIGURE.findall(cells[0] + " " + cells[2])}
        found += [f"{name}: {', '.join(names)}: numbers.csv has no {figure}"
                  for figure in without_record(f"{cells[3]} {cells[4]}", names, record, known)]
    return found


def of_notes(name, record, asked_for, folder):
    """Of the notes of a scenario: figures that come from nowhere. What the paper gives stands in `values` and `readings`, and in
    brackets that begin with "paper" or "the paper"."""
    text = (folder / f"{name}.yaml").read_text(encoding="utf-8")
    notes = " ".join(" ".join(NOTES.findall(text)).split())
    rest = NOTES.sub("", text)
    names = {name} | {other for other in asked_for if re.search(rf"(?<![\w-]){other}(?![\w-])", notes)}
    known = set().union(*(given(other, asked_for, folder) for other in names))
    known |= {number_of(figure) for figure in re.findall(DIGITS, rest) + re.findall(r"\d+(?:\.\d+)?", rest)}
    notes = re.sub(r"\((?:the )?paper[^)]*\)", "", notes)
    return [f"{name}.yaml: numbers.csv has no {figure}" for figure in without_record(notes, names, record, known)]


def problems(folder):
    """What is said in words and is in no record."""
    asked_for, record = papers.asked(folder), papers.read_record(folder)
    scenarios = [name for name in asked_for if (folder / f"{name}.yaml").is_file()]
    return ([line for file, page in papers.pages(folder).items() for line in of_page(file.name, page, record, asked_for, folder)]
            + [line for name in scenarios for line in of_notes(name, record, asked_for, folder)])
