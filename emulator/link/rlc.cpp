// Implements Rlc: bookkeeping of lost and retransmitted ranges of a byte stream (TS 25.322). AirLink reports each block
// as received or lost, in sequence, and takes ranges to retransmit. Invariant: every position below highest_ is
// received, in missing_ or in given_up_. The lists are short, because only the losses of a few round trips are in them.

#include "emulator/link/rlc.hpp"

#include <algorithm>

namespace sluice::emulator::link {

std::uint32_t Rlc::cut(const RlcRange& range) {
  std::uint32_t attempts = 0;
  std::vector<Missing> kept;
  for (const Missing& missing : missing_) {
    const RlcRange overlap{std::max(missing.range.from, range.from), std::min(missing.range.to, range.to)};
    if (overlap.from >= overlap.to) {
      kept.push_back(missing);
      continue;
    }
    attempts = std::max(attempts, missing.attempts);
    if (missing.range.from < overlap.from) {
      kept.push_back({{missing.range.from, overlap.from}, missing.ready, missing.attempts});
    }
    if (overlap.to < missing.range.to)
      kept.push_back({{overlap.to, missing.range.to}, missing.ready, missing.attempts});
  }
  missing_ = std::move(kept);
  return attempts;
}

void Rlc::insert(const Missing& missing) {
  const auto behind = std::find_if(missing_.begin(), missing_.end(),
                                   [&](const Missing& other) { return other.range.from > missing.range.from; });
  missing_.insert(behind, missing);
}

void Rlc::received(const RlcRange& range) {
  if (range.empty()) return;
  if (!missing_.empty()) cut(range);
  highest_ = std::max(highest_, range.to);
}

void Rlc::lost(const RlcRange& range, Instant now) {
  if (range.empty()) return;
  const bool again = range.from < highest_;
  const std::uint32_t attempts = again ? cut(range) : 0;
  highest_ = std::max(highest_, range.to);
  if (parameters_.mode == RlcMode::acknowledged && attempts < parameters_.retransmissions) {
    insert({range, now + parameters_.status_delay, attempts});
    return;
  }
  give_up(range);
}

void Rlc::give_up(const RlcRange& range) {
  const auto behind =
      std::find_if(given_up_.begin(), given_up_.end(), [&](const RlcRange& other) { return other.from > range.from; });
  given_up_.insert(behind, range);
}

void Rlc::give_up() {
  for (const Missing& missing : missing_) give_up(missing.range);
  missing_.clear();
}

Bytes Rlc::waiting(Instant now) const {
  Bytes sum;
  for (const Missing& missing : missing_) {
    if (missing.ready <= now) sum += missing.range.size();
  }
  return sum;
}

Instant Rlc::next_ready() const {
  Instant earliest = never;
  for (const Missing& missing : missing_) earliest = std::min(earliest, missing.ready);
  return earliest;
}

RlcRange Rlc::take(Bytes most, Instant now) {
  for (std::size_t i = 0; i < missing_.size(); ++i) {
    if (missing_[i].ready > now) continue;
    const RlcRange whole = missing_[i].range;
    const std::uint64_t amount = std::min(whole.to - whole.from, static_cast<std::uint64_t>(most.count()));
    if (amount == 0) return {};
    const RlcRange taken{whole.from, whole.from + amount};
    const Missing rest{{taken.to, whole.to}, missing_[i].ready, missing_[i].attempts};
    missing_[i] = {taken, never, missing_[i].attempts + 1};
    if (!rest.range.empty()) missing_.insert(missing_.begin() + static_cast<std::ptrdiff_t>(i) + 1, rest);
    return taken;
  }
  return {};
}

bool Rlc::damaged(const RlcRange& range) {
  while (!given_up_.empty() && given_up_.front().to <= range.from) given_up_.pop_front();
  return !given_up_.empty() && given_up_.front().from < range.to;
}

}  // namespace sluice::emulator::link
