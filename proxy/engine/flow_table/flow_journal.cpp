// Journal of split connections in a mapped file, and its reader after a crash. SplitFlows writes it through
// SplitFlows::keep_journal(), the runtime reads it at start. Invariants: an entry becomes valid by one release store
// of its state, and everything read from a file is checked, because the file is untrusted.
#include "proxy/engine/flow_table/flow_journal.hpp"

#include <algorithm>
#include <atomic>

namespace sluice::proxy {
namespace {

/// Writes the state of a journal entry. Must be called after all other fields of the entry were written.
void set_state(JournalEntry& entry, std::uint32_t state) {
  std::atomic_ref(entry.state).store(state, std::memory_order_release);
}

JournalEntry::Headers headers_to_entry(const packet::HeaderTemplate& header) {
  JournalEntry::Headers out{};
  out.flow_label = header.flow_label;
  if (header.outer.length <= out.outer.size()) std::ranges::copy(header.outer.used(), out.outer.begin());
  out.outer_length = header.outer.length;
  out.tos = header.tos;
  out.ttl = header.ttl;
  out.dont_fragment = header.dont_fragment ? 1 : 0;
  return out;
}

/// Reads frame headers from a journal entry; returns nothing if a field is out of range. `v4` is true for an IPv4
/// connection.
std::optional<packet::HeaderTemplate> read_headers(const JournalEntry::Headers& entry, bool v4) {
  constexpr std::uint32_t largest_label = (1U << 20U) - 1;
  if (entry.outer_length > entry.outer.size()) return std::nullopt;
  const auto outer = packet::OuterTemplate::from_bytes(std::span(entry.outer).first(entry.outer_length));
  if (!outer) return std::nullopt;
  if (entry.flow_label > largest_label || entry.dont_fragment > 1) return std::nullopt;
  packet::HeaderTemplate header;
  header.outer = *outer;
  header.ip_version = v4 ? 4 : 6;
  header.tos = entry.tos;
  header.ttl = entry.ttl;
  header.dont_fragment = entry.dont_fragment != 0;
  header.flow_label = entry.flow_label;
  return header;
}

JournalEntry::Offer offer_to_entry(const tcp::SynOptions& offer) {
  using Offer = JournalEntry::Offer;
  const auto bit = [](bool set, std::uint8_t value) { return set ? value : std::uint8_t{0}; };
  return {offer.mss, offer.window_scale,
          static_cast<std::uint8_t>(bit(offer.has_window_scale, Offer::window_scaling) |
                                    bit(offer.sack_permitted, Offer::sack) | bit(offer.timestamps, Offer::timestamps) |
                                    bit(offer.ecn, Offer::ecn) | bit(offer.accurate_ecn, Offer::accurate_ecn))};
}

/// Reads a host's SYN options from a journal entry; returns nothing if a field is out of range.
std::optional<tcp::SynOptions> read_offer(const JournalEntry::Offer& entry) {
  using Offer = JournalEntry::Offer;
  constexpr unsigned known = Offer::window_scaling | Offer::sack | Offer::timestamps | Offer::ecn | Offer::accurate_ecn;
  constexpr std::uint8_t largest_scale = 14;
  if (entry.flags > known || entry.window_scale > largest_scale || entry.mss == 0) return std::nullopt;
  tcp::SynOptions offer;
  offer.mss = entry.mss;
  offer.window_scale = entry.window_scale;
  offer.has_window_scale = (entry.flags & Offer::window_scaling) != 0;
  offer.sack_permitted = (entry.flags & Offer::sack) != 0;
  offer.timestamps = (entry.flags & Offer::timestamps) != 0;
  offer.ecn = (entry.flags & Offer::ecn) != 0;
  offer.accurate_ecn = (entry.flags & Offer::accurate_ecn) != 0;
  return offer;
}

/// Reads the frame headers of both sides from a journal entry. Returns nothing if the key, the options or the headers
/// are invalid.
std::optional<std::array<packet::HeaderTemplate, 2>> read_both_headers(const JournalEntry& entry) {
  const bool v4 = entry.key.ue.is_v4();
  constexpr std::uint32_t known = JournalEntry::timestamps | JournalEntry::core_initiates;
  if (entry.key.server.is_v4() != v4 || entry.options > known) return std::nullopt;
  const auto radio = read_headers(entry.headers[0], v4);
  const auto core = read_headers(entry.headers[1], v4);
  if (!radio || !core) return std::nullopt;
  return std::array{*radio, *core};
}

/// Returns the SYN options that the host behind `side` has sent.
const tcp::SynOptions& offer_of(const Flow& flow, Side side) {
  return side == flow.initiator ? flow.handshake.initiator_options : flow.handshake.responder_options;
}

}  // namespace

std::optional<CrashedConnection> read(const JournalEntry& entry) {
  if (entry.state != JournalEntry::even && entry.state != JournalEntry::exposed) return std::nullopt;
  const auto headers = read_both_headers(entry);
  if (!headers) return std::nullopt;
  CrashedConnection crashed;
  crashed.key = entry.key;
  crashed.headers = *headers;
  crashed.timestamps = (entry.options & JournalEntry::timestamps) != 0;
  crashed.acknowledged = {tcp::SeqNum(entry.acknowledged[0]), tcp::SeqNum(entry.acknowledged[1])};
  return crashed;
}

std::optional<RecoveredConnection> read_recovered(const JournalEntry& entry) {
  if (entry.state != JournalEntry::even) return std::nullopt;
  const auto headers = read_both_headers(entry);
  const auto radio = read_offer(entry.offers[0]);
  const auto core = read_offer(entry.offers[1]);
  if (!headers || !radio || !core) return std::nullopt;
  const bool core_initiates = (entry.options & JournalEntry::core_initiates) != 0;
  return RecoveredConnection{entry.key, *headers, {*radio, *core}, core_initiates ? Side::core : Side::radio};
}

JournalEntry to_entry(const CrashedConnection& crashed) {
  JournalEntry entry{};
  entry.state = JournalEntry::exposed;
  entry.options = crashed.timestamps ? JournalEntry::timestamps : 0;
  entry.key = crashed.key;
  for (const Side side : both_sides) {
    const auto at = static_cast<std::size_t>(side);
    entry.acknowledged.at(at) = crashed.acknowledged.at(at).raw();
    entry.headers.at(at) = headers_to_entry(crashed.headers.at(at));
  }
  return entry;
}

void FlowJournal::begin(FlowId id, const Flow& flow, const flow::FlowKey& key) {
  if (entries_.empty()) return;
  JournalEntry& entry = entries_[id];
  set_state(entry, JournalEntry::unused);
  entry.key = key;
  entry.options = (flow.leg(Side::radio).endpoint.uses_timestamps() ? JournalEntry::timestamps : 0U) |
                  (flow.initiator == Side::core ? JournalEntry::core_initiates : 0U);
  for (const Side side : both_sides) {
    const auto at = static_cast<std::size_t>(side);
    entry.headers.at(at) = headers_to_entry(flow.leg(side).headers);
    entry.offers.at(at) = offer_to_entry(offer_of(flow, side));
    entry.acknowledged.at(at) = flow.leg(side).endpoint.snd_una().raw();
  }
  set_state(entry, JournalEntry::even);
}

void FlowJournal::record(FlowId id, const Flow& flow, bool exposed) {
  if (entries_.empty()) return;
  JournalEntry& entry = entries_[id];
  entry.acknowledged = {flow.leg(Side::radio).endpoint.snd_una().raw(), flow.leg(Side::core).endpoint.snd_una().raw()};
  set_state(entry, exposed ? JournalEntry::exposed : JournalEntry::even);
}

void FlowJournal::end(FlowId id) {
  if (!entries_.empty()) set_state(entries_[id], JournalEntry::unused);
}

}  // namespace sluice::proxy
