#pragma once

#include <algorithm>
#include <cstdint>

#include "control/ack_clocked_window.hpp"
#include "control/feedback/report.hpp"
#include "control/report_check.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {
class LawTrace;
}

namespace sluice::proxy {

/// The law that needs no report, of one bearer: what its split connections have under way to the UE together, and how
/// much that may be.
class AckClock {
 public:
  /// `trace`: where its owner has who wants to know what the law decides; null mostly.
  explicit AckClock(const control::AckClockedParameters& parameters, control::LawTrace* const* trace = &nobody)
      : law_(parameters), trace_(trace) {}
  ~AckClock();
  AckClock(const AckClock&) = delete;
  AckClock& operator=(const AckClock&) = delete;

  /// What may be sent now, as IP bytes.
  [[nodiscard]] Bytes room(Instant now) const { return std::max(law_.window(now) - flight_, Bytes{}); }
  /// When there is room for who waits although nothing is heard until then; `never` where nobody does or there is none.
  [[nodiscard]] Instant room_at(Instant now) const { return waiting_ > 0 ? law_.room_at(now, flight_) : never; }
  [[nodiscard]] Bytes flight() const { return flight_; }
  void add_flight(Bytes change) { flight_ += change; }
  /// Flows that would send more now if they had room: their own windows allow it.
  [[nodiscard]] std::uint32_t waiting() const { return waiting_; }
  void count_waiting(bool before, bool now) { waiting_ += (now ? 1U : 0U) - (before ? 1U : 0U); }
  /// … and are young.
  [[nodiscard]] std::uint32_t young_waiting() const { return young_waiting_; }
  void count_young(bool before, bool now) { young_waiting_ += (now ? 1U : 0U) - (before ? 1U : 0U); }
  /// Connections that pass end to end and whose servers the window holds back.
  struct Passing {
    std::uint32_t waiting = 0;
    std::uint32_t young = 0;  ///< … of these
  };
  Passing passing;
  /// IP bytes have gone to the UE that the window does not bound.
  void add_others(Bytes bytes) { others_ += bytes; }
  /// The UE has acknowledged; what others have sent since the last time goes into it.
  void hear(control::Acknowledged news);
  /// A report of the UE's queue. False when it is distrusted: nobody is to make anything of it.
  bool on_report(Instant now, const control::feedback::BearerReport& report);
  /// Something is about to be sent while nothing is under way.
  void resume(Instant now) {
    if (flight_ <= Bytes{}) tell_resumed(now);
  }
  /// The link begins with a known rate.
  void seed(Instant now, Rate rate);
  /// A connection is taken over that was let have so much under way.
  void take_over(Bytes under_way);
  /// The reports are another Node-B's from now on.
  void change_reporter() { check_.restart(); }
  /// What was acknowledged of late has contradicted them.
  [[nodiscard]] bool doubts_reports() const { return check_.doubtful(); }
  /// What is under way and waiting at the radio beyond what is to be there; negative when it is less.
  [[nodiscard]] Bytes excess() const { return flight_ - law_.window(); }
  [[nodiscard]] const control::AckClockedWindow& law() const { return law_; }

 private:
  static constexpr control::LawTrace* nobody = nullptr;

  template <typename Call, typename... Arguments>
  void ask(const Arguments&... arguments);
  void tell_resumed(Instant now);

  control::AckClockedWindow law_;
  control::ReportCheck check_;
  control::LawTrace* const* trace_;
  Bytes flight_;
  Bytes others_;
  std::uint32_t waiting_ = 0;
  std::uint32_t young_waiting_ = 0;
};

}  // namespace sluice::proxy
