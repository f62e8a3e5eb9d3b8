#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "dataplane/packet/segment.hpp"

namespace sluice::tcp {

/// SACK blocks of the next acknowledgement (RFC 2018): first the run that contains the newest segment, then the runs
/// reported before. If data arrived twice, its range precedes the runs once (D-SACK, RFC 2883).
class SackGenerator {
 public:
  static constexpr std::size_t capacity = 3;  ///< number of SACK blocks that fit beside a timestamp option

  /// Records that `run` of received bytes was just extended or begun. Removes recorded blocks that are inside it.
  void add(SackBlock run);
  /// Removes blocks that end at or below `rcv_nxt`, the new RCV.NXT.
  void advance(SeqNum rcv_nxt);
  /// Records a range of bytes that arrived twice.
  void duplicate(SackBlock bytes);
  void clear() { *this = {}; }

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] bool has_duplicate() const { return has_duplicate_; }
  /// Returns the blocks in the order in which the SACK option of an ACK contains them.
  [[nodiscard]] std::span<const SackBlock> blocks() const { return {blocks_.data(), count_}; }
  /// True if one ACK cannot report all runs (contiguous out-of-order bytes) added since the last report. Without
  /// additional ACKs some of them would never be reported.
  [[nodiscard]] bool overflowed() const { return fresh_ > capacity - (has_duplicate_ ? 1U : 0U); }
  /// Records that an ACK with these SACK blocks was sent; a duplicate is reported only once.
  void reported();

 private:
  void forget_duplicate();
  void insert_at(std::size_t position, SackBlock block);

  /// Blocks in the order in which an ACK reports them: the range that arrived twice (D-SACK), if any, then the runs.
  std::array<SackBlock, capacity> blocks_{};
  std::uint8_t count_ : 2 = 0;
  /// Number of runs (contiguous bytes) added since the last ACK with SACK blocks, at most 31.
  std::uint8_t fresh_ : 5 = 0;
  bool has_duplicate_ : 1 = false;

  static constexpr std::uint8_t fresh_limit = 31;
};

}  // namespace sluice::tcp
