#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "dataplane/tcp/segment.hpp"

namespace sluice::tcp {

/// What the next acknowledgement reports beside RCV.NXT (RFC 2018): the run that the newest segment belongs to first,
/// then those reported before; in front of them, once, a duplicate (RFC 2883).
class SackReport {
 public:
  static constexpr std::size_t capacity = 3;  ///< blocks; what fits beside a timestamp

  /// The run [left, right) was just extended or begun; it swallows those it covers.
  void add(SackBlock run);
  /// RCV.NXT moved to `rcv_nxt`: runs below it are no news.
  void advance(SeqNum rcv_nxt);
  /// Bytes that came twice.
  void duplicate(SackBlock bytes);
  void clear() { *this = {}; }

  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] bool has_duplicate() const { return has_duplicate_; }
  /// In the order of the wire.
  [[nodiscard]] std::span<const SackBlock> blocks() const { return {blocks_.data(), count_}; }
  /// More runs were added since the last report than one has room for: some would never be told.
  [[nodiscard]] bool overflowed() const { return fresh_ > capacity - (has_duplicate_ ? 1U : 0U); }
  /// The report was sent: a duplicate is told once.
  void reported();

 private:
  void forget_duplicate();
  void insert_at(std::size_t position, SackBlock block);

  /// The duplicate, if any, then runs.
  std::array<SackBlock, capacity> blocks_{};
  std::uint8_t count_ : 2 = 0;
  std::uint8_t fresh_ : 5 = 0;  ///< additions since the last report, saturating
  bool has_duplicate_ : 1 = false;

  static constexpr std::uint8_t fresh_limit = 31;
};

}  // namespace sluice::tcp
