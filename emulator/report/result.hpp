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

/// Key of a run: the values that distinguish it from others.
struct RunKey {
  std::string scenario;
  std::string clock;  ///< "virtual" or "real"
  std::string mode;   ///< mode name such as "none", "bypass", "i-tcp", "smvs"
  std::uint64_t seed = 0;
  std::vector<std::pair<std::string, std::string>> swept;  ///< swept columns with values, in the order of the scenario

  friend bool operator==(const RunKey&, const RunKey&) = default;
};

/// One interval of one run. Rates are means over the interval.
struct SeriesPoint {
  double time_s = 0;             ///< time from the start of the run to the end of the interval
  double link_rate_bps = 0;      ///< capacity of the radio, with padding of radio frames
  double link_used_bps = 0;      ///< rate that the radio carried, with padding of radio frames
  double throughput_bps = 0;     ///< TCP payload acknowledged by the UEs and UDP payload that reached them
  double outstanding_bytes = 0;  ///< bytes in flight between proxy and UEs
  /// Bytes that the Node-B's reports in this interval allow the proxy to send, as a rate.
  std::optional<double> allowance_bps;
  double queue_bytes = 0;  ///< bytes in the radio queues at the end of the interval, with padding of radio frames
  double queue_frames = 0;
  /// Sum over the UEs of the target length q0 of the radio queue; absent if no Node-B runs the SMVS controller.
  std::optional<double> reference_bytes;
  std::optional<double> router_queue_bytes;  ///< bytes in the router between servers and proxy, if there is one

  /// Largest radio queueing delay in the interval; absent if no packet left a radio queue.
  std::optional<double> radio_queue_delay_ms;
  /// Largest queueing delay from the proxy to the UE in the interval; absent if no segment reached a UE.
  std::optional<double> proxy_to_ue_delay_ms;
  /// Largest queueing delay from the server to the UE in the interval; absent if no segment reached a UE.
  std::optional<double> server_to_ue_delay_ms;
  std::uint64_t drops = 0;
  std::uint64_t retransmissions = 0;  ///< retransmitted segments that passed the output of the proxy towards the UEs
};

/// One UE in one interval of one run. Counters are cumulative since the start of the run, in IP bytes or packets. Rates
/// and queues include padding of radio frames.
struct UePoint {
  double time_s = 0;  ///< time from the start of the run to the end of the interval
  std::string ue;
  std::string nodeb;         ///< name of the serving Node-B
  std::string state;         ///< radio state: "normal", "outage", "handover", "released"
  double link_rate_bps = 0;  ///< capacity of the UE's link in the interval if the link were not shared
  double link_used_bps = 0;  ///< rate that the UE's link carried
  /// Share of the interval's TTIs, or of their resource blocks, that was allocated to the UE.
  double airtime = 0;
  double queue_bytes = 0;       ///< bytes in the UE's radio queue at the end of the interval
  double queue_mean_bytes = 0;  ///< mean bytes in the UE's radio queue over the interval
  std::uint64_t arrived_bytes = 0;
  std::uint64_t transmitted_bytes = 0;
  std::uint64_t delivered_bytes = 0;
  std::uint64_t dropped_bytes = 0;
  std::uint64_t dropped_packets = 0;
  std::uint64_t lost_packets = 0;  ///< packets lost on the air after the last retransmission
  /// IP bytes that one Node-B forwarded to another; they are not counted again as arrived there.
  std::uint64_t forwarded_bytes = 0;
};

/// One connection of a built-in application.
struct FlowRow {
  std::string application;
  std::string ue;
  std::uint16_t ue_port = 0;
  std::string direction;  ///< "download" or "upload"
  double opened_s = 0;    ///< time from the start of the run to the SYN
  std::optional<double> handshake_ms;
  double completion_ms = 0;  ///< time from the SYN to the last byte, or to the end of the run
  std::uint64_t bytes = 0;
  double throughput_bps = 0;  ///< bytes over completion time
  double measured_bps = 0;    ///< throughput of a bulk transfer after the warm-up; 0 for other flows
  std::uint64_t ue_retransmissions = 0;
  std::uint64_t server_retransmissions = 0;
  std::uint64_t ue_timeouts = 0;
  std::uint64_t server_timeouts = 0;
  double ue_srtt_ms = 0;
  double server_srtt_ms = 0;
  std::string ended;  ///< reason for which the connection ended; "running" if it was open at the end of the run
};

