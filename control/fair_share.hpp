#pragma once

#include <cstdint>
#include <vector>

#include "control/active_flows.hpp"
#include "control/violation.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Parameters of the fair share.
struct FairShareParameters {
  Bytes buffer{150'000};                     ///< B of the base station; the paper's 100 packets of 1500 bytes
  Bytes segment{1500};                       ///< a packet, > 0: the share is whole packets and never less than one
  Duration idle = std::chrono::seconds(10);  ///< a flow that was silent for so long is not counted, > 0
};

/// Its keys, for a config::Section; the ranges are those of validate() and narrower.
template <typename Section>
void describe(Section& s, FairShareParameters& p) {
  s.value("packet", p.segment, {Bytes(88), Bytes(9000)}, "the share is whole packets of this size");
  s.value("idle", p.idle, {std::chrono::milliseconds(1), std::chrono::hours(24)},
          "a flow that was silent for so long is not counted");
}

/// Checks ranges and, with `flows` > 0, that a share is still more than two packets.
[[nodiscard, gnu::cold, gnu::noinline]] std::vector<Violation> validate(const FairShareParameters& parameters,
                                                                        std::uint32_t flows = 0);

/// floor(B/n) packets of `packet` bytes, never less than one. `flows` ≥ 1.
[[nodiscard]] Bytes fair_share_window(Bytes buffer, Bytes packet, double flows);

/// The window that makes TCP flows share a base station evenly (Pilosof et al., INFOCOM 2003, section V): floor(B/n)
/// packets for each of the n current flows, whatever their direction, written into passing ACKs as
/// min(advertised, floor(B/n)). One for each queue. No clock inside; thread: its owner's.
///
/// Reading: the paper counts flows by addresses and ports and leaves open how long one counts that has gone silent;
/// here it is `idle`, to within a sixteenth.
class FairShare {
 public:
  /// Parameters must be free of errors according to validate(); throws std::invalid_argument otherwise.
  explicit FairShare(const FairShareParameters& parameters = {});

  /// A packet of a flow passed, either way.
  void seen(Instant now, ActiveFlows::Mark& mark) { flows_.seen(now, mark); }
  /// A flow has ended.
  void left(ActiveFlows::Mark& mark) { flows_.left(mark); }
  /// n.
  [[nodiscard]] std::uint32_t flows(Instant now) const { return flows_.count(now); }
  /// What every flow may have outstanding; ≥ one packet.
  [[nodiscard]] Bytes window(Instant now) const;

 private:
  FairShareParameters parameters_;
  ActiveFlows flows_;
};

}  // namespace sluice::control
