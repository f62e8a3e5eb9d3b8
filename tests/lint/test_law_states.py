"""What a trace tells of a law's state is all of it: a member that is forgotten would show in a replay only when it matters,
which may be minutes later."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STATES = ROOT / "control/decision_log/states.hpp"
# Members that the constructor makes of the parameters and nothing changes.
MADE = {
    "HalfWindowExtreme": set(),
    "WindowedRange": {"slice_"},
    "DeliveryEstimator": set(),
    "MinRttEstimator": set(),
    "SlowStart": set(),
    "AckDelayEstimator": set(),
    "CrossTrafficEstimator": set(),
    "PathChangeDetector": set(),
    "PathStepDetector": set(),
    "SharedQueueDetector": set(),
    "StandingDelayDetector": set(),
    "SteadyLinkDetector": set(),
    "BusyLinkFloor": set(),
    "LossBound": {"segment_"},
    "DelayBasedController": {"parameters_"},
    "Smvs": {"parameters_", "delay_steps_"},
    "ReceiveWindowLoop": {"parameters_"},
    "ClampWindow": {"parameters_", "per_group_"},
    "WindowRegulator": set(),
    "AckRegulator": set(),
    "EmptyQueueRelease": set(),
    "Framing": set(),
    "ClampController": {"segment_", "target_", "slope_", "frame_"},
    "WindowRegulatorController": {"segment_"},
    "AckRegulatorController": {"segment_"},
    "FlowController": {"segment_"},
}
# Of these the state is that of the parts named, one by one.
BY_PARTS = {"WindowRegulator": {"parameters_": "parameters_.buffer"}, "AckRegulator": {"parameters_": "parameters_.buffer"}}


def without_comments(text):
    return re.sub(r"//[^\n]*", "", text)


def members(name):
    """The data members of a class: what is declared in it with a name that ends with an underscore."""
    for header in sorted((ROOT / "control").rglob("*.hpp")):
        text = without_comments(header.read_text(encoding="utf-8"))
        found = re.search(rf"^class {name}\b[^;{{]*\{{(.*?)^\}};", text, re.M | re.S)
        if found:
            return set(re.findall(r"^  [A-Za-z][^;(){}=]*[ &*](\w+_)(?:\{[^;]*\}| = [^;]+)?;", found[1], re.M))
    raise AssertionError(f"no class {name}")


def told(name):
    """The members that its function in states.hpp names."""
    text = STATES.read_text(encoding="utf-8")
    found = re.search(rf"^void {name}(?:<[^>]*>)?::fields\(.*?^\}}", text, re.M | re.S)
    assert found, f"{STATES.name} has no state of {name}"
    return set(re.findall(r"self\.(\w+_)\b", found[0]))


def test_every_class_with_a_state_is_looked_at():
    names = set(re.findall(r"^void (\w+)(?:<[^>]*>)?::fields\(", STATES.read_text(encoding="utf-8"), re.M))
    assert names == set(MADE)


def test_every_member_that_changes_is_told():
    for name, made in MADE.items():
        declared = members(name)
        assert declared, f"no members found in {name}"
        assert made <= declared, f"{name} has no {', '.join(made - declared)}"
        missing = declared - made - told(name)
        assert not missing, f"{name}: a trace does not tell {', '.join(sorted(missing))} (control/decision_log/states.hpp)"


def test_of_parameters_that_change_the_part_that_does_is_told():
    text = STATES.read_text(encoding="utf-8")
    for name, parts in BY_PARTS.items():
        for member, part in parts.items():
            assert member in members(name)
            function = re.search(rf"^void {name}::fields\(.*?^\}}", text, re.M | re.S)[0]
            assert f"self.{part}" in function
