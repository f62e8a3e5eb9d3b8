#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/units/time.hpp"
#include "proxy/shard/report_arrival.hpp"

namespace sluice::proxy {

/// A Node-B that leaves out of its reports the UEs of which nothing has changed: what is known of those that it does
/// not name.
class LeavingSender {
 public:
  LeavingSender(const SenderWord& word, Instant now) : word_(word), heard_(now), doubted_(now) {}

  void hear(const SenderWord& word, Instant now);
  [[nodiscard]] std::uint64_t sender() const { return word_.sender; }
  [[nodiscard]] Instant heard() const { return heard_; }
  /// Its last word came after this report, and leaves the UE out: what the report says may hold still.
  [[nodiscard]] bool speaks_of(const ReportArrival& last) const {
    return last.sender == word_.sender && last.epoch == word_.epoch && last.sender_time < word_.sender_time;
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
