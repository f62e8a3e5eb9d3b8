#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <variant>

#include "dataplane/tcp/segment.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// The congestion controls: X(name, configuration word, hooks that a connection starts with, what it is). A new one is
/// a class with the hooks it needs (CongestionHooks), its place in CongestionControl, and one line here: the words of
/// the configuration and what they start are made of this table.
#define SLUICE_CONGESTION_CONTROLS(X)                                                                           \
  X(newreno, "newreno", NewReno, "RFC 6582")                                                                    \
  X(cubic, "cubic", HyStart, "RFC 9438")                                                                        \
  X(bbr, "bbr", ModelledBy<Bbr>, "version 1, always paced")                                                     \
  X(bbr3, "bbr3", ModelledBy<Bbr3>, "version 3, always paced")                                                  \
  X(copa, "copa", ModelledBy<Copa>, "NSDI 2018, always paced")                                                  \
  X(prague, "prague", Prague, "of L4S (RFC 9331), always paced; as newreno where ECN feedback is not accurate") \
  X(abc, "abc", Abc, "Goyal et al., 2020, for queues of that name; as newreno where ECN feedback is not accurate")

enum class CongestionAlgorithm : std::uint8_t {
#define X(name, word, hooks, text) name,
  SLUICE_CONGESTION_CONTROLS(X)
#undef X
};

struct CongestionText {
  CongestionAlgorithm algorithm{};
  std::string_view word;
  std::string_view text;
};
inline constexpr std::array congestion_table = {
#define X(name, word, hooks, text) CongestionText{CongestionAlgorithm::name, word, text},
    SLUICE_CONGESTION_CONTROLS(X)
#undef X
};

/// No congestion window grows beyond this many bytes, which is more than a scaled window can advertise.
inline constexpr std::uint32_t largest_congestion_window = 1U << 30;

/// Everything one acknowledgement told. Filled once; loss recovery, congestion control and counters read it, and nobody
/// derives any of it again.
struct AckEvent {
  Instant now{};
  Duration rtt = no_rtt;           ///< of the newest segment it delivered that was sent once; no_rtt when none
  std::uint32_t acked = 0;         ///< bytes by which SND.UNA moved
  std::uint32_t newly_sacked = 0;  ///< bytes that were not sacked before
  std::uint32_t delivered = 0;     ///< bytes acknowledged or sacked, none of them before: what windows grow by
  std::uint32_t newly_lost = 0;    ///< bytes taken for lost because of it
  std::uint32_t in_flight = 0;     ///< pipe before it (RFC 6675)
  std::int32_t small = 0;          ///< packets of less than SendQueue::small bytes that it took from the queue
  bool duplicate = false;          ///< a duplicate acknowledgement (RFC 5681 section 2, RFC 6675 section 2)
  bool cwnd_limited = false;       ///< the congestion window was what held the sender back

  static constexpr Duration no_rtt{-1};
};

/// What its owner may hear of an acknowledgement.
struct AckNews {
  std::uint32_t delivered = 0;      ///< bytes that the peer has and did not have before
  Duration rtt = AckEvent::no_rtt;  ///< of the newest segment it delivered that was sent once; no_rtt when none
};

/// What an acknowledgement says of marks, on a connection with accurate ECN feedback (RFC 9768).
struct MarkFeedback {
  std::uint32_t packets = 0;  ///< that it delivered
  std::uint32_t marked = 0;   ///< packets that have come with CE since the last one
};

/// The window that every algorithm moves, in bytes.
struct CongestionWindow {
  std::uint32_t cwnd = 0;
  std::uint32_t ssthresh = UINT32_MAX;
  [[nodiscard]] bool slow_start() const { return cwnd < ssthresh; }
};

/// What an algorithm may know of the connection besides the event.
struct PathView {
  Instant now{};
  Duration srtt{};                ///< zero when unknown
  std::uint32_t mss = 0;          ///< effective segment size, bytes
  std::uint32_t flight_size = 0;  ///< SND.NXT - SND.UNA
};

