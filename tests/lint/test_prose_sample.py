"""The sampler of the documents draws whole paragraphs, and nothing that a script writes."""

import importlib.util
from pathlib import Path

SPEC = importlib.util.spec_from_file_location("prose_sample", Path(__file__).resolve().parents[2] / ".tools" / "prose_sample.py")
sample = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(sample)
WORDS = "one two three four five six seven eight nine ten " * 2 + "end"


def drawn(*blocks):
    return [text for _, text in sample.paragraphs_of("\n\n".join(blocks) + "\n")]


def test_a_paragraph_that_ends_with_a_colon_includes_what_it_introduces():
    assert drawn(WORDS + ":", "- first\n- second\n  part", WORDS) == [WORDS + ":\n- first\n- second part", WORDS]
    assert drawn(WORDS + ":", "```\nint a;\n\nint b;\n```") == [WORDS + ":\n```\nint a;\n\nint b;\n```"]


def test_an_item_of_another_list_is_a_paragraph_with_its_parts():
    assert drawn(f"- {WORDS}\n- {WORDS} 2", "  a part of the second item") == ["- " + WORDS, f"- {WORDS} 2\na part of the second item"]


def test_a_line_that_begins_with_a_year_is_no_item():
    assert drawn(WORDS + "\n2003. " + WORDS) == [WORDS + " 2003. " + WORDS]


def test_headings_tables_short_paragraphs_and_what_scripts_write_are_left_out():
    assert drawn("# " + WORDS, "| " + WORDS, "short", "<!-- record -->\n" + WORDS + "\n<!-- end -->", "```\n" + WORDS + "\n```") == []


def test_a_long_table_is_cut():
    assert drawn(WORDS + ":", "\n".join(["| a |"] * 20))[0].count("\n") == sample.MAX_TABLE_LINES + 1


def test_a_doc_comment_is_drawn_with_all_of_its_paragraphs():
    prose = sample.load_prose()
    lines = ["/// First.", "///", "/// Second", "/// part.", "int a;  ///< third", "/// Fourth.", "int b;"]
    assert [(one[0], one[3]) for one in sample.whole_comments(prose, lines)] == [(1, "First.\nSecond part."), (5, "third"), (6, "Fourth.")]


def test_a_declaration_is_whole_and_names_its_class():
    lines = ["class Queue {", " public:", "  /// Removes.", "  void remove(int first,", "              int last);", "  int next_;", "};"]
    assert sample.scope_of(lines, 2) + sample.declaration_of(lines, 3) == "in Queue: void remove(int first, int last);"
    assert sample.scope_of(lines, 0) == ""
    assert sample.declaration_of(["template <typename T>", "void swap(T& a, T& b) {", "  body();"], 0) == "template <typename T> void swap(T& a, T& b) {"


def test_the_headings_above_a_paragraph_are_those_of_its_section():
    page = "# Page\n\n## First\n\ntext\n\n## Second\n\n### Part\n\ntext\n"
    assert sample.headings_above(page, 11) == "Page / Second / Part"
    assert sample.headings_above(page, 5) == "Page / First"
