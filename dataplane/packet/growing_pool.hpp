#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "dataplane/packet/pool.hpp"

namespace sluice::packet {

/// Reason why a pool had no buffer for a request.
enum class Shortage : std::uint8_t {
  none,
  limit,   ///< no buffer was left, because the pool has as many as its limit permits
  memory,  ///< no buffer was left, because the machine has no memory for more
};

/// Pool of packet buffers that begins with few buffers. When all are in use, it takes memory for more, up to a limit.
///
/// To its users the pool is a PacketPool with as many buffers as the limit permits: capacity() and available() also
/// count buffers that do not exist yet. Buffers exist until the pool is destroyed. Their memory is not EAL memory, so
/// devices must not access it: a device must know all memory when it starts. Thread: one at a time.
class GrowingPool {
 public:
  /// Creates the pool. Throws std::runtime_error if there is no memory for the first buffers. EAL must be running.
  /// `name` is unique in the process and has at most 25 characters; `limit` is greater than 0; a buffer takes `room`
  /// bytes of data.
  GrowingPool(const std::string& name, std::uint32_t limit, std::uint16_t room = PacketPool::default_room);
  ~GrowingPool();
  GrowingPool(const GrowingPool&) = delete;
  GrowingPool& operator=(const GrowingPool&) = delete;

  [[nodiscard]] PacketPool& packets() { return *packets_; }
  [[nodiscard]] std::uint32_t limit() const { return packets_->capacity(); }
  [[nodiscard]] std::uint32_t in_use() const { return packets_->in_use(); }
  /// Returns the number of buffers for which memory has been taken.
  [[nodiscard]] std::uint32_t made() const;

  /// Returns why the pool had no buffer at the last failed request since clear_shortage(); `none` if no request failed.
  [[nodiscard]] Shortage shortage() const;
  void clear_shortage();
  /// Returns the free memory of the machine in bytes when the pool last requested memory for more buffers, successfully
  /// or not. Returns 0 if the kernel provides no figures.
  [[nodiscard]] std::uint64_t memory_left() const;

  /// Returns the number of buffers that a pool with this limit begins with.
  [[nodiscard]] static std::uint32_t begins_with(std::uint32_t limit);

 private:
  std::unique_ptr<PacketPool> packets_;
};

}  // namespace sluice::packet
