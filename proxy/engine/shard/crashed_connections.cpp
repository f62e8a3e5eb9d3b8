// Resets connections that an earlier run of the program had split and whose acknowledged bytes were lost. Shard calls
// advance(), the classifier calls answer(). Invariant: a journal entry is cleared only when both hosts have confirmed
// the end or the time is over. A further crash therefore loses none. See RFC 5961 section 3.2 and RFC 9293 section
// 3.10.7.4.
#include "proxy/engine/shard/crashed_connections.hpp"

#include <algorithm>
#include <utility>

#include "proxy/engine/base/reset_note.hpp"

namespace sluice::proxy {
namespace {

/// Pause after the first probe of each host. The next `doublings` pauses are each twice as long as the one before, and
/// later ones stay at 16 s. Probing continues until the connections are removed, because the link may be down for long.
constexpr Duration first_pause = std::chrono::seconds(1);
constexpr std::uint32_t doublings = 4;
/// Maximum number of crashed connections that one call of advance() probes. It is limited, so that packets are
/// processed between the calls.
constexpr std::uint32_t crashed_at_once = 64;

/// Sends a segment without payload to the host behind `out` of a crashed connection. Sends nothing if the packet pool
/// is exhausted.
void send(const CrashedConnection& crashed, Side out, const tcp::Segment& segment, Instant now,
          const ShardContext& shard) {
  packet::Packet frame = shard.pool.allocate();
  if (!frame) {
    shard.counters.add(Counter::buffers_exhausted);
    return;
  }
  if (segment.flags.rst()) note_reset(frame, segment.seq, ResetReason::reset_earlier_run);
  packet::write_headers(frame, crashed.headers.at(static_cast<std::size_t>(out)), addresses_towards(out, crashed.key),
                        segment, 0, 0);
  shard.queue.push(out, std::move(frame), now);
}

/// Returns a probe that the host behind `side` must answer, because the probe's sequence number is old. After a
/// wraparound of the host's numbers, an old number may look new. Every second probe is therefore sent with
/// `from_the_other_half`, and then has a number from the opposite half of the sequence space.
tcp::Segment challenge(const CrashedConnection& crashed, Side side, bool from_the_other_half) {
  constexpr std::uint32_t half = 1U << 31U;
  tcp::Segment segment;
  segment.flags.bits = tcp::Flags::ack_bit;
  segment.seq = crashed.acknowledged.at(static_cast<std::size_t>(side)) - 1 + (from_the_other_half ? half : 0U);
  segment.ack = crashed.acknowledged.at(static_cast<std::size_t>(opposite(side)));
  segment.window = UINT16_MAX;
  // Without timestamps some hosts drop the segment and do not answer (RFC 7323 section 3.2).
  segment.has_timestamps = crashed.timestamps;
  return segment;
}

}  // namespace

CrashedConnections::CrashedConnections(std::vector<CrashedConnection> crashed_connections,
                                       std::span<JournalEntry> entries, const flow::HashKey& secret, Duration keep)
    : entries_(entries),
      table_(std::max<std::uint32_t>(static_cast<std::uint32_t>(crashed_connections.size()), 1), secret),
      keep_(keep) {
  kept_.reserve(crashed_connections.size());
  for (CrashedConnection& crashed : crashed_connections) {
    static_cast<void>(
        table_.insert(crashed.key, static_cast<std::uint32_t>(kept_.size())));  // a duplicate key is inserted once
    kept_.push_back({std::move(crashed)});
  }
}

void CrashedConnections::advance(Instant now, const ShardContext& shard) {
  if (now < next_) return;
  if (end_ == never) end_ = now + keep_;
  const bool over = now >= end_;
  const auto last = std::min<std::uint32_t>(cursor_ + crashed_at_once, static_cast<std::uint32_t>(kept_.size()));
  for (; cursor_ < last; ++cursor_) {
    const Kept& kept = kept_[cursor_];
    if (find(kept.crashed.key) != cursor_) continue;
    if (over) {
      forget(cursor_);
    } else {
      ask(kept, now, shard);
    }
  }
  if (cursor_ == kept_.size()) end_round(now);
}

void CrashedConnections::end_round(Instant now) {
  cursor_ = 0;
  next_ = std::min(end_, now + first_pause * (1U << std::min(round_, doublings)));
  ++round_;
}

void CrashedConnections::ask(const Kept& kept, Instant now, const ShardContext& shard) const {
  for (const Side side : both_sides) {
    if ((kept.gone & bit(side)) == 0)
      send(kept.crashed, side, challenge(kept.crashed, side, round_ % 2 != 0), now, shard);
  }
}

bool CrashedConnections::is_own_syn(std::uint32_t id, Side in, const tcp::Segment& segment) const {
  return segment.flags.ack() && segment.ack == kept_[id].crashed.acknowledged.at(static_cast<std::size_t>(in));
}

bool CrashedConnections::answer(std::uint32_t id, Side in, const tcp::Segment& segment, Instant now,
                                const ShardContext& shard) {
  Kept& kept = kept_[id];
  if (segment.flags.rst()) {
    kept.gone = static_cast<std::uint8_t>(kept.gone | bit(in));
  } else {
    if (!segment.flags.ack()) return false;
    tcp::Segment reset;
    reset.flags.bits = tcp::Flags::rst_bit;
    reset.seq = segment.ack;
    send(kept.crashed, in, reset, now, shard);
  }
  constexpr std::uint8_t both = bit(Side::radio) | bit(Side::core);
  const std::uint8_t before = std::exchange(kept.reset_sides, static_cast<std::uint8_t>(kept.reset_sides | bit(in)));
  // A RST may be lost in transit. Only a host that answers with its own RST has certainly received it. Until then the
  // journal entry stays, because a later run must know, too.
  if (kept.gone == both && !entries_.empty()) entries_[id].state = JournalEntry::unused;
  return kept.reset_sides == both && before != both;
}

void CrashedConnections::forget(std::uint32_t id) {
  table_.erase(kept_[id].crashed.key);
  if (!entries_.empty()) entries_[id].state = JournalEntry::unused;
}

}  // namespace sluice::proxy
