#pragma once

#include "dataplane/packet/queue.hpp"
#include "dataplane/tcp/seq.hpp"

namespace sluice::tcp {

/// The runs of a reassembly queue in the order of their sequence numbers. A run is known by its first packet, whose
/// note holds the tree (scratch64, scratch64_b: left and right; flags: level), so nothing is allocated.
///
/// An AA tree (A. Andersson, "Balanced search trees made simple", 1993): with n runs no path is longer than
/// 2 log2(n + 1), whatever order they come in. That holds without a random source, and the order is the peer's to
/// choose. All begin within 2^31 of each other and at different numbers.
class RunTree {
 public:
  struct Neighbours {
    packet::Cursor before;  ///< the last run that begins at or before the place; nothing when none
    packet::Cursor after;   ///< the first one that begins behind it; nothing when none
  };

  [[nodiscard]] bool empty() const { return !root_; }
  [[nodiscard]] Neighbours around(SeqNum place) const;
  /// The first run; nothing when empty.
  [[nodiscard]] packet::Cursor first() const;
  /// Some run; nothing when empty.
  [[nodiscard]] packet::Cursor any() const { return root_; }
  void insert(packet::Cursor run);
  /// `run` is one of ours.
  void erase(packet::Cursor run);
  /// Puts `by`, which begins between `run`'s neighbours, in the place of `run`.
  void replace(packet::Cursor run, packet::Cursor by);

 private:
  packet::Cursor root_;
};

}  // namespace sluice::tcp
