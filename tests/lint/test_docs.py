"""Documents: links lead somewhere, the site builds, and the words that a reader is told to look for exist in the code."""

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def load(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / ".tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


links = load("links")
docs = load("docs")


def faults(tmp_path, text):
    (tmp_path / "there.md").write_text("# A heading\n\n## With `code` & more\n\n```\n# no heading\n```\n")
    page = tmp_path / "page.md"
    page.write_text(text)
    return [message for _, message in links.check(page, tmp_path)]


@pytest.mark.parametrize("text", [
    "[a](there.md)", "[a](there.md#a-heading)", "[a](there.md#with-code--more)", "[a](https://example.org/x)", "`[a](nowhere.md)`",
    "```\n[a](nowhere.md)\n```", "# Here\n\n[a](#here)"])
def test_links_that_lead_somewhere_pass(tmp_path, text):
    assert faults(tmp_path, text) == []


@pytest.mark.parametrize("text", ["[a](nowhere.md)", "[a](there.md#no-heading)", "[a](#here)", "![b](nowhere.png)"])
def test_links_that_lead_nowhere_are_found(tmp_path, text):
    assert len(faults(tmp_path, text)) == 1


def test_every_link_of_the_repository_leads_somewhere():
    found = [f"{path.relative_to(ROOT)}:{line}: {message}" for path in links.documents(ROOT) for line, message in links.check(path, ROOT)]
    assert not found


def cells(row):
    """The number of cells of a table's row. A vertical bar in code or after a backslash ends no cell."""
    return len(re.sub(r"\\\||`[^`]*`", "", row.strip()).strip("|").split("|"))


def table_faults(text):
    """(line, message) of each table without the row of dashes below its header, and of each row that is longer or shorter."""
    found, code, header = [], False, None
    for number, line in enumerate((text + "\n").split("\n"), 1):
        code ^= line.lstrip().startswith("```")
        if code or not line.lstrip().startswith("|"):
            if header is not None and number == header[0] + 1:
                found.append((number, "a table has a header only"))
            header = None
        elif header is None:
            header = (number, cells(line))
        elif number == header[0] + 1 and not re.fullmatch(r"\s*\|(\s*:?-+:?\s*\|)+", line):
            found.append((number, "a table's second row has dashes only"))
        elif cells(line) != header[1]:
            found.append((number, f"a row has {cells(line)} cells, the table's header {header[1]}"))
    return found


TABLE = "| a | b |\n| --- | --- |\n"


@pytest.mark.parametrize("text", [TABLE + "| 1 | 2 |", TABLE + "| `x|y` | 2 |\n\n| a |\n|---|", TABLE + r"| x\|y | 2 |", "```\n| a\n| b\n```"])
def test_tables_with_a_header_pass(text):
    assert table_faults(text) == []


@pytest.mark.parametrize(("text", "line"), [("| 1 | 2 |\n| 3 | 4 |", 2), (TABLE + "| 1 |", 3), (TABLE + "| 1 | 2 | 3 |", 3), ("| a | b |\n| --- |", 2), ("| a | b |", 2)])
def test_tables_without_a_header_or_with_odd_rows_are_found(text, line):
    assert [number for number, _ in table_faults(text)] == [line]


def test_every_table_of_the_repository_has_a_header_and_even_rows():
    found = [f"{path.relative_to(ROOT)}:{line}: {message}" for path in links.documents(ROOT)
             for line, message in table_faults(path.read_text(encoding="utf-8"))]
    assert not found


def test_every_document_is_a_page_or_is_left_out_on_purpose():
    left_out = re.compile(r"^(README\.md|\.github/SECURITY\.md|emulator/[a-z]+/README\.md|control/[a-z_]+/README\.md)$")
    paths = docs.site_paths()
    missing = [name for path in links.documents(ROOT) if (name := path.relative_to(ROOT).as_posix()) not in paths and not left_out.match(name)]
    assert not missing
    assert not [source for source in paths if not (ROOT / source).is_file()]


def test_links_are_made_for_the_site():
    paths = {"a/README.md": "x/a.md", "b/c.md": "c.md"}
    text = "[c](../b/c.md#part) [code](../b/code.cpp) [out](https://example.org)\n```\n[c](../b/c.md)\n```\n"
    assert docs.relinked(text, "a/README.md", "x/a.md", paths) == (
        "[c](../c.md#part) code (`b/code.cpp`) [out](https://example.org)\n```\n[c](../b/c.md)\n```\n")


@pytest.mark.parametrize("page", ["README.md", "docs/pages/operate/place.md"])
def test_a_drawing_shows_where_the_proxy_stands(page):
    blocks = (docs.ROOT / page).read_text(encoding="utf-8").split("```")[1::2]
    (drawing,) = [block for block in blocks if "core port | sluice | radio port" in block]
    ends = [drawing.index(word) for word in ("Internet", "core port", "radio port", "base stations")]
    assert ends == sorted(ends), "from the Internet to the base stations"


def test_the_site_builds():
    if shutil.which("mkdocs") is None:
        pytest.skip("mkdocs is not installed")
    if not all((docs.PROGRAMS / program).is_file() for program in ("sluice", "sluicectl", "nodeb")):
        pytest.skip("the programs are not built, which write the references")
    ended = subprocess.run([sys.executable, ROOT / ".tools" / "docs.py"], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert (ROOT / "out" / "docs" / "troubleshoot" / "index.html").is_file()


def test_words_of_counters_and_resets_exist():
    sources = "\n".join(path.read_text(encoding="utf-8") for top in ("proxy", "dataplane")
                        for path in (ROOT / top).rglob("*.[ch]pp"))
    for page in docs.PAGES.rglob("*.md"):
        for word in re.findall(r"`(?:proxy\.)?((?:forward|drop|reset)_[a-z_]+[a-z])`", page.read_text(encoding="utf-8")):
            name = re.sub(r"^(forward_|reset_)", "", word)
            assert re.search(rf"\b({word}|{name})\b", sources), f"{page.name}: {word}"


def test_the_page_of_ipfix_has_every_field():
    source = (ROOT / "proxy/ops/ipfix/fields.hpp").read_text(encoding="utf-8")
    rows = re.findall(r'^  X\((\w+), (\d+), (\w+), (\w+), "([^"]*)"\)', source, re.MULTILINE)
    rows = re.findall(r'Field\{"(\w+)", (\d+), Space::(\w+), (\d+), "([^"]*)"\}', source) + rows
    expected = [f"| `{name}` | {element} | {space} | {length.replace('variable_length', 'variable')} | {text} |"
                for name, element, space, length, text in rows]
    assert len(expected) > 20
    page = (docs.PAGES / "operate" / "ipfix.md").read_text(encoding="utf-8")
    assert [line for line in page.splitlines() if line.startswith("| `")] == expected
