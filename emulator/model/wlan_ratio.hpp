#pragma once

namespace sluice::emulator {

/// Returns the share of arrivals that an M/M/1/K queue rejects: (1 − ρ)·ρ^K/(1 − ρ^(K+1)). `load` is ρ ≥ 0, `room` is K
/// ≥ 1. Throws std::invalid_argument otherwise.
[[nodiscard]] double queue_loss(double load, double room);

/// One upload and several downloads through an access point, as in the WLAN paper (Pilosof et al., INFOCOM 2003).
struct WlanShare {
  double buffer_packets = 100;  ///< buffer of the access point (B), packets, ≥ 1
  double window_packets = 42;   ///< receive window (w), packets, ≥ 1
  double downloads = 1;         ///< number of downloads (n), ≥ 1
  double acks_per_packet = 1;   ///< ACKs per packet of the upload (a), > 0
  double packets_per_ack = 1;   ///< packets per ACK of the downloads (bd), ≥ 1
};

/// Returns R, the throughput of the upload divided by that of one download (Pilosof, Ramjee, Raz, Shavitt and Sinha,
/// INFOCOM 2003, section IV). The other symbols are those of WlanShare. The access point sends one packet for each
/// packet of the upload, because stations get equal access. In the same time `a` ACKs of the upload and n/R packets of
/// the downloads arrive at it. So its buffer is an M/M/1/K queue with the load ρ = a + n/R. The upload always has its
/// full window, and the downloads follow the square-root law. This gives an equation, which is solved for R. R is 1 if
/// all windows fit into the buffer. Throws std::invalid_argument if a parameter is out of its range.
///
/// The available copy of the paper lacks this section's formulas, so these are an interpretation. For B ≤ w all packets
/// are assumed to be lost with equal probability P: R = w·√(2·P·bd/3). For larger B the upload's ACKs take at most w
/// places. The downloads have the other B − w places and fill ¾ of them on average, because a full window is halved at
/// a loss. The paper calls this the fixed part of the effective window. The other part is the result of the square-root
/// law for a buffer of w.
[[nodiscard]] double wlan_ratio(const WlanShare& share);

/// Returns the throughput ratio of wlan_ratio() by the paper's first, "naive" explanation: w·n/(¾·(B − w)). In it, the
/// upload's ACKs always take w places of the buffer. The downloads' windows vary between half of the other places and
/// all of them. The result is 1 if all windows fit into the buffer. For B ≤ w it is infinite and has no meaning. Throws
/// std::invalid_argument if a parameter is out of its range.
[[nodiscard]] double wlan_naive_ratio(const WlanShare& share);

/// Returns by how many powers of ten the upload's window is full for longer than it is not full: log10 of the ratio of
/// both times. The times come from the paper's Markov chain for small buffers, whose states are windows of 1, 2, 4, … w
/// packets. In each step the window doubles, unless all ACKs of a window are lost: then it restarts with one packet.
/// The loss probability is that of wlan_ratio(). The result is infinite if no ACK is lost. Throws std::invalid_argument
/// if a parameter is out of its range.
///
/// The available copy of the paper describes the Markov chain in words only, so the formula is an interpretation.
/// Losses of the ACKs of one window are assumed to be independent, and a step takes one round trip at every window.
/// Exponential timer backoff is not included, as the paper states.
[[nodiscard]] double wlan_full_window_orders(const WlanShare& share);

}  // namespace sluice::emulator
