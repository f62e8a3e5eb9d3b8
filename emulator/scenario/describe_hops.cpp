// Keys of wired hops: delay, rate, buffer, queue discipline, policer and scheduled changes of the delay. describe() of
// the scenario calls these functions for every hop.
// Radio queues reuse those of CoDel, DualPI2 and ABC.

#include <algorithm>

#include "emulator/scenario/describe.hpp"

namespace sluice::emulator {
namespace {

using config::Choice;
using config::Scalar;
using config::Section;
using namespace std::chrono_literals;

constexpr Choice<DisciplineType> disciplines[] = {
    {"fifo", DisciplineType::fifo, "first in first out, drop tail"},
    {"rr", DisciplineType::round_robin, "a queue per flow, served round robin by bytes; drops from the longest"},
    {"red", DisciplineType::red, "random early detection"},
    {"codel", DisciplineType::codel, "RFC 8289"},
    {"fq-codel", DisciplineType::fq_codel, "RFC 8290"},
    {"pie", DisciplineType::pie, "RFC 8033"},
    {"dualpi2", DisciplineType::dualpi2, "RFC 9332: a queue for L4S, one for the rest"},
    {"abc", DisciplineType::abc, "signals senders of ABC (NSDI 2020) to accelerate or brake"}};
constexpr Choice<StepDirection> step_ways[] = {{"both", StepDirection::both, "each way"},
                                               {"down", StepDirection::down, "towards the UEs"},
                                               {"up", StepDirection::up, "towards the servers"}};

/// Checks that the delay steps of a hop are sorted by time.
void check_steps(Section& s, const HopSpec& hop) {
  const bool in_order = std::is_sorted(hop.steps.begin(), hop.steps.end(),
                                       [](const StepSpec& a, const StepSpec& b) { return a.at < b.at; });
  s.check(in_order, "steps", "the order of time", "another");
}

}  // namespace

void describe_times(Section& s, CodelParameters& codel) {
  s.value("target", codel.target, {1us, 10s}, "target delay of the standing queue");
  s.value("interval", codel.interval, {1us, 10s}, "worst-case round trip");
}

void describe_pie(Section& s, PieParameters& pie) {
  s.value("delay_target", pie.target, {1us, 10s}, "target delay of the queue");
  s.value("update", pie.tupdate, {100us, 10s}, "interval of updates of the drop probability");
  s.value("max_burst", pie.max_burst, {0s, 10s}, "time after the start of congestion in which nothing is dropped");
}

void describe_dual(Section& s, DualPi2Parameters& dual) {
  s.value("classic_target", dual.target, {1us, 10s}, "target delay of the classic queue");
  s.value("tupdate", dual.tupdate, {100us, 10s}, "interval of updates of the drop probability");
  s.value("alpha", dual.alpha, {1e-6, 1e3}, "gain on the distance from target, in Hz");
  s.value("beta", dual.beta, {1e-6, 1e3}, "gain on the change of the delay, in Hz");
  s.value("coupling", dual.coupling, {1, 100}, "k: coupling factor of the two queues");
  s.value("step", dual.step, {1us, 10s}, "delay above which packets in the L4S queue are marked");
  s.value("shift", dual.shift, {0s, 10s}, "time shift that favours the L4S queue in the scheduler");
}

void describe_abc(Section& s, AbcParameters& abc) {
  s.value("eta", abc.eta, {0.01, 1}, "target utilisation of the link");
  s.value("delta", abc.delta, {1ms, 10s}, "time in which a standing queue is drained");
  s.value("delay_threshold", abc.delay_threshold, {0s, 10s},
          "queueing delay that is ignored; at least the link's batch time");
  s.value("window", abc.window, {1ms, 10s}, "window over which the rates of link and queue are measured");
}

void describe(Section& s, QueueSpec& queue) {
  s.required().choice("type", queue.type, disciplines, "queue discipline");
  s.value("packets", queue.packets, {0, 1'000'000},
          "limit of queued packets in addition to the hop's buffer; 0 = only the buffer limits");
  s.value("advertise", queue.advertise,
          "only on the hop from proxy to Node-B: the free buffer per flow is sent along with packets, and GWA uses the "
          "smallest value on the path");
  s.when(queue.type == DisciplineType::red, "type is red", [&] {
    s.value("min", queue.red.min_threshold, {Bytes(0), Bytes(1 << 30)},
            "average queue below which nothing is dropped; buffer/12 if both are 0B");
    s.value("max", queue.red.max_threshold, {Bytes(0), Bytes(1 << 30)},
            "average queue above which every packet is dropped; 3·buffer/12 if both are 0B");
    s.value("max_probability", queue.red.max_probability, {1e-6, 1}, "drop probability just below max");
    s.value("weight", queue.red.weight, {1e-9, 1}, "weight of the newest queue length in the average");
    s.value("mark_above_max", queue.red.mark_above_max,
            "with ecn: marks packets above max too, instead of dropping them; packets that do not fit are dropped");
  });
  const bool codel = queue.type == DisciplineType::codel || queue.type == DisciplineType::fq_codel;
  s.when(codel, "type is codel or fq-codel", [&] { describe_times(s, queue.codel); });
  s.when(queue.type == DisciplineType::pie, "type is pie", [&] { describe_pie(s, queue.pie); });
  s.when(queue.type == DisciplineType::dualpi2, "type is dualpi2", [&] { describe_dual(s, queue.dualpi2); });
  s.when(queue.type == DisciplineType::abc, "type is abc", [&] { describe_abc(s, queue.abc); });
  s.when(codel || queue.type == DisciplineType::red || queue.type == DisciplineType::pie,
         "type is red, codel, fq-codel or pie",
         [&] { s.value("ecn", queue.ecn, "marks packets of ECN-capable senders instead of dropping them"); });
  s.check(!queue.red.mark_above_max || queue.ecn, "mark_above_max", "false where ecn is", "true");
}

void describe(Section& s, PolicerSpec& policer) {
  s.value("rate", policer.rate, {Rate::bits_per_second(1000), fastest_link}, "rate of IP bytes that pass");
  s.value("burst", policer.burst, {Bytes(1500), Bytes(std::int64_t{1} << 40)},
          "bucket size: IP bytes that pass at once after an idle time");
}

void describe(Section& s, StepSpec& step) {
  s.required().value("at", step.at, {0s, 24h}, "time of the change, since the start of the run");
  s.required().value("extra", step.extra, {0s, 10s},
                     "addition to delay from then on; it replaces the previous step; 0s ends it");
  s.choice("way", step.way, step_ways, "direction whose delay changes");
}

void describe(Section& s, SecondHopSpec& hop) {
  s.value("ue", hop.ue, {0, 999}, "which UE, counted from 0");
  s.value("server", hop.server, {0, 999}, "which server, counted from 0");
  describe(s, static_cast<HopSpec&>(hop));
}

void describe(Section& s, HopSpec& hop) {
  s.value("delay", hop.delay, {0s, 10s}, "one-way delay");
  s.value("jitter", hop.jitter, {0s, 10s},
          "jitter of the delay: uniform up to this much more or less, without reordering");
  s.value("rate", hop.rate, {Rate(), fastest_link}, "rate of IP bytes in each direction; 0b/s = infinitely fast");
  s.value("buffer", hop.buffer, {Bytes(0), Bytes(std::int64_t{1} << 40)}, "buffer before the line; 0B = unlimited");
  s.section("queue", hop.queue, "queue of a router before the line; not set: a plain buffer");
  s.section("policer", hop.policer, "token bucket policer before queue and line, one per direction; not set: none");
  s.sections("steps", hop.steps, {0, 10'000},
             "changes of the delay, such as route changes, in the order of time; packets are not reordered");
  check_steps(s, hop);
  s.check(!hop.queue || hop.rate > Rate(), "queue", "a hop with a rate",
          "a queue before a line that is infinitely fast");
  s.check(hop.jitter <= hop.delay, "jitter", "at most delay", Scalar<Duration>::format(hop.jitter));
  s.check(hop.jitter == 0s || !hop.queue, "jitter", "0s if there is a queue", Scalar<Duration>::format(hop.jitter));
  s.check(!hop.queue || !hop.queue->advertise || hop.buffer > Bytes(0), "queue", "a buffer that can be advertised",
          "advertise and an unlimited one");
  const bool red = hop.queue && hop.queue->type == DisciplineType::red;
  const bool thresholds = red && hop.queue->red.max_threshold > hop.queue->red.min_threshold;
  const bool derived = red && hop.queue->red.max_threshold == Bytes(0) && hop.buffer >= Bytes(12);
  s.check(!red || thresholds || derived, "queue", "min below max, or neither and a buffer to derive them from",
          "neither");
}

}  // namespace sluice::emulator
