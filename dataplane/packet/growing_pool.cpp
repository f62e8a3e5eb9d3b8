// Packet buffers that grow in number, for runs in virtual time. DPDK's mempools request the buffers that no thread has
// cached through a table of operations ("mempool ops"). The operations here keep free buffers on a stack, because the
// buffer used last is warm in the cache. When the stack is empty they add a chunk of memory to the pool. The memory
// does not come from EAL, whose amount is fixed at start, so only software may use the buffers.
#include "dataplane/packet/growing_pool.hpp"

#include <rte_mbuf.h>
#include <rte_mbuf_pool_ops.h>
#include <rte_mempool.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <vector>

#include "dataplane/packet/available_memory.hpp"
#include "dataplane/packet/huge_pages.hpp"

namespace sluice::packet {
namespace {

/// Initial number of buffers, and smallest number by which the pool grows. It exceeds the number that DPDK caches for a
/// thread (384).
constexpr std::uint32_t first_buffers = 4096;
/// Bytes of memory that the pool leaves free for other parts of the process.
constexpr std::uint64_t left_to_others = std::uint64_t{64} << 20U;
constexpr const char* ops_name = "sluice_growing_pool";

/// State of one growing mempool. Its free buffers form a stack.
struct Stack {
  std::vector<void*> free;
  std::uint32_t limit = 0;  ///< largest number of buffers
  /// Free memory of the machine in bytes when the pool last requested memory for more buffers.
  std::uint64_t machine = 0;
  bool grows = false;  ///< false while DPDK creates or destroys the pool, which then must not grow
  Shortage shortage = Shortage::none;
};

Stack& stack_of(const rte_mempool* pool) {
  return *static_cast<Stack*>(pool->pool_data);
}

void unmap(rte_mempool_memhdr* chunk, void* /*unused*/) {
  munmap(chunk->addr, chunk->len);
}

/// Maps `bytes` of memory. Returns null if the kernel refuses, or if less than 64 MiB (left_to_others) would then be
/// free for other parts of the process.
void* map(std::size_t bytes, Stack& stack) {
  const std::optional<std::uint64_t> available = available_memory();
  stack.machine = available.value_or(0);
  if (available && *available < bytes + left_to_others) return nullptr;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  prefer_huge_pages(memory, bytes);
  return memory;
}

/// Adds a quarter of the current number of buffers, but at least first_buffers, and none beyond the limit. Returns
/// `none`, or the reason if it added no buffer.
Shortage grow(rte_mempool* pool, Stack& stack) {
  const std::uint32_t made = pool->populated_size;
  if (!stack.grows || made >= stack.limit) return Shortage::limit;
  const std::uint32_t count = std::min(std::max(made / 4, first_buffers), stack.limit - made);
  const std::size_t size = std::size_t{pool->header_size} + pool->elt_size + pool->trailer_size;
  const std::size_t bytes = count * size + RTE_MEMPOOL_ALIGN;
  void* const memory = map(bytes, stack);
  if (memory == nullptr) return Shortage::memory;
  stack.free.reserve(std::size_t{made} + count);  // giving buffers back allocates nothing
  const auto before = static_cast<std::ptrdiff_t>(stack.free.size());
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  if (rte_mempool_populate_iova(pool, static_cast<char*>(memory), address, bytes, unmap, nullptr) <= 0) {
    munmap(memory, bytes);
    return Shortage::memory;
  }
  unsigned number = made;
  std::for_each(stack.free.begin() + before, stack.free.end(),
                [&](void* buffer) { rte_pktmbuf_init(pool, nullptr, buffer, number++); });
  std::reverse(stack.free.begin() + before, stack.free.end());  // the lowest address is taken first
  return Shortage::none;
}

int make_stack(rte_mempool* pool) {
  auto stack = std::make_unique<Stack>();
  stack->limit = pool->size;
  stack->free.reserve(pool->size);
  pool->pool_data = stack.release();
  return 0;
}

void free_stack(rte_mempool* pool) {
  delete &stack_of(pool);
}

int give_back(rte_mempool* pool, void* const* buffers, unsigned count) {
  std::vector<void*>& free = stack_of(pool).free;
  free.insert(free.end(), buffers, buffers + count);
  return 0;
}

/// Takes `count` buffers from the pool for DPDK. Returns 0, or -ENOBUFS and takes none if there are too few. DPDK first
/// requests enough buffers to refill the cache of a thread. If that fails, DPDK requests only the one buffer that is
/// needed now. So only a failed request for one buffer counts as a shortage.
int take(rte_mempool* pool, void** buffers, unsigned count) {
  Stack& stack = stack_of(pool);
  while (stack.free.size() < count) {
    const Shortage shortage = grow(pool, stack);
    if (shortage == Shortage::none) continue;
    if (count == 1) stack.shortage = shortage;
    return -ENOBUFS;
  }
  const auto first = stack.free.end() - static_cast<std::ptrdiff_t>(count);
  std::reverse_copy(first, stack.free.end(), buffers);
  stack.free.erase(first, stack.free.end());
  return 0;
}

unsigned count_free(const rte_mempool* pool) {
  const Stack& stack = stack_of(pool);
  return stack.limit - std::min(pool->populated_size, stack.limit) + static_cast<unsigned>(stack.free.size());
}

void register_operations() {
  static const int registered = [] {
    rte_mempool_ops operations{};
    std::strncpy(operations.name, ops_name, sizeof operations.name - 1);
    operations.alloc = make_stack;
    operations.free = free_stack;
    operations.enqueue = give_back;
    operations.dequeue = take;
    operations.get_count = count_free;
    return rte_mempool_register_ops(&operations);
  }();
  if (registered < 0) throw std::runtime_error("packet buffers: DPDK takes no further kind of pool");
}

/// Makes a pool with the mempool operations of a growing pool. DPDK has one global setting for the operations of new
/// pools, so a lock protects this setting.
std::unique_ptr<PacketPool> make_pool(const std::string& name, std::uint32_t count, std::uint16_t room) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  register_operations();
  const std::string usual = rte_mbuf_best_mempool_ops();
  if (rte_mbuf_set_user_mempool_ops(ops_name) != 0) throw std::runtime_error("packet buffers: DPDK has no memory left");
  struct Restore {
    const std::string& ops;
    ~Restore() { rte_mbuf_set_user_mempool_ops(ops.c_str()); }
  } const restore{usual};
  return std::make_unique<PacketPool>(name, count, room);
}

}  // namespace

GrowingPool::GrowingPool(const std::string& name, std::uint32_t limit, std::uint16_t room)
    : packets_(make_pool(name, begins_with(limit), room)) {
  rte_mempool* const pool = packets_->handle();
  pool->size = limit;
  Stack& stack = stack_of(pool);
  stack.limit = limit;
  stack.grows = true;
}

// DPDK takes every buffer out of a pool that it frees, so the pool must not grow any more.
GrowingPool::~GrowingPool() {
  packets_->release_cached();
  stack_of(packets_->handle()).grows = false;
}

std::uint32_t GrowingPool::made() const {
  return packets_->handle()->populated_size;
}

Shortage GrowingPool::shortage() const {
  return stack_of(packets_->handle()).shortage;
}

void GrowingPool::clear_shortage() {
  stack_of(packets_->handle()).shortage = Shortage::none;
}

std::uint64_t GrowingPool::memory_left() const {
  return stack_of(packets_->handle()).machine;
}

std::uint32_t GrowingPool::begins_with(std::uint32_t limit) {
  return std::min(limit, first_buffers);
}

}  // namespace sluice::packet
