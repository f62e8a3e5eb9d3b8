// AA tree of the runs of a reassembly queue, built from links inside the packets' notes. Called by Reassembly only. A
// leaf has level 1. A left child is one level below its parent, and a right child at most one level below. A right
// grandchild is always below its grandparent. skew() and split() restore that after each change (A. Andersson, 1993).

#include "dataplane/tcp/ooo_tree.hpp"

#include <algorithm>
#include <cassert>

namespace sluice::tcp {
namespace {

using packet::Cursor;

SeqNum key(Cursor at) {
  return SeqNum(at.note().seq);
}
Cursor left(Cursor at) {
  return Cursor::from_bits(at.note().scratch64);
}
Cursor right(Cursor at) {
  return Cursor::from_bits(at.note().scratch64_b);
}
void set_left(Cursor at, Cursor child) {
  at.note().scratch64 = child.bits();
}
void set_right(Cursor at, Cursor child) {
  at.note().scratch64_b = child.bits();
}
/// Returns the AA level of a node: 1 for a leaf, 0 for no node.
int level(Cursor at) {
  return at ? at.note().flags : 0;
}
void set_level(Cursor at, int value) {
  at.note().flags = static_cast<std::uint8_t>(value);
}

/// Copies the links and the level of `at` to `by`, which replaces `at` in the tree.
void take_place(Cursor by, Cursor at) {
  set_left(by, left(at));
  set_right(by, right(at));
  set_level(by, level(at));
}

/// Rotates right if the left child has the level of `at`; the left child then becomes the parent. Returns the new top
/// of the subtree.
Cursor skew(Cursor at) {
  if (!at || !left(at) || level(left(at)) != level(at)) return at;
  const Cursor top = left(at);
  set_left(at, right(top));
  set_right(top, at);
  return top;
}

/// Rotates left if three nodes in a row have the same level: the middle one becomes the parent, one level up. Returns
/// the new top of the subtree.
Cursor split(Cursor at) {
  if (!at || !right(at) || level(right(right(at))) != level(at)) return at;
  const Cursor top = right(at);
  set_right(at, left(top));
  set_left(top, at);
  set_level(top, level(top) + 1);
  return top;
}

/// Inserts `run` (contiguous bytes, identified by their first packet) into the subtree `at`. Returns the new top of the
/// subtree.
Cursor inserted(Cursor at, Cursor run) {
  if (!at) {
    set_left(run, {});
    set_right(run, {});
    set_level(run, 1);
    return run;
  }
  if (key(run) < key(at)) {
    set_left(at, inserted(left(at), run));
  } else {
    set_right(at, inserted(right(at), run));
  }
  return split(skew(at));
}

/// Restores the invariants of the subtree `at` after a node was removed below it; returns the new top of the subtree.
Cursor rebalanced(Cursor at) {
  if (!at) return at;
  const int most = std::min(level(left(at)), level(right(at))) + 1;
  if (most < level(at)) {
    set_level(at, most);
    if (most < level(right(at))) set_level(right(at), most);
  }
  at = skew(at);
  set_right(at, skew(right(at)));
  if (right(at)) set_right(right(at), skew(right(right(at))));
  at = split(at);
  set_right(at, split(right(at)));
  return at;
}

/// Removes `run` (contiguous bytes, identified by their first packet) from the subtree `at`. Returns the new top of the
/// subtree.
Cursor erased(Cursor at, Cursor run) {
  assert(at);
  if (key(run) < key(at)) {
    set_left(at, erased(left(at), run));
  } else if (key(at) < key(run)) {
    set_right(at, erased(right(at), run));
  } else if (!right(at)) {
    return {};  // a leaf leaves an empty subtree
  } else {
    Cursor successor = right(at);
    while (left(successor)) successor = left(successor);
    const Cursor rest = erased(right(at), successor);
    take_place(successor, at);
    set_right(successor, rest);
    at = successor;
  }
  return rebalanced(at);
}

}  // namespace

OooTree::Neighbours OooTree::neighbours_of(SeqNum place) const {
  Neighbours found;
  for (Cursor at = root_; at;) {
    const bool begins_before = key(at) <= place;
    (begins_before ? found.before : found.after) = at;
    at = begins_before ? right(at) : left(at);
  }
  return found;
}

Cursor OooTree::first() const {
  Cursor at = root_;
  while (at && left(at)) at = left(at);
  return at;
}

void OooTree::insert(Cursor run) {
  root_ = inserted(root_, run);
}

void OooTree::erase(Cursor run) {
  root_ = erased(root_, run);
}

void OooTree::replace(Cursor run, Cursor by) {
  take_place(by, run);
  if (root_ == run) {
    root_ = by;
    return;
  }
  Cursor parent = root_;
  while (true) {
    const bool to_left = key(run) < key(parent);
    const Cursor child = to_left ? left(parent) : right(parent);
    assert(child);
    if (!(child == run)) {
      parent = child;
      continue;
    }
    to_left ? set_left(parent, by) : set_right(parent, by);
    return;
  }
}

}  // namespace sluice::tcp
