// Simulates an ideal sender on a recorded link, millisecond by millisecond. uplink_limit.cpp and ideal_links.cpp call
// it for an upper bound of what any controller can reach.
#include "tests/bench/ideal_sender.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>

#include "emulator/cell/scheduled_uplink.hpp"
#include "emulator/channel/block_errors.hpp"
#include "emulator/channel/constant.hpp"
#include "emulator/channel/trace.hpp"

namespace sluice::bench {
namespace {

using namespace sluice::emulator;
using std::chrono::milliseconds;

constexpr std::int64_t packet_bytes = 1500;
constexpr std::uint16_t ack_bytes = 52;
constexpr Milliseconds delayed_ack = 40;
const IpAddress ue_address = IpAddress::v4(10, 45, 0, 2);

/// Models the default uplink of a scenario; reports how many packets each received ACK covers.
class Uplink final : public Element {
 public:
  Uplink(packet::PacketPool& pool, Milliseconds tti) : pool_(pool), uplink_(loop_, milliseconds(tti), {}, *this) {
    constexpr double block_errors = 0.1;
    auto link = std::make_unique<ConstantChannel>(Rate::bits_per_second(20e6), milliseconds(tti));
    UplinkUeConfig ue;
    ue.addresses = {ue_address};
    ue.queue = {Bytes(0), BufferUnit::packets, 0};
    ue.channel =
        std::make_unique<BlockErrorChannel>(std::move(link), block_errors, Random::stream(1, "uplink blocks", 0));
    uplink_.add_ue(std::move(ue));
  }
  /// The UE acknowledges `count` packets in all.
  void send(Milliseconds now, std::uint64_t count) {
    loop_.run_until(Instant(milliseconds(now)));
    packet::Packet packet = pool_.allocate();
    std::uint8_t* const frame = packet.append(14 + ack_bytes);
    std::fill_n(frame, 14 + ack_bytes, std::uint8_t{0});
    frame[12] = 0x08;
    frame[14] = 0x45;
    frame[17] = ack_bytes;
    std::copy_n(ue_address.octets.begin() + 12, 4, frame + 26);
    sent_.push_back(count);  // they keep their order
    uplink_.receive(std::move(packet), loop_.now());
  }
  /// The newest that has come to the Node-B by now.
  [[nodiscard]] std::uint64_t received(Milliseconds now) {
    loop_.run_until(Instant(milliseconds(now)));
    return received_;
  }
  void receive(packet::Packet, Instant) override {
    received_ = sent_.front();
    sent_.pop_front();
  }

 private:
  packet::PacketPool& pool_;
  EventLoop loop_;
  ScheduledUplink uplink_;
  std::deque<std::uint64_t> sent_;
  std::uint64_t received_ = 0;
};

class Run {
 public:
  Run(packet::PacketPool& pool, const IdealLink& link, Feedback feedback, const IdealSetting& setting)
      : link_(link), feedback_(feedback), setting_(setting) {
    if (link.scheduled) uplink_.emplace(pool, link.tti);
  }

  IdealOutcome outcome() {
    for (Milliseconds now = 0; now < link_.duration(); ++now) step(now);
    if (delays_.empty() || offered_ == 0) return {};
    const auto p95 = delays_.begin() + static_cast<std::ptrdiff_t>(delays_.size() * 95 / 100);
    std::nth_element(delays_.begin(), p95, delays_.end());
    return {100.0 * static_cast<double>(carried_) / static_cast<double>(offered_), static_cast<double>(*p95)};
  }

 private:
  void step(Milliseconds now) {
    while (arrived_ < sent_at_.size() && sent_at_[arrived_] + link_.way <= now) ++arrived_;
    serve(now);
    acknowledge(now);
    receive_acks(now);
    send(now);
  }

