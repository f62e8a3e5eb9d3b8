#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>

#include "emulator/aqm/queue_discipline.hpp"
#include "emulator/net/ring.hpp"

namespace sluice::emulator {

/// One queue per flow with deficit round robin (Shreedhar and Varghese, 1996), so that flows get equal bytes at any
/// packet size. When the shared buffer is full, the longest queue loses its newest packet. Flows are identified by a
/// 64-bit hash of addresses and ports.
class RoundRobinQueue final : public QueueDiscipline {
 public:
  /// Creates an empty queue. `quantum` is the number of bytes, without Ethernet headers (line_size), that a flow may
  /// send per round. With a quantum of at least the largest frame, each flow with packets sends at least one packet per
  /// round.
  explicit RoundRobinQueue(const QueueLimit& limit, Bytes quantum = Bytes(1514)) : limit_(limit), quantum_(quantum) {}
  void enqueue(packet::Packet packet, Instant now) override;
  [[nodiscard]] packet::Packet dequeue(Instant now) override;
  /// Returns the number of flows with queued packets.
  [[nodiscard]] std::size_t flows() const { return flows_.size(); }

 private:
  /// Queue and deficit of one flow.
  struct Flow {
    Ring<Queued> queue;
    Bytes bytes;
    Bytes deficit;  ///< bytes that the flow may still send in this round
  };
  using Flows = std::unordered_map<std::uint64_t, Flow>;
  /// Drops the newest packet of the flow with most bytes.
  void drop_from_longest();
  /// Removes the flow with the hash `key`, because its queue is empty.
  void leave(std::uint64_t key);

  QueueLimit limit_;
  Bytes quantum_;
  Flows flows_;
  std::list<std::uint64_t> service_order_;  ///< flows with queued packets in service order; the first one sends next
};

}  // namespace sluice::emulator
