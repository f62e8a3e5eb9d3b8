#pragma once

#include <vector>

namespace sluice::emulator {

/// A bottleneck whose rate varies: what the throughput model of the SMVS paper knows of it.
struct VaryingLink {
  std::vector<double> packets_per_s;  ///< b_i: the rate of each interval, in their order; ≥ 0, not empty
  double round_trip_s = 0.1;          ///< τ: propagation there and back, > 0
  double buffer_packets = 15;         ///< B, > 0
};

/// How often the rate falls so far from one interval to the next that the timer expires with nothing lost (eq. 5):
/// (b − b')/b' > 1 + 2·τ·b/(B + 2).
[[nodiscard]] unsigned spurious_timeouts(const VaryingLink& link);

/// Throughput in packets/s of TCP NewReno over a link of varying rate (Ren and Lin, TMC 2011, eqs. 6–15). `p1`: share
/// of the losses after which the window starts from one, N_to/N_d (eq. 4), 0 … 1. Throws std::invalid_argument when the
/// link or p1 is out of its range.
///
/// Reading: where half of the largest window is more than the mean rate times round trip, epoch A is empty, and epoch B
/// begins from that half.
[[nodiscard]] double varying_link_throughput(const VaryingLink& link, double p1);

/// What Padhye's formula is told of a connection.
struct PadhyeInput {
  double loss = 0.01;          ///< p: loss indications per packet sent, > 0
  double round_trip_s = 0.1;   ///< RTT, > 0
  double timeout_s = 0.2;      ///< T0, ≥ 0
  double packets_per_ack = 1;  ///< b, ≥ 1
  double window = 1e9;         ///< Wm in packets, > 0
};
/// Throughput in packets/s by Padhye, Firoiu, Towsley and Kurose (IEEE/ACM ToN 2000, eq. 30). Throws
/// std::invalid_argument when an input is out of its range.
[[nodiscard]] double padhye_throughput(const PadhyeInput& input);

}  // namespace sluice::emulator
