#pragma once

#include <cstdint>
#include <optional>

#include "dataplane/flow/slab.hpp"
#include "proxy/bearer/ack_clock.hpp"
#include "proxy/bearer/radio_queue.hpp"
#include "proxy/bearer/reported.hpp"
#include "proxy/bearer/sent_to_ue.hpp"
#include "proxy/policy/treatment.hpp"

namespace sluice::proxy {

/// Where the bearers of a shard have what only some of them need: most UEs are silent most of the time, and many are
/// never reported. Address space is taken at construction, memory as parts are first made. Thread: the shard's.
class BearerParts {
 public:
  /// `bearers`: the most that there are. Throws std::bad_alloc.
  explicit BearerParts(std::uint32_t bearers)
      : reported(bearers), clocks(bearers), queues(bearers), sent_of_late(bearers) {}

  /// The law by acknowledgements as it is before anything was heard. Valid until the next call.
  [[nodiscard]] const AckClock& fresh_clock(const Treatment& treatment) {
    if (!fresh_ || fresh_->law().parameters() != treatment.smvs.acks) fresh_.emplace(treatment.smvs.acks);
    return *fresh_;
  }

  flow::Slab<Reported> reported;
  flow::Slab<AckClock> clocks;
  flow::Slab<RadioQueue> queues;
  flow::Slab<SentOfLate> sent_of_late;

 private:
  std::optional<AckClock> fresh_;
};

}  // namespace sluice::proxy
