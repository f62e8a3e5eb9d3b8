#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "dataplane/packet/pool.hpp"

namespace sluice::emulator {

/// A run needed more packet buffers than there are, so its result would show the pool and not the network.
class BuffersExhausted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The packet buffers of virtual-time runs. It begins with few buffers and takes memory for more when all are in use,
/// up to a limit, so that neither the start of a program nor a run waits for buffers that nobody needs. To its users it
/// is a PacketPool of `limit` buffers: capacity() and available() count those that are not made yet. Buffers that were
/// made stay until the pool ends. Virtual time only: a device would have to know the memory before. Thread: one at a
/// time.
class RunPool {
 public:
  /// Throws std::runtime_error when the memory of the first buffers is not there. EAL must be running. `name` is unique
  /// in the process, at most 25 characters; `limit` > 0; `room` bytes of data fit into a buffer.
  RunPool(const std::string& name, std::uint32_t limit, std::uint16_t room = packet::PacketPool::default_room);
  ~RunPool();
  RunPool(const RunPool&) = delete;
  RunPool& operator=(const RunPool&) = delete;

  [[nodiscard]] packet::PacketPool& packets() { return *packets_; }
  [[nodiscard]] std::uint32_t in_use() const { return packets_->in_use(); }
  /// Number of buffers that memory was taken for so far.
  [[nodiscard]] std::uint32_t made() const;

  /// Forgets that buffers were short: another run begins.
  void begin_run();
  /// Throws BuffersExhausted, with the limit and what raises it, if a buffer was wanted and not had since begin_run().
  void require_enough() const;
  /// Throws BuffersExhausted if more than half of the limit was ever in use and `changes` is not 0. `changes`: number
  /// of times that the proxy changed its behaviour because few buffers were left, which it does before none is.
  void require_enough_for(std::uint64_t changes) const;

  /// Number of buffers that a pool with this limit begins with.
  [[nodiscard]] static std::uint32_t begins_with(std::uint32_t limit);

 private:
  std::unique_ptr<packet::PacketPool> packets_;
};

}  // namespace sluice::emulator
