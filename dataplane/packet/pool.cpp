#include "dataplane/packet/pool.hpp"

#include <rte_errno.h>
#include <rte_lcore.h>

#include <cstring>
#include <stdexcept>

namespace sluice::packet {

PacketPool::PacketPool(const std::string& name, std::uint32_t count, std::uint16_t room)
    : pool_(rte_pktmbuf_pool_create(name.c_str(), count, count > 1024 ? 256 : 0, note_size,
                                    static_cast<std::uint16_t>(RTE_PKTMBUF_HEADROOM + room), SOCKET_ID_ANY)) {
  if (pool_ == nullptr) {
    throw std::runtime_error("packet pool '" + name + "': no memory for " + std::to_string(count) + " buffers of " +
                             std::to_string(room) + " bytes: " + rte_strerror(rte_errno));
  }
}

PacketPool::~PacketPool() {
  rte_mempool_free(pool_);
}

Packet PacketPool::copy(const Packet& source) noexcept {
  Packet result = allocate();
  if (!result || source.size() > result.tailroom()) return {};
  std::memcpy(result.append(source.size()), source.data(), source.size());
  result.note().received = source.note().received;
  return result;
}

std::uint32_t PacketPool::capacity() const noexcept {
  return pool_->size;
}
std::uint32_t PacketPool::in_use() const noexcept {
  return rte_mempool_in_use_count(pool_);
}
std::uint32_t PacketPool::available() const noexcept {
  return rte_mempool_avail_count(pool_);
}

}  // namespace sluice::packet
