#pragma once

#include <utility>
#include <vector>

#include "emulator/cell/cell.hpp"

namespace sluice::emulator {

/// Several Node-Bs that number their UEs alike, measured as one: uses and counters add up, a UE's state is that at the
/// Node-B it is with. What one hands on to another arrives once.
class NodebGroup final : public RadioCell {
 public:
  /// One at least; they outlive it.
  explicit NodebGroup(std::vector<Cell*> cells) : cells_(std::move(cells)) {}

  void set_observer(CellObserver* observer) override;
  [[nodiscard]] std::size_t ues() const override { return cells_.front()->ues(); }
  [[nodiscard]] const IpAddress& address(UeIndex ue) const override { return cells_.front()->address(ue); }
  [[nodiscard]] std::size_t queues() const override { return cells_.size() * ues(); }
  [[nodiscard]] Backlog backlog() const override;
  [[nodiscard]] LinkUse use(Instant now) override;
  [[nodiscard]] UeSnapshot snapshot(UeIndex ue, Instant now) override;

 private:
  std::vector<Cell*> cells_;
};

}  // namespace sluice::emulator
