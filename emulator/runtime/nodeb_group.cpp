#include "emulator/runtime/nodeb_group.hpp"

#include <algorithm>

namespace sluice::emulator {
namespace {

void add(LinkUse& sum, const LinkUse& more) {
  sum.offered += more.offered;
  sum.carried += more.carried;
  sum.airtime += more.airtime;
  sum.ttis = std::max(sum.ttis, more.ttis);
}

void add(UeSnapshot& sum, const UeSnapshot& more) {
  add(sum.use, more.use);
  sum.queued += more.queued;
  sum.queued_seconds += more.queued_seconds;
  sum.arrived_bytes += more.arrived_bytes;
  sum.transmitted_bytes += more.transmitted_bytes;
  sum.delivered_bytes += more.delivered_bytes;
  sum.dropped_bytes += more.dropped_bytes;
  sum.dropped_packets += more.dropped_packets;
  sum.lost_packets += more.lost_packets;
  sum.forwarded_bytes += more.forwarded_bytes;
  sum.forwarded_packets += more.forwarded_packets;
}

}  // namespace

void NodebGroup::set_observer(CellObserver* observer) {
  for (Cell* cell : cells_) cell->set_observer(observer);
}

Backlog NodebGroup::backlog() const {
  Backlog sum;
  for (const Cell* const cell : cells_) sum += cell->backlog();
  return sum;
}

LinkUse NodebGroup::use(Instant now) {
  LinkUse sum;
  for (Cell* cell : cells_) add(sum, cell->use(now));
  return sum;
}

UeSnapshot NodebGroup::snapshot(UeIndex ue, Instant now) {
  UeSnapshot sum;
  for (std::uint32_t i = 0; i < cells_.size(); ++i) {
    const UeSnapshot there = cells_[i]->snapshot(ue, now);
    if (cells_[i]->here(ue)) {
      sum.state = there.state;
      sum.nodeb = i;
    }
    add(sum, there);
  }
  return sum;
}

}  // namespace sluice::emulator
