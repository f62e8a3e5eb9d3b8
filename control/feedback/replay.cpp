#include "control/feedback/replay.hpp"

#include <algorithm>

namespace sluice::control::feedback {

bool ReplayWindow::take(std::uint64_t sequence) {
  if (sequence == 0) return false;
  if (sequence > newest_) {
    // Slots between the old newest and the new one come into the window unseen.
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

Failure ReplayGuard::take(std::uint64_t sender, std::uint64_t epoch, std::uint64_t sequence) {
  if (epoch == 0 || sequence == 0) return Failure::malformed_header;
  auto found = senders_.find(sender);
  if (found == senders_.end()) {
    if (senders_.size() >= max_senders_) return Failure::too_many_senders;
    found = senders_.emplace(sender, Sender{epoch, {}}).first;
  }
  Sender& known = found->second;
  if (epoch < known.epoch) return Failure::stale_epoch;
  if (epoch > known.epoch) known = Sender{epoch, {}};
  return known.window.take(sequence) ? Failure::none : Failure::replayed;
}

std::uint64_t ReplayGuard::newest_epoch(std::uint64_t sender) const {
  const auto found = senders_.find(sender);
  return found == senders_.end() ? 0 : found->second.epoch;
}

}  // namespace sluice::control::feedback
