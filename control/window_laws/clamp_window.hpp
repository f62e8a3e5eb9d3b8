#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "control/violation.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Parameters of ClampWindow, which computes the window of one flow from the price of the CLAMP algorithm. Defaults are
/// those of the CLAMP paper, except where its text leaves them open.
struct ClampWindowParameters {
  /// τ in the CLAMP paper: bytes that each flow adds to the queue, > 0. Equal for all flows.
  Bytes gain{500};
  double smoothing = 0.001;         ///< β: weight of a sample in the round-trip estimate, 0 < β < 1
  std::size_t rate_packets = 1000;  ///< ν, ≥ 1: number of packets over which the rate is measured
  Bytes largest_increase{10'000};   ///< largest increase of the window per packet, > 0
  /// MSS in bytes, > 0. The window w is at least two segments; only the initial window w(0) is one.
  Bytes segment{1448};

  /// Largest window in bytes, ≥ 2 segments. Slow start ends when the window reaches it. The CLAMP paper states this
  /// threshold for practice.
  Bytes largest{4 * 1024 * 1024};
};

/// Checks the ranges of the parameters. Returns the broken rules.
[[nodiscard, gnu::cold, gnu::noinline]] std::vector<Violation> validate(const ClampWindowParameters& parameters);

/// State of ClampWindow, which computes the window of one flow by the CLAMP algorithm, for logs and metrics.
struct ClampWindowState {
  Rate rate;              ///< μ̂: measured rate of the flow
  Duration round_trip{};  ///< d̂: estimated round trip of the flow
  double window = 0;      ///< w: window in bytes
  double change = 0;  ///< δw: change of the window by the last packet after clipping, in bytes (eq. 14 of the CLAMP
                      ///< paper)
  bool slow_start = true;
};

/// Computes the window of one flow by the CLAMP algorithm (Andrew, Hanly & Mukhtar, TMC 2008, sections 4.2 and 4.3). In
/// the paper an agent in the receiver does this, but it works at any point that the flow's data passes. Reads no clock.
/// Not thread-safe.
///
/// In this comment, w is the window, Δw its change by one packet, d̂ the round trip, and μ̂ the flow's rate, measured
/// over ν packets.
///
/// Interpretation of the paper, whose available copy has lost the symbols of the clipping: Δw is at most 10 kB. The sum
/// of μ̂ has ν + 1 terms over ν intervals, as in the paper's example μ̂(t₂) = (s₁ + s₂)/(t₂ − t₁). The packet that ends
/// slow start halves w; in the paper the next packet does. d̂ keeps its first value while μ̂ is zero.
///
/// The class differs from the paper in two points. The packets of μ̂ are kept in at most 16 groups, so for ν > 15 the
/// sum covers 15/16 of ν to ν packets. And w does not grow while it does not limit the sender (RFC 7661). Otherwise a
/// flow that sends little would get a large window, and could fill the queue later.
class ClampWindow {
 public:
  /// Starts the computation of a flow's window in slow start. `first_round_trip` is the first estimate of the flow's
  /// round trip, such as that of the handshake. Below 1 ms, or if it is unknown (zero), it counts as 1 ms. Parameters
  /// must pass validate() without errors; throws std::invalid_argument otherwise.
  ClampWindow(const ClampWindowParameters& parameters, Duration first_round_trip);

  /// Records a data packet of `size` bytes. `price` is p, the newest price received from the Node-B. `offered` is the
  /// receiver's own window in bytes. `limited` is false if the window w is known not to limit the sender. Returns the
  /// window for the next ACKs, min(w, `offered`) (eq. 17 of the CLAMP paper).
  Bytes on_data(Instant now, Bytes size, Duration price, Bytes offered, bool limited = true);
  /// Records a third duplicate ACK, which ends slow start because it indicates a loss. Recovery itself is left to TCP.
  void on_loss();

  /// Skips slow start and sets the window in bytes, for a controller that replaces another one.
  void seed(Bytes window);

  [[nodiscard]] Bytes gain() const { return parameters_.gain; }
  [[nodiscard]] const ClampWindowState& state() const { return state_; }

  /// Calls visit(name, value) for each data member that changes after construction. The decision log, which records
  /// calls of controllers for a replay, stores and restores their state this way. Defined in
  /// control/decision_log/states.hpp.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  static constexpr std::size_t groups = 16;
  void measure(Instant now, double size);
  void advance(double size, double change, bool limited);
  void end_slow_start();

  ClampWindowParameters parameters_;
  // Ring of the last ν + 1 packets, in groups of consecutive packets.

  /// arrival time of the first packet of each group of per_group_ consecutive packets
  std::array<Instant, groups> firsts_{};
  std::array<std::uint32_t, groups> sizes_{};  ///< bytes of the packets in each group of per_group_ consecutive packets
  std::uint8_t newest_ = 0;
  std::uint8_t used_ = 0;
  /// number of consecutive packets in a group; the ring stores groups and not single packets, so its size is constant
  std::uint16_t per_group_;
  std::uint16_t in_newest_ = 0;
  double sum_ = 0;  ///< bytes of all packets whose groups are in the ring
  Instant last_{};
  double rate_ = 0;          ///< μ̂: measured rate in bytes/s
  double round_trip_s_ = 0;  ///< d̂: estimated round trip in seconds
  ClampWindowState state_;
};

}  // namespace sluice::control
