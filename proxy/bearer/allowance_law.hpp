#pragma once

#include <cstdint>
#include <variant>

#include "control/node_b_allowance.hpp"
#include "control/smvs.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/policy/treatment.hpp"
#include "proxy/shard/report_arrival.hpp"

namespace sluice::control {
class LawTrace;
}

namespace sluice::proxy {

/// The law of a bearer under SMVS by its place: what a report grants. The place is looked at once, when it is made; a
/// further place is one more alternative. Under other modes nothing is granted. Thread: the shard's.
class AllowanceLaw {
 public:
  /// `treatment` outlives it. `trace` is where its owner has who wants to know what the law decides; null mostly.
  explicit AllowanceLaw(const Treatment& treatment, control::LawTrace* const* trace = &nobody);
  explicit AllowanceLaw(Treatment&& gone_before, control::LawTrace* const* trace = &nobody) = delete;
  ~AllowanceLaw();
  AllowanceLaw(const AllowanceLaw&) = delete;
  AllowanceLaw& operator=(const AllowanceLaw&) = delete;

  /// What may be sent until the next report. `period`: until that is to come. `in_flight`: IP bytes between the proxy
  /// and the radio queue. `reference_part`: what is left of the reference, where the law runs here.
  [[nodiscard]] Bytes on_report(const ReportArrival& report, Bytes in_flight, Duration period,
                                double reference_part = 1);
  /// Until then, by the sender's clock, nothing had changed since its last report.
  void on_left_out(const ReportArrival& last, Duration until);
  /// The UE is with another Node-B; what is known of the rate stays.
  void restart();
  /// Begins at a rate that was measured before.
  void seed(Rate rate);
  /// Goes on from the allowances that a bearer of the same UE had from the Node-B.
  void inherit(const AllowanceLaw& before) { applied_sequence_ = before.applied_sequence_; }
  /// Mean rate of the radio link: the law's own where it runs here, else as reported.
  [[nodiscard]] Rate mean_rate(Rate reported) const {
    const auto* const here = std::get_if<AtProxy>(&place_);
    return here != nullptr && here->law.state().steps > 0 ? here->law.state().mean_rate : reported;
  }
  /// Sequence of the newest report whose allowance was applied; 0 = none.
  [[nodiscard]] std::uint64_t applied_sequence() const { return applied_sequence_; }
  /// ŝ of the law that runs here, bytes; for observers.
  [[nodiscard]] double predicted_error() const;

 private:
  static constexpr control::LawTrace* nobody = nullptr;

  using AtNodeB = control::NodeBAllowance;  ///< the report brings the allowance
  /// It brings the measurements.
  struct AtProxy {
    control::Smvs law;
    /// The law runs in steps as the reports come, by what is configured for others; null: in the steps configured.
    const control::SmvsParameters* fits = nullptr;
    Duration period{};  ///< that it was fitted to last, or could not be
  };
  using Place = std::variant<AtNodeB, AtProxy>;
  [[nodiscard]] static Place place_of(const Treatment& treatment);
  void fit(AtProxy& place, Duration period);

  [[nodiscard]] Bytes granted(AtNodeB& place, const ReportArrival& report, Bytes in_flight, Duration period,
                              double reference_part);
  [[nodiscard]] Bytes granted(AtProxy& place, const ReportArrival& report, Bytes in_flight, Duration period,
                              double reference_part);
  void leave_trace() const;
  template <typename Call, typename... Arguments>
  auto ask(control::Smvs& law, const Arguments&... arguments);

  Place place_;
  control::LawTrace* const* trace_;
  std::uint64_t applied_sequence_ = 0;
};

}  // namespace sluice::proxy
