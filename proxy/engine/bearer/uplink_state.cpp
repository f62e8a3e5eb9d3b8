#include "proxy/engine/bearer/uplink_state.hpp"

#include <algorithm>

namespace sluice::proxy {
namespace {

/// Time and number of signals after which the wait must have become shorter by a quarter. CUBIC reduces its window by
/// 30 % after a loss (RFC 9438), so a queue becomes shorter within this time. A longer path does not.
constexpr Duration effect_after = std::chrono::seconds(4);
constexpr std::uint32_t effect_needs = 8;
/// Longest wait that the ACK-based controller measures (AckDelayEstimator). A longer one may become shorter unseen.
constexpr Duration longest_measured = std::chrono::seconds(1);

}  // namespace

Duration UncontrolledWait::controlled_part(Duration wait, Duration target, Instant now) {
  floor_ = std::min(floor_, wait);
  if (wait - floor_ < target) {
    signals_ = 0;
    return wait - floor_;
  }
  if (signals_ == 0) {
    since_ = now;
    shortest_ = longest_ = wait;
  }
  shortest_ = std::min(shortest_, wait);
  longest_ = std::max(longest_, wait);
  if (signals_ >= effect_needs && now - since_ > effect_after) {
    if (4 * shortest_ >= 3 * longest_ && longest_ < longest_measured) floor_ = shortest_;
    signals_ = 0;
  }
  return wait - floor_;
}

}  // namespace sluice::proxy
