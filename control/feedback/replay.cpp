// Replay protection of the feedback protocol: the window of sequence numbers per epoch, and the newest epochs per
// sender. Session calls ReplayGuard::take() for every authenticated datagram. No datagram is accepted twice, even after
// a sender was discarded (PROTOCOL.md, "Epochs and replay").

#include "control/feedback/replay.hpp"

#include <algorithm>
#include <utility>

namespace sluice::control::feedback {
namespace {

/// True if the epoch, which is its sender's start time, is later than the local clock by more than ReplayGuard::lead.
bool is_ahead(std::uint64_t epoch, const ReceivedAt& at) {
  constexpr auto lead = static_cast<std::uint64_t>(ReplayGuard::lead.count());
  return epoch > at.wall_clock_ns && epoch - at.wall_clock_ns > lead;
}

}  // namespace

bool ReplayWindow::take(std::uint64_t sequence) {
  if (sequence == 0) return false;
  if (sequence > newest_) {
    // Slots between the old and the new newest number enter the window as not received.
    const std::uint64_t fresh = std::min(sequence - newest_, size);
    for (std::uint64_t i = 0; i < fresh; ++i) {
      const std::uint64_t slot = (sequence - i) % size;
      seen_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
    }
    newest_ = sequence;
  } else if (newest_ - sequence >= size) {
    return false;
  }
  const std::uint64_t slot = sequence % size;
  const std::uint64_t bit = std::uint64_t{1} << (slot % 64);
  if ((seen_[slot / 64] & bit) != 0) return false;
  seen_[slot / 64] |= bit;
  return true;
}

/// Checks a datagram with the epoch `of_epoch` and the number `sequence` against this sender's newest epoch and the
/// numbers received in it. Returns the reason if the datagram must be refused, else `none`. A greater epoch becomes the
/// newest one, without received numbers.
Failure ReplayGuard::Newest::take(std::uint64_t of_epoch, std::uint64_t sequence, Instant now) {
  if (of_epoch < epoch) return Failure::stale_epoch;
  if (of_epoch > epoch) *this = Newest{of_epoch, {}, now};
  if (!window.take(sequence)) return Failure::replayed;
  last_rx = now;
  return Failure::none;
}

Failure ReplayGuard::take(std::uint64_t sender, std::uint64_t epoch, std::uint64_t sequence, const ReceivedAt& at) {
  if (epoch == 0 || sequence == 0) return Failure::malformed_header;
  if (const auto found = senders_.find(sender); found != senders_.end()) {
    return take(found->second, epoch, sequence, at);
  }
  if (epoch <= (is_ahead(epoch, at) ? discarded_epoch_ahead_ : discarded_epoch_)) return Failure::stale_epoch;
  if (senders_.size() >= max_senders_ && !make_room(at.now)) return Failure::too_many_senders;
  return take(senders_[sender], epoch, sequence, at);
}

Failure ReplayGuard::take(Sender& known, std::uint64_t epoch, std::uint64_t sequence, const ReceivedAt& at) const {
  // The local clock advances and may be set, so an epoch that is no longer ahead keeps its received numbers.
  if (known.ahead.epoch > known.usual.epoch && !is_ahead(known.ahead.epoch, at)) {
    known.usual = std::exchange(known.ahead, {});
  }
  if (epoch <= known.usual.epoch || !is_ahead(epoch, at)) return known.usual.take(epoch, sequence, at.now);
  const bool elsewhere = known.usual.epoch != 0 && at.now - known.usual.last_rx < active_for;
  return elsewhere ? Failure::epoch_ahead : known.ahead.take(epoch, sequence, at.now);
}

bool ReplayGuard::make_room(Instant now) {
  const auto quietest = std::min_element(senders_.begin(), senders_.end(), [](const auto& a, const auto& b) {
    return a.second.last_rx() < b.second.last_rx();
  });
  if (quietest == senders_.end() || now - quietest->second.last_rx() < min_idle_time) return false;
  discarded_epoch_ = std::max(discarded_epoch_, quietest->second.usual.epoch);
  discarded_epoch_ahead_ = std::max(discarded_epoch_ahead_, quietest->second.ahead.epoch);
  senders_.erase(quietest);
  return true;
}

std::uint64_t ReplayGuard::newer_epoch(std::uint64_t sender, std::uint64_t epoch) const {
  const auto found = senders_.find(sender);
  if (found == senders_.end()) return std::max(discarded_epoch_, discarded_epoch_ahead_);
  return epoch <= found->second.usual.epoch ? found->second.usual.epoch : found->second.ahead.epoch;
}

}  // namespace sluice::control::feedback
