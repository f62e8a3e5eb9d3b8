#include "proxy/flows/flow_journal.hpp"

#include <atomic>

namespace sluice::proxy {
namespace {

void set_state(JournalEntry& entry, std::uint32_t state) {
  std::atomic_ref(entry.state).store(state, std::memory_order_release);
}

JournalEntry::Headers headers_to_entry(const packet::HeaderTemplate& header) {
  JournalEntry::Headers out{};
  out.flow_label = header.flow_label;
  out.l2 = header.l2;
  out.l2_len = header.l2_len;
  out.tos = header.tos;
  out.ttl = header.ttl;
  out.dont_fragment = header.dont_fragment ? 1 : 0;
  return out;
}

std::optional<packet::HeaderTemplate> read_headers(const JournalEntry::Headers& entry, bool v4) {
  constexpr std::uint32_t largest_label = (1U << 20U) - 1;
  if (entry.l2_len != 14 && entry.l2_len != 18 && entry.l2_len != 22) return std::nullopt;
  if (entry.flow_label > largest_label || entry.dont_fragment > 1) return std::nullopt;
  packet::HeaderTemplate header;
  header.l2 = entry.l2;
  header.l2_len = entry.l2_len;
  header.ip_version = v4 ? 4 : 6;
  header.tos = entry.tos;
  header.ttl = entry.ttl;
  header.dont_fragment = entry.dont_fragment != 0;
  header.flow_label = entry.flow_label;
  return header;
}

}  // namespace

std::optional<Orphan> read(const JournalEntry& entry) {
  const bool v4 = entry.key.ue.is_v4();
  if (entry.state != JournalEntry::even && entry.state != JournalEntry::exposed) return std::nullopt;
  if (entry.key.server.is_v4() != v4 || entry.options > JournalEntry::timestamps) return std::nullopt;
  Orphan orphan;
  orphan.key = entry.key;
  orphan.timestamps = entry.options == JournalEntry::timestamps;
  for (const Side side : both_sides) {
    const auto at = static_cast<std::size_t>(side);
    const auto headers = read_headers(entry.headers.at(at), v4);
    if (!headers) return std::nullopt;
    orphan.headers.at(at) = *headers;
    orphan.acknowledged.at(at) = tcp::SeqNum(entry.acknowledged.at(at));
  }
  return orphan;
}

JournalEntry to_entry(const Orphan& orphan) {
  JournalEntry entry{};
  entry.state = JournalEntry::exposed;
  entry.options = orphan.timestamps ? JournalEntry::timestamps : 0;
  entry.key = orphan.key;
  for (const Side side : both_sides) {
    const auto at = static_cast<std::size_t>(side);
    entry.acknowledged.at(at) = orphan.acknowledged.at(at).raw();
    entry.headers.at(at) = headers_to_entry(orphan.headers.at(at));
  }
  return entry;
}

void FlowJournal::begin(FlowId id, const Flow& flow) {
  if (entries_.empty()) return;
  JournalEntry& entry = entries_[id];
  set_state(entry, JournalEntry::unused);
  entry.key = flow.key;
  entry.options = flow.leg(Side::radio).endpoint.uses_timestamps() ? JournalEntry::timestamps : 0;
  for (const Side side : both_sides) {
    const auto at = static_cast<std::size_t>(side);
    entry.headers.at(at) = headers_to_entry(flow.leg(side).headers);
    entry.acknowledged.at(at) = flow.leg(side).endpoint.snd_una().raw();
  }
  set_state(entry, JournalEntry::even);
}

void FlowJournal::note(FlowId id, const Flow& flow, bool exposed) {
  if (entries_.empty()) return;
  JournalEntry& entry = entries_[id];
  entry.acknowledged = {flow.leg(Side::radio).endpoint.snd_una().raw(), flow.leg(Side::core).endpoint.snd_una().raw()};
  set_state(entry, exposed ? JournalEntry::exposed : JournalEntry::even);
}

void FlowJournal::end(FlowId id) {
  if (!entries_.empty()) set_state(entries_[id], JournalEntry::unused);
}

}  // namespace sluice::proxy
