#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dataplane/packet/packet.hpp"
#include "proxy/capture/frame_sink.hpp"
#include "proxy/shard/frame_watch.hpp"

namespace sluice::capture {

/// Captures that run at once.
inline constexpr std::size_t most_captures = 4;

/// The captures that look at one shard's frames, until others are put in their place. Thread: the shard's, once it has
/// taken them.
class ShardTaps final : public proxy::FrameWatch {
 public:
  /// `generation`: grows with each that is made for this shard. Takes room for a frame here. `taps`: at most
  /// most_captures, and one that keeps the last frames.
  ShardTaps(std::uint64_t generation, std::vector<std::shared_ptr<FrameSink>> taps);

  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  [[nodiscard]] bool empty() const { return taps_.empty(); }

  void received(const proxy::Arrival& arrival, const proxy::Counters& counters) override;
  void dealt_with() override;
  /// Frames leave. What came in and goes on in the same burst is told by its buffer.
  void sent(proxy::Side out, std::span<const packet::Packet> burst, Instant now);
  /// What came in has been dealt with, all of it: what is sent from now on is the proxy's own, or had waited.
  void end_burst() { passing_.clear(); }

 private:
  /// One that came in, and may be about to leave.
  struct Passing {
    const rte_mbuf* buffer;
    Decision decision;
  };
  /// For each tap how many bytes of a frame it is shown; nothing where the frame is not for it.
  using Shares = std::array<std::optional<std::uint16_t>, most_captures + 1>;
  /// The frame that is being dealt with.
  struct Current {
    FrameHeader header;
    const rte_mbuf* buffer = nullptr;
    Shares shares;
    const proxy::Counters* counters = nullptr;
  };

  [[nodiscard]] Shares shares_of(const Frame& frame);
  void settle();
  [[nodiscard]] Decision take_decision(const rte_mbuf* buffer);
  void put(const Shares& shares, const FrameHeader& header, std::span<const std::uint8_t> bytes);

  std::uint64_t generation_;
  std::vector<std::shared_ptr<FrameSink>> taps_;
  std::vector<Passing> passing_;
  std::optional<Current> current_;
  proxy::Counters before_;           ///< the current frame
  std::vector<std::uint8_t> bytes_;  ///< of the current frame as it came in: as many as somebody is shown
};

}  // namespace sluice::capture
