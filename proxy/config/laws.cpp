// Declares the keys of all controllers, for the proxy's configuration and the Node-B's scenarios. Ranges and rules
// across keys are checked here; control's validate() supplies the rules of the papers.
#include "proxy/config/laws.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace sluice::config {

std::string Scalar<control::Reference>::format(const control::Reference& value) {
  using Unit = control::Reference::Unit;
  if (value.unit() == Unit::time) return Scalar<Duration>::format(Duration(std::llround(value.value() * 1e9)));
  return Scalar<double>::format(value.value()) + (value.unit() == Unit::frames ? " frames" : "B");
}

}  // namespace sluice::config

namespace sluice::control {
namespace {

using config::Choice;
using config::Section;
using namespace std::chrono_literals;

constexpr std::array<Choice<Prediction>, 2> predictions{
    {{"measured", Prediction::measured, "bytes that were sent and have not arrived"},
     {"commanded", Prediction::commanded, "sum of the allowances of the last 2d steps, as in the paper"}}};

constexpr std::array<Choice<EmptyQueue>, 2> empty_queues{
    {{"hold", EmptyQueue::hold, "a step that ends with an empty queue never lowers the mean rate"},
     {"follow", EmptyQueue::follow, "a step with an empty queue counts like any other step, as in the paper"}}};

constexpr std::array<Choice<SecondLoopController>, 2> second_loop_laws{
    {{"balance", SecondLoopController::balance, "the path from the server to the air counts as one queue"},
     {"sliding-mode", SecondLoopController::sliding_mode, "SMVS controls the relay buffer of each connection"}}};

/// Reports each rule that validate() finds broken, at the key of the parameter. The report is an error if the rule
/// makes the controller unusable, else a warning.
template <typename Parameters>
void report(Section& s, const Parameters& parameters) {
  if (!s.reading()) return;
  for (const Violation& violation : validate(parameters)) {
    const std::string key = s.key_of(violation.parameter);
    if (violation.severity == Violation::Severity::error) {
      s.check(false, key, violation.rule, violation.explanation);
    } else {
      s.advise(false, key, violation.rule, violation.explanation);
    }
  }
}

/// Declares the keys of the reaching law of SMVS: step, α, δ and ε. This law determines how fast the sliding-mode
/// controller reduces an error of the queue.
void describe_reaching(Section& s, SmvsParameters& p, std::string_view step) {
  s.value("step", p.step, {1ms, 10s}, step);
  s.value("alpha", p.alpha, {0, 1}, "α: weight of the past in the mean service rate, 0 < α < 1");
  s.value("delta", p.delta, {0, 1e6}, "δ in 1/s: rate at which the error is reduced; 0 < δ·Ts < 1 and close to 1");
  s.value("epsilon", p.epsilon, {0, 1e9}, "ε in frames/s: the constant part of the reaching law, > 0");
}

/// Declares the keys of SMVS (the sliding-mode controller): those of its reaching law, of the target queue q0, and of
/// the radio queue's frame and buffer size.
void describe_aim(Section& s, SmvsParameters& p) {
  describe_reaching(s, p, "Ts: one step of the law, and the period of the reports");
  s.value("reference", p.reference, "q0: target queue; a duration is converted at the mean service rate");
  s.value("frame", p.frame, {Bytes(1), Bytes(65535)}, "size of a radio frame");
  s.value("buffer", p.buffer, "Bmax of the radio queue; 0B = unlimited or unknown");
}

/// Declares the keys of options that SMVS as published (the sliding-mode controller of the radio queue) does not have.
void describe_refinements(Section& s, SmvsParameters& p) {
  s.value("eta_window", p.eta_window, {1ms, 1h}, "time window of the bounds of η, at least one step");
  s.value("boundary_layer", p.boundary_layer, "φ: sat(ŝ/φ) replaces sgn(ŝ); 0B = sgn, as in the paper");
  s.choice("prediction", p.prediction, predictions, "estimate of the data in flight in ŝ");
  s.choice("empty_queue", p.empty_queue, empty_queues, "effect of a step that ends with an empty queue");
  s.value("minimum_reference", p.minimum_reference, "lower bound of q0");
  s.value("initial_allowance", p.initial_allowance, "bytes allowed in flight before the service rate is known");
  s.value("restart_after_idle", p.restart_after_idle, {1ms, 24h},
          "idle time after which the measured service rate is stale");
}

/// Declares those keys of the receive-window controller that only its sliding mode uses.
void describe_sliding(Section& s, SecondLoopParameters& p) {
  describe_reaching(s, p.sliding, "Ts: one step of the law; a longer interval between reports is one step");
  s.value("eta_window", p.sliding.eta_window, {1ms, 1h}, "time window of the bounds of η, at least one step");
  s.value("boundary_layer", p.sliding.boundary_layer, "φ: sat(ŝ/φ) replaces sgn(ŝ); 0B = sgn, as in the paper");
  s.choice("empty_queue", p.sliding.empty_queue, empty_queues, "effect of a step that ends with an empty buffer");
  report(s, sliding_mode(p));
}

}  // namespace

void describe(Section& s, SmvsParameters& p) {
  describe(s, p, true, {});
}

void describe(Section& s, SmvsParameters& p, bool computed_here, std::string_view condition) {
  s.when(computed_here, condition, [&] { describe_aim(s, p); });
  s.value("one_way_delay", p.one_way_delay, {0s, 10s}, "τp: one-way delay between Node-B and proxy");
  s.when(computed_here, condition, [&] { describe_refinements(s, p); });
  if (computed_here) report(s, p);
}

void describe(Section& s, SecondLoopParameters& p) {
  s.choice("law", p.law, second_loop_laws, "controller of the advertised window");
  s.value("reference", p.reference,
          "q0: target of the relay buffer. A duration is converted at the rate at which the radio drains the buffer; "
          "under ACK-based control, at half of the best recent rate");
  s.value("minimum_reference", p.minimum_reference, "lower bound of q0");
  s.value("frame", p.frame, {Bytes(1), Bytes(65'535)}, "size of a frame in the reference");
  s.value("initial", p.initial, {Bytes(1460), Bytes(1 << 30)}, "window before a drain rate is known");
  s.value("maximum", p.maximum, {Bytes(1460), Bytes(1 << 30)}, "upper limit of the window");
  s.when(p.law == SecondLoopController::sliding_mode, "law is sliding-mode", [&] {
    s.section(
        "sliding", [&](Section& below) { describe_sliding(below, p); }, "parameters of the sliding mode");
  });
}

void describe(Section& s, FallbackParameters& p) {
  s.value("periods", p.periods, {1, 10'000}, "reports are late after this many advertised periods without one");
  s.value("minimum", p.minimum, {0s, 1min}, "shortest time without a report before reports are late");
  s.value("maximum", p.maximum, {1ms, 1min},
          "longest time without a report before reports are late, whatever period is announced; after this time "
          "another Node-B may take over the UE");
  s.value("segment", p.segment, {Bytes(88), Bytes(9000)},
          "segment size in the limits of the initial window after a fallback");
  s.value("initial_segments", p.initial_segments, {1, 1000},
          "minimum of the initial window after a fallback, in segments");
  s.check(p.minimum <= p.maximum, "maximum", "at least minimum, " + config::Scalar<Duration>::format(p.minimum),
          config::Scalar<Duration>::format(p.maximum));
}

void describe(Section& s, DelayBasedParameters& p) {
  s.value("reference", p.reference, {1ms, 10s}, "target radio queue, as time at the mean rate");
  s.value("reference_share", p.reference_share, {0, 4},
          "minimum of the target radio queue, as a share of the base delay (minimum RTT)");
  s.value("gain", p.gain, {1, 4}, "gain of the window above the measured rate, which probes for more capacity");
  s.value("memory", p.memory, {1ms, 10s}, "time constant of the mean rate");
  s.value("ack_aggregation_share", p.ack_aggregation_share, {0, 2},
          "share of the ACK aggregation (data that ACKs of one burst cover) that is added to the window; larger if a "
          "UE has no timestamps");
  s.value("segment", p.segment, {Bytes(88), Bytes(9000)}, "size of a full packet; the window is at least two packets");
  s.value("initial", p.initial, {Bytes(1460), Bytes(1 << 30)}, "window before the first measurement");
  s.value("restart_after_idle", p.restart_after_idle, {1ms, 24h},
          "idle time after which the link is measured from the start");
  report(s, p);
}

void describe(Section& s, ClampWindowParameters& p) {
  s.value("gain", p.gain, {Bytes(1), Bytes(1 << 30)}, "τ: bytes that each flow adds to the queue, equal for all flows");
  s.value("smoothing", p.smoothing, {0, 1}, "β: weight of a sample in the round-trip estimate, 0 < β < 1");
  s.value("rate_packets", p.rate_packets, {1, 65'536}, "ν: number of packets over which the rate is measured");
  s.value("largest_increase", p.largest_increase, {Bytes(1), Bytes(1 << 30)},
          "largest increase of the window per packet");
  s.value("largest", p.largest, {Bytes(20'000), Bytes(1 << 30)}, "largest window, and end of slow start");
  report(s, p);
}

void describe(Section& s, ClampPriceParameters& p) {
  s.value("target", p.target,
          "a: queue above which the price is positive; the queue converges to (k·τ + a)/b for k flows");
  s.value("slope", p.slope, {0, 2}, "b: slope of the price; stable below π/2");
  s.value("forgetting", p.forgetting, {0, 1000}, "decay rate of the mean queue in 1/s");
  s.value("frame", p.frame, {Bytes(1), Bytes(65'535)}, "size of a frame in the target");
  s.value("largest", p.largest, {1ms, 1h}, "largest price, because an outage makes the price infinite");
  report(s, p);
}

void describe(Section& s, GwaParameters& p) {
  s.value("decay", p.decay, {0, 0.999}, "λ: decay of the flow count; large values overestimate flows that have ended");
  s.value("interval", p.interval, {1ms, 1h}, "Δ: interval over which flows are counted");
  report(s, p);
}

void describe_laws(Section& s, FlowControllerParameters& laws) {
  s.value("radio_buffer", laws.buffer, {Bytes(0), Bytes(1 << 30)},
          "B: size of a UE's radio queue, which wr*, ack-regulator, gwa-* and fair-share divide; 0B = the value in "
          "reports, or 64KiB if they contain none");
  s.value("max_ack_delay", laws.max_ack_delay, {1ms, 10s},
          "longest delay of an ACK of a regulated connection; must be shorter than the shortest retransmission "
          "timeout, because the sender retransmits otherwise");
#define X(name, key, type, text) s.section(key, laws.name, text);
  SLUICE_FLOW_CONTROLLER_PARAMETERS(X)
#undef X
}

}  // namespace sluice::control
