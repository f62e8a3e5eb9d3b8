#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <variant>

#include "dataplane/packet/segment.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::tcp {

/// Table of the congestion controls: X(name, configuration word, hooks that a connection starts with, description). A
/// new control needs a class with the hooks it uses (CongestionHooks), an entry in CongestionControl and one line here.
/// The configuration words and their meaning are generated from this table.
#define SLUICE_CONGESTION_CONTROLS(X)                                                                         \
  X(newreno, "newreno", NewReno, "RFC 6582")                                                                  \
  X(cubic, "cubic", HyStart, "RFC 9438")                                                                      \
  X(bbr, "bbr", ModelBasedCc<Bbr>, "version 1, always paced")                                                 \
  X(bbr3, "bbr3", ModelBasedCc<Bbr3>, "version 3, always paced")                                              \
  X(copa, "copa", ModelBasedCc<Copa>, "NSDI 2018, always paced")                                              \
  X(prague, "prague", Prague, "for L4S (RFC 9331), always paced; as newreno if ECN feedback is not accurate") \
  X(abc, "abc", Abc, "Goyal et al., NSDI 2020, for queues of type abc; as newreno if ECN feedback is not accurate")

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

/// Upper limit of every congestion window in bytes; more than a scaled window can advertise.
inline constexpr std::uint32_t largest_congestion_window = 1U << 30;

/// Results of processing one acknowledgement. Every member is computed once, and is then read by loss recovery,
/// congestion control and counters.
struct AckEvent {
  Instant now{};
  Duration rtt = no_rtt;           ///< RTT of the newest delivered segment that was sent once, or no_rtt
  std::uint32_t acked = 0;         ///< bytes by which SND.UNA advanced
  std::uint32_t newly_sacked = 0;  ///< bytes that SACK blocks of this ACK report for the first time
  std::uint32_t delivered = 0;     ///< bytes newly acknowledged or sacked, by which the growth of cwnd is measured
  std::uint32_t newly_lost = 0;    ///< bytes marked lost because of this ACK
  std::uint32_t in_flight = 0;     ///< bytes in flight before this ACK (pipe of RFC 6675)
  /// Number of packets with a payload below SendQueue::small bytes that the ACK removed from the send queue.
  std::int32_t small = 0;
  bool duplicate = false;     ///< true for a duplicate ACK (RFC 5681 section 2, RFC 6675 section 2)
  bool cwnd_limited = false;  ///< true if the congestion window limited the sender before this ACK
  /// Distance in bytes from SND.UNA to the right edge of a SACK block that lies inside a sent segment; 0 if there is no
  /// such block. A receiver stores whole segments, so such an edge suggests that the peer acknowledges data before it
  /// arrives.
  std::uint32_t misplaced_sack = 0;
  bool misplaced = false;

  static constexpr Duration no_rtt{-1};
};

/// Part of an AckEvent (the results of processing one ACK) that the endpoint reports to its caller.
struct AckSample {
  std::uint32_t delivered = 0;      ///< bytes newly acknowledged or sacked
  Duration rtt = AckEvent::no_rtt;  ///< RTT of the newest delivered segment that was sent once, or no_rtt
};

/// ECN marks that one ACK reports, on a connection with accurate ECN feedback (RFC 9768).
struct MarkFeedback {
  std::uint32_t packets = 0;  ///< number of packets that the ACK newly acknowledges
  std::uint32_t marked = 0;   ///< number of packets that arrived with CE since the last ACK, as this ACK reports it
};

/// Congestion window and slow-start threshold in bytes, which every congestion control changes.
struct CongestionWindow {
  std::uint32_t cwnd = 0;
  std::uint32_t ssthresh = UINT32_MAX;
  [[nodiscard]] bool slow_start() const { return cwnd < ssthresh; }
};

/// State of the connection that a congestion control may use in addition to the AckEvent.
struct PathView {
  Instant now{};
  Duration srtt{};                ///< smoothed round-trip time; zero if unknown
  std::uint32_t mss = 0;          ///< effective segment size, bytes
  std::uint32_t flight_size = 0;  ///< SND.NXT - SND.UNA
};

/// Returns half of the bytes in flight at the time when a loss was detected, at least two segments. Bytes in flight
/// beyond cwnd do not count (RFC 5681 section 3.2 step 2). They were sent by Limited Transmit, or while the sender
/// waited for reordered segments.
[[nodiscard]] inline std::uint32_t half_of_flight(const CongestionWindow& window, const PathView& path) {
  return std::max(std::min(path.flight_size, window.cwnd) / 2, 2 * path.mss);
}

