// Budget of packet buffers: how many may hold relayed payload, and each connection's part (dynamic thresholds,
// Choudhury and Hahne 1998). RelayBufferQuota asks it for quotas, the receive path records taken buffers. Invariant:
// the reserve stays free for received and forwarded frames, so an ACK that frees memory can always be read.
#include "proxy/engine/flow/buffer_pool_budget.hpp"

#include <algorithm>

namespace sluice::proxy {
namespace {

/// Minimum number of buffers that are kept free for receiving and forwarding, even in a small pool.
constexpr std::uint32_t min_reserve = 64;
/// Divisor of the budget (buffers for payload): memory is low if at most budget / low_share is left.
constexpr std::int64_t low_share = 8;

/// Returns how many of the pool's `buffers` buffers the ports cannot occupy.
std::uint32_t left_of(const ShardLimits& limits, std::uint32_t buffers) {
  return std::max(buffers - std::min(limits.port_buffers, buffers), 1U);
}

/// Returns the number of buffers that are kept free for receiving and forwarding: the configured share, at least 64 and
/// at most half of `left`.
std::uint32_t reserve_of(const ShardLimits& limits, std::uint32_t left) {
  const auto wanted = static_cast<std::uint32_t>(limits.reserve * left);
  return std::min(std::max(wanted, min_reserve), left / 2);
}

Bytes share_of(Bytes whole, double share) {
  return Bytes(static_cast<double>(whole.count()) * share);
}

}  // namespace

Bytes BufferPoolBudget::whole(const ShardLimits& limits, std::uint32_t buffers) {
  const std::uint32_t left = left_of(limits, buffers);
  return Bytes((left - reserve_of(limits, left)) / std::max<std::uint32_t>(limits.pool_sharers, 1) *
               payload_per_buffer);
}

Bytes BufferPoolBudget::largest(const ShardLimits& limits, std::uint32_t buffers) {
  return std::min(limits.relay_buffer, two_thirds(share_of(whole(limits, buffers), limits.ue_share)));
}

BufferPoolBudget::BufferPoolBudget(const ShardLimits& limits, const packet::PacketPool& pool)
    : pool_(pool),
      sharers_(std::max<std::uint32_t>(limits.pool_sharers, 1)),
      left_by_ports_(left_of(limits, pool.capacity())),
      pool_reserve_(reserve_of(limits, left_by_ports_)),
      half_pool_reserve_(pool_reserve_ / sharers_ / 2),
      low_watermark_((left_by_ports_ - pool_reserve_) / sharers_ / low_share),
      reserved_for_demand_(share_of(whole(limits, pool.capacity()), 1 - limits.shrink_windows_at)),
      of_one_ue_(share_of(whole(limits, pool.capacity()), limits.ue_share)) {
  static_cast<void>(look(next_look_ + usual_period));
}

bool BufferPoolBudget::look(Instant now) {
  if (!is_due(now)) return false;
  next_look_ = now + usual_period;
  if (const std::uint16_t epoch = epoch_of(now); epoch != epoch_) expire_reservations(epoch);
  const std::int64_t available = pool_.available();
  used_ = std::max(1 - static_cast<double>(available) / left_by_ports_, 0.0);
  spare_ = (available - pool_reserve_) / sharers_;
  return true;
}

void BufferPoolBudget::expire_reservations(std::uint16_t epoch) {
  const auto passed = static_cast<std::uint16_t>(epoch - epoch_);
  for (std::size_t i = 0; i < std::min<std::size_t>(passed, epochs); ++i) {
    std::int64_t& oldest = by_epoch_[static_cast<std::uint16_t>(epoch_ + 1 + i) % epochs];
    reserved_ -= oldest;
    oldest = 0;
  }
  epoch_ = epoch;
}

void BufferPoolBudget::move_reservation(Reservation& reservation, std::uint32_t bytes) {
  if (static_cast<std::uint16_t>(epoch_ - reservation.epoch) < epochs) {
    std::int64_t& known = by_epoch_[reservation.epoch % epochs];
    // The 16-bit epoch wraps after some hours, and an old reservation then looks recent. At most what is recorded is
    // subtracted.
    const std::int64_t counted = std::min<std::int64_t>(reservation.bytes, known);
    known -= counted;
    reserved_ -= counted;
  }
  reservation = {bytes, epoch_};
  by_epoch_[epoch_ % epochs] += bytes;
  reserved_ += bytes;
}

}  // namespace sluice::proxy
