#include "emulator/channel/timeline.hpp"

#include <stdexcept>
#include <utility>

namespace sluice::emulator {

TimelineChannel::TimelineChannel(std::unique_ptr<Channel> first) {
  channels_.push_back(std::move(first));
  intervals_.push_back({0, 0});
}

void TimelineChannel::replace_from(std::uint64_t tti, std::unique_ptr<Channel> channel) {
  channels_.push_back(std::move(channel));
  add(tti, channels_.size() - 1);
}

void TimelineChannel::add(std::uint64_t tti, std::size_t channel) {
  if (tti < intervals_.back().from) throw std::invalid_argument("timeline: stretches must come in the order of time");
  if (tti == intervals_.back().from) {
    intervals_.back().channel = channel;
  } else {
    intervals_.push_back({tti, channel});
  }
}

std::size_t TimelineChannel::interval_at(std::uint64_t tti) const {
  std::size_t at = current_;
  while (at + 1 < intervals_.size() && intervals_[at + 1].from <= tti) ++at;
  return at;
}

LinkGrant TimelineChannel::step(std::uint64_t tti) {
  current_ = interval_at(tti);
  const std::size_t channel = intervals_[current_].channel;
  if (channel != none) return channels_[channel]->at(tti);
  LinkGrant silence;
  silence.received = false;
  silence.draw = 0;
  return silence;
}

RadioQuality TimelineChannel::quality_of(std::uint64_t /*tti*/) const {
  const std::size_t channel = intervals_[current_].channel;
  return channel != none ? channels_[channel]->quality() : RadioQuality{-100, -100};
}

double TimelineChannel::error_rate(double snr_db, std::uint8_t cqi) const {
  const std::size_t channel = intervals_[current_].channel;
  return channel != none ? channels_[channel]->error_rate(snr_db, cqi) : 1;
}

std::uint64_t TimelineChannel::next_useful(std::uint64_t tti) {
  const std::size_t at = interval_at(tti);
  if (intervals_[at].channel != none) return tti;
  return at + 1 < intervals_.size() ? intervals_[at + 1].from : UINT64_MAX;
}

}  // namespace sluice::emulator