/// Hooks of a congestion control, with empty defaults. An algorithm defines the hooks that it needs, which hide the
/// empty ones, and has its state in its members. Slow start and the limits of cwnd are in CongestionControl, for all
/// algorithms.
struct CongestionHooks {
  static constexpr float beta = 0.7F;  ///< share of cwnd that remains after a loss (RFC 9438 section 4.6)
  /// True if a model of the path (such as BBR) sets cwnd, see ModelBased.
  static constexpr bool model_based = false;
  static constexpr bool scalable = false;  ///< true if on_feedback() responds to ECN marks

  /// Increases cwnd in congestion avoidance. Called when new data was delivered (event.delivered) while cwnd limited
  /// the sender.
  void on_ack(CongestionWindow&, const AckEvent&, const PathView&) {}
  /// Sets ssthresh when loss recovery begins. The caller then sets cwnd to ssthresh.
  void on_congestion(CongestionWindow&, const PathView&) {}
  /// Sets ssthresh when the retransmission timer expires. The caller sets cwnd to one segment.
  void on_timeout(CongestionWindow&, const PathView&) {}
  /// Restores the algorithm's state after a reduction of cwnd that was not needed. The caller restores cwnd itself.
  void on_undo() {}
  /// Called when everything outstanding at the start of recovery has been acknowledged.
  void on_recovery_exit(CongestionWindow&, const PathView&) {}
  /// Called if cwnd did not limit the sender, or after a pause in sending. An algorithm whose window grows with time
  /// (CUBIC) must not count the time before this call.
  void on_idle() {}
  /// Called for an ACK with accurate ECN feedback, before on_ack(), whether or not cwnd limits the sender.
  void on_feedback(CongestionWindow&, const MarkFeedback&, const AckEvent&, const PathView&) {}
};

/// NewReno congestion control (RFC 5681, RFC 6582).
struct NewReno : CongestionHooks {
  static constexpr float beta = 0.5F;  ///< share of cwnd that remains after a loss (RFC 5681 section 3.1, eq. 4)

  void on_ack(CongestionWindow&, const AckEvent&, const PathView&);
  void on_congestion(CongestionWindow&, const PathView&);
  void on_timeout(CongestionWindow&, const PathView&);

  std::uint32_t counted = 0;  ///< bytes acknowledged since cwnd last grew
};

/// CUBIC congestion control (RFC 9438) with fast convergence and the Reno-friendly region. Windows are in segments,
/// times in seconds.
struct Cubic : CongestionHooks {
  static constexpr float c = 0.4F;  ///< constant C of the cubic window function (RFC 9438 section 5.1)
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

  /// Window in segments at which the cubic function is flat: cwnd before the last reduction. It is less if cwnd had not
  /// regained its earlier maximum (fast convergence).
  float w_max = 0;
  /// Time in seconds after which the cubic function reaches w_max; no_epoch before congestion avoidance.
  float k = no_epoch;
  /// Window in segments that a Reno flow would have on this path (W_est, RFC 9438 section 4.3). After a reduction or
  /// pause, until congestion avoidance starts again, this member stores the earlier w_max for on_undo().
  float w_est = 0;
  /// Window in segments just before the last reduction; it determines how fast the estimate of a Reno flow's window
  /// grows.
  float cwnd_prior = 0;
  /// Bytes of window growth that are not yet in cwnd. After a reduction or pause, until congestion avoidance starts
  /// again, this member stores the earlier cwnd_prior for on_undo().
  float fraction = 0;
  std::uint32_t epoch = 0;  ///< start of this congestion avoidance stage, in ticks of 1.05 ms (tick::ms)

 private:
  /// Saves w_max and cwnd_prior, so that on_undo() can restore them. The members w_est and fraction store them, because
  /// both are unused until congestion avoidance starts again.
  void keep() {
    w_est = w_max;
    fraction = cwnd_prior;
  }
  void reduce(CongestionWindow&, const PathView&);
  void begin_epoch(const CongestionWindow&, const PathView&);
};

/// First slow start of a connection under CUBIC (HyStart++, RFC 9406). This slow start ends when round-trip times show
/// a growing queue, before that queue overflows. A Cubic object then replaces this object.
struct HyStart : CongestionHooks {
  static constexpr std::uint32_t none = UINT32_MAX;

  /// Returns the bytes by which cwnd grows now; standard slow start grows it by `usual`. Sets ssthresh when slow start
  /// is over.
  [[nodiscard]] std::uint32_t growth(CongestionWindow& window, const AckEvent& event, const PathView& path,
                                     std::uint32_t usual);