/// Returns half of what the window had in flight when a loss was detected, and no less than two segments. What Limited
/// Transmit and the wait for reordered segments have let out beyond the window does not count, because RFC 5681 section
/// 3.2 step 2 excludes it.
[[nodiscard]] inline std::uint32_t half_of_flight(const CongestionWindow& window, const PathView& path) {
  return std::max(std::min(path.flight_size, window.cwnd) / 2, 2 * path.mss);
}

/// The hooks of a congestion control, all doing nothing. An algorithm hides the ones it needs and keeps its state in
/// place; slow start and the bounds of the window are common to all (CongestionControl).
struct CongestionHooks {
  static constexpr float beta = 0.7F;      ///< share of the window that a loss leaves (RFC 9438 section 4.6)
  static constexpr bool modelled = false;  ///< a model of the path decides, see Modelled
  static constexpr bool scalable = false;  ///< on_feedback() answers marks; else they count as a loss in each round

  /// New data arrived (event.delivered) in congestion avoidance while the window was the limit.
  void on_ack(CongestionWindow&, const AckEvent&, const PathView&) {}
  /// Loss recovery begins: sets ssthresh. The window follows it.
  void on_congestion(CongestionWindow&, const PathView&) {}
  /// The retransmission timer expired: sets ssthresh. The window falls to one segment.
  void on_timeout(CongestionWindow&, const PathView&) {}
  /// The last reduction was for nothing; the window is as before.
  void on_undo() {}
  /// Everything outstanding when recovery began has been acknowledged.
  void on_recovery_exit(CongestionWindow&, const PathView&) {}
  /// The sender was not limited by the window, or paused: time that passed is not the network's answer.
  void on_idle() {}
  /// An acknowledgement with accurate ECN feedback, before on_ack(), whatever limits the sender.
  void on_feedback(CongestionWindow&, const MarkFeedback&, const AckEvent&, const PathView&) {}
};

/// RFC 5681, RFC 6582.
struct NewReno : CongestionHooks {
  static constexpr float beta = 0.5F;  ///< RFC 5681 section 3.1, eq. 4

  void on_ack(CongestionWindow&, const AckEvent&, const PathView&);
  void on_congestion(CongestionWindow&, const PathView&);
  void on_timeout(CongestionWindow&, const PathView&);

  std::uint32_t counted = 0;  ///< bytes acknowledged since the window last grew
};

/// RFC 9438, with fast convergence and the Reno-friendly region. Windows in segments, times in seconds.
struct Cubic : CongestionHooks {
  static constexpr float c = 0.4F;  ///< section 5.1
  static constexpr float no_epoch = -1;

  void on_ack(CongestionWindow&, const AckEvent&, const PathView&);
  void on_congestion(CongestionWindow&, const PathView&);
  void on_timeout(CongestionWindow&, const PathView&);
  void on_idle() {
    if (k < 0) return;
    k = no_epoch;
    keep();
  }
  void on_undo();

  float w_max = 0;          ///< window just before the last reduction
  float k = no_epoch;       ///< time the cubic takes to reach w_max; no_epoch before an avoidance stage begins
  float w_est = 0;          ///< window Reno would have (section 4.3); without an epoch the former w_max
  float cwnd_prior = 0;     ///< window at the last reduction, for w_est's slope
  float fraction = 0;       ///< bytes of growth not yet in cwnd; without an epoch the former cwnd_prior
  std::uint32_t epoch = 0;  ///< start of this congestion avoidance stage, tick::fine

 private:
  /// An epoch has ended: what on_undo() restores takes the place of what only an epoch needs.
  void keep() {
    w_est = w_max;
    fraction = cwnd_prior;
  }
  void reduce(CongestionWindow&, const PathView&);
  void begin_epoch(const CongestionWindow&, const PathView&);
};

/// The first slow start of a connection under CUBIC: HyStart++ (RFC 9406) leaves it when round-trip times say that a
/// queue grows, before the queue overflows. A Cubic takes its place when that slow start is over.
struct HyStart : CongestionHooks {
  static constexpr std::uint32_t none = UINT32_MAX;

