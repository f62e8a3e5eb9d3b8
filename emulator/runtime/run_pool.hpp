#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "dataplane/packet/growing_pool.hpp"

namespace sluice::emulator {

/// Thrown if a run needed more packet buffers than its pool has. The result would then depend on the number of buffers,
/// and not on the network only.
class BuffersExhausted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Packet buffers of virtual-time runs. A result is only valid if the number of buffers did not limit the run. Thread:
/// one at a time.
class RunPool {
 public:
  /// Creates the pool `name`. `limit` is the largest number of buffers, and `room` the bytes for a packet in each.
  explicit RunPool(const std::string& name, std::uint32_t limit, std::uint16_t room = packet::PacketPool::default_room)
      : buffers_(name, limit, room) {}

  [[nodiscard]] packet::PacketPool& packets() { return buffers_.packets(); }
  [[nodiscard]] std::uint32_t in_use() const { return buffers_.in_use(); }
  /// Returns the number of buffers that are allocated.
  [[nodiscard]] std::uint32_t made() const { return buffers_.made(); }

  /// Clears the record of a shortage of buffers before another run begins.
  void begin_run() { buffers_.clear_shortage(); }
  /// Throws BuffersExhausted if a request for a buffer failed since begin_run(). The message states the limit and the
  /// configuration key that raises it.
  void require_enough() const;
  /// Throws BuffersExhausted if more than half of the limit is allocated and `changes` is not 0. `changes` is the
  /// number of times that the proxy changed its behaviour because few buffers were left. The result would then depend
  /// on the number of buffers.
  void require_enough_for(std::uint64_t changes) const;

  /// Returns the number of buffers that a pool with the limit `limit` allocates at first.
  [[nodiscard]] static std::uint32_t begins_with(std::uint32_t limit) {
    return packet::GrowingPool::begins_with(limit);
  }

 private:
  packet::GrowingPool buffers_;
};

}  // namespace sluice::emulator
