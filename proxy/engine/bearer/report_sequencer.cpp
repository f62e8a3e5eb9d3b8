#include "proxy/engine/bearer/report_sequencer.hpp"

#include <algorithm>

namespace sluice::proxy {
namespace {

/// Minimum time without reports of a Node-B before another Node-B may replace it. It is longer than the delay of a
/// single late report, so that such a report causes no replacement.
constexpr Duration min_silence = std::chrono::milliseconds(20);

}  // namespace

void ReportSequencer::inherit(const ReportSequencer& before) {
  last_ = before.last_;
  last_at_ = before.last_at_;
  omission_rx_ = before.omission_rx_;
  any_ = before.any_;
}

bool ReportSequencer::accepts(const ReportArrival& report, Instant now) const {
  if (!changes_reporter(report)) return true;
  using control::feedback::RadioState;
  const Duration silence = std::max(std::min(2 * last_.period, longest_silence_), min_silence);
  return report.bearer.state == RadioState::normal &&
         (last_.bearer.state != RadioState::normal || now - omission_rx_ >= silence);
}

void ReportSequencer::record(const ReportArrival& report, Instant now) {
  last_ = report;
  last_.period = std::min(report.period, longest_silence_);
  last_at_ = omission_rx_ = now;
  any_ = true;
}

void SuppressingNodeB::on_omission(const OmissionNotice& notice, Instant now) {
  if (notice.epoch != notice_.epoch) {
    *this = SuppressingNodeB(notice, now);
    return;
  }
  if (notice.sequence < notice_.sequence) return;  // late: the newer notice already contains its information
  if (notice.since > notice_.since) last_gap_ = now;
  if (notice.sender_time > notice_.sender_time) time_before_ = notice_.sender_time;
  notice_ = notice;
  last_rx_ = now;
}

void SuppressingNodeBs::on_omission(const OmissionNotice& notice, Instant now) {
  const auto found = std::find_if(senders_.begin(), senders_.end(),
                                  [&](const SuppressingNodeB& each) { return each.sender() == notice.sender; });
  if (found != senders_.end()) {
    found->on_omission(notice, now);
    return;
  }
  if (senders_.size() == max_senders) {
    senders_.erase(std::min_element(senders_.begin(), senders_.end(),
                                    [](const auto& a, const auto& b) { return a.last_rx() < b.last_rx(); }));
  }
  senders_.emplace_back(notice, now);
}

}  // namespace sluice::proxy
