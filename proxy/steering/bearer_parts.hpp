#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <utility>

#include "control/fallback.hpp"
#include "control/in_flight.hpp"
#include "control/step_watch.hpp"
#include "control/variation_watch.hpp"
#include "dataplane/flow/slab.hpp"
#include "dataplane/units/bytes.hpp"
#include "proxy/policy/treatment.hpp"
#include "proxy/shard/info.hpp"
#include "proxy/steering/ack_steering.hpp"
#include "proxy/steering/allowance_law.hpp"
#include "proxy/steering/grant.hpp"
#include "proxy/steering/radio_queue.hpp"
#include "proxy/steering/report_stream.hpp"

namespace sluice::proxy {

/// What a bearer keeps once its UE was reported, or observed.
struct Reported {
  Reported(const Treatment& treatment, control::LawTrace* const* trace)
      : reports(treatment.smvs.fallback.maximum), fallback(treatment.smvs.fallback), law(treatment, trace) {}

  ReportStream reports;
  control::Fallback fallback;
  AllowanceLaw law;
  Grant grant;
  ReportBridge bridge;
  std::uint64_t sent_at_report = 0;
  bool trusted = true;                ///< the last report was
  Bytes radio_load{};                 ///< queue and in flight, as of the last report
  double reference_part = 1;          ///< of the law's, as of then
  control::StepWatch step_watch;      ///< told of every report that steers by SMVS
  control::VariationWatch variation;  ///< likewise
  Observed observed;                  ///< what mode observe has recorded
};

/// What a bearer counts of what went to its UE, while more than the newest of it matters.
struct SentOfLate {
  SentOfLate(const Treatment& treatment, std::uint32_t of)
      : bytes(treatment.smvs.parameters.one_way_delay * 2), bearer(of) {}

  control::InFlight bytes;
  std::uint32_t bearer;  ///< its id
};

/// A part of a bearer that it does not always have: a place in a pool. Whoever has it drops it before the end.
template <typename T>
class PooledPart {
 public:
  [[nodiscard]] explicit operator bool() const { return part_ != nullptr; }
  [[nodiscard]] T& operator*() const { return *part_; }
  [[nodiscard]] T* operator->() const { return part_; }

  /// Requires that it is not there. The pool has a place for each bearer.
  template <typename... Arguments>
  T& make(flow::Slab<T>& pool, Arguments&&... arguments) {
    const std::uint32_t place = pool.emplace(std::forward<Arguments>(arguments)...);
    assert(place != flow::Slab<T>::none);
    part_ = &pool[place];
    return *part_;
  }
  void drop(flow::Slab<T>& pool) {
    if (part_ != nullptr) pool.erase(pool.index_of(*part_));
    part_ = nullptr;
  }

 private:
  T* part_ = nullptr;
};

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
