#include "proxy/newcomers.hpp"

#include <algorithm>

namespace sluice::proxy {
namespace {

std::uint32_t capacity_for(std::uint32_t max_flows) {
  return std::max<std::uint32_t>(max_flows / 16, 16);
}

}  // namespace

Newcomers::Newcomers(std::uint32_t max_flows, const flow::HashKey& secret)
    : entries_(capacity_for(max_flows)), table_(capacity_for(max_flows), secret), ages_(capacity_for(max_flows)) {}

void Newcomers::note(const FirstSyn& syn) {
  if (const std::uint32_t known = table_.find(syn.key); known != flow::no_flow) {
    const bool same = entries_[known].syn.from == syn.from && entries_[known].syn.segment.seq == syn.segment.seq;
    entries_[known].syn = syn;
    entries_[known].syn.repeated = same;
    return;
  }
  std::uint32_t id = entries_.emplace();
  while (id == flow::Slab<Entry>::none) {
    const AgeRing::Entry oldest = ages_.pop();
    if (oldest.id != no_id && entries_.contains(oldest.id) && entries_[oldest.id].ticket == oldest.ticket) {
      forget(oldest.id);
    }
    id = entries_.emplace();
  }
  entries_[id].syn = syn;
  entries_[id].ticket = ++last_ticket_;
  table_.insert(syn.key, id);
  const AgeRing::Entry oldest = ages_.push(id, last_ticket_);
  if (oldest.id != no_id && entries_.contains(oldest.id) && entries_[oldest.id].ticket == oldest.ticket) {
    forget(oldest.id);
  }
}

bool Newcomers::take_answered(const flow::FlowKey& key, Side in, const tcp::Segment& syn_ack, FirstSyn& out) {
  if (entries_.size() == 0) return false;
  const std::uint32_t id = table_.find(key);
  if (id == flow::no_flow) return false;
  const FirstSyn& syn = entries_[id].syn;
  if (syn.from == in || syn_ack.ack != syn.segment.seq + 1) return false;
  out = syn;
  forget(id);
  return true;
}

void Newcomers::forget(std::uint32_t id) {
  table_.erase(entries_[id].syn.key);
  entries_.erase(id);
}

}  // namespace sluice::proxy
