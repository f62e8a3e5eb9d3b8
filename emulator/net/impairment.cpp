// Implements Impairment: loss, duplication, reordering, corruption and delay jumps on a wire. Simulation tests and
// benchmarks put it between other elements; held packets leave by events. Four decisions are drawn for every packet,
// used or not; only a corrupted packet draws more, the positions of its inverted bits. Packets without reordering leave
// in order, even across delay jumps.

#include "emulator/net/impairment.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace sluice::emulator {
namespace {

constexpr std::uint16_t ethernet_header = 14;

void check_probability(double p, const char* name) {
  if (!(p >= 0 && p <= 1)) throw std::invalid_argument(std::string("impairment: ") + name + " must be 0 to 1");
}

}  // namespace

Impairment::Impairment(EventLoop& loop, packet::PacketPool& pool, ImpairmentConfig config, Random random, Element& next)
    : loop_(loop), pool_(pool), config_(std::move(config)), random_(random), next_(&next) {
  check_probability(config_.loss, "loss");
  check_probability(config_.duplicate, "duplicate");
  check_probability(config_.reorder, "reorder");
  check_probability(config_.corrupt, "corrupt");
  if (config_.reorder_delay < Duration::zero()) throw std::invalid_argument("impairment: reorder_delay must be >= 0");
  for (const DelayJump& jump : config_.jumps) {
    if (jump.extra < Duration::zero()) throw std::invalid_argument("impairment: a delay jump must be >= 0");
  }
}

void Impairment::receive(packet::Packet packet, Instant now) {
  ++counters_.packets;
  // All four decisions are drawn for every packet, so that the loss of one does not change those of the next.
  const bool lost = random_.chance(config_.loss);
  const bool twice = random_.chance(config_.duplicate);
  const bool late = random_.chance(config_.reorder);
  const bool damaged = random_.chance(config_.corrupt);
  if (lost) {
    ++counters_.lost;
    return;
  }
  if (twice) duplicate(packet, now);
  if (damaged && !corrupt(packet)) return;
  if (late) {
    ++counters_.reordered;
    hold(std::move(packet), now + jump(now) + config_.reorder_delay);
    return;
  }
  pass(std::move(packet), now);
}

void Impairment::duplicate(const packet::Packet& packet, Instant now) {
  packet::Packet copy = pool_.copy(packet);
  if (!copy) {
    ++counters_.no_buffer;
    return;
  }
  ++counters_.duplicated;
  pass(std::move(copy), now);
}

bool Impairment::corrupt(packet::Packet& packet) {
  if (packet.size() <= ethernet_header) return true;
  if (packet.shared()) {
    packet::Packet copy = pool_.copy(packet);
    if (!copy) {
      ++counters_.no_buffer;
      return false;
    }
    packet = std::move(copy);
  }
  ++counters_.corrupted;
  const std::uint64_t bits = std::uint64_t{8} * (packet.size() - ethernet_header);
  for (std::uint32_t i = 0; i < config_.corrupt_bits; ++i) {
    const std::uint64_t bit = random_.below(bits);
    packet.data()[ethernet_header + bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
  }
  return true;
}

Duration Impairment::jump(Instant now) const {
  Duration extra{};
  for (const DelayJump& jump : config_.jumps) {
    if (now >= jump.from && now < jump.until) extra += jump.extra;
  }
  return extra;
}

void Impairment::pass(packet::Packet packet, Instant now) {
  const Duration extra = jump(now);
  if (extra > Duration::zero()) ++counters_.delayed;
  in_order_until_ = std::max(in_order_until_, now + extra);
  if (in_order_until_ <= now) {
    next_->receive(std::move(packet), now);
  } else {
    hold(std::move(packet), in_order_until_);
  }
}

void Impairment::hold(packet::Packet packet, Instant due) {
  held_.push_back({std::move(packet), due, order_++});
  std::push_heap(held_.begin(), held_.end(), later);
  loop_.at(due, *this);
}

void Impairment::on_event(std::uint64_t /*tag*/, Instant now) {
  while (!held_.empty() && held_.front().due <= now) {
    std::pop_heap(held_.begin(), held_.end(), later);
    packet::Packet packet = std::move(held_.back().packet);
    held_.pop_back();
    next_->receive(std::move(packet), now);
  }
}

}  // namespace sluice::emulator
