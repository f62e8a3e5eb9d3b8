#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "dataplane/units/time.hpp"
#include "proxy/daemon/status/status_source.hpp"
#include "proxy/engine/base/info.hpp"
#include "proxy/ops/http/history.hpp"

namespace sluice::proxy {

/// Totals of the whole program at one time. All values are cumulative, except `connections` and `bearers`.
struct ProgramTotals {
  /// Totals of one group of UEs, which is the control group (never limited by rate controllers) or all other UEs.
  struct Group {
    GroupTotals queues;
    std::uint64_t rtt_samples = 0;
    Duration rtt_sum{};  ///< sum of the sampled round-trip times between proxy and UEs
  };

  Instant at{};
  std::uint64_t to_ue_bytes = 0;    ///< bytes of the frames that the radio port transmitted
  std::uint64_t from_ue_bytes = 0;  ///< bytes of the frames that the core port transmitted
  std::uint64_t connections = 0;
  std::uint64_t bearers = 0;
  std::uint64_t split_packets = 0;
  std::uint64_t forwarded_packets = 0;
  std::uint64_t dropped_packets = 0;
  /// Index 0 for the UEs that rate controllers may limit, index 1 for the control group, which they never limit.
  std::array<Group, 2> groups{};
};
/// Returns the totals according to the newest snapshots of all shards.
[[nodiscard]] ProgramTotals totals_of(const StatusSource& status_source, Instant now);

/// Totals of the program during the last hour, for the live page. They are divided by group of UEs: those that rate
/// controllers may limit, and the control group. A row contains the rates and means since the previous row. No row
/// contains values of single UEs, so the size of a row does not depend on the number of UEs. Thread: the control
/// thread.
class TotalsHistory {
 public:
  TotalsHistory();
  /// Adds a row that covers the time since the last call. The first call adds no row, because a rate needs the totals
  /// at two times.
  void add(const ProgramTotals& totals);
  [[nodiscard]] const page::History& rows() const { return rows_; }

 private:
  page::History rows_;
  std::optional<ProgramTotals> last_;
};

}  // namespace sluice::proxy
