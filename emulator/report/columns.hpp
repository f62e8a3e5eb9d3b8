#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/report/csv.hpp"
#include "emulator/report/result.hpp"

namespace sluice::emulator {

/// One column of a table: name, description, and functions that write and read a cell.
template <typename Row>
struct Column {
  std::string name;
  /// Description of the column for the reference of result files; the column's name contains the unit.
  std::string text;
  std::function<std::string(const Row&)> write;
  std::function<void(Row&, double)> read;
};

/// Returns a column for a member of type double.
template <typename Row>
Column<Row> number(std::string name, double Row::*member, std::string text) {
  return {std::move(name), std::move(text), [member](const Row& row) { return format_number(row.*member); },
          [member](Row& row, double value) { row.*member = value; }};
}

/// Returns a column for a counter; negative numbers are read as 0.
template <typename Row>
Column<Row> count(std::string name, std::uint64_t Row::*member, std::string text) {
  return {std::move(name), std::move(text), [member](const Row& row) { return std::to_string(row.*member); },
          [member](Row& row, double value) { row.*member = value < 0 ? 0 : static_cast<std::uint64_t>(value); }};
}

/// Returns a column for an optional number; a missing one is an empty cell.
template <typename Row>
Column<Row> maybe(std::string name, std::optional<double> Row::*member, std::string text) {
  return {std::move(name), std::move(text),
          [member](const Row& row) { return (row.*member) ? format_number(*(row.*member)) : std::string(); },
          [member](Row& row, double value) { row.*member = value; }};
}

/// Returns a column for a text member. The column is written to files but not read from them.
template <typename Row>
Column<Row> text(std::string name, std::string Row::*member, std::string text) {
  return {std::move(name), std::move(text), [member](const Row& row) { return row.*member; }, {}};
}

/// Adds the columns of a delay: NAME_p50_ms, NAME_p95_ms and so on.
template <typename Row>
void add_delay(std::vector<Column<Row>>& columns, const std::string& name, DelaySummary Row::*delay,
               const std::string& text) {
  struct Part {
    const char* name;
    const char* text;
    double DelaySummary::*member;
  };
  constexpr std::array<Part, 5> parts = {{{"p50", "median of ", &DelaySummary::p50_ms},
                                          {"p95", "95th percentile of ", &DelaySummary::p95_ms},
                                          {"p99", "99th percentile of ", &DelaySummary::p99_ms},
                                          {"mean", "mean of ", &DelaySummary::mean_ms},
                                          {"max", "largest of ", &DelaySummary::max_ms}}};
  for (const Part& part : parts) {
    const auto member = part.member;
    columns.push_back({name + "_" + part.name + "_ms", part.text + text,
                       [delay, member](const Row& row) {
                         const DelaySummary& summary = row.*delay;
                         return summary.count == 0 ? std::string() : format_number(summary.*member);
                       },
                       [delay, member](Row& row, double value) {
                         (row.*delay).*member = value;
                         (row.*delay).count = 1;
                       }});
  }
}

/// Returns the columns of results.csv that every run has, in order.
[[nodiscard]] const std::vector<Column<RunResult>>& measured_columns();

/// Name and description of a results column that only some runs have.
struct ColumnText {
  std::string_view name;
  std::string_view text;
};
/// Table of the figures: result columns that only some runs have, computed from connections, queues or models. A new
/// figure needs a line here and a value in RunResult::figures.
inline constexpr std::array figure_table = std::to_array<ColumnText>({
    {"upload_bps", "payload of all long uploads"},
    {"download_bps", "payload of all long downloads"},
    {"up_down_ratio", "throughput of the mean upload over that of the mean download"},
    {"flow_jain", "Jain's index over the long transfers that ran all the time"},
    {"flow_min_bps", "slowest long transfer that ran all the time"},
    {"flow_max_bps", "fastest long transfer that ran all the time"},
    {"flow_1_bps", "first such transfer, ordered by UE and age"},
    {"flow_2_bps", "second such transfer"},
    {"flow_3_bps", "third such transfer"},
    {"flow_4_bps", "fourth such transfer"},
    {"flow_1_timeouts", "retransmission timeouts of the server of transfer 1 in the whole run (output.flows)"},
    {"flow_2_timeouts", "retransmission timeouts of the server of transfer 2"},
    {"flow_3_timeouts", "retransmission timeouts of the server of transfer 3"},
    {"flow_4_timeouts", "retransmission timeouts of the server of transfer 4"},
    {"flow_1_variation", "standard deviation divided by mean of the rate of transfer 1, in intervals of one second"},
    {"fetch_1mb_s", "mean time for 1 MB at the rates of these transfers"},
    {"fetch_mean_ms", "mean of the fetch times"},
    {"fetch_max_ms", "longest fetch time"},
    {"short_fetch_ms", "mean completion time of flows of less than 15 kB"},
    {"first_ue_short_fetch_ms", "mean completion time of flows of less than 15 kB, first UE only"},
    {"medium_fetch_ms", "mean completion time of flows of 15 to 200 kB"},
    {"long_fetch_ms", "mean completion time of flows of more than 200 kB"},
    {"first_ue_to_4kb_ms", "mean completion time of the first UE's flows of up to 4 kB"},
    {"first_ue_to_6kb_ms", "mean completion time of the first UE's flows of 4 to 6 kB"},
    {"first_ue_to_10kb_ms", "mean completion time of the first UE's flows of 6 to 10 kB"},
    {"first_ue_to_20kb_ms", "mean completion time of the first UE's flows of 10 to 20 kB"},
    {"first_ue_to_50kb_ms", "mean completion time of the first UE's flows of 20 to 50 kB"},
    {"first_ue_to_200kb_ms", "mean completion time of the first UE's flows of 50 to 200 kB"},
    {"first_ue_to_1mb_ms", "mean completion time of the first UE's flows of 200 kB to 1 MB"},
    {"backlogged_queues", "mean number of non-empty radio queues, while at least one is non-empty"},
    {"backlogged_short_queues",
     "mean number of radio queues whose next packet belongs to a short flow, while at least one has such a packet"},
    {"page_mean_ms", "mean load time of web pages, from the SYN to the last byte"},
    {"page_p50_ms", "median load time of web pages"},
    {"page_p95_ms", "95th percentile of the load time of web pages"},
    {"video_start_ms", "mean time from a video's SYN to the last byte of its first segment"},
    {"video_stalls", "number of video stalls, because the next segment had not arrived"},
    {"video_stalled_s", "total time of video stalls"},
    {"video_bit_rate_bps", "mean bit rate of video segments"},
    {"video_switches", "number of changes of a video's bit rate"},
    {"game_down_p50_ms", "median of the one-way delay of a game's datagrams to the UEs, propagation included"},
    {"game_down_p95_ms", "95th percentile of the one-way delay of a game's datagrams to the UEs"},
    {"game_down_p99_ms", "99th percentile of the one-way delay of a game's datagrams to the UEs"},
    {"game_down_loss", "share of a game's datagrams to the UEs that were lost"},
    {"game_up_p50_ms", "median of the one-way delay of a game's datagrams from the UEs"},
    {"game_up_p95_ms", "95th percentile of the one-way delay of a game's datagrams from the UEs"},
    {"game_up_p99_ms", "99th percentile of the one-way delay of a game's datagrams from the UEs"},
    {"game_up_loss", "share of a game's datagrams from the UEs that were lost"},
    {"rpm",
     "responsiveness in round trips per minute (draft-ietf-ippm-responsiveness without TLS): mean of rpm_fresh and "
     "rpm_kept"},
    {"rpm_fresh", "responsiveness on new connections: a minute divided by the mean time of handshake and answer"},
    {"rpm_kept", "responsiveness on connections with downloads: a minute divided by the time of an answer"},
    {"probe_fresh_ms", "mean time of handshake and answer on a new connection; trimmed means (95 %), as in rpm"},
    {"probe_kept_ms", "mean time of an answer on a connection with a download (trimmed, 95 %)"},
    {"congestion_limits",
     "share of samples of the first watched connection (output.windows) in which its congestion window was smaller "
     "than the advertised window"},
    {"lone_timeouts",
     "retransmission timeouts of the first watched connection with at most one drop at the radio queue in the two "
     "seconds before "
     "(output.windows and drops)"},
    {"drops_per_event",
     "mean number of drops per loss event (drop_events), if connections are watched (output.windows)"},
    {"settle_s", "end of the first second in which the mean queue is within a fifth of the reference"},
    {"packets_per_s", "Ta: packets of MTU size that reached the UEs, without retransmissions"},
    {"spurious_share", "p1: spurious timeouts predicted from the rates, divided by loss events"},
    {"padhye_packets_per_s", "Te: throughput by Padhye's formula"},
    {"padhye_error", "error of Padhye's formula, |Ta - Te|/Ta"},
    {"model_packets_per_s", "throughput by the model for varying rates"},
    {"model_error", "error of the model for varying rates"},
    {"model_full_window",
     "the WLAN paper's Markov chain: orders of magnitude by which an upload's window is full longer than not full"},
    {"model_ratio", "up_down_ratio by the M/M/1/K model"},
    {"access_point_data_share",
     "share of packets on an access point's medium that the access point sent, without bare ACKs (TCP segments without "
     "payload); whole run, as in the next five columns"},
    {"access_point_ack_share", "share of packets on the medium that are bare ACKs from the access point"},
    {"station_data_share", "share of packets on the medium that stations sent, without bare ACKs"},
    {"station_ack_share", "share of packets on the medium that are bare ACKs from stations"},
    {"access_point_data_loss",
     "share of packets towards the stations, without bare ACKs, that did not fit into the access point's queue"},
    {"access_point_ack_loss", "share of bare ACKs towards the stations that did not fit into the access point's queue"},
    {"naive_ratio", "this share by the WLAN paper's first explanation; empty if it gives none"},
});
/// Table of further counters of runs, stored in RunResult::counters. The names of the counters of a router's drops and
/// marks contain the name of its hop.
inline constexpr std::array counter_table = std::to_array<ColumnText>({
    {"access_point_ack_drops", "bare ACKs that did not fit into the access point's queue"},
    {"access_point_acks", "bare ACKs (TCP segments without payload) that the access point sent"},
    {"access_point_data", "other packets that the access point sent"},
    {"access_point_data_drops", "other packets that did not fit into the access point's queue"},
    {"claims", "real time with several proxies: UEs without an owner that a proxy claimed"},
    {"claims_lapsed", "real time with several proxies: claims that lapsed because the proxy no longer reported the UE"},
    {"claims_moved",
     "real time with several proxies: claims that one proxy took from another because the UE's packets now go through "
     "it"},
    {"claims_refused", "real time with several proxies: statuses of UEs beyond the maximum number"},
    {"connections_failed", "connections of built-in UEs that were not opened, or broke"},
    {"drop_events", "loss events on the path to the UEs: drops within one round trip count once"},
    {"drops_air", "packets of the radio queues dropped: left the radio queue and were finally lost on the air"},
    {"drops_early",
     "packets of the radio queues dropped: dropped by active queue management before the radio queue was full"},
    {"drops_full",
     "packets of the radio queues dropped: did not fit into the radio queue, or were evicted for another packet"},
    {"drops_given_up", "packets of the radio queues dropped: not received after the last attempt"},
    {"drops_handover",
     "packets of the radio queues dropped: were for a UE that was handed over without forwarding, or did not fit into "
     "the buffer for packets that wait for older ones"},
    {"drops_left", "packets of the radio queues dropped: were queued for a UE that left"},
    {"end_markers_missed", "end markers of a handover that did not arrive in time"},
    {"feedback_lost", "feedback datagrams lost on the path because of reports.loss"},
    {"feedback_refused", "feedback datagrams that were refused"},
    {"feedback_send_errors", "feedback datagrams that the socket did not accept"},
    {"forwarded_bytes", "IP bytes that one Node-B forwarded to another at handovers"},
    {"forwarded_packets", "packets that one Node-B forwarded to another at handovers"},
    {"forwarding_drops", "packets dropped on the lines between Node-Bs"},
    {"handover_held_packets",
     "packets that arrived on the new path before the last packet of the old path, and waited"},
    {"handover_retransmissions", "segments retransmitted from the start of a handover until some time after it"},
    {"handover_timeouts", "retransmission timeouts in that time"},
    {"handover_uplink_drops", "packets that did not fit into the buffer while their UE was between Node-Bs"},
    {"handovers", "completed handovers"},
    {"harq_blocks", "transport blocks sent for the first time"},
    {"harq_given_up", "transport blocks that hybrid ARQ gave up"},
    {"harq_retransmissions", "transport blocks retransmitted by hybrid ARQ"},
    {"hop_drops",
     "packets that the hops from the servers to the Node-Bs dropped on the downlink after the warm-up (policers, "
     "buffers and routers' queues), if any of them can drop; in real time of the whole run"},
    {"lateness_max_us", "real time: how late the latest event was"},
    {"lateness_p50_us", "real time: how late events were, median"},
    {"lateness_p99_us", "real time: how late events were, 99th percentile"},
    {"payload_corrupted", "connections of built-in hosts that received a wrong byte"},
    {"port_drops", "real time: packets that a port did not send"},
    {"proxy_copies_failed", "packets that the proxy had no buffer for"},
    {"proxy_fast_recoveries", "loss recoveries of the proxy towards the UEs without a timeout"},
    {"proxy_nodeb_down_drops", "packets dropped by policer, router or full buffer of the hop from proxy to Node-B"},
    {"proxy_nodeb_down_marks", "packets marked (ECN) by this hop on the downlink"},
    {"proxy_nodeb_up_drops", "packets dropped by this hop on the uplink"},
    {"proxy_nodeb_up_marks", "packets marked (ECN) by this hop on the uplink"},
    {"proxy_timeouts", "retransmission timeouts of the proxy towards the UEs"},
    {"radio_early_drops", "packets that active queue management dropped before the radio queue was full"},
    {"radio_marks", "packets that active queue management of a radio queue marked (ECN)"},
    {"report_echo_p50_us", "real time: time from a report until a status confirms its allowance, median"},
    {"report_echo_p99_us", "real time: time from a report until a status confirms its allowance, 99th percentile"},
    {"reporters_changed", "times that the proxy switched to another Node-B's reports of a UE"},
    {"reports", "reports that the Node-Bs sent"},
    {"reports_elsewhere", "reports of a UE that was already served by another Node-B"},
    {"reports_lost", "real time: reports that were not sent because their thread fell behind"},
    {"rlc_lost_packets", "packets finally lost on the air"},
    {"second_hop_drops", "packets dropped by the hops behind the UEs (second_hops) on the downlink"},
    {"segments_unmatched", "segments that the meter saw first at a UE, or discarded because too many were in flight"},
    {"server_proxy_down_drops", "packets dropped by policer, router or full buffer of the hop from servers to proxy"},
    {"server_proxy_down_marks", "packets marked (ECN) by this hop on the downlink"},
    {"server_proxy_up_drops", "packets dropped by this hop on the uplink"},
    {"server_proxy_up_marks", "packets marked (ECN) by this hop on the uplink"},
    {"station_acks", "bare ACKs (TCP segments without payload) that the stations of an access point sent"},
    {"station_data", "other packets that the stations sent"},
    {"station_drops", "packets that the stations of an access point dropped on the uplink"},
    {"statuses", "statuses that the proxy sent and the Node-Bs received"},
    {"timeouts", "retransmission timeouts of the sender on the radio leg"},
    {"ttis", "TTIs of the run"},
    {"ttis_missed", "real time: TTIs by which events were late"},
    {"uplink_delay_p50_us",
     "delay of packets in the UEs' own uplink queues, median; with a scheduled uplink, up to the end of the TTI that "
     "delivers the last byte in order"},
    {"uplink_delay_p95_us", "delay of packets in the UEs' own uplink queues, 95th percentile"},
    {"uplink_drops", "packets dropped by the UEs' own uplink queues, or finally lost on a scheduled uplink"},
    {"uplink_grants", "grants of a scheduled uplink"},
    {"uplink_padding", "grants of a scheduled uplink for which the UE had no data"},
    {"uplink_requests", "scheduling requests that the Node-B received"},
    {"uplink_retransmissions", "transport blocks retransmitted on a scheduled uplink"},
});

/// Prefix of the columns with a paper's values. A column's name is the prefix and the name of the measured column.
inline constexpr std::string_view paper_prefix = "paper_";

/// Prefix of the columns with ratios over another run (RatioSpec). A column's name is the prefix and the name of the
/// column whose values are divided.
inline constexpr std::string_view ratio_prefix = "ratio_";

/// Table of the columns that identify a run. The columns of sweeps are inserted before the last one, the seed.
inline constexpr std::array key_table = std::to_array<ColumnText>({
    {"scenario", "name of the scenario's file"},
    {"clock", "virtual or real"},
    {"mode", "none: no proxy; else the proxy's mode, or the label that a sweep gives it"},
    {"seed", "seed of all random numbers; after the columns of sweeps"},
});

/// True if `column` is in figure_table (the result columns that only some runs have) or contains ratios of another
/// column.
[[nodiscard]] bool is_figure(std::string_view column);
/// True if results.csv may have a column of this name. Columns that identify a run do not count.
[[nodiscard]] bool is_result_column(std::string_view column);
/// Returns a run's value in a column, or nothing if it has none.
[[nodiscard]] std::optional<double> column_value(const RunResult& result, std::string_view column);

/// A column of results.csv that a report's table shows in addition to the columns of every report, with a unit of its
/// own.
struct ExtraColumn {
  std::string column;
  std::string unit;  ///< unit in the heading; may be empty
  double scale = 1;  ///< divisor of the column
};

}  // namespace sluice::emulator