  /// By how much the window grows where slow start would let it grow by `usual`. Sets ssthresh when slow start is over.
  [[nodiscard]] std::uint32_t growth(CongestionWindow& window, const AckEvent& event, const PathView& path,
                                     std::uint32_t usual);

  std::uint32_t last_least_us = none;   ///< lastRoundMinRTT
  std::uint32_t round_least_us = none;  ///< currentRoundMinRTT
  std::uint32_t baseline_us = none;     ///< cssBaselineMinRtt; in conservative slow start
  std::uint32_t round_left = 0;         ///< bytes to be acknowledged in this round
  std::uint8_t samples = 0;             ///< of this round, up to as many as are needed
  std::uint8_t rounds = 0;              ///< of conservative slow start

 private:
  bool begin_round(const AckEvent& event, const PathView& path);
  void judge();
};

/// Prague (draft-briscoe-iccrg-prague-congestion-control): the window shrinks by half of the average share of marks,
/// at most once in each virtual round, and grows by a segment in each. A virtual round is no shorter than 25 ms, so
/// that flows of short round trips leave room for the others. A loss is answered as Reno does.
struct Prague : CongestionHooks {
  static constexpr float beta = 0.5F;
  static constexpr bool scalable = true;
  static constexpr Duration least_round = std::chrono::milliseconds(25);  ///< the draft's RTT_virt
  static constexpr float gain = 1.0F / 16;                                ///< the draft's g

  void on_ack(CongestionWindow&, const AckEvent&, const PathView&);
  void on_congestion(CongestionWindow&, const PathView&);
  void on_timeout(CongestionWindow&, const PathView&);
  void on_feedback(CongestionWindow&, const MarkFeedback&, const AckEvent&, const PathView&);

  float alpha = 1;                ///< average share of marked packets; not moved before the first one
  float fraction = 0;             ///< bytes of growth not yet in cwnd
  std::uint32_t round_end = 0;    ///< of this virtual round, tick::micro
  std::uint32_t cut_end = 0;      ///< of the round in which the window was reduced last, tick::micro
  std::uint16_t packets = 0;      ///< delivered in this virtual round
  std::uint16_t marked = 0;       ///< of these
  std::uint16_t just_marked = 0;  ///< packets of the latest acknowledgement
  bool fed = false;               ///< there was feedback: a virtual round is on
  bool saw_mark = false;

 private:
  void count(const MarkFeedback& feedback);
  void end_round(std::uint32_t now, std::uint32_t round);
  void cut(CongestionWindow& window, const PathView& path);
};

/// The sender of ABC (Goyal et al., NSDI 2020): a packet that an ABC queue lets accelerate is answered by two, one that
/// it brakes by none, and each adds its part of a segment in a round for fairness.
///
/// The paper marks `accelerate` as ECT(1) and `brake` as ECT(0), and the receiver echoes each in the NS bit. Here all
/// leave as ECT(1), a brake is CE, and the ACE field of RFC 9768 counts them: of the packets that an acknowledgement
/// delivers, those that were not braked accelerate. The sum over a round is the same, and a lost acknowledgement loses
/// nothing of it; but a queue of another kind that marks with CE is taken to brake.
struct Abc : NewReno {
  static constexpr bool scalable = true;

  void on_ack(CongestionWindow&, const AckEvent&, const PathView&);
  void on_congestion(CongestionWindow&, const PathView&);
  void on_timeout(CongestionWindow&, const PathView&);
  void on_feedback(CongestionWindow&, const MarkFeedback&, const AckEvent&, const PathView&);

  float window = 0;   ///< w_abc, bytes; 0 before there was feedback
  float ceiling = 0;  ///< window that losses leave, growing as Reno's does, bytes; 0 = there was none
};

/// A model of the path moves the window from outside (PathModel): losses, pauses and their ends do not.
struct Modelled : CongestionHooks {
  static constexpr bool modelled = true;
};

