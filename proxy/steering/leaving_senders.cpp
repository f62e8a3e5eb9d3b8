#include "proxy/steering/leaving_senders.hpp"

namespace sluice::proxy {

void LeavingSender::hear(const SenderWord& word, Instant now) {
  if (word.epoch != word_.epoch) {
    *this = LeavingSender(word, now);
    return;
  }
  if (word.sequence < word_.sequence) return;  // late: what came after it has said more
  if (word.since > word_.since) doubted_ = now;
  if (word.sender_time > word_.sender_time) time_before_ = word_.sender_time;
  word_ = word;
  heard_ = now;
}

void LeavingSenders::hear(const SenderWord& word, Instant now) {
  const auto found = std::find_if(senders_.begin(), senders_.end(),
                                  [&](const LeavingSender& each) { return each.sender() == word.sender; });
  if (found != senders_.end()) {
    found->hear(word, now);
    return;
  }
  if (senders_.size() == most_senders) {
    senders_.erase(std::min_element(senders_.begin(), senders_.end(),
                                    [](const auto& a, const auto& b) { return a.heard() < b.heard(); }));
  }
  senders_.emplace_back(word, now);
}

}  // namespace sluice::proxy
