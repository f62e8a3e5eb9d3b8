#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dataplane/units/bytes.hpp"

namespace sluice::control {

/// Estimates how many bytes of one flow have left a FIFO queue that several flows share. The input is the number of
/// bytes of all flows that have left. A mark records the flow's position, and how many bytes of all flows had entered
/// the queue at that time. Between two marks the flow's bytes count as evenly distributed. Memory is constant: with
/// more bytes in the queue the marks lie farther apart. Reads no clock. Not thread-safe.
class QueueMarks {
 public:
  /// Starts the flow at position 0, after `total` bytes of all flows have entered the queue.
  explicit QueueMarks(std::uint64_t total = 0) { marks_[0].total = total; }

  /// Records that data of the flow up to position `end` was sent. `total` counts the bytes of all flows that share the
  /// queue, including this data; it never decreases. A retransmission has no new end and changes nothing.
  void sent(std::uint64_t total, Bytes end);
  /// Returns the flow's position when `total` bytes of all flows have left the queue. If `forget` is true, removes
  /// marks before that position; `total` must then not decrease between calls.
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

  std::array<Mark, capacity> marks_{};  ///< marks in ascending order; all data up to the first one has left the queue
  std::uint32_t used_ = 1;
  std::uint32_t spacing_ = min_spacing;  ///< smallest distance of two marks, in bytes of all flows that share the queue
};
static_assert(sizeof(QueueMarks) <= 144);

}  // namespace sluice::control
