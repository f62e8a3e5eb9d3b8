#include "emulator/cell/queue_ledger.hpp"

namespace sluice::emulator {

void QueueLedger::taken_over(Bytes length) {
  ++counters_.taken_over_packets;
  counters_.taken_over_bytes += count(length);
}

void QueueLedger::dropped(Bytes length) {
  ++counters_.dropped_packets;
  counters_.dropped_bytes += count(length);
}

void QueueLedger::lost(Bytes length) {
  ++counters_.lost_packets;
  counters_.lost_bytes += count(length);
}

void QueueLedger::forwarded(Bytes length, Bytes unsent, Bytes air) {
  ++counters_.forwarded_packets;
  counters_.forwarded_bytes += count(length);
  counters_.forwarded_air += count(air);
  counters_.recalled_bytes += count(length - unsent);
}

QueueCounters QueueLedger::counters(Instant now) const {
  QueueCounters result = counters_;
  result.air_seconds += static_cast<double>(air_bytes_.count()) * to_seconds(now - integrated_);
  return result;
}

void QueueLedger::report() {
  if (changed_ == nullptr) return;
  reported_ = true;
  changed_->push_back(number_);
}

void QueueLedger::integrate(Instant now) {
  counters_.air_seconds += static_cast<double>(air_bytes_.count()) * to_seconds(now - integrated_);
  integrated_ = now;
}

void QueueLedger::count_frames() {
  const std::int64_t frame = frame_.count();
  frames_ = static_cast<std::uint32_t>((air_bytes_.count() + frame - 1) / frame);
}

}  // namespace sluice::emulator
