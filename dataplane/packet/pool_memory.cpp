// Creation of mbuf pools without gaps between the buffers, which halves the memory that 2 KiB buffers take on 4 KiB
// pages. Called by the constructor of PacketPool. If devices need physical addresses, DPDK's own pool layout is used
// instead. The memory is checked before it is touched, because the kernel would otherwise end the process later.

#include "dataplane/packet/pool_memory.hpp"

#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_memzone.h>

#include <bit>
#include <cerrno>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "dataplane/packet/available_memory.hpp"

namespace sluice::packet {
namespace {

constexpr unsigned page_size = 4096;

/// Returns the number of buffers in the mempool cache of a thread: none for pools of at most 1024 buffers.
constexpr std::uint32_t cache_size(std::uint32_t count) {
  return count > 1024 ? 256 : 0;
}

constexpr std::uint16_t data_room(std::uint16_t room) {
  return static_cast<std::uint16_t>(header_room + room);
}

/// Returns the bytes of an mbuf with its private area and data room.
constexpr std::uint32_t element_size(std::uint16_t room) {
  return static_cast<std::uint32_t>(sizeof(rte_mbuf)) + note_size + data_room(room);
}

/// Mempool flag that permits a buffer to cross a page border. That is harmless if devices use virtual addresses.
/// Without it a 2 KiB buffer takes a whole 4 KiB page.
constexpr unsigned across_pages = RTE_MEMPOOL_F_NO_IOVA_CONTIG;

/// Returns the bytes of all buffers, without the pool's own data structures.
std::uint64_t buffers_alone(std::uint32_t count, std::uint16_t room) {
  return std::uint64_t{count} * rte_mempool_calc_obj_size(element_size(room), across_pages, nullptr);
}

struct FreeZone {
  void operator()(const rte_memzone* zone) const noexcept { rte_memzone_free(zone); }
};
using Zone = std::unique_ptr<const rte_memzone, FreeZone>;

/// Reserves one piece of memory for all buffers. Returns an empty zone if DPDK has no free piece of that size.
Zone reserve(const std::string& name, std::uint32_t count, std::uint16_t room) {
  return Zone(rte_memzone_reserve_aligned(("mb_" + name).c_str(), buffers_alone(count, room), SOCKET_ID_ANY,
                                          RTE_MEMZONE_IOVA_CONTIG, page_size));
}

/// True if devices address the zone by its virtual address (IOVA as VA).
bool addressed_virtually(const rte_memzone& zone) {
  return zone.iova == reinterpret_cast<std::uintptr_t>(zone.addr);
}

/// Throws std::runtime_error if the machine does not have enough free memory for the zone. Ordinary memory is only an
/// address range until it is first used, and a shortage at first use can no longer be reported. A zone in huge pages
/// passes, because its memory is already assigned. Before the exception `zone` gives up the memory without freeing it,
/// because DPDK clears freed memory and would thus use it.
void require_memory(Zone& zone, const std::string& name, std::uint32_t count) {
  if (zone->hugepage_sz > page_size) return;
  const std::uint64_t needed = zone->len;
  const std::optional<std::uint64_t> available = available_memory();
  if (!available || needed <= *available) return;
  static_cast<void>(zone.release());
  throw std::runtime_error("packet pool '" + name + "': " + std::to_string(count) + " buffers take " +
                           std::to_string(needed >> 20U) + " MiB, and this machine (or this control group) has " +
                           std::to_string(*available >> 20U) + " MiB left; take fewer buffers");
}

/// Frees the zone of a pool; called by DPDK when the pool is freed.
void free_chunk(rte_mempool_memhdr*, void* zone) {
  rte_memzone_free(static_cast<const rte_memzone*>(zone));
}

/// Fills an empty pool with buffers in `zone`, which the pool then owns. Returns false if not all buffers fit.
bool populate(rte_mempool* pool, Zone zone, std::uint16_t room) {
  rte_pktmbuf_pool_private settings{};
  settings.mbuf_data_room_size = data_room(room);
  settings.mbuf_priv_size = note_size;
  rte_pktmbuf_pool_init(pool, &settings);
  // DPDK marks pools with buffers across pages as unusable for devices; with virtual addresses every device can use
  // them.
  pool->flags &= ~unsigned{RTE_MEMPOOL_F_NON_IO};
  const int added = rte_mempool_populate_iova(pool, static_cast<char*>(zone->addr), zone->iova, zone->len, free_chunk,
                                              const_cast<rte_memzone*>(zone.get()));  // passed to free_chunk()
  if (added < 0) return false;
  static_cast<void>(zone.release());
  return static_cast<std::uint32_t>(added) == pool->size;
}

/// Creates a pool in `zone`. Returns null if DPDK has no memory for the pool's own structures.
rte_mempool* create_contiguous(const std::string& name, std::uint32_t count, std::uint16_t room, Zone zone) {
  rte_mempool* const pool = rte_mempool_create_empty(name.c_str(), count, element_size(room), cache_size(count),
                                                     sizeof(rte_pktmbuf_pool_private), SOCKET_ID_ANY, across_pages);
  if (pool == nullptr) return nullptr;
  if (rte_mempool_set_ops_byname(pool, rte_mbuf_best_mempool_ops(), nullptr) != 0 ||
      !populate(pool, std::move(zone), room)) {
    rte_mempool_free(pool);
    rte_errno = ENOMEM;
    return nullptr;
  }
  rte_mempool_obj_iter(pool, rte_pktmbuf_init, nullptr);
  return pool;
}

}  // namespace

rte_mempool* create_pool(const std::string& name, std::uint32_t count, std::uint16_t room) {
  rte_mempool* pool = nullptr;
  if (Zone zone = reserve(name, count, room); zone && addressed_virtually(*zone)) {
    require_memory(zone, name, count);
    pool = create_contiguous(name, count, room, std::move(zone));
  } else {
    zone.reset();
    pool = rte_pktmbuf_pool_create(name.c_str(), count, cache_size(count), note_size, data_room(room), SOCKET_ID_ANY);
  }
  if (pool != nullptr) return pool;
  throw std::runtime_error("packet pool '" + name + "': no memory for " + std::to_string(count) + " buffers of " +
                           std::to_string(room) + " bytes: " + rte_strerror(rte_errno) + "; they take " +
                           std::to_string(pool_footprint(count, room) >> 20U) + " MiB of DPDK's memory");
}

bool is_contiguous(const PacketPool& pool) noexcept {
  return pool.handle()->nb_mem_chunks == 1 && (pool.handle()->flags & across_pages) != 0;
}

std::uint64_t pool_footprint(std::uint32_t count, std::uint16_t room) noexcept {
  // The pool has a ring of pointers, sized to the next power of two, and a cache per thread that DPDK can have.
  constexpr std::uint64_t caches = sizeof(rte_mempool_cache) * RTE_MAX_LCORE;
  const std::uint64_t ring = std::bit_ceil(std::uint64_t{count} + 1) * sizeof(void*);
  const std::uint64_t buffers = buffers_alone(count, room);
  // With physical addresses no buffer crosses the border of two huge pages, so one in 800 is lost.
  return buffers + buffers / 512 + ring + caches;
}

}  // namespace sluice::packet
