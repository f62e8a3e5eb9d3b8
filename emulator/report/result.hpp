#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/units/time.hpp"
#include "emulator/report/delay_digest.hpp"

namespace sluice::emulator {

/// What names one run among others: the row's keys.
struct RunKey {
  std::string scenario;
  std::string clock;  ///< "virtual" or "real"
  std::string mode;   ///< "none", "bypass", "i-tcp", "smvs"
  std::uint64_t seed = 0;
  std::vector<std::pair<std::string, std::string>> swept;  ///< column and value, in the order of the scenario

  friend bool operator==(const RunKey&, const RunKey&) = default;
};

/// One interval of one run. Rates are over the interval.
struct SeriesPoint {
  double time_s = 0;                    ///< end of the interval, since the run began
  double link_rate_bps = 0;             ///< what the radio could have carried, IP bytes
  double link_used_bps = 0;             ///< what it carried
  double throughput_bps = 0;            ///< TCP payload the UEs acknowledged and UDP payload that reached them
  double outstanding_bytes = 0;         ///< sent past the proxy and not acknowledged: the window in use
  std::optional<double> allowance_bps;  ///< what the last report granted, as a rate
  double queue_bytes = 0;               ///< in the radio queues at the end
  double queue_frames = 0;
  std::optional<double> reference_bytes;     ///< q0 where the law runs at the Node-B
  std::optional<double> router_queue_bytes;  ///< in the router from servers to proxy at the end, where there is one
  /// Largest in the interval, as the next two; nothing where nothing came.
  std::optional<double> radio_queue_delay_ms;
  std::optional<double> proxy_to_ue_delay_ms;
  std::optional<double> server_to_ue_delay_ms;
  std::uint64_t drops = 0;
  std::uint64_t retransmissions = 0;  ///< sent past the proxy again
};

/// One UE in one interval of one run. Counters are cumulative since the run began; bytes are IP bytes.
struct UePoint {
  double time_s = 0;  ///< end of the interval, since the run began
  std::string ue;
  std::string nodeb;            ///< name of the Node-B it is with
  std::string state;            ///< of its radio: "normal", "outage", "handover", "released"
  double link_rate_bps = 0;     ///< what its link could have carried in the interval, had it been its own
  double link_used_bps = 0;     ///< what it carried
  double airtime = 0;           ///< share of the interval's TTIs it was given
  double queue_bytes = 0;       ///< in its radio queue at the end
  double queue_mean_bytes = 0;  ///< over the interval
  std::uint64_t arrived_bytes = 0;
  std::uint64_t transmitted_bytes = 0;
  std::uint64_t delivered_bytes = 0;
  std::uint64_t dropped_bytes = 0;
  std::uint64_t dropped_packets = 0;
  std::uint64_t lost_packets = 0;     ///< on the air, for good
  std::uint64_t forwarded_bytes = 0;  ///< handed on to other Node-Bs; each arrived once
};

/// One connection of a built-in application.
struct FlowRow {
  std::string application;
  std::string ue;
  std::uint16_t ue_port = 0;
  std::string direction;  ///< "download" or "upload"
  double opened_s = 0;    ///< SYN sent, since the run began
  std::optional<double> handshake_ms;
  double completion_ms = 0;  ///< from SYN to the last byte, or to the end of the run
  std::uint64_t bytes = 0;
  double throughput_bps = 0;  ///< bytes over completion time
  double measured_bps = 0;    ///< of one long transfer: over the time after the warm-up
  std::uint64_t ue_retransmissions = 0;
  std::uint64_t server_retransmissions = 0;
  std::uint64_t ue_timeouts = 0;
  std::uint64_t server_timeouts = 0;
  double ue_srtt_ms = 0;
  double server_srtt_ms = 0;
  std::string ended;  ///< why; "running" when it was not over
};

/// One packet that left a radio queue or was dropped there.
struct PacketRow {
  double time_s = 0;
  std::string ue;
  std::string event;  ///< "departed" or "dropped"
  std::uint32_t bytes = 0;
  double queueing_ms = 0;  ///< of one that departed
};

/// The windows of one connection at a server, at the end of an interval.
struct WindowRow {
  double time_s = 0;  ///< since the run began
  std::string server;
  std::string ue;
  std::uint16_t ue_port = 0;
  double congestion_bytes = 0;  ///< cwnd
  double advertised_bytes = 0;  ///< what the receiver offers, as it came: a proxy on the way may have made it smaller
  double in_flight_bytes = 0;
  std::uint64_t timeouts = 0;  ///< of the retransmission timer, so far
};

/// One TCP segment that a radio queue dropped.
struct DropRow {
  double time_s = 0;  ///< since the run began
  std::string ue;
  std::string source;  ///< the other end
  std::uint16_t source_port = 0;
  std::uint16_t ue_port = 0;
  std::string reason;         ///< as in the counters drops_…
  double sequence_bytes = 0;  ///< of its first byte of payload, from the connection's first on
};

/// What the radio queue was to one flow.
struct QueueRow {
  std::string ue;
  std::string source;  ///< the other end
  std::uint16_t source_port = 0;
  std::uint16_t ue_port = 0;
  std::uint64_t packets = 0;  ///< that left the queue
  std::uint64_t bytes = 0;    ///< of them, IP
  std::uint64_t dropped_packets = 0;
  std::uint64_t dropped_bytes = 0;
  double queue_mean_bytes = 0;  ///< the flow's part of the queue, mean over the time
  DelaySummary delay;           ///< in the queue
};

/// What one run came to, over the time after its warm-up.
struct RunResult {
  RunKey key;
  double measured_s = 0;
  double goodput = 0;              ///< payload that arrived / what the radio could have carried of it in full packets
  double utilisation = 0;          ///< carried by the radio / what it could have carried
  double throughput_bps = 0;       ///< TCP payload acknowledged by the UEs and UDP payload that reached them
  DelaySummary radio_queue_delay;  ///< from entering the radio queue to the last byte on the air
  DelaySummary proxy_to_ue_delay;  ///< queueing only: propagation is taken off
  DelaySummary server_to_ue_delay;
  double queue_mean_frames = 0;  ///< time average of the radio queue
  double queue_stddev_frames = 0;
  double queue_empty = 0;             ///< share of the time in which the queue was empty
  std::uint64_t drops = 0;            ///< packets the radio queue turned away or dropped early, or lost on the air
  std::uint64_t retransmissions = 0;  ///< segments sent towards the UEs more than once, by whoever faces the radio
  std::uint64_t server_retransmissions = 0;
  double jain = 1;            ///< fairness of throughput between UEs, 1/n … 1
  std::uint64_t fetches = 0;  ///< objects fetched by request/response applications
  std::optional<double> fetch_p50_ms;
  std::optional<double> fetch_p95_ms;
  std::map<std::string, std::uint64_t> counters;  ///< what else a run counts: TTIs missed, reports lost, …
  std::map<std::string, double> figures;          ///< what only some runs have; the names are in figure_table
  std::map<std::string, double> paper;            ///< what a paper gives for this run, by column
  std::vector<SeriesPoint> series;
  std::vector<UePoint> ues;        ///< where asked
  std::vector<FlowRow> flows;      ///< where asked
  std::vector<PacketRow> packets;  ///< where asked
  std::vector<QueueRow> queues;    ///< where asked
  std::vector<WindowRow> windows;  ///< where asked
  std::vector<DropRow> dropped;    ///< where asked
};

/// Jain's index of fairness (Σx)² / (n·Σx²); 1 when nothing was sent or there is nobody.
[[nodiscard]] double jain_index(const std::vector<double>& shares);

}  // namespace sluice::emulator
