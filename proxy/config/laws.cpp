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
    {{"measured", Prediction::measured, "what was really injected and has not arrived"},
     {"commanded", Prediction::commanded, "the allowances of the last 2d steps, as the paper prints it"}}};

constexpr std::array<Choice<EmptyQueue>, 2> empty_queues{
    {{"hold", EmptyQueue::hold, "a step that ends with an empty queue never lowers the mean rate"},
     {"follow", EmptyQueue::follow, "it counts like any other, as the paper has it"}}};

constexpr std::array<Choice<SecondLoopLaw>, 2> second_loop_laws{
    {{"balance", SecondLoopLaw::balance, "the whole way from the server to the air is one queue"},
     {"sliding-mode", SecondLoopLaw::sliding_mode, "SMVS again, around the relay's buffer of one connection"}}};

/// Reports the violations that validate() found, each at the key of its parameter.
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

/// Declares the keys of SMVS's reaching law: step, α, δ and ε.
void describe_reaching(Section& s, SmvsParameters& p, std::string_view step) {
  s.value("step", p.step, {1ms, 10s}, step);
  s.value("alpha", p.alpha, {0, 1}, "α: weight of the past in the mean service rate, 0 < α < 1");
  s.value("delta", p.delta, {0, 1e6}, "δ in 1/s: how fast an error is worked off; 0 < δ·Ts < 1 and close to 1");
  s.value("epsilon", p.epsilon, {0, 1e9}, "ε in frames/s: the constant part of the reaching law, > 0");
}

/// Declares the keys of the reaching law, of the reference queue q0, and of the radio queue's frame and buffer size.
void describe_aim(Section& s, SmvsParameters& p) {
  describe_reaching(s, p, "Ts: one step of the law, and the period of the reports");
  s.value("reference", p.reference, "q0: the queue to be held; time counts at the mean service rate");
  s.value("frame", p.frame, {Bytes(1), Bytes(65535)}, "size of a radio frame");
  s.value("buffer", p.buffer, "Bmax of the radio queue; 0B = unlimited or unknown");
}

/// Declares the keys of SMVS that refine the control law of the paper.
void describe_refinements(Section& s, SmvsParameters& p) {
  s.value("eta_window", p.eta_window, {1ms, 1h}, "how far back the bounds of η look, at least one step");
  s.value("boundary_layer", p.boundary_layer, "φ: sat(ŝ/φ) stands for sgn(ŝ); 0B = sgn, as in the paper");
  s.choice("prediction", p.prediction, predictions, "what stands for the data in flight in ŝ");
  s.choice("empty_queue", p.empty_queue, empty_queues, "how a step counts whose queue was empty at its end");
  s.value("minimum_reference", p.minimum_reference, "q0 is never taken for less");
  s.value("initial_allowance", p.initial_allowance, "what may be in flight while no service rate is known yet");
  s.value("forget_after", p.forget_after, {1ms, 24h}, "without data for so long, the known service rate is stale");
}

/// Declares those keys of the second loop that only its sliding mode has.
void describe_sliding(Section& s, SecondLoopParameters& p) {
  describe_reaching(s, p.sliding, "Ts: one step of the law; reports that come less often are its steps");
  s.value("eta_window", p.sliding.eta_window, {1ms, 1h}, "how far back the bounds of η look, at least one step");
  s.value("boundary_layer", p.sliding.boundary_layer, "φ: sat(ŝ/φ) stands for sgn(ŝ); 0B = sgn, as in the paper");
  s.choice("empty_queue", p.sliding.empty_queue, empty_queues, "how a step counts whose buffer was empty at its end");
  report(s, sliding_mode(p));
}

}  // namespace

void describe(Section& s, SmvsParameters& p) {
  describe(s, p, true, {});
}

void describe(Section& s, SmvsParameters& p, bool computed_here, std::string_view condition) {
  s.when(computed_here, condition, [&] { describe_aim(s, p); });
  s.value("one_way_delay", p.one_way_delay, {0s, 10s}, "τp: between Node-B and proxy");
  s.when(computed_here, condition, [&] { describe_refinements(s, p); });
  if (computed_here) report(s, p);
}

