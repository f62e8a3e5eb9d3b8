#include "emulator/hosts/flow_source.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sluice::emulator {

FlowSource::FlowSource(EventLoop& loop, Host& host, FlowSourceConfig config, Random random, FlowLog& log)
    : loop_(loop), host_(host), config_(std::move(config)), random_(random), log_(log) {
  const Duration first =
      config_.regular ? from_seconds(random_.uniform(0, to_seconds(config_.interval))) : to_next_page();
  loop_.at(config_.start + first, *this);
}

void FlowSource::on_event(std::uint64_t /*tag*/, Instant now) {
  flows_.remove_if([](const BulkClient& flow) { return flow.closed(); });
  if (now >= config_.stop) return;
  begin_page(now);
  loop_.at(now + to_next_page(), *this);
}

Duration FlowSource::to_next_page() {
  if (config_.regular) return config_.interval;
  return from_seconds(random_.exponential(to_seconds(config_.interval)));
}

void FlowSource::begin_page(Instant now) {
  const double drawn = config_.objects_mean > 1 ? random_.exponential(config_.objects_mean) : 1;
  const auto objects = static_cast<std::uint32_t>(std::clamp(std::ceil(drawn), 1.0, 10'000.0));
  Instant begin = now;
  for (std::uint32_t i = 0; i < objects; ++i) {
    if (i > 0) begin += from_seconds(random_.exponential(to_seconds(config_.gap)));
    BulkConfig flow{config_.server, config_.port, config_.upload, config_.size.draw(random_), begin};
    flow.name = config_.name;
    flow.is_fetch = true;
    flows_.emplace_back(loop_, host_, flow, log_);
  }
}

}  // namespace sluice::emulator