  std::uint32_t last_round_min_us = none;     ///< minimum RTT of the last round in µs (lastRoundMinRTT)
  std::uint32_t current_round_min_us = none;  ///< minimum RTT of this round in µs (currentRoundMinRTT)
  std::uint32_t baseline_us = none;           ///< RTT in µs when conservative slow start began (cssBaselineMinRtt)
  std::uint32_t round_left = 0;               ///< bytes that must be delivered before this round of slow start ends
  std::uint8_t samples = 0;                   ///< number of RTT samples in this round, at most 8 (N_RTT_SAMPLE)
  std::uint8_t rounds = 0;                    ///< number of rounds of conservative slow start so far

 private:
  bool begin_round(const AckEvent& event, const PathView& path);
  void judge();
};

/// Prague (draft-briscoe-iccrg-prague-congestion-control). At most once per virtual round, cwnd shrinks by half of the
/// average share of marked packets. A virtual round is one round trip, but at least 25 ms. Per round trip cwnd grows by
/// one segment, or by less if the round trip is shorter than 25 ms. Flows with short round trips thus do not displace
/// others. A loss is handled as in Reno.
struct Prague : CongestionHooks {
  static constexpr float beta = 0.5F;
  static constexpr bool scalable = true;
  /// Minimum of the virtual round-trip time (RTT_virt of draft-briscoe-iccrg-prague-congestion-control).
  static constexpr Duration min_round = std::chrono::milliseconds(25);
  static constexpr float gain = 1.0F / 16;  ///< weight of the newest round in the average alpha (g of the draft)

  void on_ack(CongestionWindow&, const AckEvent&, const PathView&);
  void on_congestion(CongestionWindow&, const PathView&);
  void on_timeout(CongestionWindow&, const PathView&);
  void on_feedback(CongestionWindow&, const MarkFeedback&, const AckEvent&, const PathView&);

  float alpha = 1;              ///< average share of marked packets; 1 until the first mark
  float fraction = 0;           ///< bytes of window growth that are not yet in cwnd
  std::uint32_t round_end = 0;  ///< end of the present virtual round, in ticks of 1.02 µs (tick::us)
  /// End of the virtual round in which cwnd was last reduced, in ticks of 1.02 µs (tick::us).
  std::uint32_t cut_end = 0;
  std::uint16_t packets = 0;      ///< packets delivered in this virtual round (at least 25 ms)
  std::uint16_t marked = 0;       ///< number of marked packets in this virtual round (at least 25 ms)
  std::uint16_t just_marked = 0;  ///< number of marked packets that the latest ACK reports
  bool fed = false;               ///< true once ECN feedback was received, so that virtual rounds are counted
  bool saw_mark = false;

 private:
  void count(const MarkFeedback& feedback);
  void end_round(std::uint32_t now, std::uint32_t round);
  void cut(CongestionWindow& window, const PathView& path);
};

/// ABC sender (Accel-Brake Control; Goyal et al., NSDI 2020). An ABC queue marks each packet with accelerate or brake.
/// For an accelerated packet the sender sends two packets, and for a braked one none. For fairness each packet also
/// adds its part of one segment per round.
///
/// Marks of ABC: the paper marks `accelerate` as ECT(1) and `brake` as ECT(0), and the receiver echoes each in the NS
/// bit. Here all packets are sent as ECT(1), a brake is CE, and the ACE field of RFC 9768 counts the brakes. Packets
/// that an ACK delivers without a brake mark count as accelerated. Over a round cwnd thus changes by as many bytes as
/// in the paper, even if an ACK is lost. CE marks of other queues count as brakes.
struct Abc : NewReno {
  static constexpr bool scalable = true;

  void on_ack(CongestionWindow&, const AckEvent&, const PathView&);
  void on_congestion(CongestionWindow&, const PathView&);
  void on_timeout(CongestionWindow&, const PathView&);
  void on_feedback(CongestionWindow&, const MarkFeedback&, const AckEvent&, const PathView&);

  float window = 0;  ///< window that the ABC marks determine, in bytes (w_abc); 0 before the first feedback
  /// Upper limit of cwnd in bytes after a loss; it grows as a Reno window does; 0 if there was no loss.
  float ceiling = 0;
};

/// Base of the congestion controls whose window is set by a model of the path (PathModel). For these, losses and pauses
/// do not set cwnd directly.
struct ModelBased : CongestionHooks {
  static constexpr bool model_based = true;
};

