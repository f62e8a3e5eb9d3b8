#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

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

/// A Node-B that leaves out of its reports the UEs of which nothing has changed: what is known of those that it does
/// not name.
class LeavingSender {
 public:
  LeavingSender(const SenderWord& word, Instant now) : word_(word), heard_(now), doubted_(now) {}

  void hear(const SenderWord& word, Instant now);
  [[nodiscard]] std::uint64_t sender() const { return word_.sender; }
  [[nodiscard]] Duration refresh() const { return word_.refresh; }
  [[nodiscard]] Instant heard() const { return heard_; }
  /// It has sent this report, in the run that it is in.
  [[nodiscard]] bool has_sent(const ReportArrival& last) const {
    return last.sender == word_.sender && last.epoch == word_.epoch;
  }
  /// Its last word came after this report, and leaves the UE out: what the report says may hold still.
  [[nodiscard]] bool speaks_of(const ReportArrival& last) const {
    return has_sent(last) && last.sender_time < word_.sender_time;
  }
  /// … and does, since no datagram is missing in which there could have been a later one.
  [[nodiscard]] bool vouches_for(const ReportArrival& last) const { return last.sequence >= word_.since; }
  /// Until when what may hold is taken to: a report that was lost is made up for by then. `never`: it is vouched for.
  [[nodiscard]] Instant holds_until(const ReportArrival& last) const {
    return vouches_for(last) ? never : doubted_ + word_.refresh;
  }
  /// The sender's time when it last left out a UE that it reports at `sender_time`.
  [[nodiscard]] Duration left_out_before(Duration sender_time) const {
    return word_.sender_time < sender_time ? word_.sender_time : time_before_;
  }

 private:
  SenderWord word_;
  Duration time_before_{};  ///< the sender's, of the period before that of its last word
  Instant heard_;
  Instant doubted_;  ///< when a datagram was last found missing
};

/// All of them. Thread: the shard's.
class LeavingSenders {
 public:
  void hear(const SenderWord& word, Instant now);
  [[nodiscard]] bool any() const { return !senders_.empty(); }
  /// Null where it is none. Valid until the next word.
  [[nodiscard]] const LeavingSender* find(std::uint64_t sender) const {
    const auto found = std::find_if(senders_.begin(), senders_.end(),
                                    [sender](const LeavingSender& each) { return each.sender() == sender; });
    return found == senders_.end() ? nullptr : &*found;
  }

 private:
  /// Of more, the one that was silent longest is forgotten: its reports then grow old as others do.
  static constexpr std::size_t most_senders = 64;
  std::vector<LeavingSender> senders_;
};

}  // namespace sluice::proxy
