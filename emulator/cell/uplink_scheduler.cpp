// Implements UplinkScheduler: tracks the known buffers of UEs and divides the resource blocks of a TTI. ScheduledUplink
// reports decoded requests and buffer status, and asks for the grants of each TTI. Grants sent since the latest report
// are subtracted from it, so no byte is granted twice (TS 36.321 section 5.4.5).

#include "emulator/cell/uplink_scheduler.hpp"

#include <algorithm>
#include <stdexcept>

namespace sluice::emulator {

UplinkScheduler::UplinkScheduler(const UplinkResources& resources) : resources_(resources) {
  if (resources.blocks == 0 || resources.sharers == 0 || resources.first_grant <= Bytes(0)) {
    throw std::invalid_argument("uplink: there is nothing to grant");
  }
}

void UplinkScheduler::request(UeIndex index, std::uint64_t sent) {
  Ue& ue = ues_[index];
  const bool granted = !ue.past_grants.empty() && ue.past_grants.back().tti >= sent;
  if (ue.known > Bytes(0) || granted) return;
  ue.known = resources_.first_grant;
}

void UplinkScheduler::report(UeIndex index, std::uint64_t sent, Bytes left) {
  Ue& ue = ues_[index];
  if (sent < ue.reported) return;
  ue.reported = sent + 1;
  std::erase_if(ue.past_grants, [sent](const PastGrant& given) { return given.tti <= sent; });
  for (const PastGrant& given : ue.past_grants) left -= std::min(left, given.size);
  ue.known = left;
}

std::span<const UplinkGrant> UplinkScheduler::grant(std::uint64_t tti, std::uint32_t units,
                                                    std::span<const Bytes> capacities) {
  grants_.clear();
  choose(capacities);
  share(units);
  for (const Sharer& sharer : sharers_) {
    const Bytes size = capacities[sharer.ue] * sharer.units / resources_.blocks;
    if (size <= Bytes(0)) continue;
    Ue& ue = ues_[sharer.ue];
    ue.known -= std::min(ue.known, size);
    // Bounds the list: without reports for this number of grants, the oldest ones no longer matter.
    constexpr std::size_t max_given = 64;
    if (ue.past_grants.size() == max_given) ue.past_grants.erase(ue.past_grants.begin());
    ue.past_grants.push_back({tti, size});
    grants_.push_back({sharer.ue, sharer.units, size});
    turn_ = sharer.ue + 1;
  }
  return grants_;
}

/// Chooses the UEs that share this TTI, in round-robin order. `capacities` contains for each UE the bytes that the
/// whole TTI would carry for it.
void UplinkScheduler::choose(std::span<const Bytes> capacities) {
  sharers_.clear();
  const auto ues = static_cast<UeIndex>(ues_.size());
  for (UeIndex i = 0; i < ues && sharers_.size() < resources_.sharers; ++i) {
    const UeIndex ue = (turn_ + i) % ues;
    if (ues_[ue].known == Bytes(0) || capacities[ue] == Bytes(0)) continue;
    sharers_.push_back({ue, needed_by(ue, capacities[ue]), 0});
  }
}

/// Distributes `units` resource blocks of a TTI. Each chosen UE first gets at most an even share. The blocks left over
/// go to UEs that need more than this share.
void UplinkScheduler::share(std::uint32_t units) {
  if (sharers_.empty()) return;
  const std::uint32_t even = std::max(1U, units / static_cast<std::uint32_t>(sharers_.size()));
  for (Sharer& sharer : sharers_) {
    sharer.units = std::min({units, sharer.needed, even});
    units -= sharer.units;
  }
  for (Sharer& sharer : sharers_) {
    const std::uint32_t more = std::min(units, sharer.needed - sharer.units);
    sharer.units += more;
    units -= more;
  }
}

std::uint32_t UplinkScheduler::needed_by(UeIndex ue, Bytes capacity) const {
  const std::int64_t units = (ues_[ue].known.count() * resources_.blocks + capacity.count() - 1) / capacity.count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(units, 1, resources_.blocks));
}

}  // namespace sluice::emulator
