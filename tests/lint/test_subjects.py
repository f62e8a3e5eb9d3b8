"""The check of commit subjects finds what CONTRIBUTING forbids, and accepts what it asks for."""

import importlib.util
from pathlib import Path

import pytest

SPEC = importlib.util.spec_from_file_location("subjects", Path(__file__).resolve().parents[2] / ".tools" / "subjects.py")
subjects = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(subjects)


@pytest.mark.parametrize("subject", [
    "tcp: halve the flight and not what recovery has sent", "control/acks: end a drain at the sum of the minimum windows",
    "proxy, control: rename Arrival to RxPacket", "lint: process each file once", "proxy: pass what is not split", "lint: embed the table", "bench: need no root"])
def test_imperative_subjects_with_an_area_pass(subject):
    assert not list(subjects.faults(subject))


@pytest.mark.parametrize(("subject", "part"), [
    ("What a review of it all found", "expected `area"), ("tcp: " + "x" * 70, "characters"), ("tcp: Halve the flight", "small letter"),
    ("tcp: halved the flight", "imperative"), ("tcp: halves the flight", "imperative"), ("tcp: halving the flight", "imperative"),
    ("tcp: what a loss is for", "imperative"), ("tcp: halve the flight.", "full stop"), ("TCP: halve the flight", "expected `area")])
def test_other_subjects_are_found(subject, part):
    assert any(part in message for message in subjects.faults(subject))
