"""What the machine under a virtual one leaves of its processors."""

from pathlib import Path

# From this share on a test that asks for a rate, a delay or a share of the processor says nothing about the programs.
MUCH = 0.05
STEAL = 7  # its place among the times of /proc/stat; guests' are part of others (proc_stat(5))


def times(stat=None):
    """What all processors together have spent so far: (taken by the hypervisor for others, all of it), in ticks."""
    text = stat if stat is not None else Path("/proc/stat").read_text(encoding="ascii")
    ticks = [int(word) for word in text.splitlines()[0].split()[1:]][:STEAL + 1]
    return ticks[STEAL], sum(ticks)


def taken(before, after):
    """The share of the processors that was taken between two times()."""
    passed = after[1] - before[1]
    return (after[0] - before[0]) / passed if passed > 0 else 0.0
