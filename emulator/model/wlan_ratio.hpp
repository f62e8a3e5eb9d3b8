#pragma once

namespace sluice::emulator {

/// Share of arrivals that an M/M/1/K queue turns away: (1 − ρ)·ρ^K/(1 − ρ^(K+1)). `load` ρ ≥ 0, `room` K ≥ 1.
[[nodiscard]] double queue_loss(double load, double room);

/// One upload and some downloads through an access point, as the WLAN paper sees them.
struct WlanShare {
  double buffer_packets = 100;  ///< B of the access point, ≥ 1
  double window_packets = 42;   ///< w of the receivers, ≥ 1
  double downloads = 1;         ///< n, ≥ 1
  double acks_per_packet = 1;   ///< a, of the upload, > 0
  double packets_per_ack = 1;   ///< bd, of the downloads, ≥ 1
};

/// Throughput of the upload over that of one download, by Pilosof, Ramjee, Raz, Shavitt and Sinha (INFOCOM 2003,
/// section IV): the access point's buffer as M/M/1/K with ρ = a + n/R, since it is served as often as an uploading
/// station; the upload at its full window, the downloads by the square-root law; solved for R. 1 where everybody's
/// window has room. Throws std::invalid_argument when a parameter is out of its range.
///
/// Reading: our copy has lost this section's formulas. For B ≤ w the loss is taken as uniform: R = w·√(2·P·bd/3).
/// Above, the upload's ACKs can hold no more than w places; the rest, B − w, is the downloads' own and is filled to ¾
/// on average (a window that is halved when it is full), which the text calls the fixed part of the effective window;
/// the other part is what the square-root law gives for a buffer of w.
[[nodiscard]] double wlan_ratio(const WlanShare& share);

/// The same by the paper's first explanation, its "naive" line: the upload's ACKs hold w places of the buffer all the
/// time, and the downloads' windows swing between half of the others and all of them: w·n/(¾·(B − w)). It means
/// nothing for B ≤ w, where it is infinite. Throws as wlan_ratio() does.
[[nodiscard]] double wlan_naive_ratio(const WlanShare& share);

/// How many orders of magnitude longer the upload's window is full than not, by the paper's Markov chain for small
/// buffers: log10 of the ratio of the two shares of time. Its states are windows of 1, 2, 4, … w packets. In each step
/// the window doubles, or begins anew with one packet when all ACKs of a window are lost, each by the chance that
/// wlan_ratio() comes to. Infinite where no ACK is lost. Throws as wlan_ratio() does.
///
/// Reading: of the chain our copy has kept the words only. Losses of the ACKs of one window are taken as independent,
/// and a step as one round trip at every window; timers that double are not in it, as the paper says.
[[nodiscard]] double wlan_full_window_orders(const WlanShare& share);

}  // namespace sluice::emulator
