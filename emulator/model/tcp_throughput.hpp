#pragma once

#include <vector>

namespace sluice::emulator {

/// A bottleneck with a varying rate, as in the throughput model of the SMVS paper (Ren and Lin, TMC 2011).
struct VaryingLink {
  std::vector<double> packets_per_s;  ///< rate of each interval in order (b_i), packets/s, ≥ 0; not empty
  double round_trip_s = 0.1;          ///< two-way propagation delay (τ), seconds, > 0
  double buffer_packets = 15;         ///< size of the buffer in front of the link (B), packets, > 0
};

/// Returns the number of intervals at whose start the rate falls from b to b' so far that the retransmission timer
/// expires without a loss: (b − b')/b' > 1 + 2·τ·b/(B + 2) (Ren and Lin, TMC 2011, eq. 5; τ and B as in VaryingLink).
/// Throws std::invalid_argument if the link is out of its range.
[[nodiscard]] unsigned spurious_timeouts(const VaryingLink& link);

/// Returns the throughput in packets/s of TCP NewReno over a link of varying rate (Ren and Lin, TMC 2011, eqs. 6–15).
/// `p1` is the share of losses after which the window starts from one packet, N_to/N_d (eq. 4), 0 … 1. Throws
/// std::invalid_argument if the link or p1 is out of its range.
///
/// One case is an interpretation of the paper: half of the largest window exceeds the mean rate times the round trip.
/// Then the paper's epoch A is empty, and its epoch B begins from that half.
[[nodiscard]] double varying_link_throughput(const VaryingLink& link, double p1);

/// Inputs of Padhye's formula.
struct PadhyeInput {
  double loss = 0.01;          ///< loss indications per packet sent (p), > 0
  double round_trip_s = 0.1;   ///< round trip time (RTT) in seconds, > 0
  double timeout_s = 0.2;      ///< retransmission timeout (T0) in seconds, ≥ 0
  double packets_per_ack = 1;  ///< packets per acknowledgement (b), ≥ 1
  double window = 1e9;         ///< largest window in packets (Wm), > 0
};
/// Returns the throughput in packets/s by Padhye, Firoiu, Towsley and Kurose (IEEE/ACM ToN 2000, eq. 30). Throws
/// std::invalid_argument if an input is out of its range.
[[nodiscard]] double padhye_throughput(const PadhyeInput& input);

}  // namespace sluice::emulator