/// One packet that left a radio queue or was dropped there.
struct PacketRow {
  double time_s = 0;
  std::string ue;
  std::string event;  ///< "departed" or "dropped"
  std::uint32_t bytes = 0;
  double queueing_ms = 0;  ///< queueing delay of a departed packet
};

/// Congestion window, receive window and bytes in flight of one connection at a server, at the end of an interval.
struct WindowRow {
  double time_s = 0;  ///< time since the start of the run
  std::string server;
  std::string ue;
  std::uint16_t ue_port = 0;
  double congestion_bytes = 0;  ///< cwnd in bytes
  double advertised_bytes = 0;  ///< receive window as received by the server; a proxy may have reduced it
  double in_flight_bytes = 0;
  std::uint64_t timeouts = 0;  ///< retransmission timeouts so far
};

/// One TCP segment that a radio queue dropped.
struct DropRow {
  double time_s = 0;  ///< time since the start of the run
  std::string ue;
  std::string source;  ///< address of the sender
  std::uint16_t source_port = 0;
  std::uint16_t ue_port = 0;
  std::string reason;  ///< reason of the drop, one of the names of DropReason
  /// Offset of the segment's first payload byte from the first payload byte of the connection, modulo 2^32.
  double sequence_bytes = 0;
};

/// Statistics of one flow in a radio queue.
struct QueueRow {
  std::string ue;
  std::string source;  ///< address of the sender
  std::uint16_t source_port = 0;
  std::uint16_t ue_port = 0;
  std::uint64_t packets = 0;  ///< packets of the flow that left the queue
  std::uint64_t bytes = 0;    ///< IP bytes of the flow that left the queue
  std::uint64_t dropped_packets = 0;
  std::uint64_t dropped_bytes = 0;
  double queue_mean_bytes = 0;  ///< mean number of IP bytes of the flow in the queue
  DelaySummary delay;           ///< delay in the queue
};

/// Results of one run, over the time after its warm-up.
struct RunResult {
  RunKey key;
  double measured_s = 0;
  /// Payload that arrived, divided by the payload that the radio could have carried in full packets.
  double goodput = 0;
  double utilisation = 0;          ///< bytes that the radio carried, divided by the bytes that it could have carried
  double throughput_bps = 0;       ///< TCP payload acknowledged by the UEs and UDP payload that reached them
  DelaySummary radio_queue_delay;  ///< delay from entering the radio queue to the last byte on the air
  DelaySummary proxy_to_ue_delay;  ///< queueing delay from the proxy to the UE, without propagation
  DelaySummary server_to_ue_delay;
  double queue_mean_frames = 0;  ///< mean number of frames in the radio queue over time
  double queue_stddev_frames = 0;
  double queue_empty = 0;             ///< share of the time in which the radio queue was empty
  std::uint64_t drops = 0;            ///< packets dropped by the radio queue or lost on the air
  std::uint64_t retransmissions = 0;  ///< retransmitted segments that passed the output of the proxy towards the UEs
  std::uint64_t server_retransmissions = 0;
  double jain = 1;            ///< Jain's fairness index of the UEs' throughput, 1/n … 1
  std::uint64_t fetches = 0;  ///< objects fetched by request/response applications
  std::optional<double> fetch_p50_ms;
  std::optional<double> fetch_p95_ms;
  std::map<std::string, std::uint64_t> counters;  ///< further counters such as TTIs missed or reports lost
  std::map<std::string, double> figures;  ///< values that only some runs have, by the name of the column (figure_table)
  std::map<std::string, double> paper;    ///< values that a paper states for this run, by column
  std::vector<SeriesPoint> series;
  std::vector<UePoint> ues;        ///< states of the UEs over time; empty unless requested
  std::vector<FlowRow> flows;      ///< connections; empty unless requested
  std::vector<PacketRow> packets;  ///< packets of the radio queues; empty unless requested
  std::vector<QueueRow> queues;    ///< flows in the radio queues; empty unless requested
  std::vector<WindowRow> windows;  ///< congestion and receive windows of connections over time; empty unless requested
  std::vector<DropRow> dropped;    ///< TCP segments that radio queues dropped; empty unless requested
};

/// Returns Jain's fairness index (Σx)² / (n·Σx²); 1 if nothing was sent or `shares` is empty.
[[nodiscard]] double jain_index(const std::vector<double>& shares);

}  // namespace sluice::emulator
