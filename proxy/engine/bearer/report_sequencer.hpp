#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/units/time.hpp"
#include "proxy/engine/base/report_arrival.hpp"

namespace sluice::proxy {

/// Stores the newest Node-B report about one UE. Decides whether a further report is accepted, which depends on the
/// Node-B that sent it, and whether the report is newer than the stored one. Thread: the shard's.
class ReportSequencer {
 public:
  /// Starts without a report. `longest_silence` is the upper limit of the report period, whatever period a Node-B
  /// announces.
  explicit ReportSequencer(Duration longest_silence) : longest_silence_(longest_silence) {}

  /// Copies the newest Node-B report of another bearer of the same UE.
  void inherit(const ReportSequencer& before);

  /// True if the report is from the Node-B that serves the UE, or from another Node-B that now replaces it. A replacing
  /// Node-B must report the state `normal`. The old one must have reported handover, outage or release, or be silent.
  /// Silent means that neither a report nor an omission notice arrived for two report periods. Two periods count as at
  /// most the constructor's `longest_silence`, but as at least 20 ms.
  [[nodiscard]] bool accepts(const ReportArrival& report, Instant now) const;
  /// True if an accepted report is from a different Node-B than the last report.
  [[nodiscard]] bool changes_reporter(const ReportArrival& report) const {
    return any_ && report.sender != last_.sender;
  }
  /// True if the report is from the Node-B of the last report, and from the same run (epoch) of it. Its counters then
  /// continue those of the last report.
  [[nodiscard]] bool is_same_run(const ReportArrival& report) const {
    return any_ && report.sender == last_.sender && report.epoch == last_.epoch;
  }
  /// True if an accepted report is from a different Node-B than the last report, or from another run (epoch) of it.
  [[nodiscard]] bool changes_run(const ReportArrival& report) const { return any_ && !is_same_run(report); }
  /// True if the report is from the current run (epoch) of the serving Node-B and not newer than the last report.
  [[nodiscard]] bool is_stale(const ReportArrival& report) const {
    return is_same_run(report) && report.sequence <= last_.sequence;
  }
  /// Returns how many reports of the Node-B were lost between the last report and this one, according to their sequence
  /// numbers.
  [[nodiscard]] std::uint64_t lost_before(const ReportArrival& report) const {
    return report.sequence > last_.sequence ? report.sequence - last_.sequence - 1 : 0;
  }
  /// Records an accepted Node-B report as the last one.
  void record(const ReportArrival& report, Instant now);
  /// Records that the last report about this UE was still valid at the time `at`, because the Node-B omitted the UE as
  /// unchanged.
  void record_omitted(Instant at) { omission_rx_ = std::max(omission_rx_, at); }

  /// True if record() was called for at least one Node-B report.
  [[nodiscard]] bool any() const { return any_; }
  /// Returns the last Node-B report. Its period is limited to the longest silence.
  [[nodiscard]] const ReportArrival& last() const { return last_; }
  /// Returns when the last Node-B report arrived.
  [[nodiscard]] Instant last_at() const { return last_at_; }
  /// Returns the latest time at which the newest Node-B report about the UE was known to be valid. This is its arrival,
  /// or the time that record_omitted() has recorded because the Node-B omitted the unchanged UE.
  [[nodiscard]] Instant omission_rx() const { return omission_rx_; }

 private:
  Duration longest_silence_;
  ReportArrival last_{};
  Instant last_at_{};
  Instant omission_rx_{};
  bool any_ = false;
};

/// State of a Node-B that omits unchanged UEs from its reports. Decides whether the last report about an omitted UE is
/// still valid.
class SuppressingNodeB {
 public:
  /// Starts from the Node-B's first notice that it omitted unchanged UEs, which was received at `now`.
  SuppressingNodeB(const OmissionNotice& notice, Instant now) : notice_(notice), last_rx_(now), last_gap_(now) {}

  /// Handles a further notice that unchanged UEs were omitted. An outdated notice is ignored. A notice of a new run
  /// (epoch) of the Node-B restarts the state.
  void on_omission(const OmissionNotice& notice, Instant now);
  [[nodiscard]] std::uint64_t sender() const { return notice_.sender; }
  /// Returns the longest interval between two reports about one UE, which this Node-B announces.
  [[nodiscard]] Duration refresh() const { return notice_.refresh; }
  /// Returns when the newest notice arrived in which the Node-B states that it omitted unchanged UEs.
  [[nodiscard]] Instant last_rx() const { return last_rx_; }
  /// True if this Node-B sent the report `last` during its current run (epoch).
  [[nodiscard]] bool has_sent(const ReportArrival& last) const {
    return last.sender == notice_.sender && last.epoch == notice_.epoch;
  }
  /// True if the Node-B sent its newest omission notice (unchanged UEs left out of a report) after the report `last`.
  /// The report may then still be valid, although it is old.
  [[nodiscard]] bool covers(const ReportArrival& last) const {
    return has_sent(last) && last.sender_time < notice_.sender_time;
  }
  /// True if every datagram that the Node-B sent since the report `last` has arrived. Hence no later report about this
  /// UE was lost.
  [[nodiscard]] bool confirms(const ReportArrival& last) const { return last.sequence >= notice_.since; }
  /// Returns until when the report `last` is assumed to be valid: `never` (no limit) if confirms() is true. Otherwise a
  /// later report may have been lost. The report `last` is then valid for one refresh interval after the newest gap in
  /// the sequence of the Node-B's datagrams. Within that interval the Node-B reports every UE again.
  [[nodiscard]] Instant valid_until(const ReportArrival& last) const {
    return confirms(last) ? never : last_gap_ + notice_.refresh;
  }
  /// Returns the time, by the Node-B's clock, of its newest omission notice (unchanged UEs left out of a report) before
  /// `sender_time`.
  [[nodiscard]] Duration omitted_before(Duration sender_time) const {
    return notice_.sender_time < sender_time ? notice_.sender_time : time_before_;
  }

 private:
  OmissionNotice notice_;
  /// time, by the Node-B's clock, of the omission notice (unchanged UEs left out of a report) before the newest one
  Duration time_before_{};
  Instant last_rx_;
  /// Time at which a gap in the sequence of the Node-B's datagrams was last detected; at first, the time of its first
  /// omission notice.
  Instant last_gap_;
};

/// All Node-Bs that omit unchanged UEs from their reports. Thread: the shard's.
class SuppressingNodeBs {
 public:
  /// Handles a notice of any Node-B that it omitted unchanged UEs from a report.
  void on_omission(const OmissionNotice& notice, Instant now);
  [[nodiscard]] bool any() const { return !senders_.empty(); }
  /// Returns the state of a Node-B, or null if it has sent no omission notice (unchanged UEs left out of a report). The
  /// pointer is valid until the next notice.
  [[nodiscard]] const SuppressingNodeB* find(std::uint64_t sender) const {
    const auto found = std::find_if(senders_.begin(), senders_.end(),
                                    [sender](const SuppressingNodeB& each) { return each.sender() == sender; });
    return found == senders_.end() ? nullptr : &*found;
  }

 private:
  /// Maximum number of Node-Bs whose omission notices are tracked. If the table is full, the Node-B that was silent
  /// longest is removed. Its last reports then time out like those of Node-Bs that never omit a UE.
  static constexpr std::size_t max_senders = 64;
  std::vector<SuppressingNodeB> senders_;
};

}  // namespace sluice::proxy
