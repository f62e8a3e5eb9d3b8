#pragma once

#include <cstdint>

#include "control/ack_based/answer_agreement.hpp"
#include "control/ack_based/answer_silence.hpp"
#include "control/ack_based/datagrams_in_flight.hpp"
#include "control/ack_based/datagrams_per_answer.hpp"
#include "control/ack_based/probe_round_trips.hpp"
#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Estimates which datagrams of one flow have been delivered to a UE, although the UE's acknowledgements are encrypted,
/// as those of QUIC are. The inputs are times and numbers only: of the datagrams sent to the UE, of those that the
/// proxy drops, and of *answers*. An answer is a short datagram from the UE with the flow's addresses and ports.
///
/// Most QUIC receivers acknowledge every second or every tenth packet (RFC 9000 section 13.2.2). They acknowledge a
/// packet behind a missing one at once. So each answer stands for a fixed number of datagrams, or for fewer if one of
/// them follows a drop. AnswerClock needs this number, and an instant at which nothing is in flight. A *hold* finds
/// both:
///
/// 1. The proxy sends nothing of the flow until the answers have ceased (AnswerSilence). The radio queue is then empty.
/// 2. The proxy sends a few datagrams, called a *probe*. The first answer after it shows that everything sent earlier
///    was delivered. Its delay is the round trip without a queue (ProbeRoundTrips).
/// 3. Between two such answers, the datagrams and all answers are counted (DatagramsPerAnswer).
///
/// While the number of datagrams per answer is unknown, the flow is sent without a limit between the holds. Once it is
/// known, each answer removes datagrams from those in flight (DatagramsInFlight). From then on holds are rare, because
/// they only correct errors of the count. If the number is a mean, holds stay frequent.
///
/// A hold also shows how much was in flight. If fewer than half of the expected answers come in each of several holds,
/// each answer stands for more datagrams than counted. The number of datagrams per answer is then learned again.
///
/// If a receiver acknowledges by time, or if the flow contains other short datagrams, there is no fixed number of
/// datagrams per answer. AnswerClock detects that expected and received answers do not agree (AnswerAgreement), and
/// gives up.
///
/// Memory and work per datagram are constant. Reads no clock. Not thread-safe.
class AnswerClock {
 public:
  /// Begins at `now` with a hold: nothing of the flow is sent until the radio queue is empty.
  explicit AnswerClock(Instant now);

  /// Records that a datagram of `bytes` IP bytes was sent to the UE.
  void on_sent(Instant now, Bytes bytes);
  /// Records that the proxy has dropped a datagram of the flow. The UE answers the next datagram at once, because it
  /// detects that one is missing.
  void on_dropped() { is_behind_drop_ = true; }
  /// Data that one answer (a short datagram from the UE) acknowledges.
  struct Delivery {
    Bytes delivered;        ///< bytes that the answer acknowledges
    Duration round_trip{};  ///< time since the newest acknowledged datagram was sent; zero if the answer acknowledges
                            ///< nothing
  };
  /// Records an answer (a short datagram from the UE), and returns what it acknowledges. Begins a hold (pause of the
  /// flow) if one is due. `waits` is true if datagrams of the flow wait in the proxy. Once the number of datagrams per
  /// answer is known, a hold begins only if `waits` is true.
  [[nodiscard]] Delivery on_answer(Instant now, bool waits);
  /// Performs what is due once deadline() has passed; does nothing before. A hold (pause of the flow) ends, and a probe
  /// (a few datagrams) begins. A probe that got no answer ends without a result. A hold begins if `blocked` is true:
  /// datagrams wait because the window is full, and no answer has come for too long.
  void on_time(Instant now, bool blocked);
  /// Returns the time at which on_time() must be called; `never` if only an answer can change the state.
  [[nodiscard]] Instant deadline() const;

  /// True if the number of datagrams per answer is known, so that in_flight() is valid. A controller's window may then
  /// limit the flow.
  [[nodiscard]] bool counts() const { return phase_ != Phase::given_up && per_answer_.is_known(); }
  /// True if nothing of the flow may be sent now. This is so in a hold, until the radio queue is empty. It is so again
  /// after the last datagram of the probe (datagrams sent after the hold), until the first answer to the probe.
  [[nodiscard]] bool holds() const {
    return phase_ == Phase::holding || (phase_ == Phase::probing && probe_.left == 0);
  }
  /// Returns how many datagrams of a probe (datagrams sent after a hold) may still be sent although the flow's window
  /// is full; zero outside a probe.
  [[nodiscard]] std::uint32_t probes() const { return phase_ == Phase::probing ? probe_.left : 0; }
  /// True if the UE's answers do not fit a fixed number of datagrams per answer. Nothing is estimated any more then.
  [[nodiscard]] bool has_given_up() const { return phase_ == Phase::given_up; }
  /// Returns the bytes that were sent since the number of datagrams per answer has been known, and that are not known
  /// to be delivered yet.
  [[nodiscard]] Bytes in_flight() const { return in_flight_.bytes(); }
  /// Returns how many datagrams one answer (short datagram from the UE) acknowledges. While that is unknown, returns
  /// the last estimate, at first 2.
  [[nodiscard]] double datagrams_per_answer() const { return per_answer_.value(); }
  /// Returns the base delay, which is the round trip without a queue; zero while unknown.
  [[nodiscard]] Duration base_delay() const { return round_trips_.base_delay(); }
  /// Returns the rate at which the radio queue emptied in the hold (pause of the flow) that made the number of
  /// datagrams per answer known. Zero while unknown.
  [[nodiscard]] Rate drained_rate() const { return drained_rate_; }
  /// Returns the number of probes (datagrams sent after a hold) that were answered. Each has shown that everything sent
  /// before it was delivered.
  [[nodiscard]] std::uint32_t synchronizations() const { return synchronizations_; }

