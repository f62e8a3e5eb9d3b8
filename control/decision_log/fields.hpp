#pragma once

#include <concepts>
#include <type_traits>

#include "control/ack_based/delay_based_controller.hpp"
#include "control/decision_log/values.hpp"
#include "control/smvs/receive_window_loop.hpp"
#include "control/smvs/smvs.hpp"
#include "control/window_laws/ack_release.hpp"
#include "control/window_laws/flow_controller.hpp"
#include "control/window_laws/flow_controller_tables.hpp"
#include "control/window_laws/queue_view.hpp"

/// This header lists the fields that a decision log records, one list per type: parameters of controllers, their inputs
/// and their results. A parameter's field has the name of its configuration key.
namespace sluice::control {

template <typename Self, typename T>
concept Either = std::same_as<std::remove_const_t<Self>, T>;

template <>
struct EnumWords<Prediction> {
  static constexpr std::array<std::string_view, 2> words{"measured", "commanded"};
};
template <>
struct EnumWords<EmptyQueue> {
  static constexpr std::array<std::string_view, 2> words{"hold", "follow"};
};
template <>
struct EnumWords<FlowControllerKind> {
  static constexpr auto words = [] {
    std::array<std::string_view, flow_controller_table.size()> all;
    for (std::size_t i = 0; i < all.size(); ++i) all.at(i) = flow_controller_table.at(i).word;
    return all;
  }();
};

// --- parameters

/// Replaces config::Section, the reader of the configuration, in calls of a function describe(). Visits a field for
/// each configuration key that describe() lists. So such parameters need no second list of fields for the decision log.
template <typename Visit>
struct DescribedFields {
  Visit& visit;

