// Fills the history of the live page from the newest snapshots of all shards. WebServer calls it once per second.
// Invariant: a value without samples is unknown (NaN), so that the page shows a gap instead of a zero.
#include "proxy/daemon/status/totals_history.hpp"

#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

namespace sluice::proxy {
namespace {

using Group = ProgramTotals::Group;

constexpr double bits_per_byte = 8;
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// Totals of the program at the start and at the end of the time that a row of the history covers.
struct Interval {
  const ProgramTotals& before;
  const ProgramTotals& now;

  [[nodiscard]] double per_second(std::uint64_t ProgramTotals::*counter) const {
    return static_cast<double>(now.*counter - before.*counter) / to_seconds(now.at - before.at);
  }
};

/// Totals of one group of UEs at the start and at the end of the time that a row of the history covers.
struct GroupInterval {
  const Group& before;
  const Group& now;
  Duration length;

  /// Returns the mean of a sampled value over the interval, or NaN if there is no sample. `sum` and `count` select the
  /// members of GroupTotals that are the sum of the samples and their number.
  [[nodiscard]] double mean(double GroupTotals::*sum, std::uint64_t GroupTotals::*count) const {
    const std::uint64_t samples = now.queues.*count - before.queues.*count;
    return samples == 0 ? unknown : (now.queues.*sum - before.queues.*sum) / static_cast<double>(samples);
  }
  /// Returns the rate in bit/s at which data left the radio queues. Returns NaN if it has never been measured, neither
  /// by Node-B reports nor by a controller.
  [[nodiscard]] double radio_bps() const {
    if (now.queues.samples == 0 && now.queues.transmitted == 0) return unknown;
    return bits_per_byte * static_cast<double>(now.queues.transmitted - before.queues.transmitted) / to_seconds(length);
  }
  [[nodiscard]] double rtt_s() const {
    const std::uint64_t samples = now.rtt_samples - before.rtt_samples;
    return samples == 0 ? unknown : to_seconds(now.rtt_sum - before.rtt_sum) / static_cast<double>(samples);
  }
};

struct Column {
  std::string_view name;
  double (*value)(const Interval&);
};
constexpr std::array columns{
    Column{"to_ue_bps", [](const Interval& i) { return bits_per_byte * i.per_second(&ProgramTotals::to_ue_bytes); }},
    Column{"from_ue_bps",
           [](const Interval& i) { return bits_per_byte * i.per_second(&ProgramTotals::from_ue_bytes); }},
    Column{"connections", [](const Interval& i) { return static_cast<double>(i.now.connections); }},
    Column{"bearers", [](const Interval& i) { return static_cast<double>(i.now.bearers); }},
    Column{"split_pps", [](const Interval& i) { return i.per_second(&ProgramTotals::split_packets); }},
    Column{"forwarded_pps", [](const Interval& i) { return i.per_second(&ProgramTotals::forwarded_packets); }},
    Column{"dropped_pps", [](const Interval& i) { return i.per_second(&ProgramTotals::dropped_packets); }},
};

struct GroupColumn {
  std::array<std::string_view, 2> names;  ///< indexed as ProgramTotals::groups
  double (*value)(const GroupInterval&);
};
constexpr std::array group_columns{
    GroupColumn{{"optimised_queue_bytes", "control_queue_bytes"},
                [](const GroupInterval& i) { return i.mean(&GroupTotals::queue_bytes, &GroupTotals::samples); }},
    GroupColumn{
        {"optimised_queue_delay_ms", "control_queue_delay_ms"},
        [](const GroupInterval& i) { return 1000 * i.mean(&GroupTotals::queue_delay_s, &GroupTotals::delay_samples); }},
    GroupColumn{{"optimised_rtt_ms", "control_rtt_ms"}, [](const GroupInterval& i) { return 1000 * i.rtt_s(); }},
    GroupColumn{{"optimised_radio_bps", "control_radio_bps"}, [](const GroupInterval& i) { return i.radio_bps(); }},
};

std::vector<std::string_view> column_names() {
  std::vector<std::string_view> names;
  for (const Column& column : columns) names.push_back(column.name);
  for (const GroupColumn& column : group_columns) names.insert(names.end(), column.names.begin(), column.names.end());
  return names;
}

}  // namespace

ProgramTotals totals_of(const StatusSource& status_source, Instant now) {
  ProgramTotals totals;
  const Counters counters = status_source.totals();
  totals.at = now;
  totals.to_ue_bytes = status_source.parts().ports.at(0)->counters().transmitted_bytes;
  totals.from_ue_bytes = status_source.parts().ports.at(1)->counters().transmitted_bytes;
  totals.connections = status_source.flow_count();
  totals.bearers = status_source.bearer_count();
  totals.split_packets = counters[Counter::optimised];
  totals.forwarded_packets = counters.forwarded();
  totals.dropped_packets = counters.dropped();
  for (std::size_t i = 0; i < totals.groups.size(); ++i) {
    Group& group = totals.groups.at(i);
    group.queues = status_source.group(i);
    for (const ShardChannel* channel : status_source.channels()) {
      const TimeHistogram& rtt = channel->snapshots.front().times.at(i).rtt;
      group.rtt_samples += rtt.counts().count();
      group.rtt_sum += rtt.sum();
    }
  }
  return totals;
}

TotalsHistory::TotalsHistory() : rows_(column_names()) {}

void TotalsHistory::add(const ProgramTotals& totals) {
  if (last_ && totals.at > last_->at) {
    std::array<float, columns.size() + 2 * group_columns.size()> row{};
    auto* next = row.begin();
    const Interval interval{*last_, totals};
    for (const Column& column : columns) *next++ = static_cast<float>(column.value(interval));
    for (const GroupColumn& column : group_columns) {
      for (std::size_t i = 0; i < totals.groups.size(); ++i) {
        *next++ = static_cast<float>(
            column.value({last_->groups.at(i), totals.groups.at(i), interval.now.at - interval.before.at}));
      }
    }
    rows_.add(to_seconds(totals.at.time_since_epoch()), row);
  }
  last_ = totals;
}

}  // namespace sluice::proxy
