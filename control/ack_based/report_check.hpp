#pragma once

#include <cstdint>
#include <optional>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Checks a Node-B's reports of a UE against the UE's own ACKs. An authentic report can be wrong: it may describe
/// another UE or cell, or its counter may not advance. Acknowledged bytes must have been transmitted before, and no
/// acknowledged segment can have waited longer than its RTT. Reports that contradict this for two periods of two
/// seconds are distrusted until they agree for five such periods. Memory and work per call are constant. Reads no
/// clock. Not thread-safe.
class ReportCheck {
 public:
  /// Records that the UE has received `delivered` more IP bytes. `round_trip` is the RTT of the newest segment; zero:
  /// unknown. Calls before the first report have no effect on later results, because that report begins the comparison.
  void on_acknowledged(Bytes delivered, Duration round_trip);
  /// Records a Node-B report. `transmitted` is the Node-B's cumulative count of transmitted bytes. If it is less than
  /// in the report before, the counter has restarted, and the ACKs between both reports are not compared with it.
  /// `queued_for` is the reported queue divided by the recent rate, which is the time until the queue is transmitted.
  void on_report(Instant now, std::uint64_t transmitted, Duration queued_for);
  /// Discards all state, because the reports now come from another Node-B with new counters.
  void restart() { *this = ReportCheck{}; }

  /// False after the UE's ACKs have contradicted the Node-B reports for two periods of two seconds, until they
  /// have agreed for five such periods.
  [[nodiscard]] bool trusted() const { return trusted_; }
  /// True if the UE's ACKs contradict the Node-B reports in the last period that could be compared. Then a controller
  /// must not limit sending by reports alone, because further ACKs are needed for the comparison.
  [[nodiscard]] bool is_suspected() const { return contradicted_ > 0; }

 private:
  /// Adds the bytes that were transmitted and acknowledged since the last report to the present period of two seconds.
  /// `transmitted` is the Node-B's cumulative count of transmitted bytes.
  void add_interval(std::uint64_t transmitted);
  /// Ends a period of two seconds, and updates whether the Node-B reports are trusted.
  void end_period();
  /// True if the Node-B reports of the present period of two seconds contradict the ACKs. Their queues may be
  /// implausible, or they count too few transmitted bytes. Returns nothing if the queues are plausible and the UE has
  /// acknowledged too few bytes to check the count.
  [[nodiscard]] std::optional<bool> contradicts() const;

  Instant period_began_{};
  std::uint64_t last_transmitted_ = 0;    ///< the Node-B's cumulative count of transmitted bytes in its last report
  std::uint64_t newly_acknowledged_ = 0;  ///< bytes acknowledged since the last Node-B report
  std::uint64_t transmitted_ = 0;   ///< bytes that the Node-B has transmitted in the present period of two seconds
  std::uint64_t acknowledged_ = 0;  ///< bytes acknowledged in the present period of two seconds
  Duration max_rtt_{};              ///< longest RTT since the last Node-B report
  /// Number of Node-B reports of the present period of two seconds that could be compared with an RTT.
  std::uint32_t reports_ = 0;
  /// Number of Node-B reports of the present period of two seconds that contradict the ACKs.
  std::uint32_t implausible_ = 0;
  std::uint8_t contradicted_ = 0;  ///< number of successive periods of two seconds that contradict the ACKs
  /// number of successive periods of two seconds that agree with the ACKs, while the reports are distrusted
  std::uint8_t agreeing_ = 0;
  bool began_ = false;
  bool trusted_ = true;
};

}  // namespace sluice::control
