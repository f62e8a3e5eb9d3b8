#include "control/window_laws/fair_share.hpp"

#include <algorithm>

#include "control/rule_checker.hpp"

namespace sluice::control {

std::vector<Violation> validate(const FairShareParameters& p, std::uint32_t flows) {
  using Severity = Violation::Severity;
  RuleChecker check;
  check.require(p.segment, p.segment > Bytes(0), Severity::error, "segment > 0",
                print("segment = ", p.segment.count(), " B"));
  check.require(p.buffer, p.buffer > Bytes(0), Severity::error, "B > 0", print("B = ", p.buffer.count(), " B"));
  check.require(p.idle, p.idle > Duration::zero(), Severity::error, "idle > 0",
                print("idle = ", to_seconds(p.idle), " s"));
  if (!check.clean() || flows == 0) return check.take();
  const std::int64_t packets = p.buffer.count() / p.segment.count() / flows;
  check.require(p.buffer, packets > 2, Severity::warning, "⌊B/n⌋ > 2 packets",
                print("⌊B/n⌋ = ", packets, " packets for ", flows, " flows: fair, but total throughput drops"));
  return check.take();
}

FairShare::FairShare(const FairShareParameters& parameters) : parameters_(parameters), flows_(parameters.idle) {
  refuse_errors(validate(parameters));
}

Bytes fair_share_window(Bytes buffer, Bytes packet, double flows) {
  const auto packets = static_cast<double>(buffer.count() / packet.count());
  return packet * std::max(static_cast<std::int64_t>(packets / std::max(flows, 1.0)), std::int64_t{1});
}

Bytes FairShare::window(Instant now) const {
  return fair_share_window(parameters_.buffer, parameters_.segment, flows(now));
}

}  // namespace sluice::control