 private:
  enum class Phase : std::uint8_t {
    counting,  ///< the flow is sent, and answers are counted
    holding,   ///< the flow is not sent until answers no longer arrive
    probing,   ///< after a hold a few datagrams (the probe) are sent, or their first answer is awaited
    given_up   ///< the UE's answers do not fit a fixed number of datagrams per answer
  };
  /// Current or last hold: a pause of the flow until its radio queue is empty.
  struct Hold {
    Instant since{};
    std::uint64_t answers = 0;   ///< answers that came during the hold
    std::uint64_t expected = 0;  ///< answers that are expected for the datagrams in flight at the start of the hold
  };
  /// Current or last probe: the few datagrams that are sent after a hold, when the radio queue is empty.
  struct Probe {
    Instant sent_at{};              ///< time at which the first datagram of the probe was sent; zero before that
    std::uint32_t left = 0;         ///< datagrams of the probe that are not sent yet
    std::uint64_t sent_since = 0;   ///< datagrams of the flow sent since sent_at
    std::uint64_t bytes_since = 0;  ///< IP bytes of the datagrams sent since sent_at
    bool has_early_answer = false;  ///< true if one answer came sooner after the probe than a round trip takes
  };
  /// Counts of datagrams and answers since the last synchronization, which is the last instant at which every datagram
  /// had been answered. `impossible_answers` also restarts when a hold (pause of the flow) or a probe (datagrams sent
  /// after it) ends without a result.
  struct Counted {
    /// False before the first synchronization (instant at which every datagram had been answered).
    bool is_synchronized = false;
    std::uint64_t sent = 0;  ///< datagrams sent
    std::uint64_t sent_bytes = 0;
    std::uint64_t answers = 0;
    std::uint64_t behind_drops = 0;        ///< datagrams sent directly after one that the proxy has dropped
    std::uint32_t impossible_answers = 0;  ///< answers that came too early for any datagram in flight
  };

  void forget_flight();
  void begin_hold(Instant now);
  void begin_probe();
  void resume(Instant now);
  void give_up();
  [[nodiscard]] Delivery count(Instant now);
  [[nodiscard]] Delivery synchronize(Instant now);
  void learn(Instant now);
  void restart_learning(Instant now);
  void check_agreement(Instant now);
  void check_hold(Instant now, Duration round_trip);
  [[nodiscard]] bool is_hold_due(Instant now) const;
  [[nodiscard]] Duration hold_interval(bool was_known) const;
  [[nodiscard]] Duration silence() const;
  [[nodiscard]] Duration stall_time() const;
  [[nodiscard]] Duration max_hold_time() const;

  Phase phase_ = Phase::holding;
  bool is_behind_drop_ = false;    ///< true if the proxy has dropped a datagram since the last one was sent
  std::uint8_t lost_probes_ = 0;   ///< number of successive probes (datagrams sent after a hold) without an answer
  std::uint8_t early_probes_ = 0;  ///< number of successive probes whose answer came sooner than a round trip takes
  /// number of holds (pauses of the flow) in which the number of datagrams per answer was not found
  std::uint8_t learning_holds_ = 0;
  /// number of times that the number of datagrams per answer was discarded and learned again
  std::uint8_t restarts_ = 0;
  std::uint8_t short_holds_ = 0;  ///< number of holds (pauses of the flow) in sequence in which too few answers came
  std::uint32_t synchronizations_ = 0;
  /// Mean time between two answers (short datagrams from the UE) at the end of the last hold (pause of the flow). A
  /// hold with too few answers does not change it.
  Duration usual_gap_{};
  Hold hold_;
  Probe probe_;
  Counted counted_;
  Instant next_hold_{};
  Instant counting_since_{};  ///< end of the last hold (pause of the flow) and of its probe
  Instant checked_at_{};      ///< time at which on_time() last checked whether the flow's window is full
  Instant last_sent_{};
  /// Part of a datagram (0 … 1) that answers have acknowledged and that in_flight_ still contains, because only whole
  /// datagrams are removed.
  double answered_ = 0;
  Rate drained_rate_;
  AnswerSilence silence_;
  ProbeRoundTrips round_trips_;
  DatagramsPerAnswer per_answer_;
  AnswerAgreement agreement_;
  DatagramsInFlight in_flight_;
};

}  // namespace sluice::control
