#include "control/ack_based/datagrams_in_flight.hpp"

#include <algorithm>

namespace sluice::control {

void DatagramsInFlight::add(Instant now, Bytes bytes, bool is_behind_drop) {
  const Duration resolution =
      run_count_ > 0 ? std::max<Duration>(std::chrono::milliseconds(1), (now - oldest().last) / 16) : Duration::zero();
  const bool is_new = run_count_ == 0 || is_behind_drop || now - newest().last >= resolution;
  if (is_new && run_count_ < max_runs) {
    runs_[(oldest_run_ + run_count_) % max_runs] = {now, 0, 0, is_behind_drop};
    ++run_count_;
  }
  Run& run = newest();
  if (run.datagrams == 0 || is_new) run.last = now;
  ++run.datagrams;
  run.bytes += static_cast<std::uint32_t>(bytes.count());
  bytes_ += bytes;
}

Bytes DatagramsInFlight::remove_oldest(std::uint32_t datagrams) {
  Run& run = runs_[oldest_run_];
  const std::uint32_t removed = std::min(datagrams, run.datagrams);
  const auto bytes = static_cast<std::uint32_t>(std::uint64_t{run.bytes} * removed / run.datagrams);
  run.datagrams -= removed;
  run.bytes -= bytes;
  run.is_behind_drop = false;
  if (run.datagrams == 0) {
    oldest_run_ = (oldest_run_ + 1) % max_runs;
    --run_count_;
  }
  bytes_ -= Bytes(bytes);
  return Bytes(bytes);
}

void DatagramsInFlight::remove_before(Instant until) {
  while (run_count_ > 0 && oldest().last < until) remove_oldest(oldest().datagrams);
}

void DatagramsInFlight::clear() {
  run_count_ = 0;
  bytes_ = Bytes{};
}

std::uint64_t DatagramsInFlight::count() const {
  std::uint64_t datagrams = 0;
  for (std::uint32_t i = 0; i < run_count_; ++i) datagrams += runs_[(oldest_run_ + i) % max_runs].datagrams;
  return datagrams;
}

}  // namespace sluice::control
