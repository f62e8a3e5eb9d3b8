#pragma once

#include "dataplane/packet/queue.hpp"
#include "dataplane/packet/seq.hpp"

namespace sluice::tcp {

/// Tree of the runs of a reassembly queue, ordered by sequence number. A run (contiguous bytes) is identified by its
/// first packet, whose metadata contains the tree node (scratch64, scratch64_b: left and right child; flags: level).
/// The tree allocates no memory.
///
/// The tree is an AA tree (A. Andersson, "Balanced search trees made simple", 1993). With n runs no path is longer than
/// 2 log2(n + 1), even if a hostile peer chooses the order of arrival. No random source is needed. All runs begin at
/// different numbers within 2^31 of each other.
class OooTree {
 public:
  struct Neighbours {
    packet::Cursor before;  ///< last run that begins at or before the searched sequence number; empty if none
    packet::Cursor after;   ///< first run that begins after the searched sequence number; empty if none
  };

  [[nodiscard]] bool empty() const { return !root_; }
  [[nodiscard]] Neighbours neighbours_of(SeqNum place) const;
  /// Returns the run (contiguous bytes) with the lowest sequence numbers; empty if there is none.
  [[nodiscard]] packet::Cursor first() const;
  /// Returns an arbitrary run (contiguous bytes); empty if there is none.
  [[nodiscard]] packet::Cursor any() const { return root_; }
  void insert(packet::Cursor run);
  /// Removes `run`, a run of contiguous bytes that is identified by its first packet. The run must be in the tree.
  void erase(packet::Cursor run);
  /// Replaces the run (contiguous bytes) with the first packet `run` by the run with the first packet `by`. The new run
  /// begins between the neighbours of the old one.
  void replace(packet::Cursor run, packet::Cursor by);

 private:
  packet::Cursor root_;
};

}  // namespace sluice::tcp
