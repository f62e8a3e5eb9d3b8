#include "control/window_laws/queue_marks.hpp"

#include <algorithm>

namespace sluice::control {

void QueueMarks::sent(std::uint64_t total, Bytes end) {
  const Mark newest = marks_[used_ - 1];
  if (end <= newest.end || total < newest.total) return;
  const std::uint64_t begin = total - std::min(total, static_cast<std::uint64_t>((end - newest.end).count()));
  if (begin > newest.total + spacing_) add({begin, newest.end});  // data of other flows was sent in between
  if (used_ > 1 && total - marks_[used_ - 2].total < spacing_) {
    marks_[used_ - 1] = {total, end};
  } else {
    add({total, end});
  }
}

void QueueMarks::add(const Mark& mark) {
  if (used_ == capacity) thin_out();
  marks_[used_++] = mark;
}

/// Removes every second mark, except the oldest and the newest, because the array is full.
void QueueMarks::thin_out() {
  std::uint32_t kept = 1;
  for (std::uint32_t i = 2; i < used_; i += 2) marks_[kept++] = marks_[i];
  if (used_ % 2 == 0) marks_[kept++] = marks_[used_ - 1];
  used_ = kept;
  spacing_ *= 2;
}

Bytes QueueMarks::passed(std::uint64_t total, bool forget) {
  std::uint32_t next = 1;
  while (next < used_ && marks_[next].total <= total) ++next;
  const Mark before = marks_[next - 1];
  if (forget && next > 1) {
    std::copy(marks_.begin() + (next - 1), marks_.begin() + used_, marks_.begin());
    used_ -= next - 1;
    if (used_ == 1) spacing_ = min_spacing;
    next = 1;
  }
  if (next == used_ || total <= before.total) return before.end;
  const Mark& after = marks_[next];
  const double share = static_cast<double>(total - before.total) / static_cast<double>(after.total - before.total);
  return before.end + Bytes(static_cast<double>((after.end - before.end).count()) * share);
}

}  // namespace sluice::control