class Bbr;
class Bbr3;
class Copa;

/// … and this one does. For what others ask a congestion control all models are the same.
template <class Which>
struct ModelledBy : Modelled {
  using Model = Which;
};

/// Whether a model of the path decides. Such a connection is paced, and needs a PacedEndpoint.
[[nodiscard]] constexpr bool is_modelled(CongestionAlgorithm algorithm) {
  switch (algorithm) {
#define X(name, word, hooks, text) \
  case CongestionAlgorithm::name:  \
    return hooks::modelled;
    SLUICE_CONGESTION_CONTROLS(X)
#undef X
  }
  return false;
}

/// The congestion window and the algorithm that moves it, by value.
class CongestionControl {
 public:
  /// Starts with `cwnd` bytes in slow start.
  void start(CongestionAlgorithm algorithm, std::uint32_t cwnd);
  /// Goes on from a measured window: cwnd = ssthresh = `cwnd`, no history.
  void seed(std::uint32_t cwnd);

  [[nodiscard]] std::uint32_t cwnd() const { return window_.cwnd; }
  [[nodiscard]] std::uint32_t ssthresh() const { return window_.ssthresh; }

  /// Takes the window that proportional rate reduction allows, in a recovery; at least `least`.
  void reduce_to(std::uint32_t cwnd, std::uint32_t least) { window_.cwnd = std::max(cwnd, least); }
  /// ssthresh as a share of what was in flight: RecoverFS of RFC 6937 the other way round.
  [[nodiscard]] float reduction() const {
    return std::visit([](const auto& algorithm) { return std::decay_t<decltype(algorithm)>::beta; }, algorithm_);
  }

  /// A model decides: follow() moves the window, on_ack() and the rest but on_timeout() and undo() do not.
  [[nodiscard]] bool modelled() const { return std::holds_alternative<Modelled>(algorithm_); }
  void follow(std::uint32_t cwnd) { window_.cwnd = cwnd; }

  /// cwnd before the last reduction.
  [[nodiscard]] std::uint32_t prior_cwnd() const { return prior_.cwnd; }

  /// Marks are answered by on_feedback(), where there is accurate feedback.
  [[nodiscard]] bool scalable() const {
    return std::visit([](const auto& algorithm) { return std::decay_t<decltype(algorithm)>::scalable; }, algorithm_);
  }
  /// What new data leaves with in its ECN field, where there is accurate feedback.
  [[nodiscard]] std::uint8_t codepoint() const { return scalable() ? ecn_scalable : ecn_capable; }

  void on_feedback(const MarkFeedback& feedback, const AckEvent& event, const PathView& path);
  void on_ack(const AckEvent& event, const PathView& path, bool after_timeout);
  void on_congestion(const PathView& path);
  /// A mark was echoed (RFC 3168): as on_congestion(), but no undo() takes it back.
  void on_mark(const PathView& path);
  /// `first`: of its segment. `answered`: in a recovery that has reduced the window for what was sent by then, and not
  /// yet come to its end: ssthresh stays, as once for each window of data (RFC 5681 section 4.3).
  void on_timeout(const PathView& path, bool first, bool answered = false);
  /// `reduced`: rate reduction has brought the flight down to ssthresh already (RFC 6937); else RFC 6582 says how.
  void on_recovery_exit(const PathView& path, bool reduced);
  /// The last reduction was for nothing: both windows are what they were before it, at least.
  void undo();
  /// Nothing was sent for longer than a retransmission timeout: at most `restart` bytes (RFC 5681 section 4.1).
  void on_idle(std::uint32_t restart);

 private:
  void end_first_slow_start();

  CongestionWindow window_;
  CongestionWindow prior_;  ///< before the last reduction
  [[no_unique_address]] std::variant<NewReno, HyStart, Modelled, Prague, Abc, Cubic>
      algorithm_;  // Cubic follows HyStart
};
static_assert(sizeof(CongestionControl) <= 44);

}  // namespace sluice::tcp
