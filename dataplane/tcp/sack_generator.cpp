#include "dataplane/tcp/sack_generator.hpp"

#include <algorithm>

namespace sluice::tcp {

/// Inserts a SACK block at index `position` of the blocks to report. Drops the last block if there are already
/// `capacity` of them.
void SackGenerator::insert_at(std::size_t position, SackBlock block) {
  if (count_ < capacity) ++count_;
  for (std::size_t i = count_ - 1U; i > position; --i) blocks_[i] = blocks_[i - 1];
  blocks_[position] = block;
}

void SackGenerator::add(SackBlock run) {
  const std::size_t first_run = has_duplicate_ ? 1 : 0;
  auto* const begin = blocks_.begin() + first_run;
  auto* const end = blocks_.begin() + count_;
  auto* const kept = std::remove_if(
      begin, end, [&](const SackBlock& known) { return known.left >= run.left && known.right <= run.right; });
  count_ = static_cast<std::uint8_t>(kept - blocks_.begin()) & 3U;
  insert_at(first_run, run);
  if (kept == end && fresh_ < fresh_limit) ++fresh_;  // it covers no known block, so it is a new run
}

void SackGenerator::advance(SeqNum rcv_nxt) {
  auto* const begin = blocks_.begin() + (has_duplicate_ ? 1 : 0);
  auto* const end = blocks_.begin() + count_;
  auto* const kept = std::remove_if(begin, end, [&](const SackBlock& known) { return known.right <= rcv_nxt; });
  count_ = static_cast<std::uint8_t>(kept - blocks_.begin()) & 3U;
}

void SackGenerator::duplicate(SackBlock bytes) {
  forget_duplicate();
  insert_at(0, bytes);
  has_duplicate_ = true;
}

void SackGenerator::reported() {
  forget_duplicate();
  fresh_ = 0;
}

/// Removes the duplicate range from the SACK blocks, if there is one.
void SackGenerator::forget_duplicate() {
  if (!has_duplicate_) return;
  std::move(blocks_.begin() + 1, blocks_.begin() + count_, blocks_.begin());
  --count_;
  has_duplicate_ = false;
}

}  // namespace sluice::tcp
