#pragma once

#include <utility>
#include <vector>

#include "emulator/cell/cell.hpp"

namespace sluice::emulator {

/// Several Node-Bs with equal UE numbers, measured as one cell. The uses of their links and their counters are added.
/// The state of a UE is the state at its serving Node-B. Packets forwarded between Node-Bs count as arrived once.
class NodebGroup final : public RadioCell {
 public:
  /// Measures `cells`, at least one; they must outlive it.
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
