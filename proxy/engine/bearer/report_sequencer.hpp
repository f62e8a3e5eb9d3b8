#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/units/time.hpp"
#include "proxy/engine/base/report_arrival.hpp"

namespace sluice::proxy {

/// Sequence of the Node-B reports about one UE: decides from which Node-B reports are accepted and which are new, and
/// stores the newest. Thread: the shard's.
class ReportSequencer {
 public:
  /// Starts without a report. `longest_silence`: upper limit of the period of Node-B reports, whatever period a Node-B
  /// announces.
  explicit ReportSequencer(Duration longest_silence) : longest_silence_(longest_silence) {}

  /// Copies the newest Node-B report of another bearer of the same UE.
  void inherit(const ReportSequencer& before);

  /// True if the report is from the Node-B that serves the UE. Another Node-B becomes the serving one with a report of
  /// state normal. For that the serving Node-B must have reported handover, outage or release, or have sent nothing for
  /// two periods or the longest silence. All other reports of another Node-B are rejected.
  [[nodiscard]] bool accepts(const ReportArrival& report, Instant now) const;
  /// True if an accepted report is from another Node-B than the last report.
  [[nodiscard]] bool changes_reporter(const ReportArrival& report) const {
    return any_ && report.sender != last_.sender;
  }
  /// True if the report is not newer than the last one from the current run (epoch) of this Node-B.
  [[nodiscard]] bool is_stale(const ReportArrival& report) const {
    return any_ && report.sender == last_.sender && report.epoch == last_.epoch && report.sequence <= last_.sequence;
  }
  /// Returns how many Node-B reports were lost before this one.
  [[nodiscard]] std::uint64_t lost_before(const ReportArrival& report) const {
    return report.sequence > last_.sequence ? report.sequence - last_.sequence - 1 : 0;
  }
  /// Records an accepted Node-B report as the last one.
  void record(const ReportArrival& report, Instant now);
  /// Records that the Node-B sent at the time `at` a report without this UE, which means that the UE's state is
  /// unchanged.
  void record_omitted(Instant at) { omission_rx_ = std::max(omission_rx_, at); }

  /// True if any Node-B report was recorded.
  [[nodiscard]] bool any() const { return any_; }
  /// Returns the last Node-B report; its period is capped at the longest silence.
  [[nodiscard]] const ReportArrival& last() const { return last_; }
  /// Returns when the last Node-B report arrived.
  [[nodiscard]] Instant last_at() const { return last_at_; }
  /// Returns when the last Node-B report was last known to be valid: on its arrival, or at a later notice that omits
  /// the unchanged UE.
  [[nodiscard]] Instant omission_rx() const { return omission_rx_; }

 private:
  Duration longest_silence_;
  ReportArrival last_{};
  Instant last_at_{};
  Instant omission_rx_{};
  bool any_ = false;
};

/// State of a Node-B that omits unchanged UEs from its reports. Decides whether the last report of an omitted UE is
/// still valid.
class SuppressingNodeB {
 public:
  /// Starts from the first omission notice, which was received at `now`.
  SuppressingNodeB(const OmissionNotice& notice, Instant now) : notice_(notice), last_rx_(now), last_gap_(now) {}

  /// Handles a further omission notice (unchanged UEs are left out). A late one is ignored, and one of a new epoch
  /// (run) restarts the state.
  void on_omission(const OmissionNotice& notice, Instant now);
  [[nodiscard]] std::uint64_t sender() const { return notice_.sender; }
  /// Returns the longest interval between two reports of one UE by this Node-B.
  [[nodiscard]] Duration refresh() const { return notice_.refresh; }
  /// Returns when the newest omission notice arrived.
  [[nodiscard]] Instant last_rx() const { return last_rx_; }
  /// True if this Node-B sent the report `last` in its current run (epoch).
  [[nodiscard]] bool has_sent(const ReportArrival& last) const {
    return last.sender == notice_.sender && last.epoch == notice_.epoch;
  }
  /// True if the Node-B's newest omission notice (unchanged UEs are left out) was sent after report `last`, so the
  /// report may still be valid.
  [[nodiscard]] bool covers(const ReportArrival& last) const {
    return has_sent(last) && last.sender_time < notice_.sender_time;
  }
  /// True if no datagram of the Node-B since report `last` is missing, so no later report of this UE can have been
  /// lost.
  [[nodiscard]] bool confirms(const ReportArrival& last) const { return last.sequence >= notice_.since; }
  /// Returns until when the report `last` is assumed to be valid; `never` if confirms() is true. Otherwise the Node-B
  /// repeats a lost report within one refresh interval after the newest gap.
  [[nodiscard]] Instant valid_until(const ReportArrival& last) const {
    return confirms(last) ? never : last_gap_ + notice_.refresh;
  }
  /// Returns the Node-B's time of the newest notice before `sender_time` that omitted the unchanged UE.
  [[nodiscard]] Duration omitted_before(Duration sender_time) const {
    return notice_.sender_time < sender_time ? notice_.sender_time : time_before_;
  }

 private:
  OmissionNotice notice_;
  Duration time_before_{};  ///< time, on the sender's clock, of the omission notice before the newest one
  Instant last_rx_;
  Instant last_gap_;  ///< time at which the newest gap in the sender's datagrams was detected
};

/// All Node-Bs that leave unchanged UEs out of their reports. Thread: the shard's.
class SuppressingNodeBs {
 public:
  /// Handles an omission notice (unchanged UEs are left out of reports) of any Node-B.
  void on_omission(const OmissionNotice& notice, Instant now);
  [[nodiscard]] bool any() const { return !senders_.empty(); }
  /// Returns the state of a Node-B, or null if it sends no omission notices. The pointer is valid until the next
  /// notice.
  [[nodiscard]] const SuppressingNodeB* find(std::uint64_t sender) const {
    const auto found = std::find_if(senders_.begin(), senders_.end(),
                                    [sender](const SuppressingNodeB& each) { return each.sender() == sender; });
    return found == senders_.end() ? nullptr : &*found;
  }

 private:
  /// Maximum number of Node-Bs in the table. The Node-B with the longest silence is evicted; its reports then become
  /// outdated as those of other Node-Bs do.
  static constexpr std::size_t max_senders = 64;
  std::vector<SuppressingNodeB> senders_;
};

}  // namespace sluice::proxy