class Bbr;
class Bbr3;
class Copa;

/// ModelBased congestion control with the model `Which`. Code that works with every model uses only the base class.
template <class Which>
struct ModelBasedCc : ModelBased {
  using Model = Which;
};

/// True if a model of the path sets cwnd. Such a connection is paced and needs a PacedEndpoint.
[[nodiscard]] constexpr bool uses_model(CongestionAlgorithm algorithm) {
  switch (algorithm) {
#define X(name, word, hooks, text) \
  case CongestionAlgorithm::name:  \
    return hooks::model_based;
    SLUICE_CONGESTION_CONTROLS(X)
#undef X
  }
  return false;
}

/// Congestion window of one connection and the algorithm that changes it, held by value.
class CongestionControl {
 public:
  /// Starts in slow start with a window of `cwnd` bytes.
  void start(CongestionAlgorithm algorithm, std::uint32_t cwnd);
  /// Continues from a measured window of `cwnd` bytes: sets cwnd and ssthresh to it and discards earlier state.
  void seed(std::uint32_t cwnd);

  [[nodiscard]] std::uint32_t cwnd() const { return window_.cwnd; }
  [[nodiscard]] std::uint32_t ssthresh() const { return window_.ssthresh; }

  /// Sets cwnd to the value that proportional rate reduction (RFC 6937) allows during recovery, but at least to
  /// `least`; both in bytes.
  void reduce_to(std::uint32_t cwnd, std::uint32_t least) { window_.cwnd = std::max(cwnd, least); }
  /// Returns the ratio of ssthresh to the bytes in flight when recovery began: ssthresh / RecoverFS of RFC 6937.
  [[nodiscard]] float reduction() const {
    return std::visit([](const auto& algorithm) { return std::decay_t<decltype(algorithm)>::beta; }, algorithm_);
  }

  /// True if a model of the path sets cwnd through follow(). While the connection runs, only follow(), on_timeout() and
  /// undo() then change cwnd.
  [[nodiscard]] bool is_model_based() const { return std::holds_alternative<ModelBased>(algorithm_); }
  void follow(std::uint32_t cwnd) { window_.cwnd = cwnd; }

  /// Returns the congestion window before the last reduction.
  [[nodiscard]] std::uint32_t prior_cwnd() const { return prior_.cwnd; }

  /// True if on_feedback() responds to the number of ECN marks, on connections with accurate ECN feedback.
  [[nodiscard]] bool scalable() const {
    return std::visit([](const auto& algorithm) { return std::decay_t<decltype(algorithm)>::scalable; }, algorithm_);
  }
  /// Returns the ECN codepoint of new data on connections with accurate ECN feedback.
  [[nodiscard]] std::uint8_t codepoint() const { return scalable() ? ecn_scalable : ecn_capable; }

  void on_feedback(const MarkFeedback& feedback, const AckEvent& event, const PathView& path);
  void on_ack(const AckEvent& event, const PathView& path, bool after_timeout);
  void on_congestion(const PathView& path);
  /// Handles an echoed ECN mark (RFC 3168) by reducing cwnd as on_congestion() does. undo() does not reverse this
  /// reduction.
  void on_mark(const PathView& path);
  /// Handles a retransmission timeout. `first` is true for the first timeout of its segment. `answered` is true if a
  /// recovery has already reduced cwnd for this data. Then ssthresh is not changed, because it is reduced only once per
  /// window of data (RFC 5681 section 4.3).
  void on_timeout(const PathView& path, bool first, bool answered = false);
  /// Ends a recovery. If `reduced` is true, rate reduction (RFC 6937) has already lowered the bytes in flight, and cwnd
  /// becomes ssthresh. Otherwise cwnd is set by RFC 6582, which avoids a burst.
  void on_recovery_exit(const PathView& path, bool reduced);
  /// Reverses the last reduction, because it was not needed. Afterwards cwnd and ssthresh are at least as large as
  /// before that reduction.
  void undo();
  /// Reduces cwnd to at most `restart` bytes after an idle period longer than the RTO (RFC 5681 section 4.1).
  void on_idle(std::uint32_t restart);

 private:
  void end_first_slow_start();

  CongestionWindow window_;
  CongestionWindow prior_;  ///< cwnd and ssthresh before the last reduction
  [[no_unique_address]] std::variant<NewReno, HyStart, ModelBased, Prague, Abc, Cubic>
      algorithm_;  // Cubic follows HyStart
};
static_assert(sizeof(CongestionControl) <= 44);

}  // namespace sluice::tcp
