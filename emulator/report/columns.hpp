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
  std::string text;  ///< description for the reference; the unit is in the name
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

/// Returns a column for a text member; it is written but not read.
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
/// Figures derived from a run's connections, queues or models. A new figure is a line here and a value in
/// RunResult::figures.
inline constexpr std::array figure_table = std::to_array<ColumnText>({
    {"upload_bps", "payload of all long uploads"},
    {"download_bps", "payload of all long downloads"},
    {"up_down_ratio", "throughput of the mean upload over that of the mean download"},
    {"flow_jain", "Jain's index over the long transfers that ran all the time"},
    {"flow_min_bps", "the slowest of these"},
    {"flow_max_bps", "the fastest of these"},
    {"flow_1_bps", "the first of these, by UE and age"},
    {"flow_2_bps", "the second"},
    {"flow_3_bps", "the third"},
    {"flow_4_bps", "the fourth"},
    {"flow_1_timeouts", "timeouts of the first one's server, of the whole run (output.flows)"},
    {"flow_2_timeouts", "of the second one's"},
    {"flow_3_timeouts", "of the third one's"},
    {"flow_4_timeouts", "of the fourth one's"},
    {"flow_1_variation", "standard deviation over mean of the first one's rate, by the second"},
    {"fetch_1mb_s", "mean time that 1 MB takes at the rates of these"},
    {"fetch_mean_ms", "mean of the fetch times"},
    {"fetch_max_ms", "the longest of them"},
    {"short_fetch_ms", "mean of the flows of less than 15 kB that came and went"},
    {"first_ue_short_fetch_ms", "those of the first UE alone"},
    {"medium_fetch_ms", "mean of the flows of 15 to 200 kB that came and went"},
    {"long_fetch_ms", "mean of the flows of more than 200 kB that came and went"},
    {"first_ue_to_4kb_ms", "of the first UE's flows that came and went, mean of those of up to 4 kB"},
    {"first_ue_to_6kb_ms", "… of more than that and up to 6 kB"},
    {"first_ue_to_10kb_ms", "… up to 10 kB"},
    {"first_ue_to_20kb_ms", "… up to 20 kB"},
    {"first_ue_to_50kb_ms", "… up to 50 kB"},
    {"first_ue_to_200kb_ms", "… up to 200 kB"},
    {"first_ue_to_1mb_ms", "… up to 1 MB"},
    {"backlogged_queues", "how many radio queues have something waiting, on average while any has"},
    {"backlogged_short_queues", "how many of them send a short flow's packet next, on average while any does"},
    {"page_mean_ms", "mean time of the pages of web applications, from the SYN to the last byte"},
    {"page_p50_ms", "median of that"},
    {"page_p95_ms", "95th percentile of that"},
    {"video_start_ms", "mean time from a video's SYN to the last byte of its first segment"},
    {"video_stalls", "how often a video stood still because its next segment was not there"},
    {"video_stalled_s", "how long, all of them together"},
    {"video_bit_rate_bps", "mean bit rate of the segments of videos"},
    {"video_switches", "how often a video's bit rate changed"},
    {"game_down_p50_ms", "median of the one-way delay of a game's datagrams to the UEs, propagation included"},
    {"game_down_p95_ms", "95th percentile of that"},
    {"game_down_p99_ms", "99th percentile of that"},
    {"game_down_loss", "share of these datagrams that did not come"},
    {"game_up_p50_ms", "median of the one-way delay of a game's datagrams from the UEs"},
    {"game_up_p95_ms", "95th percentile of that"},
    {"game_up_p99_ms", "99th percentile of that"},
    {"game_up_loss", "share of these datagrams that did not come"},
    {"rpm",
     "responsiveness in round trips per minute (draft-ietf-ippm-responsiveness, the case without TLS): mean of "
     "the next two"},
    {"rpm_fresh", "on fresh connections: a minute over the mean of handshake and answer"},
    {"rpm_kept", "on the connections that download: a minute over the time of an answer"},
    {"probe_fresh_ms", "handshake and answer on a fresh connection; trimmed means (95 %), as in these columns"},
    {"probe_kept_ms", "answer on a connection that downloads"},
    {"congestion_limits",
     "share of the looks at the first watched connection (output.windows) at which its congestion window was smaller "
     "than the advertised one"},
    {"lone_timeouts",
     "its timeouts with at most one drop at the radio queue in the two seconds before (output.windows and drops)"},
    {"drops_per_event",
     "drops of an event of loss (drop_events), on average, where connections are watched (output.windows)"},
    {"settle_s", "end of the first second in which the mean queue is within a fifth of the reference"},
    {"packets_per_s", "packets of the MTU that reached the UEs, repetitions apart: Ta"},
    {"spurious_share", "p1: spurious timeouts by the rates alone, over events of loss"},
    {"padhye_packets_per_s", "what Padhye's formula says"},
    {"padhye_error", "the error of that, |Ta - Te|/Ta"},
    {"model_packets_per_s", "what the throughput model for varying rates says"},
    {"model_error", "the error of that"},
    {"model_full_window",
     "the WLAN paper's Markov chain: an upload's window is full so many orders of magnitude longer "
     "than not"},
    {"model_ratio", "up_down_ratio by the M/M/1/K model"},
    {"access_point_data_share",
     "of the packets on an access point's air, the part that it sent and that were no bare ACKs (TCP segments without "
     "payload); this and the next five are of the whole run"},
    {"access_point_ack_share", "… that it sent and that were bare ACKs"},
    {"station_data_share", "… that stations sent and that were no bare ACKs"},
    {"station_ack_share", "… that stations sent and that were bare ACKs"},
    {"access_point_data_loss",
     "of the packets towards the stations that were no bare ACKs, the part that found no room"},
    {"access_point_ack_loss", "of the bare ACKs towards the stations, the part that found no room"},
    {"naive_ratio", "… by the WLAN paper's first explanation; nothing where it says nothing"},
});
/// Further counters of runs, in RunResult::counters. Drops and marks of routers are named after their hop.
inline constexpr std::array counter_table = std::to_array<ColumnText>({
    {"access_point_ack_drops", "bare ACKs that found no room in the access point"},
    {"access_point_acks", "bare ACKs (TCP segments without payload) that the access point sent"},
    {"access_point_data", "all other packets that it sent"},
    {"access_point_data_drops", "all other packets that found no room in it"},
    {"claims", "real time, with several proxies: UEs that nobody held and a proxy claimed"},
    {"claims_lapsed", "likewise: claims whose proxy said nothing of the UE any more"},
    {"claims_moved", "likewise: claims that one proxy took from another, since the UE's packets go through it now"},
    {"claims_refused", "likewise: statuses of UEs for which there was no room"},
    {"connections_failed", "connections of built-in UEs that were not opened, or broke"},
    {"drop_events", "drops on the way to the UEs, those within a round trip counted once"},
    {"drops_air", "packets of the radio queues dropped: left the radio queue and were lost on the air for good"},
    {"drops_early",
     "packets of the radio queues dropped: active queue management chose them, before the radio queue was full"},
    {"drops_full",
     "packets of the radio queues dropped: found no room in the radio queue, or had to go for another one"},
    {"drops_given_up", "packets of the radio queues dropped: not received after the last attempt"},
    {"drops_handover",
     "packets of the radio queues dropped: were for a UE that was handed over without forwarding, or found no room to "
     "wait for older packets"},
    {"drops_left", "packets of the radio queues dropped: waited for a UE that left"},
    {"end_markers_missed", "end markers of a handover that did not come in time"},
    {"feedback_lost", "datagrams of the feedback lost on their way, by reports.loss"},
    {"feedback_refused", "datagrams of the feedback that were not believed"},
    {"feedback_send_errors", "datagrams of the feedback that the socket did not take"},
    {"forwarded_bytes", "IP bytes that one Node-B handed on to another at handovers"},
    {"forwarded_packets", "packets that one Node-B handed on to another at handovers"},
    {"forwarding_drops", "packets dropped on the lines between Node-Bs"},
    {"handover_held_packets", "packets that came by the new path before the last of the old one, and waited"},
    {"handover_retransmissions", "segments sent again from a handover's beginning until some time after it"},
    {"handover_timeouts", "retransmission timeouts in that time"},
    {"handover_uplink_drops", "packets that found no room to wait while their UE was between Node-Bs"},
    {"handovers", "handovers that came about"},
    {"harq_blocks", "transport blocks sent for the first time"},
    {"harq_given_up", "transport blocks that hybrid ARQ gave up"},
    {"harq_retransmissions", "transport blocks sent again by hybrid ARQ"},
    {"hop_drops",
     "packets that the hops from the servers to the Node-Bs dropped on the way down after the warm-up, where any of "
     "them can: policers, buffers and routers' queues; in real time of the whole run"},
    {"lateness_max_us", "real time: how late the latest event was"},
    {"lateness_p50_us", "real time: how late events were, median"},
    {"lateness_p99_us", "real time: how late events were, 99th percentile"},
    {"payload_corrupted", "connections of built-in hosts that found a wrong byte"},
    {"port_drops", "real time: packets that a port did not send"},
    {"proxy_copies_failed", "packets that the proxy had no buffer for"},
    {"proxy_fast_recoveries", "losses that the proxy repaired towards the UEs without a timeout"},
    {"proxy_nodeb_down_drops", "packets dropped by policer, router or full buffer of the hop from proxy to Node-B"},
    {"proxy_nodeb_down_marks", "packets marked (ECN) there"},
    {"proxy_nodeb_up_drops", "packets dropped there, on the way up"},
    {"proxy_nodeb_up_marks", "packets marked (ECN) there, on the way up"},
    {"proxy_timeouts", "retransmission timeouts of the proxy towards the UEs"},
    {"radio_early_drops", "packets that a managed radio queue dropped before it was full"},
    {"radio_marks", "packets that a managed radio queue marked (ECN)"},
    {"report_echo_p50_us", "real time: from a report until a status says that its allowance was taken up, median"},
    {"report_echo_p99_us", "real time: the 99th percentile of that"},
    {"reporters_changed", "times that the proxy went over to another Node-B's reports of a UE"},
    {"reports", "reports that the Node-Bs sent"},
    {"reports_elsewhere", "reports of a UE that was with another Node-B by then"},
    {"reports_lost", "real time: reports that did not go out because their thread fell behind"},
    {"rlc_lost_packets", "packets lost on the air for good"},
    {"second_hop_drops", "packets dropped by the hops behind the UEs (second_hops), on the way down"},
    {"segments_unmatched", "segments that the meter saw first at a UE, or forgot because too many were in flight"},
    {"server_proxy_down_drops", "packets dropped by policer, router or full buffer of the hop from servers to proxy"},
    {"server_proxy_down_marks", "packets marked (ECN) there"},
    {"server_proxy_up_drops", "packets dropped there, on the way up"},
    {"server_proxy_up_marks", "packets marked (ECN) there, on the way up"},
    {"station_acks", "bare ACKs (TCP segments without payload) that the stations of an access point sent"},
    {"station_data", "all other packets that they sent"},
    {"station_drops", "packets that the stations of an access point dropped, on the way up"},
    {"statuses", "statuses that the proxy sent and the Node-Bs heard"},
    {"timeouts", "retransmission timeouts of whoever faces the radio"},
    {"ttis", "TTIs that the run had"},
    {"ttis_missed", "real time: TTIs by which events were late"},
    {"uplink_delay_p50_us",
     "delay of packets in the UEs' own uplink queues, median; of a scheduled uplink up to the end of the TTI that "
     "brings the last byte in order"},
    {"uplink_delay_p95_us", "95th percentile of that"},
    {"uplink_drops", "packets dropped by the UEs' own uplink queues, or lost on a scheduled uplink for good"},
    {"uplink_grants", "grants of a scheduled uplink"},
    {"uplink_padding", "of these, those for which the UE had nothing to send"},
    {"uplink_requests", "scheduling requests that the Node-B heard"},
    {"uplink_retransmissions", "transport blocks sent again on a scheduled uplink"},
});

