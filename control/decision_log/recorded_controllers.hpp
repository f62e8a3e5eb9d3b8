#pragma once

#include <string_view>
#include <tuple>

#include "control/decision_log/fields.hpp"
#include "control/decision_log/states.hpp"
#include "control/smvs/node_b_allowance.hpp"

/// This header lists the calls of each controller that a decision log records and a replay repeats. A call has a name,
/// the names and types of its arguments, and the name of its result if it has one.
namespace sluice::control {

/// Describes a type of controller for the decision log. Each type has its own specialization. Origin is the type of the
/// parameters from which make() constructs the controller. word() returns the controller's name in the log. outcome()
/// visits the values that the controller returns after a call. Calls is the list of the controller's calls.
template <typename Law>
struct RecordedController;

template <>
struct RecordedController<DelayBasedController> {
  using Origin = DelayBasedParameters;
  static DelayBasedController make(const Origin& parameters) { return DelayBasedController(parameters); }
  static constexpr std::string_view name = "acks";
  static constexpr std::string_view word(const Origin&) { return name; }

  template <typename Visit>
  static void outcome(const DelayBasedController& law, Visit& visit) {
    visit("window", law.window());
    visit("rate", law.rate());
    visit("base_delay", law.base_delay());
    visit("late", law.ack_delay());
    visit("starting", law.in_slow_start());
    visit("draining", law.draining());
  }

  struct OnAcknowledged {
    static constexpr std::string_view name = "acknowledged";
    static constexpr std::array<std::string_view, 1> names{"news"};
    using Arguments = std::tuple<AckSample>;
    static void apply(DelayBasedController& law, const AckSample& ack_sample) { law.on_acknowledged(ack_sample); }
  };
  struct OnReport {
    static constexpr std::string_view name = "report";
    static constexpr std::array<std::string_view, 2> names{"now", "queue"};
    using Arguments = std::tuple<Instant, Bytes>;
    static void apply(DelayBasedController& law, Instant now, Bytes queue) { law.on_report(now, queue); }
  };
  struct OnResumed {
    static constexpr std::string_view name = "resumed";
    static constexpr std::array<std::string_view, 1> names{"now"};
    using Arguments = std::tuple<Instant>;
    static void apply(DelayBasedController& law, Instant now) { law.on_resumed(now); }
  };
  struct Seed {
    static constexpr std::string_view name = "seed";
    static constexpr std::array<std::string_view, 2> names{"now", "rate"};
    using Arguments = std::tuple<Instant, Rate>;
    static void apply(DelayBasedController& law, Instant now, Rate rate) { law.seed(now, rate); }
  };
  struct TakeOver {
    static constexpr std::string_view name = "take_over";
    static constexpr std::array<std::string_view, 1> names{"under_way"};
    using Arguments = std::tuple<Bytes>;
    static void apply(DelayBasedController& law, Bytes in_flight) { law.adopt_in_flight(in_flight); }
  };
  using Calls = std::tuple<OnAcknowledged, OnReport, OnResumed, Seed, TakeOver>;
};

template <>
struct RecordedController<Smvs> {
  using Origin = SmvsParameters;
  static Smvs make(const Origin& parameters) { return Smvs(parameters); }
  static constexpr std::string_view name = "smvs";
  static constexpr std::string_view word(const Origin&) { return name; }

  template <typename Visit>
  static void outcome(const Smvs& law, Visit& visit) {
    visit("rate", law.state().rate);
    visit("mean_rate", law.state().mean_rate);
    visit("reference", law.state().reference);
    visit("predicted_error", law.state().predicted_error);
    visit("eta_low", law.state().eta_low);
    visit("eta_high", law.state().eta_high);
  }

  struct Step {
    static constexpr std::string_view name = "step";
    static constexpr std::array<std::string_view, 1> names{"observation"};
    static constexpr std::string_view result = "allowance";
    using Arguments = std::tuple<SmvsObservation>;
    static Bytes apply(Smvs& law, const SmvsObservation& observation) { return law.step(observation); }
  };
  struct Seed {
    static constexpr std::string_view name = "seed";
    static constexpr std::array<std::string_view, 1> names{"mean"};
    using Arguments = std::tuple<Rate>;
    static void apply(Smvs& law, Rate mean) { law.seed(mean); }
  };
  struct Restart {
    static constexpr std::string_view name = "restart";
    static constexpr std::array<std::string_view, 0> names{};
    using Arguments = std::tuple<>;
    static void apply(Smvs& law) { law.restart(); }
  };
  using Calls = std::tuple<Step, Seed, Restart>;
};

template <Either<AllowanceReport> Self, typename Visit>
void each_field(Self& report, Visit& visit) {
  visit("allowance", report.allowance);
  visit("mean_rate", report.mean_rate);
  visit("period", report.period);
}

template <>
struct RecordedController<NodeBAllowance> {
  struct Origin {
    template <typename Self, typename Visit>
    static void fields(Self& /*self*/, Visit& /*visit*/) {}
  };
  static NodeBAllowance make(const Origin&) { return {}; }
  static constexpr std::string_view name = "node-b";
  static constexpr std::string_view word(const Origin&) { return name; }

