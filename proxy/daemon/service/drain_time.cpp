#include "proxy/daemon/service/drain_time.hpp"

#include <algorithm>

namespace sluice::proxy {

bool DrainTime::ends(Instant now, std::optional<std::uint64_t> would_break) {
  const Duration interval = now - asked_;
  asked_ = now;
  unanswered_ = would_break ? 0 : unanswered_ + 1;
  // Intervals without an answer count once shards are considered stalled, so that the drain does not wait for them
  // forever.
  const bool counts = interval <= period + tolerance || unanswered_ >= max_unanswered;
  suspended_time_ = counts ? Duration::zero() : interval - period;
  end_ += suspended_time_;
  last_decrease_at_ += suspended_time_;
  if (!would_break) return unanswered_ >= max_unanswered && now >= end_;
  if (lowest_ && *would_break < *lowest_) last_decrease_at_ = now;
  lowest_ = std::min(lowest_.value_or(*would_break), *would_break);
  const bool falls = *would_break > 0 && now - last_decrease_at_ < std::min(max_time_without_decrease, drain_);
  is_extended_ = now >= end_ && now < end_ + drain_ && falls;
  return now >= end_ && !is_extended_;
}

}  // namespace sluice::proxy
