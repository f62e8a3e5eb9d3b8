#pragma once

#include <cstdint>
#include <list>
#include <vector>

#include "emulator/aqm/codel.hpp"

namespace sluice::emulator {

struct FqCodelParameters {
  CodelParameters codel;
  std::uint32_t queues = 1024;  ///< that flows are hashed into, > 0
  Bytes quantum{1514};          ///< > 0
  std::uint64_t seed = 0;       ///< of the hash
};

/// Flow Queue CoDel (RFC 8290): flows hashed into queues, each under CoDel, served by deficit round robin with queues
/// that have just become busy first. When the whole is full, the oldest packet of the fattest queue goes.
class FqCodelQueue final : public QueueDiscipline {
 public:
  /// Throws std::invalid_argument when a parameter is out of its range. RFC 8290's limit is 10 240 packets.
  FqCodelQueue(const QueueLimit& limit, const FqCodelParameters& parameters);
  void enqueue(packet::Packet packet, Instant now) override;
  [[nodiscard]] packet::Packet dequeue(Instant now) override;
  /// Queues on the lists of new and of old ones.
  [[nodiscard]] std::size_t active() const { return new_.size() + old_.size(); }

 private:
  struct FlowQueue {
    explicit FlowQueue(const CodelParameters& parameters) : control(parameters) {}
    Ring<Queued> queue;
    Bytes bytes;
    Bytes deficit;
    CodelControl control;
    bool active = false;
  };
  using Turns = std::list<std::uint32_t>;
  std::optional<Queued> pull(FlowQueue& flow);
  std::optional<Queued> next_of(FlowQueue& flow, Instant now);
  void drop_from_fattest();

  QueueLimit limit_;
  FqCodelParameters parameters_;
  std::vector<FlowQueue> flows_;
  Turns new_;
  Turns old_;
};

}  // namespace sluice::emulator