  template <typename Visit>
  static void outcome(const NodeBAllowance&, Visit& /*visit*/) {}

  struct OnReport {
    static constexpr std::string_view name = "report";
    static constexpr std::array<std::string_view, 1> names{"report"};
    static constexpr std::string_view result = "allowance";
    using Arguments = std::tuple<AllowanceReport>;
    static Bytes apply(NodeBAllowance&, const AllowanceReport& report) { return NodeBAllowance::granted(report); }
  };
  using Calls = std::tuple<OnReport>;
};

template <Either<NodeBAllowance> Self, typename Visit>
void each_field(Self& /*law*/, Visit& /*visit*/) {}

template <>
struct RecordedController<ReceiveWindowLoop> {
  using Origin = ReceiveWindowParameters;
  static ReceiveWindowLoop make(const Origin& parameters) { return ReceiveWindowLoop(parameters); }
  static constexpr std::string_view name = "receive-window";
  static constexpr std::string_view word(const Origin&) { return name; }

  template <typename Visit>
  static void outcome(const ReceiveWindowLoop& law, Visit& visit) {
    each_field(law.state(), visit);
  }

  struct Advance {
    static constexpr std::string_view name = "advance";
    static constexpr std::array<std::string_view, 1> names{"observation"};
    static constexpr std::string_view result = "advance";
    using Arguments = std::tuple<ReceiveWindowObservation>;
    static Bytes apply(ReceiveWindowLoop& law, const ReceiveWindowObservation& seen) { return law.advance(seen); }
  };
  using Calls = std::tuple<Advance>;
};

/// Parameters from which the per-flow window controller of a connection is constructed.
struct FlowControllerOrigin {
  FlowControllerKind law = FlowControllerKind::clamp;
  Bytes segment = FlowControllerStart().segment;
  FlowControllerParameters parameters;

  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit) {
    visit("law", self.law);
    visit("segment", self.segment);
    each_field(self.parameters, visit);
  }
};

template <>
struct RecordedController<FlowController> {
  using Origin = FlowControllerOrigin;
  static FlowController make(const Origin& origin) {
    return {origin.law, origin.parameters, FlowControllerStart{Duration::zero(), origin.segment}};
  }
  static constexpr std::string_view word(const Origin& origin) { return text_of(origin.law).word; }

  /// Visits nothing, because what a per-flow controller's call returns is its whole outcome.
  template <typename Visit>
  static void outcome(const FlowController&, Visit& /*visit*/) {}

  struct OnData {
    static constexpr std::string_view name = "data";
    static constexpr std::array<std::string_view, 1> names{"end"};
    using Arguments = std::tuple<Bytes>;
    static void apply(FlowController& law, Bytes end) { law.on_data(end); }
  };
  struct OnQueue {
    static constexpr std::string_view name = "queue";
    static constexpr std::array<std::string_view, 2> names{"queue", "flow"};
    static constexpr std::string_view result = "release";
    using Arguments = std::tuple<QueueView, FlowView>;
    static AckRelease apply(FlowController& law, const QueueView& queue, const FlowView& flow) {
      return law.on_queue(queue, flow);
    }
  };
  struct OnAck {
    static constexpr std::string_view name = "ack";
    static constexpr std::array<std::string_view, 3> names{"ack", "queue", "flow"};
    static constexpr std::string_view result = "release";
    using Arguments = std::tuple<AckView, QueueView, FlowView>;
    static AckRelease apply(FlowController& law, const AckView& ack, const QueueView& queue, const FlowView& flow) {
      return law.on_ack(ack, queue, flow);
    }
  };
  struct OnReleased {
    static constexpr std::string_view name = "released";
    static constexpr std::array<std::string_view, 2> names{"ack", "window"};
    using Arguments = std::tuple<Bytes, Bytes>;
    static void apply(FlowController& law, Bytes ack, Bytes window) { law.on_released(ack, window); }
  };
  struct Window {
    static constexpr std::string_view name = "window";
    static constexpr std::array<std::string_view, 3> names{"ack", "queue", "flow"};
    static constexpr std::string_view result = "window";
    using Arguments = std::tuple<Bytes, QueueView, FlowView>;
    static Bytes apply(FlowController& law, Bytes ack, const QueueView& queue, const FlowView& flow) {
      return law.window(ack, queue, flow);
    }
  };
  struct Seed {
    static constexpr std::string_view name = "seed";
    static constexpr std::array<std::string_view, 2> names{"window", "queue"};
    using Arguments = std::tuple<Bytes, QueueView>;
    static void apply(FlowController& law, Bytes window, const QueueView& queue) { law.seed(window, queue); }
  };
  using Calls = std::tuple<OnData, OnQueue, OnAck, OnReleased, Window, Seed>;
};

/// List of all controllers whose calls can be recorded.
using RecordedControllers = std::tuple<DelayBasedController, Smvs, NodeBAllowance, ReceiveWindowLoop, FlowController>;

}  // namespace sluice::control
