#include "dataplane/packet/pool.hpp"

#include <cstring>

#include "dataplane/packet/pool_memory.hpp"

namespace sluice::packet {

PacketPool::PacketPool(const std::string& name, std::uint32_t count, std::uint16_t room)
    : pool_(create_pool(name, count, room)) {}

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
  const rte_mempool_cache* const cached = rte_mempool_default_cache(pool_, rte_lcore_id());
  const unsigned shared = rte_mempool_get_ops(pool_->ops_index)->get_count(pool_);
  return shared + (cached == nullptr ? 0 : cached->len);
}
void PacketPool::release_cached() noexcept {
  rte_mempool_cache_flush(nullptr, pool_);
}

}  // namespace sluice::packet