/// Prefix of the columns with a paper's values; the name of the measured column follows.
inline constexpr std::string_view paper_prefix = "paper_";

/// Prefix of the columns with ratios over another run (RatioSpec); the name of the column follows.
inline constexpr std::string_view ratio_prefix = "ratio_";

/// Table of the key columns of a run; columns of sweeps are inserted before the last one.
inline constexpr std::array key_table = std::to_array<ColumnText>({
    {"scenario", "name of the scenario's file"},
    {"clock", "virtual or real"},
    {"mode", "none: no proxy; else the proxy's mode, or the label that a sweep gives it"},
    {"seed", "of everything random; behind the columns of sweeps"},
});

/// True if `column` is a figure, or the ratio of a column.
[[nodiscard]] bool is_figure(std::string_view column);
/// True if results.csv may have a column of this name, apart from keys.
[[nodiscard]] bool is_result_column(std::string_view column);
/// Returns a run's value in a column, or nothing if it has none.
[[nodiscard]] std::optional<double> column_value(const RunResult& result, std::string_view column);

/// An additional column of results.csv in the table, with its own unit.
struct ExtraColumn {
  std::string column;
  std::string unit;  ///< unit in the heading; may be empty
  double scale = 1;  ///< divisor of the column
};

}  // namespace sluice::emulator
