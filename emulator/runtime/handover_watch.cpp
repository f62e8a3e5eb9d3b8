#include "emulator/runtime/handover_watch.hpp"

#include <utility>

namespace sluice::emulator {

HandoverWatch::HandoverWatch(EventLoop& loop, const Scenario& scenario, std::function<Sample()> look)
    : look_(std::move(look)) {
  for (const MoveSpec& move : scenario.moves) {
    if (move.type != MoveType::handover) continue;
    any_ = true;
    loop.at(loop.now() + move.at, *this, begin_tag);
    loop.at(loop.now() + move.at + window, *this, end_tag);
  }
}

void HandoverWatch::on_event(std::uint64_t tag, Instant /*now*/) {
  if (tag == begin_tag) {
    if (open_++ == 0) before_ = look_();
    return;
  }
  if (--open_ > 0) return;
  sum_ = since(before_);
}

HandoverWatch::Sample HandoverWatch::since(const Sample& before) const {
  const Sample now = look_();
  return {sum_.retransmissions + now.retransmissions - before.retransmissions,
          sum_.timeouts + now.timeouts - before.timeouts};
}

HandoverWatch::Sample HandoverWatch::result() const {
  return open_ > 0 ? since(before_) : sum_;
}

}  // namespace sluice::emulator
