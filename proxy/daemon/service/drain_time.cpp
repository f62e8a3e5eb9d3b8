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
  stood_still_ = counts ? Duration::zero() : interval - period;
  end_ += stood_still_;
  fell_ += stood_still_;
  if (!would_break) return unanswered_ >= max_unanswered && now >= end_;
  if (least_ && *would_break < *least_) fell_ = now;
  least_ = std::min(least_.value_or(*would_break), *would_break);
  const bool falls = *would_break > 0 && now - fell_ < std::min(patience, drain_);
  is_extended_ = now >= end_ && now < end_ + drain_ && falls;
  return now >= end_ && !is_extended_;
}

}  // namespace sluice::proxy
