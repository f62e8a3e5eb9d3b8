#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "dataplane/packet/pool.hpp"

namespace sluice::emulator {

/// Thrown if a run needed more packet buffers than allowed, because its result would show the pool and not the network.
class BuffersExhausted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Packet buffers of virtual-time runs. Begins with few buffers and allocates more when all are in use, up to a limit.
/// Starts are therefore fast. To its users it is a PacketPool of `limit` buffers: capacity() and available() include
/// those not allocated yet.
/// Buffers stay allocated until the pool is destroyed. Virtual time only, because a device must know the memory in
/// advance. Thread: one at a time.
class RunPool {
 public:
  /// Makes a pool of at most `limit` > 0 buffers for `room` bytes each. Requires a running EAL. `name` is unique in the
  /// process and has at most 25 characters.
  /// Throws std::runtime_error if the memory of the first buffers is missing.
  RunPool(const std::string& name, std::uint32_t limit, std::uint16_t room = packet::PacketPool::default_room);
  ~RunPool();
  RunPool(const RunPool&) = delete;
  RunPool& operator=(const RunPool&) = delete;

  [[nodiscard]] packet::PacketPool& packets() { return *packets_; }
  [[nodiscard]] std::uint32_t in_use() const { return packets_->in_use(); }
  /// Returns the number of buffers allocated so far.
  [[nodiscard]] std::uint32_t made() const;

  /// Starts another run: clears the record of shortages.
  void begin_run();
  /// Throws BuffersExhausted, with the limit and what raises it, if a buffer was missing since begin_run().
  void require_enough() const;
  /// Throws BuffersExhausted if more than half of the limit was ever in use and `changes` is not 0. `changes` counts
  /// how often the proxy changed its behaviour because buffers were low.
  void require_enough_for(std::uint64_t changes) const;

  /// Returns the initial number of buffers of a pool with this limit.
  [[nodiscard]] static std::uint32_t begins_with(std::uint32_t limit);

 private:
  std::unique_ptr<packet::PacketPool> packets_;
};

}  // namespace sluice::emulator
