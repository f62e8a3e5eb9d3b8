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

/// One column of a table: its name, and how a cell is written and read.
template <typename Row>
struct Column {
  std::string name;
  std::function<std::string(const Row&)> write;
  std::function<void(Row&, double)> read;
};

template <typename Row>
Column<Row> number(std::string name, double Row::*member) {
  return {std::move(name), [member](const Row& row) { return format_number(row.*member); },
          [member](Row& row, double value) { row.*member = value; }};
}

template <typename Row>
Column<Row> count(std::string name, std::uint64_t Row::*member) {
  return {std::move(name), [member](const Row& row) { return std::to_string(row.*member); },
          [member](Row& row, double value) { row.*member = value < 0 ? 0 : static_cast<std::uint64_t>(value); }};
}

template <typename Row>
Column<Row> maybe(std::string name, std::optional<double> Row::*member) {
  return {std::move(name),
          [member](const Row& row) { return (row.*member) ? format_number(*(row.*member)) : std::string(); },
          [member](Row& row, double value) { row.*member = value; }};
}

/// The columns of a delay: NAME_p50_ms and so on.
template <typename Row>
void add_delay(std::vector<Column<Row>>& columns, const std::string& name, DelaySummary Row::*delay) {
  const std::array<std::pair<const char*, double DelaySummary::*>, 5> parts = {{{"p50", &DelaySummary::p50_ms},
                                                                                {"p95", &DelaySummary::p95_ms},
                                                                                {"p99", &DelaySummary::p99_ms},
                                                                                {"mean", &DelaySummary::mean_ms},
                                                                                {"max", &DelaySummary::max_ms}}};
  for (const auto& part : parts) {
    const auto member = part.second;
    columns.push_back({name + "_" + part.first + "_ms",
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

/// The columns of results.csv that every run has, in their order.
[[nodiscard]] const std::vector<Column<RunResult>>& measured_columns();

/// A column that only some runs have, and what it says.
struct ColumnText {
  std::string_view name;
  std::string_view text;
};
/// What is derived from a run's connections, its queue, or a model. A new figure is a line here and a value in
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
    {"flow_1_variation", "standard deviation over mean of the first one's rate, by the second"},
    {"fetch_1mb_s", "mean time that 1 MB takes at the rates of these"},
    {"fetch_mean_ms", "mean of the fetch times"},
    {"fetch_max_ms", "the longest of them"},
    {"short_fetch_ms", "mean of the flows of less than 15 kB that came and went"},
    {"first_ue_short_fetch_ms", "those of the first UE alone"},
    {"medium_fetch_ms", "mean of the flows of 15 to 200 kB that came and went"},
    {"long_fetch_ms", "mean of the flows of more than 200 kB that came and went"},
    {"settle_s", "end of the first second in which the mean queue is within a fifth of the reference"},
    {"packets_per_s", "packets of the MTU that reached the UEs, repetitions apart: Ta"},
    {"spurious_share", "p1: spurious timeouts by the rates alone, over events of loss"},
    {"padhye_packets_per_s", "what Padhye's formula says"},
    {"padhye_error", "the error of that, |Ta - Te|/Ta"},
    {"model_packets_per_s", "what the throughput model for varying rates says"},
    {"model_error", "the error of that"},
    {"model_ratio", "up_down_ratio by the M/M/1/K model"},
});
/// What runs count beside; RunResult::counters. The drops and marks of routers are named by their hop.
inline constexpr std::string_view counter_table[] = {"connections_failed",
                                                     "drop_events",
                                                     "drops_air",
                                                     "drops_early",
                                                     "drops_full",
                                                     "drops_given_up",
                                                     "drops_handover",
                                                     "drops_left",
                                                     "end_markers_missed",
                                                     "feedback_lost",
                                                     "feedback_refused",
                                                     "feedback_send_errors",
                                                     "forwarded_bytes",
                                                     "forwarded_packets",
                                                     "forwarding_drops",
                                                     "handover_held_packets",
                                                     "handover_retransmissions",
                                                     "handover_timeouts",
                                                     "handover_uplink_drops",
                                                     "handovers",
                                                     "harq_blocks",
                                                     "harq_given_up",
                                                     "harq_retransmissions",
                                                     "lateness_max_us",
                                                     "lateness_p50_us",
                                                     "lateness_p99_us",
                                                     "payload_corrupted",
                                                     "port_drops",
                                                     "proxy_copies_failed",
                                                     "proxy_fast_recoveries",
                                                     "proxy_nodeb_down_drops",
                                                     "proxy_nodeb_down_marks",
                                                     "proxy_nodeb_up_drops",
                                                     "proxy_nodeb_up_marks",
                                                     "proxy_timeouts",
                                                     "radio_early_drops",
                                                     "radio_marks",
                                                     "report_echo_p50_us",
                                                     "report_echo_p99_us",
                                                     "reporters_changed",
                                                     "reports",
                                                     "reports_elsewhere",
                                                     "reports_lost",
                                                     "rlc_lost_packets",
                                                     "segments_unmatched",
                                                     "server_proxy_down_drops",
                                                     "server_proxy_down_marks",
                                                     "server_proxy_up_drops",
                                                     "server_proxy_up_marks",
                                                     "station_drops",
                                                     "statuses",
                                                     "timeouts",
                                                     "ttis",
                                                     "ttis_missed",
                                                     "uplink_delay_p50_us",
                                                     "uplink_delay_p95_us",
                                                     "uplink_drops"};

/// Stands before the name of a column in that of the paper's value for it.
inline constexpr std::string_view paper_prefix = "paper_";

[[nodiscard]] bool is_figure(std::string_view column);
/// The table results.csv may have a column of this name, keys apart.
[[nodiscard]] bool is_result_column(std::string_view column);
/// What a run has in a column; nothing when it has none.
[[nodiscard]] std::optional<double> column_value(const RunResult& result, std::string_view column);

/// A column of results.csv that the table shows beside its usual ones, in a unit of its own.
struct ExtraColumn {
  std::string column;
  std::string unit;  ///< behind the heading; may be empty
  double scale = 1;  ///< the column is divided by it
};

}  // namespace sluice::emulator
