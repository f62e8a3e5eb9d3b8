#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dataplane/units/bytes.hpp"

namespace sluice::control {

/// Estimates how far one flow has advanced through a FIFO queue that it shares, from how far the whole queue has
/// advanced.
/// Marks record which position of the flow entered behind how many bytes of all flows; between two marks the flow
/// counts as evenly spread.
/// Constant space: with more bytes in the queue the marks lie farther apart. Reads no clock; thread: its flow's.
class QueueMarks {
 public:
  /// Starts the flow behind `total` bytes of all flows.
  explicit QueueMarks(std::uint64_t total = 0) { marks_[0].total = total; }

  /// Records data up to `end` that was sent at once and ends with byte `total` of all flows. Totals never decrease. A
  /// retransmission has no new end and changes nothing.
  void sent(std::uint64_t total, Bytes end);
  /// Returns the flow's position when `total` bytes of all flows have passed. Removes the marks before it, so totals
  /// must not decrease, unless `forget` is false.
  [[nodiscard]] Bytes passed(std::uint64_t total, bool forget = true);

 private:
  static constexpr std::size_t capacity = 8;
  static constexpr std::uint32_t min_spacing = 3000;
  struct Mark {
    std::uint64_t total = 0;
    Bytes end;
  };
  void add(const Mark& mark);
  void thin_out();

  std::array<Mark, capacity> marks_{};  ///< ascending; the first has been passed
  std::uint32_t used_ = 1;
  std::uint32_t spacing_ = min_spacing;  ///< bytes of all flows between two marks
};
static_assert(sizeof(QueueMarks) <= 144);

}  // namespace sluice::control
