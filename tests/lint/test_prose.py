"""The check of comments finds sentences that cannot be read alone, long ones and words of our own, and nothing else."""

import importlib.util
from pathlib import Path

import pytest

SPEC = importlib.util.spec_from_file_location("prose", Path(__file__).resolve().parents[2] / ".tools" / "prose.py")
prose = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(prose)


def messages(tmp_path, text, name="a.hpp"):
    file = tmp_path / name
    file.write_text(text)
    return [message for _, message in prose.check(file)]


@pytest.mark.parametrize("comment", [
    "/// Returns the right edge of the window.", "int a;  ///< bytes in flight", "// The peer may retransmit, so long as the timer runs.",
    'auto url = "http://nobody";', 'auto page = R"page(\n// Nobody hears.\n)page";', "/// Sends as many segments as the window allows; then arms the timer.",
    "/// Returns `so much`, the name of a key.", "/// arrival of the newest packet", "/// Sources:\n/// - RFC 9293\n/// - RFC 5681."])
def test_plain_comments_pass(tmp_path, comment):
    assert messages(tmp_path, comment + "\n") == []


@pytest.mark.parametrize(("comment", "part"), [
    ("/// … and begins again.", "'…'"), ("/// The same of a segment.", "'The same'"), ("int a;  ///< of the peer", "'of'"),
    ("/// Nobody waits.", "Nobody"), ("// The law hears of it.", "receives"), ("// It is counted anew.", "again"),
    ("/// Returns " + "one more word " * 9 + ".", "a sentence of 28 words"), ("// Holds so much.", "quantity"),
    ("/// Holds the window. If it is too\nint a;", "ends with a full stop, not with 'too'")])
def test_riddles_are_found(tmp_path, comment, part):
    assert any(part in message for message in messages(tmp_path, comment + "\n"))


def test_lines_of_one_comment_are_read_together(tmp_path):
    assert messages(tmp_path, "/// Returns the window that the host\n/// of the other side has granted.\n") == []
    assert messages(tmp_path, "/// Returns the window.\nint a;\n/// Of the host.\n") == ["a comment stands alone and does not begin with 'Of'"]


def test_a_long_source_begins_with_what_it_is_for(tmp_path):
    code = "int a;\n" * 81
    assert len(messages(tmp_path, code, "a.cpp")) == 1
    assert messages(tmp_path, "// Keeps 81 numbers.\n" + code, "a.cpp") == []
    assert messages(tmp_path, code, "a.hpp") == [] == messages(tmp_path, code[:7 * 80], "a.cpp")


@pytest.mark.parametrize(("code", "part"), [
    ('s.value("hold", p.hold, "no ACK waits so long");', "quantity"), ('fail("the run ended without a word");', "crash"),
    ('warn("port {}: the link "\n     "cannot be had");', "not available"), ('X(flows, "connections that pass under a law")', "controller")])
def test_private_words_in_texts_are_found(tmp_path, code, part):
    found = messages(tmp_path, code + "\n")
    assert len(found) == 1 and found[0].startswith("in a text") and part in found[0], found


@pytest.mark.parametrize("code", [
    's.value("hold", p.hold, "longest delay of an ACK");', '#include "so/long/as.hpp"', 'static_assert(a == b, "told of what it was");',
    'name("anew");', 'auto page = R"page(told of what)page";'])
def test_plain_texts_pass(tmp_path, code):
    assert messages(tmp_path, code + "\n") == []