void describe(Section& s, SecondLoopParameters& p) {
  s.choice("law", p.law, second_loop_laws, "what steers that window");
  s.value("reference", p.reference,
          "q0 of the relay's buffer, at the rate the radio drains it, or at half of the best of late where "
          "acknowledgements tell that");
  s.value("minimum_reference", p.minimum_reference, "q0 is never taken for less");
  s.value("frame", p.frame, {Bytes(1), Bytes(65'535)}, "what a frame of the reference is");
  s.value("initial", p.initial, {Bytes(1460), Bytes(1 << 30)}, "window until a drain rate is known");
  s.value("maximum", p.maximum, {Bytes(1460), Bytes(1 << 30)}, "what is steered to never exceeds this");
  s.when(p.law == SecondLoopLaw::sliding_mode, "law is sliding-mode", [&] {
    s.section(
        "sliding", [&](Section& below) { describe_sliding(below, p); }, "of the sliding mode");
  });
}

void describe(Section& s, FallbackParameters& p) {
  s.value("periods", p.periods, {1, 10'000}, "reports are late after this many advertised periods without one");
  s.value("minimum", p.minimum, {0s, 1min}, "but never sooner than this");
  s.value("maximum", p.maximum, {1ms, 1min},
          "and never later, whatever period is announced; after as long a silence another Node-B may take over");
  s.value("segment", p.segment, {Bytes(88), Bytes(9000)}, "segment size for the bounds of the seeded window");
  s.value("initial_segments", p.initial_segments, {1, 1000}, "the least the seeded window holds, in segments");
  s.check(p.minimum <= p.maximum, "maximum", "at least minimum, " + config::Scalar<Duration>::format(p.minimum),
          config::Scalar<Duration>::format(p.maximum));
}

void describe(Section& s, DelayBasedParameters& p) {
  s.value("reference", p.reference, {1ms, 10s}, "what is to wait in the radio queue, as time at the mean rate");
  s.value("reference_share", p.reference_share, {0, 4}, "… but no less than this share of the base delay");
  s.value("gain", p.gain, {1, 4}, "of the window: what is sent beyond the rate seen, to find out more");
  s.value("memory", p.memory, {1ms, 10s}, "time constant of the mean rate");
  s.value(
      "clumps", p.clumps, {0, 2},
      "share of the acknowledgements that come at once that is sent ahead of them; more where a UE has no timestamps");
  s.value("segment", p.segment, {Bytes(88), Bytes(9000)}, "a full packet; two are always under way");
  s.value("initial", p.initial, {Bytes(1460), Bytes(1 << 30)}, "window while nothing is known");
  s.value("forget_after", p.forget_after, {1ms, 24h}, "without data for so long, the link is found anew");
  report(s, p);
}

void describe(Section& s, ClampWindowParameters& p) {
  s.value("gain", p.gain, {Bytes(1), Bytes(1 << 30)}, "τ: what each flow adds to the queue; the same for all flows");
  s.value("smoothing", p.smoothing, {0, 1}, "β of the round-trip estimate, 0 < β < 1");
  s.value("rate_packets", p.rate_packets, {1, 65'536}, "ν: over how many packets the rate is measured");
  s.value("largest_increase", p.largest_increase, {Bytes(1), Bytes(1 << 30)}, "of the window, per packet");
  s.value("largest", p.largest, {Bytes(20'000), Bytes(1 << 30)}, "no window is larger, and slow start ends there");
  report(s, p);
}

void describe(Section& s, ClampPriceParameters& p) {
  s.value("target", p.target, "a: the queue from which on there is a price; it settles at (k·τ + a)/b for k flows");
  s.value("slope", p.slope, {0, 2}, "b; stable below π/2");
  s.value("forgetting", p.forgetting, {0, 1000}, "in 1/s: what the mean queue forgets in a second");
  s.value("frame", p.frame, {Bytes(1), Bytes(65'535)}, "what a frame of the target is");
  s.value("largest", p.largest, {1ms, 1h}, "no price is larger; an outage would have it infinite");
  report(s, p);
}

void describe(Section& s, GwaParameters& p) {
  s.value("decay", p.decay, {0, 0.999}, "λ of the flows' decaying count; large overestimates flows that have gone");
  s.value("interval", p.interval, {1ms, 1h}, "Δ over which they are counted");
  report(s, p);
}

void describe_laws(Section& s, LawParameters& laws) {
  s.value("radio_buffer", laws.buffer, {Bytes(0), Bytes(1 << 30)},
          "B of a UE's radio queue, which wr*, ack-regulator, gwa-* and fair-share divide; 0B = what the reports say, "
          "64KiB where they say none");
  s.value(
      "longest_hold", laws.hold, {1ms, 10s},
      "no ACK of a regulated connection waits longer; below the shortest retransmission timeout, or what is held is "
      "sent again");
#define X(name, key, type, text) s.section(key, laws.name, text);
  SLUICE_LAW_PARAMETERS(X)
#undef X
}

}  // namespace sluice::control
