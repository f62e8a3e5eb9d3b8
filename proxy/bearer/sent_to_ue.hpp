#pragma once

#include <cstdint>

#include "control/in_flight.hpp"
#include "dataplane/flow/slab.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/bearer/pooled_part.hpp"

namespace sluice::proxy {

/// When what was sent to a UE went, while more than the newest of it matters.
struct SentOfLate {
  SentOfLate(Duration round_trip, std::uint32_t of) : bytes(round_trip), bearer(of) {}

  control::InFlight bytes;
  std::uint32_t bearer;  ///< its id
};

/// Where it is kept, and for whom.
struct SentOfLatePlace {
  flow::Slab<SentOfLate>& pool;
  Duration round_trip;  ///< to the Node-B and back
  std::uint32_t bearer;
};

/// IP bytes that went towards a UE: their sum, and when they went as long as that matters. One packet of late is
/// remembered here. With a second one there is more to keep, which has a place in a pool: most UEs are silent most of
/// the time. Thread: the shard's.
class SentToUe {
 public:
  [[nodiscard]] std::uint64_t total() const { return of_late_ ? of_late_->bytes.total() : sum_; }
  /// False while it has no place for more than one packet: count_first() is to be called.
  [[nodiscard]] bool count(Instant now, Bytes bytes) {
    if (!of_late_) [[unlikely]]
      return false;
    of_late_->bytes.injected(now, bytes);
    return true;
  }
  void count_first(Instant now, Bytes bytes, const SentOfLatePlace& place);
  /// All that matters of when.
  [[nodiscard]] control::InFlight& in_flight(const SentOfLatePlace& place) {
    return (of_late_ ? *of_late_ : begin(place)).bytes;
  }
  /// A while after the last of it only the sum matters: what else is kept goes.
  void rest(Instant now, flow::Slab<SentOfLate>& pool);
  /// Goes on from what another bearer of the same UE has sent.
  void inherit(const SentToUe& before, const SentOfLatePlace& place);
  /// Asks the processor to fetch what a report makes it look at.
  void prefetch() const {
    if (of_late_) of_late_->bytes.prefetch();
  }
  /// It is not used any more.
  void drop(flow::Slab<SentOfLate>& pool) { of_late_.drop(pool); }

 private:
  [[gnu::noinline]] SentOfLate& begin(const SentOfLatePlace& place);

  std::uint32_t last_ = 0;  ///< of `sum_`: the newest, all at one time
  Instant last_at_{};       ///< … and when; before, nothing was sent for longer than matters
  std::uint64_t sum_ = 0;   ///< until there is of_late_
  PooledPart<SentOfLate> of_late_;
};

}  // namespace sluice::proxy
