#pragma once

#include <cstdint>
#include <optional>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Whether what a Node-B reports of a UE can be true, by the UE's own acknowledgements. A report may be authentic and
/// wrong all the same: of another UE, of another cell, of a counter that stands still. What the UE has acknowledged was
/// transmitted before, and no acknowledged segment has waited longer than its round trip took. Reports that say
/// otherwise for two periods of two seconds are distrusted, until they have agreed for five such periods. State and
/// work are constant. No clock inside; thread: its owner's.
class ReportCheck {
 public:
  /// The UE has so many more bytes (IP), by segments of which the newest took `round_trip`; zero: unknown.
  void on_acknowledged(Bytes delivered, Duration round_trip);
  /// A report says what was transmitted, cumulative, and for how long what waits in the queue will take at the rate of
  /// late.
  void on_report(Instant now, std::uint64_t transmitted, Duration queued_for);
  /// The reports are another Node-B's from now on, whose counters begin anew. What was thought of the last one is gone.
  void restart() { *this = ReportCheck{}; }

  [[nodiscard]] bool trusted() const { return trusted_; }
  /// They were contradicted of late: nothing is to depend on them alone, so that acknowledgements come by which they
  /// can be judged.
  [[nodiscard]] bool doubtful() const { return wrong_ > 0; }

 private:
  void judge(std::uint64_t transmitted);
  /// Nothing while too little was acknowledged to tell.
  [[nodiscard]] std::optional<bool> contradicts(std::uint64_t transmitted) const;

  Instant period_began_{};
  std::uint64_t transmitted_before_ = 0;  ///< when the period began
  std::uint64_t acknowledged_ = 0;        ///< in this period
  Duration longest_trip_{};               ///< of what was acknowledged since the last report
  std::uint32_t reports_ = 0;             ///< in this period, that acknowledgements could tell of
  std::uint32_t impossible_ = 0;          ///< of these
  std::uint8_t wrong_ = 0;                ///< periods in a row
  std::uint8_t right_ = 0;
  bool began_ = false;
  bool trusted_ = true;
};

}  // namespace sluice::control
