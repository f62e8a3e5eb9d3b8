#pragma once

#include <algorithm>
#include <cstdint>

#include "dataplane/units/time.hpp"
#include "proxy/shard/report_arrival.hpp"

namespace sluice::proxy {

/// The reports about one UE: whose are accepted, which of them is news, and what the newest says. Thread: the shard's.
class ReportStream {
 public:
  /// `longest_silence`: no Node-B is borne to be silent for longer, whatever period it announces.
  explicit ReportStream(Duration longest_silence) : longest_silence_(longest_silence) {}

  /// Goes on from what another bearer of the same UE was told.
  void inherit(const ReportStream& before);

  /// Whether a report is by the Node-B that serves the UE. Another one than the last becomes it when it says that the
  /// UE is with it (state normal) after the last one has said that it is not (handover, outage, released), or has been
  /// silent for two periods, or for the longest silence that is borne. Until then, and in what of its own comes late
  /// afterwards, nobody listens to it.
  [[nodiscard]] bool accepts(const ReportArrival& report, Instant now) const;
  /// Whether a report that it accepts is by another Node-B than the last.
  [[nodiscard]] bool changes_reporter(const ReportArrival& report) const {
    return any_ && report.sender != last_.sender;
  }
  /// It is no newer than the last of the same run of the same Node-B.
  [[nodiscard]] bool is_stale(const ReportArrival& report) const {
    return any_ && report.sender == last_.sender && report.epoch == last_.epoch && report.sequence <= last_.sequence;
  }
  /// How many reports were lost before this one.
  [[nodiscard]] std::uint64_t lost_before(const ReportArrival& report) const {
    return report.sequence > last_.sequence ? report.sequence - last_.sequence - 1 : 0;
  }
  /// Takes an accepted report for the last.
  void note(const ReportArrival& report, Instant now);
  /// The Node-B has spoken since and left the UE out, of which nothing had changed.
  void note_left_out(Instant heard) { heard_at_ = std::max(heard_at_, heard); }

  /// There was one.
  [[nodiscard]] bool any() const { return any_; }
  /// The last; its period is not longer than the longest silence.
  [[nodiscard]] const ReportArrival& last() const { return last_; }
  [[nodiscard]] Instant last_at() const { return last_at_; }
  /// When it was last known to be still true.
  [[nodiscard]] Instant heard_at() const { return heard_at_; }

 private:
  Duration longest_silence_;
  ReportArrival last_{};
  Instant last_at_{};
  Instant heard_at_{};
  bool any_ = false;
};

}  // namespace sluice::proxy
