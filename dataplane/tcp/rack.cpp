#include "dataplane/tcp/rack.hpp"

#include <algorithm>

namespace sluice::tcp {

void Rack::update(const Delivery& delivery) {
  if (!delivery.any) return;
  rtt_ = delivery.now - delivery.newest.at;
  if (known_ && !(newest_ < delivery.newest)) return;
  newest_ = delivery.newest;
  known_ = true;
}

std::uint32_t ReorderingWindow::ticks(std::uint32_t min_rtt, std::uint32_t srtt, unsigned sacked,
                                      bool recovering) const {
  if (!seen_ && (recovering || sacked >= Rack::threshold)) return 0;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{min_rtt} * quarters_ / 4, srtt));
}

void ReorderingWindow::on_duplicate() {
  seen_ = true;  // step 3 cannot detect it, because it ignores segments that were retransmitted
  if (widened_) return;
  widened_ = true;
  persist_ = 16;
  if (quarters_ < UINT8_MAX) ++quarters_;
}

void ReorderingWindow::on_recovered() {
  if (persist_ != 0 && --persist_ == 0) quarters_ = 1;
}

}  // namespace sluice::tcp
