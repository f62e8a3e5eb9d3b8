// Claims of UEs by several proxies (PROTOCOL.md, "Several proxies"). The Node-B calls take() for every status it
// receives, and route() before it sends reports. At most one proxy holds a UE, and a claim expires if its holder sends
// no status of the UE for `lease_time`.

#include "control/feedback/ue_ownership.hpp"

#include <algorithm>
#include <iterator>

namespace sluice::control::feedback {
namespace {

/// Shortest time between two scans that remove UEs without recent statuses.
constexpr Duration between_walks = std::chrono::seconds(1);

}  // namespace

bool UeOwnership::take(std::uint64_t sender, std::uint64_t epoch, const BearerStatus& status, Instant now) {
  Ue* const ue = find_or_make(status.ue, now);
  if (ue == nullptr) {
    ++counters_.refused;
    return false;
  }
  expire_holder(*ue, now);
  const bool sent = record(*ue, {sender, epoch, status.injected, now});
  if (!ue->holder && (sent || status.active_flows > 0 || status.backlog > Bytes(0))) {
    ue->holder = sender;
    ++counters_.begun;
  } else if (ue->holder && ue->holder != sender && sent) {
    ue->holder = sender;
    ++counters_.moved;
  }
  if (ue->holder != sender) return false;
  ue->last_rx = now;
  return true;
}

bool UeOwnership::record(Ue& ue, const Word& reported) {
  const auto same = [&reported](const Word& word) { return word.sender == reported.sender; };
  auto word = std::find_if(ue.words.begin(), ue.words.end(), same);
  if (word == ue.words.end()) {
    word = std::min_element(ue.words.begin(), ue.words.end(),
                            [](const Word& a, const Word& b) { return a.last_rx < b.last_rx; });
    *word = {};
  }
  // A proxy counts from 0 again after a restart, or after it discarded the UE.
  const std::uint64_t before = word->epoch == reported.epoch ? word->injected : 0;
  *word = reported;
  return reported.injected > 0 && reported.injected != before;
}

/// Removes the assignment of the UE to a proxy if it has expired.
void UeOwnership::expire_holder(Ue& ue, Instant now) {
  if (!ue.holder || now - ue.last_rx < lease_time) return;
  ue.holder.reset();
  ++counters_.lapsed;
}

std::optional<std::uint64_t> UeOwnership::holder(const IpAddress& ue, Instant now) {
  const auto known = ues_.find(ue);
  if (known == ues_.end()) return std::nullopt;
  expire_holder(known->second, now);
  return known->second.holder;
}

/// Returns the entry of a UE, and creates it if needed; returns null if there is no space.
UeOwnership::Ue* UeOwnership::find_or_make(const IpAddress& ue, Instant now) {
  if (const auto known = ues_.find(ue); known != ues_.end()) return &known->second;
  if (ues_.size() >= max_ues_) forget_silent(now);
  return ues_.size() < max_ues_ ? &ues_[ue] : nullptr;
}

/// Removes UEs of which no proxy sent a status within lease_time. Scans at most once per second.
void UeOwnership::forget_silent(Instant now) {
  if (now - walked_ < between_walks) return;
  walked_ = now;
  for (auto entry = ues_.begin(); entry != ues_.end();) {
    expire_holder(entry->second, now);
    const auto& words = entry->second.words;
    const bool silent =
        std::all_of(words.begin(), words.end(), [now](const Word& word) { return now - word.last_rx >= lease_time; });
    entry = silent ? ues_.erase(entry) : std::next(entry);
  }
}

/// Returns the group of reports for the proxy with sender id `holder`; creates the group if there is none.
RoutedReports& UeOwnership::group_for(std::uint64_t holder) {
  const auto end = groups_.begin() + static_cast<std::ptrdiff_t>(groups_used_);
  const auto known =
      std::find_if(groups_.begin() + 1, end, [holder](const RoutedReports& group) { return group.to == holder; });
  if (known != end) return *known;
  if (groups_used_ == groups_.size()) groups_.emplace_back();
  RoutedReports& group = groups_[groups_used_++];
  group.to = holder;
  group.reports.clear();
  return group;
}

std::span<const RoutedReports> UeOwnership::route(std::span<const BearerReport> reports, Instant now) {
  if (groups_.empty()) groups_.emplace_back();
  groups_.front().reports.clear();
  groups_used_ = 1;
  for (const BearerReport& report : reports) {
    const std::optional<std::uint64_t> to = holder(report.ue, now);
    (to ? group_for(*to) : groups_.front()).reports.push_back(report);
  }
  return std::span(groups_).first(groups_used_);
}

}  // namespace sluice::control::feedback
