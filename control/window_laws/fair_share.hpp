#pragma once

#include <cstdint>
#include <vector>

#include "control/violation.hpp"
#include "control/window_laws/active_flows.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Parameters of the fair-share controller, which divides a base station's buffer evenly among flows (Pilosof et al.,
/// INFOCOM 2003).
struct FairShareParameters {
  Bytes buffer{150'000};  ///< B: buffer of the base station; the paper uses 100 packets of 1500 bytes
  Bytes segment{1500};    ///< packet size, > 0: a flow's share is a whole number of packets and at least one
  Duration idle = std::chrono::seconds(10);  ///< time after which a flow without packets is not counted, > 0
};

/// Lists the configuration keys and their ranges for `s`, the reader of the configuration. The ranges lie within those
/// of validate().
template <typename Section>
void describe(Section& s, FairShareParameters& p) {
  s.value("packet", p.segment, {Bytes(88), Bytes(9000)}, "packet size; a share is a whole number of packets");
  s.value("idle", p.idle, {std::chrono::milliseconds(1), std::chrono::hours(24)},
          "idle time after which a flow is not counted");
}

/// Checks the ranges and, if `flows` > 0, that each flow's share is more than two packets. Returns the broken rules.
[[nodiscard, gnu::cold, gnu::noinline]] std::vector<Violation> validate(const FairShareParameters& parameters,
                                                                        std::uint32_t flows = 0);

/// Returns the window in bytes of each of n = `flows` ≥ 1 flows: floor(B/n) packets of `packet` bytes, at least one. B
/// is `buffer` in packets.
[[nodiscard]] Bytes fair_share_window(Bytes buffer, Bytes packet, double flows);

/// Window with which TCP flows share a base station's buffer B evenly: floor(B/n) packets for each of n flows of either
/// direction (Pilosof et al., INFOCOM 2003, section V). The proxy writes the smaller of this window and the receiver's
/// own one into ACKs that it forwards. One object per queue. Reads no clock. Not thread-safe.
///
/// Interpretation of the paper: it counts flows by addresses and ports, and does not state when a flow without packets
/// stops counting. Here a flow counts for FairShareParameters::idle after its last packet, exact to 1/16.
class FairShare {
 public:
  /// Makes the controller with parameters that pass validate() without errors; throws std::invalid_argument otherwise.
  explicit FairShare(const FairShareParameters& parameters = {});

  /// Records a packet, in either direction, of the flow whose state is `mark`, so that the flow counts as current.
  void seen(Instant now, ActiveFlows::Mark& mark) { flows_.seen(now, mark); }
  /// Stops counting the flow whose state is `mark`, because the flow has ended.
  void left(ActiveFlows::Mark& mark) { flows_.left(mark); }
  /// Returns n, the number of flows that had a packet within FairShareParameters::idle.
  [[nodiscard]] std::uint32_t flows(Instant now) const { return flows_.count(now); }
  /// Returns the number of bytes that each flow may have in flight, at least one packet.
  [[nodiscard]] Bytes window(Instant now) const;

 private:
  FairShareParameters parameters_;
  ActiveFlows flows_;
};

}  // namespace sluice::control
