#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "dataplane/units/bytes.hpp"

namespace sluice::control {

/// Tells how far one flow has come through a first-in-first-out queue that it shares, from how far the whole queue has
/// come: remembers at a few points which of the flow's positions went in behind how many bytes of all flows. Between
/// two points the flow is taken to have been sent evenly. Constant space: with more under way the points lie farther
/// apart. No clock inside; thread: its flow's.
class QueueMarks {
 public:
  /// The flow begins behind `total` bytes of all flows.
  explicit QueueMarks(std::uint64_t total = 0) { marks_[0].total = total; }

  /// Data up to `end` has been sent just now, at one go: it ends with the `total`-th byte of all flows. Totals never
  /// fall; a retransmission has no end of its own and changes nothing.
  void sent(std::uint64_t total, Bytes end);
  /// The flow's position when `total` bytes of all flows have passed a place. Asked with growing totals, it forgets
  /// what lies before; `forget` = false only looks.
  [[nodiscard]] Bytes passed(std::uint64_t total, bool forget = true);

 private:
  static constexpr std::size_t capacity = 8;
  static constexpr std::uint32_t least_spacing = 3000;
  struct Mark {
    std::uint64_t total = 0;
    Bytes end;
  };
  void add(const Mark& mark);
  void thin_out();

  std::array<Mark, capacity> marks_{};  ///< rising; the first has been passed
  std::uint32_t used_ = 1;
  std::uint32_t spacing_ = least_spacing;  ///< bytes of all flows between two marks
};
static_assert(sizeof(QueueMarks) <= 144);

}  // namespace sluice::control