  void serve(Milliseconds now) {
    std::int64_t room = now % link_.tti == 0 ? link_.capacity[static_cast<std::size_t>(now / link_.tti)] : 0;
    if (now >= link_.warmup) offered_ += room;
    const bool waits = came_at_.size() < arrived_;
    std::int64_t carried = 0;
    while (room > 0 && came_at_.size() < arrived_) {
      const std::int64_t part = std::min(room, left_);
      room -= part;
      carried += part;
      left_ -= part;
      if (left_ > 0) break;
      left_ = packet_bytes;
      if (now >= link_.warmup) delays_.push_back(now - (sent_at_[came_at_.size()] + link_.way));
      came_at_.push_back(now);
    }
    if (now >= link_.warmup) carried_ += carried;
    carried_at_.push_back(waits ? static_cast<double>(carried) : -1);
  }

  void acknowledge(Milliseconds now) {
    const std::size_t owed = came_at_.size() - acknowledged_;
    if (owed == 0 || (owed < 2 && now - came_at_[acknowledged_] < delayed_ack)) return;
    acknowledged_ = came_at_.size();
    if (uplink_) uplink_->send(now, acknowledged_);
  }

  /// What is known of the link up to `known_until_`: exactly what it carried whenever something waited.
  void receive_acks(Milliseconds now) {
    Milliseconds until = now;
    if (feedback_ == Feedback::at_once) {
      known_ = came_at_.size();
    } else {
      on_wire_.push_back(uplink_ ? uplink_->received(now) : acknowledged_);
      if (on_wire_.size() <= static_cast<std::size_t>(link_.way)) return;
      known_ = on_wire_.front();
      on_wire_.pop_front();
      until = known_ > 0 ? came_at_[known_ - 1] : 0;
    }
    for (; known_until_ < until; ++known_until_) {
      const double carried = carried_at_[static_cast<std::size_t>(known_until_)];
      if (carried < 0) continue;
      weight_ += (1 - weight_) / static_cast<double>(setting_.memory);
      mean_ += (carried - mean_) / static_cast<double>(setting_.memory);
    }
  }

  void send(Milliseconds now) {
    const double rate = weight_ > 0 ? mean_ / weight_ : 0;  // bytes per millisecond
    const Milliseconds until_there = std::min(now + link_.way - known_until_, setting_.longest + 2 * link_.way);
    const double most = setting_.gain * rate * static_cast<double>(until_there + setting_.reference);
    const double least = weight_ < 0.2 ? 10 : 2;  // packets
    while (true) {
      const auto in_flight = static_cast<double>(sent_at_.size() + 1 - known_);
      if (in_flight > least && in_flight * packet_bytes > most) return;
      sent_at_.push_back(now);
    }
  }

  const IdealLink& link_;
  Feedback feedback_;
  IdealSetting setting_;
  std::optional<Uplink> uplink_;  ///< none: acknowledgements are with the Node-B at once
  std::vector<Milliseconds> sent_at_;
  std::vector<Milliseconds> came_at_;  ///< to the UE
  std::vector<double> carried_at_;     ///< bytes in each millisecond; negative: nothing waited
  std::deque<std::uint64_t>
      on_wire_;              ///< bytes acknowledged at the Node-B, one entry for each millisecond of the hop delay
  std::size_t arrived_ = 0;  ///< at the queue
  std::size_t acknowledged_ = 0;
  std::size_t known_ = 0;
  Milliseconds known_until_ = 0;
  std::int64_t left_ = packet_bytes;  ///< bytes left of the first waiting packet
  double mean_ = 0;
  double weight_ = 0;
  std::int64_t offered_ = 0;
  std::int64_t carried_ = 0;
  std::vector<Milliseconds> delays_;
};

}  // namespace

std::vector<std::int64_t> capacities(const std::string& file, Milliseconds tti, Milliseconds duration) {
  TraceChannel channel(std::make_shared<const CapacityTrace>(CapacityTrace::load(file)), milliseconds(tti));
  std::vector<std::int64_t> bytes;
  for (Milliseconds t = 0; t < duration / tti; ++t)
    bytes.push_back(channel.at(static_cast<std::uint64_t>(t)).capacity.count());
  return bytes;
}

IdealOutcome ideal_sender(packet::PacketPool& pool, const IdealLink& link, Feedback feedback,
                          const IdealSetting& setting) {
  return Run(pool, link, feedback, setting).outcome();
}

}  // namespace sluice::bench
