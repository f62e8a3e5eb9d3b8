#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::emulator {

struct FlowClassParameters {
  Bytes short_limit{15'000};                 ///< a flow is short until it has sent so much
  Duration reset = std::chrono::seconds(1);  ///< and again when it was idle for so long
};

/// Tells short flows from long ones, as SFP of the Window Regulator paper does.
class FlowClasses {
 public:
  explicit FlowClasses(const FlowClassParameters& parameters) : parameters_(parameters) {}

  /// The class of the frame's packet, which comes now with `length` IP bytes; what is not IP is short.
  bool is_short(std::span<const std::uint8_t> frame, Bytes length, Instant now);
  /// A long packet left the queue or was dropped from it.
  void long_gone(std::span<const std::uint8_t> frame);
  [[nodiscard]] std::size_t flows() const { return flows_.size(); }

 private:
  struct Flow {
    Bytes sent;
    Instant last{};
    std::uint32_t long_waiting = 0;  ///< its packets in the line of long flows: a short one may not overtake them
  };
  /// Beyond so many, flows that are idle are forgotten.
  static constexpr std::size_t max_flows = 4096;
  void forget_idle(Instant now);

  FlowClassParameters parameters_;
  std::unordered_map<std::uint64_t, Flow> flows_;
};

}  // namespace sluice::emulator
