#include "emulator/cell/queue_ledger.hpp"

#include <algorithm>

namespace sluice::emulator {

void QueueLedger::arrived(Bytes length, Bytes air) {
  ++counters_.arrived_packets;
  counters_.arrived_bytes += count(length);
  counters_.arrived_air += count(air);
}

void QueueLedger::taken_over(Bytes length) {
  ++counters_.taken_over_packets;
  counters_.taken_over_bytes += count(length);
}

void QueueLedger::entered(Bytes length, Bytes air, Instant now) {
  change(length, air, now);
  counters_.most_air = std::max(counters_.most_air, count(air_bytes_));
}

void QueueLedger::left(Bytes length, Bytes air, Instant now) {
  change(-length, -air, now);
}

void QueueLedger::transmitted(Bytes length) {
  counters_.transmitted_bytes += count(length);
}

void QueueLedger::dropped(Bytes length) {
  ++counters_.dropped_packets;
  counters_.dropped_bytes += count(length);
}

void QueueLedger::intervened(std::uint64_t dropped, std::uint64_t marked) {
  counters_.early_packets += dropped;
  counters_.marked_packets += marked;
}

void QueueLedger::delivered(Bytes length) {
  ++counters_.delivered_packets;
  counters_.delivered_bytes += count(length);
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

/// The backlog of the time before is integrated first.
void QueueLedger::change(Bytes length, Bytes air, Instant now) {
  counters_.air_seconds += static_cast<double>(air_bytes_.count()) * to_seconds(now - integrated_);
  integrated_ = now;
  if (!reported_) report();
  bytes_ += length;
  air_bytes_ += air;
  if (frame_ == Bytes(0)) return;
  const std::int64_t frame = frame_.count();
  frames_ = static_cast<std::uint32_t>((air_bytes_.count() + frame - 1) / frame);
}

}  // namespace sluice::emulator
