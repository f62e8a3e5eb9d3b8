#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "proxy/engine/base/transmitter.hpp"
#include "proxy/engine/shard/shard.hpp"
#include "proxy/ops/capture/frame_ring.hpp"
#include "proxy/ops/capture/frame_tap.hpp"
#include "proxy/ops/capture/shard_taps.hpp"

namespace sluice::bench {

/// Captures every frame in and out, as the thread of a shard does. The reader of the captured frames runs on another
/// thread and is not measured.
class Onlooker final : public proxy::Transmitter {
 public:
  enum class Looks : std::uint8_t { no, captures, records };
  Onlooker(proxy::Transmitter& out, Looks looks) : out_(out) {
    constexpr std::size_t room = std::size_t{4} << 20U;
    constexpr std::uint32_t snap_length = 96;
    if (looks == Looks::captures) {
      tap_ = std::make_shared<capture::FrameTap>(capture::Filter{}, room);
      taps_.emplace(1, std::vector<std::shared_ptr<capture::FrameSink>>{tap_});
    } else if (looks == Looks::records) {
      ring_.resize(room / capture::slot_bytes_for(snap_length) * capture::slot_bytes_for(snap_length));
      taps_.emplace(1, std::vector<std::shared_ptr<capture::FrameSink>>{
                           std::make_shared<capture::FrameRing>(ring_, snap_length, false)});
    }
  }
  void transmit(proxy::Side out, std::span<packet::Packet> burst, Instant now) override {
    if (taps_) taps_->sent(out, burst, now);
    out_.transmit(out, burst, now);
  }
  void receive(proxy::Shard& shard, proxy::Side in, std::span<packet::Packet> burst, Instant now) {
    if (!taps_) return shard.receive(in, burst, now);
    shard.receive_observed(in, burst, now, *taps_);
    taps_->end_burst();
  }
  /// Frames that found no room so far.
  std::uint64_t read() {
    if (!tap_) return 0;
    bytes_.clear();
    tap_->take(bytes_, SIZE_MAX);
    std::uint64_t lost = 0;
    for (const capture::WireCounts& counts : tap_->counts()) lost += counts.lost;
    return lost;
  }

 private:
  proxy::Transmitter& out_;
  std::shared_ptr<capture::FrameTap> tap_;
  std::optional<capture::ShardTaps> taps_;
  std::vector<std::uint8_t> bytes_;
  std::vector<std::byte> ring_;
};

}  // namespace sluice::bench
