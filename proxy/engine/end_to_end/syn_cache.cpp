// Cache of unanswered SYNs, and the meaning of segments that follow them. HandshakeTracker records SYNs and looks up
// answers. Invariant: a forged SYN cannot change another connection, because each SYN occupies only its own entry
// (compare the SYN cache of FreeBSD; RFC 4987).
#include "proxy/engine/end_to_end/syn_cache.hpp"

#include <algorithm>

namespace sluice::proxy {

AnswerToSyn judge(const FirstSyn& syn, Side in, const tcp::Segment& segment) {
  using enum AnswerToSyn;
  const tcp::SeqNum isn = syn.isn;
  const tcp::Flags flags = segment.flags;
  if (syn.from == in) {
    if (flags.rst()) return segment.seq == isn + 1 ? refuses : none;
    if (flags.syn()) return flags.ack() && segment.seq == isn ? simultaneous_open : none;
    return is_soon_after(segment.seq, isn) ? unseen : none;
  }
  if (!flags.ack()) return none;
  if (flags.rst()) return segment.ack == isn + 1 ? refuses : none;
  if (flags.syn()) return segment.ack == isn + 1 ? accepts : none;
  return is_soon_after(segment.ack, isn) ? unseen : none;
}

SynCache::SynCache(std::uint32_t places, DuplicateSyn which, Duration handshake_timeout, const flow::HashKey& secret)
    : which_(which), handshake_timeout_(handshake_timeout), entries_(places), table_(places, secret), ages_(places) {}

SynCache::Result SynCache::record(const FirstSyn& syn) {
  if (const std::uint32_t known = table_.find(syn.key, syn.tag); known != flow::no_flow) {
    FirstSyn& noted = entries_[known];
    const bool same = noted.from == syn.from && noted.isn == syn.isn;
    if (!same && which_ == DuplicateSyn::keep_first && syn.at - noted.at < handshake_timeout_) return Result::rejected;
    const bool unfinished = syn.unfinished && (!same || noted.unfinished);
    const bool differs = same && (noted.ecn_unclear || noted.options.accurate_ecn != syn.options.accurate_ecn);
    const std::uint8_t unclear = same ? noted.unclear_options | noted.options.difference(syn.options) : std::uint8_t{0};
    const std::uint16_t mss = same ? std::min(noted.options.mss, syn.options.mss) : syn.options.mss;
    noted = syn;
    noted.ecn_unclear = noted.ecn_unclear || differs;
    noted.unclear_options = unclear;
    noted.options.mss = mss;
    noted.retransmitted = same;
    noted.unfinished = unfinished;
    return Result::stored;
  }
  bool displacing = false;
  ++last_ticket_;
  std::uint32_t id = entries_.emplace(syn, last_ticket_);
  while (id == flow::Slab<Entry>::none) {
    displacing = forget(ages_.pop());
    id = entries_.emplace(syn, last_ticket_);
  }
  if (!table_.insert(syn.key, id, syn.tag)) {
    entries_.erase(id);
    return Result::rejected;
  }
  displacing = forget(ages_.push(id, last_ticket_)) || displacing;
  return displacing ? Result::evicted_oldest : Result::stored;
}

const FirstSyn* SynCache::find(const flow::FlowKey& key, flow::KeyTag tag) const {
  if (entries_.size() == 0) return nullptr;
  const std::uint32_t id = table_.find(key, tag);
  return id != flow::no_flow ? &entries_[id] : nullptr;
}

bool SynCache::take_answered(const flow::FlowKey& key, Side in, const tcp::Segment& syn_ack, FirstSyn& out,
                             Instant now) {
  const FirstSyn* const syn = find(key, table_.tag_of(key));
  if (syn == nullptr || syn->from == in || syn_ack.ack != syn->isn + 1) return false;
  out = *syn;
  forget(*syn);
  return now - out.at < handshake_timeout_;
}

void SynCache::forget(const FirstSyn& noted) {
  forget(entries_.index_of(static_cast<const Entry&>(noted)));
}

/// Removes the SYN that `oldest` identifies from the cache. Returns false if that SYN was removed before, so that its
/// entry is free or belongs to another SYN.
bool SynCache::forget(const EvictionQueue::Entry& oldest) {
  if (oldest.id == no_id || !entries_.contains(oldest.id) || entries_[oldest.id].ticket != oldest.ticket) return false;
  forget(oldest.id);
  return true;
}

void SynCache::forget(std::uint32_t id) {
  table_.erase_flow(id, entries_[id].tag);
  entries_.erase(id);
}

}  // namespace sluice::proxy