  template <typename T>
  struct Range {
    std::type_identity_t<T> least;
    std::type_identity_t<T> most;
  };
  template <typename T>
  void value(std::string_view name, T& value, std::string_view /*text*/) {
    visit(name, value);
  }
  template <typename T>
  void value(std::string_view name, T& value, const Range<T>& /*range*/, std::string_view /*text*/) {
    visit(name, value);
  }
};

/// Visits the fields of parameters whose configuration keys a function describe(Section&, Parameters&) lists. Such
/// parameters need no second list of fields for the decision log.
template <typename T, typename Visit>
requires requires(DescribedFields<Visit>& s, std::remove_const_t<T>& p) {
  describe(s, p);
}
void each_field(T& p, Visit& visit) {
  DescribedFields<Visit> fields{visit};
  if constexpr (std::is_const_v<T>) {
    std::remove_const_t<T> copy = p;
    describe(fields, copy);
  } else {
    describe(fields, p);
  }
}

template <Either<DelayBasedParameters> Self, typename Visit>
void each_field(Self& p, Visit& visit) {
  visit("reference", p.reference);
  visit("reference_share", p.reference_share);
  visit("gain", p.gain);
  visit("memory", p.memory);
  visit("ack_aggregation_share", p.ack_aggregation_share);
  visit("segment", p.segment);
  visit("initial", p.initial);
  visit("restart_after_idle", p.restart_after_idle);
}

template <Either<SmvsParameters> Self, typename Visit>
void each_field(Self& p, Visit& visit) {
  visit("step", p.step);
  visit("alpha", p.alpha);
  visit("delta", p.delta);
  visit("epsilon", p.epsilon);
  visit("reference", p.reference);
  visit("frame", p.frame);
  visit("buffer", p.buffer);
  visit("one_way_delay", p.one_way_delay);
  visit("eta_window", p.eta_window);
  visit("boundary_layer", p.boundary_layer);
  visit("prediction", p.prediction);
  visit("empty_queue", p.empty_queue);
  visit("minimum_reference", p.minimum_reference);
  visit("initial_allowance", p.initial_allowance);
  visit("restart_after_idle", p.restart_after_idle);
}

template <Either<ReceiveWindowParameters> Self, typename Visit>
void each_field(Self& p, Visit& visit) {
  visit("reference", p.reference);
  visit("minimum_reference", p.minimum_reference);
  visit("frame", p.frame);
  visit("initial", p.initial);
  visit("maximum", p.maximum);
}

template <Either<ClampWindowParameters> Self, typename Visit>
void each_field(Self& p, Visit& visit) {
  visit("gain", p.gain);
  visit("smoothing", p.smoothing);
  visit("rate_packets", p.rate_packets);
  visit("largest_increase", p.largest_increase);
  visit("segment", p.segment);
  visit("largest", p.largest);
}

template <Either<ClampPriceParameters> Self, typename Visit>
void each_field(Self& p, Visit& visit) {
  visit("target", p.target);
  visit("slope", p.slope);
  visit("forgetting", p.forgetting);
  visit("frame", p.frame);
  visit("largest", p.largest);
}

/// Visits only the decay λ and the interval Δ of GWA (Generalized Window Advertising). The other parameters are not
/// recorded here: the controller's type determines the policy, and the queue's state contains the buffer size.
template <Either<GwaParameters> Self, typename Visit>
void each_field(Self& p, Visit& visit) {
  visit("decay", p.decay);
  visit("interval", p.interval);
}

template <Either<FlowControllerParameters> Self, typename Visit>
void each_field(Self& p, Visit& visit) {
  visit("radio_buffer", p.buffer);
  visit("max_ack_delay", p.max_ack_delay);
#define X(name, key, type, text) visit(key, p.name);
  SLUICE_FLOW_CONTROLLER_PARAMETERS(X)
#undef X
}

// --- inputs of the laws

template <Either<AckSample> Self, typename Visit>
void each_field(Self& ack_sample, Visit& visit) {
  visit("now", ack_sample.now);
  visit("delivered", ack_sample.delivered);
  visit("stretch", ack_sample.ack_stretch);
  visit("round_trip", ack_sample.round_trip);
  visit("in_flight", ack_sample.in_flight);
  visit("flows", ack_sample.flows);
  visit("held_back", ack_sample.window_limited);
  visit("late", ack_sample.ack_delay);
  visit("others", ack_sample.cross_traffic);
  visit("uploaded", ack_sample.uploaded);
  visit("further", ack_sample.control_loop_delay);
  visit("lost", ack_sample.lost);
  visit("reference_part", ack_sample.reference_factor, Between{0, 1});
}

template <Either<SmvsObservation> Self, typename Visit>
void each_field(Self& seen, Visit& visit) {
  visit("now", seen.now);
  visit("queue", seen.queue);
  visit("arrived", seen.arrived);
  visit("served", seen.served);
  visit("in_flight", seen.in_flight);
  visit("round_trip", seen.round_trip);
  visit("reference_part", seen.reference_factor, Between{0, 1});
}

template <Either<QueueView> Self, typename Visit>
void each_field(Self& view, Visit& visit) {
  visit("queue", view.queue);
  visit("buffer", view.buffer);
  visit("mean_rate", view.mean_rate);
  visit("best_rate", view.best_rate);
  visit("flows", view.flows, Between{1, 1e9});
  visit("price", view.price);
  OrUnlimited advertised{view.advertised};
  visit("advertised", advertised);
  visit("dropped", view.dropped);
  visit("counted_share", view.counted_share, Between{1e-3, 1});
}

template <Either<FlowView> Self, typename Visit>
void each_field(Self& view, Visit& visit) {
  visit("left", view.left);
  visit("arrived", view.arrived);
  visit("sent", view.sent);
  visit("round_trip", view.round_trip);
}

template <Either<AckView> Self, typename Visit>
void each_field(Self& ack, Visit& visit) {
  visit("now", ack.now);
  visit("ack", ack.ack);
  visit("newly", ack.newly);
  visit("offered", ack.offered);
  visit("limited", ack.limited);
  visit("in_loss", ack.in_loss);
}

template <Either<ReceiveWindowObservation> Self, typename Visit>
void each_field(Self& seen, Visit& visit) {
  visit("buffered", seen.buffered);
  visit("advertised", seen.advertised);
  visit("radio_error", seen.radio_error);
  visit("drain", seen.drain);
  visit("server_rtt", seen.server_rtt);
  visit("framing", seen.framing);
  visit("best", seen.best);
}

// --- results of the laws

template <Either<AckRelease> Self, typename Visit>
void each_field(Self& release, Visit& visit) {
  OrUnlimited up_to{release.up_to};
  visit("up_to", up_to);
  visit("at_least", release.at_least);
}

template <Either<SmvsState> Self, typename Visit>
void each_field(Self& state, Visit& visit) {
  visit("rate", state.rate);
  visit("mean_rate", state.mean_rate);
  visit("reference", state.reference);
  visit("predicted_error", state.predicted_error);
  visit("eta_low", state.eta_low);
  visit("eta_high", state.eta_high);
  visit("allowance", state.allowance);
  visit("steps", state.steps);
}

template <Either<ClampWindowState> Self, typename Visit>
void each_field(Self& state, Visit& visit) {
  visit("rate", state.rate);
  visit("round_trip", state.round_trip);
  visit("window", state.window);
  visit("change", state.change);
  visit("slow_start", state.slow_start);
}

template <Either<ReceiveWindowState> Self, typename Visit>
void each_field(Self& state, Visit& visit) {
  visit("reference", state.reference);
  visit("target", state.target);
  visit("predicted_error", state.predicted_error);
}

}  // namespace sluice::control
