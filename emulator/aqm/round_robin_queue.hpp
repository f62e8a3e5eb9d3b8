#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>

#include "emulator/aqm/queue_discipline.hpp"
#include "emulator/net/ring.hpp"

namespace sluice::emulator {

/// A queue per flow, served in turn by deficit round robin (Shreedhar and Varghese, 1996), so that flows get equal
/// bytes whatever their packets. When the buffer that they share is full, the newest packet of the longest queue is
/// dropped. Flows are known by a 64-bit hash of their addresses and ports.
class RoundRobinQueue final : public QueueDiscipline {
 public:
  /// `quantum`: bytes (line_size) a flow may send in a turn; at least the largest frame makes every turn send
  /// something.
  explicit RoundRobinQueue(const QueueLimit& limit, Bytes quantum = Bytes(1514)) : limit_(limit), quantum_(quantum) {}
  void enqueue(packet::Packet packet, Instant now) override;
  [[nodiscard]] packet::Packet dequeue(Instant now) override;
  /// Flows with something queued.
  [[nodiscard]] std::size_t flows() const { return flows_.size(); }

 private:
  struct Flow {
    Ring<Queued> queue;
    Bytes bytes;
    Bytes deficit;
  };
  using Flows = std::unordered_map<std::uint64_t, Flow>;
  void drop_from_longest();
  void leave(std::uint64_t key);

  QueueLimit limit_;
  Bytes quantum_;
  Flows flows_;
  std::list<std::uint64_t> turns_;  ///< flows with something queued; the first one's turn it is
};

}  // namespace sluice::emulator
