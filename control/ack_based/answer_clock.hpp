#pragma once

#include <array>
#include <cstdint>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control {

/// Estimates which datagrams of one flow have been delivered to a UE, although the UE's acknowledgements are encrypted.
/// QUIC is such a flow. The inputs are only times and numbers: of the datagrams sent to the UE, of those that the proxy
/// itself drops, and of *answers*. An answer is a short datagram from the UE with the same addresses and ports.
///
/// Most QUIC receivers acknowledge every k-th packet (RFC 9000 section 13.2.2), for example every second one. They
/// acknowledge a packet behind a missing one at once. Each answer thus acknowledges k datagrams, or those up to the
/// next one behind a drop. The clock must find k, and an instant with nothing in flight. It finds both by *holds*:
///
/// 1. In a hold the proxy sends nothing of the flow until the answers have ceased. The radio queue is then empty.
/// 2. The proxy sends a few datagrams, called a *probe*. The first answer after it shows that everything sent earlier
///    was delivered. Its delay is the round trip without a queue.
/// 3. From the first probe to the next one, k is the number of sent datagrams divided by the number of answers.
///
/// While k is unknown, the flow is sent without a limit between the holds. When two of the last holds agree on a whole
/// number, k counts as known. From then on holds are rare, because they only correct an error of the count. A receiver
/// that reads several packets at once acknowledges them together, so k varies. If it varies little, its mean is used,
/// and holds stay frequent.
///
/// If a receiver acknowledges by time, or if the flow contains other short datagrams, there is no such k. The clock
/// detects that the answers do not fit any k, and gives up.
///
/// State and work are constant. Reads no clock; thread: its owner's.
class AnswerClock {
 public:
  /// Begins with a hold at `now`.
  explicit AnswerClock(Instant now);

  /// Records that a datagram of `bytes` IP bytes was sent to the UE.
  void on_sent(Instant now, Bytes bytes);
  /// Records that the proxy has dropped a datagram of the flow. The UE answers the next datagram at once, because it
  /// detects that one is missing.
  void on_dropped() { behind_drop_ = true; }
  /// What an answer shows.
  struct Delivery {
    Bytes delivered;        ///< bytes that the answer acknowledges
    Duration round_trip{};  ///< time since the newest acknowledged datagram was sent; zero if the answer acknowledges
                            ///< nothing
  };
  /// Records an answer (a short datagram from the UE), and returns what it acknowledges. `waits` is true if datagrams
  /// of the flow wait in the proxy.
  [[nodiscard]] Delivery on_answer(Instant now, bool waits);
  /// Acts if deadline() has passed: ends a hold or a probe, or begins a hold if the window seems to be full for too
  /// long. `blocked` is true if datagrams wait because the window is full.
  void on_time(Instant now, bool blocked);
  /// Returns the time at which on_time() must be called; `never` if only an answer can change the state.
  [[nodiscard]] Instant deadline() const;

  /// True if the number of datagrams per answer is known, so that in_flight() is valid and a window may limit the flow.
  [[nodiscard]] bool counts() const { return known_; }
  /// True if nothing of the flow may be sent now: in a hold, and after a probe until its answer comes.
  [[nodiscard]] bool holds() const {
    return phase_ == Phase::holding || (phase_ == Phase::probing && probes_left_ == 0);
  }
  /// Returns the number of datagrams of a probe that may be sent now although the window is full; zero outside a probe.
  [[nodiscard]] std::uint32_t probes() const { return phase_ == Phase::probing ? probes_left_ : 0; }
  /// True if the UE's answers do not fit a fixed number of datagrams per answer. The clock is then of no use.
  [[nodiscard]] bool has_given_up() const { return phase_ == Phase::given_up; }
  /// Returns the bytes that were sent while the number of datagrams per answer was known, and are not known to be
  /// delivered.
  [[nodiscard]] Bytes in_flight() const { return in_flight_; }
  /// Returns how many datagrams an answer acknowledges; 2 while unknown.
  [[nodiscard]] double datagrams_per_answer() const { return per_answer_; }
  /// Returns the round trip without a queue; zero while unknown.
  [[nodiscard]] Duration base_delay() const { return base_; }
  /// Returns the rate at which the radio queue has emptied during the hold that showed the number of datagrams per
  /// answer; zero while unknown.
  [[nodiscard]] Rate drained_rate() const { return drained_rate_; }
  /// Returns the number of probes (datagrams sent after a hold) that were answered. Each has shown that everything sent
  /// before it was delivered.
  [[nodiscard]] std::uint32_t synchronizations() const { return synchronizations_; }

 private:
  enum class Phase : std::uint8_t { counting, holding, probing, given_up };
  /// Datagrams in flight that were sent within a short time and share one time of sending.
  struct Run {
    Instant last{};  ///< time at which the first of these datagrams was sent
    std::uint32_t datagrams = 0;
    std::uint32_t bytes = 0;
    bool is_behind_drop = false;  ///< true if the proxy has dropped a datagram directly before the first of these
  };
  static constexpr std::uint32_t max_runs = 128;
  static constexpr std::uint32_t ratios = 4;

  [[nodiscard]] Run& oldest() { return runs_[oldest_run_]; }
  [[nodiscard]] Run& newest() { return runs_[(oldest_run_ + run_count_ - 1) % max_runs]; }
  void append(Instant now, Bytes bytes);
  Bytes remove_oldest(std::uint32_t datagrams);
  void remove_before(Instant until);
  void forget_count();
  void begin_hold(Instant now);
  void resume(Instant now);
  void give_up();
  [[nodiscard]] Delivery count(Instant now);
  [[nodiscard]] Delivery synchronize(Instant now);
  void record_base_delay(Duration round_trip);
  void learn(Instant now);
  void seek(double datagrams, double answers);
  void follow(double datagrams, double answers);
  void restart_learning(Instant now);
  void check_numbers(Instant now);
  [[nodiscard]] Duration silence() const;
  [[nodiscard]] Duration stall() const;
  [[nodiscard]] Duration longest_hold() const;

  Phase phase_ = Phase::holding;
  bool known_ = false;             ///< true if per_answer_, the number of datagrams per answer, is known
  bool is_whole_ = true;           ///< true if per_answer_ is a whole number; false: a mean
  bool synchronized_ = false;      ///< true if sent_ and answers_ count from an instant with nothing in flight
  bool early_answer_ = false;      ///< true if one answer came before the present probe can have been answered
  bool behind_drop_ = false;       ///< true if the proxy has dropped a datagram since the last one was sent
  std::uint8_t backoff_ = 0;       ///< number of successive probes without an answer
  std::uint8_t tries_ = 0;         ///< number of holds in the search for the number of datagrams per answer
  std::uint8_t early_probes_ = 0;  ///< number of successive probes that were answered before the base delay
  std::uint8_t restarts_ = 0;      ///< number of times that the number of datagrams per answer was sought again
  std::uint8_t ratio_count_ = 0;   ///< number of valid elements of ratios_
  std::uint8_t base_count_ = 0;    ///< number of valid elements of probe_round_trips_
  std::uint8_t base_next_ = 0;
  std::uint32_t probes_left_ = 0;
  double per_answer_ = 2;
  double credit_ = 0;  ///< datagrams that answers acknowledge and that are still counted in flight
  Instant held_since_{};
  Instant probed_at_{};  ///< time at which the first datagram of the present probe was sent; zero before that
  Instant next_hold_{};
  Instant last_answer_{};
  Instant before_last_answer_{};
  Instant last_sent_{};
  Duration answer_gap_;  ///< mean time between two answers
  Duration base_{};
  Bytes in_flight_;
  Rate drained_rate_;
  std::uint32_t synchronizations_ = 0;
  std::uint32_t beyond_ = 0;      ///< answers since the last hold that came too early for every datagram in flight
  std::uint64_t sent_ = 0;        ///< datagrams since the last synchronization (instant with nothing in flight)
  std::uint64_t sent_bytes_ = 0;  ///< bytes of these datagrams
  std::uint64_t sent_since_probe_ = 0;  ///< datagrams since the first one of the present probe
  std::uint64_t answers_ = 0;           ///< answers since the last synchronization (instant with nothing in flight)
  std::uint64_t early_ = 0;             ///< datagrams sent directly after a drop, since the last synchronization
  std::uint64_t held_answers_ = 0;      ///< answers during the hold
  std::uint64_t held_expected_ = 0;     ///< number of answers for the datagrams in flight when the hold began
  /// Time from which on the expected answers (window_expected_) and the received ones (window_answers_) are counted.
  Instant window_began_{};
  std::uint32_t window_expected_ = 0;
  std::uint32_t window_answers_ = 0;
  double unanswered_ = 0;  ///< datagrams since the last expected answer
  double agreement_ = 1;   ///< mean ratio of expected to received answers
  /// last measured numbers of datagrams per answer
  std::array<double, ratios> ratios_{};
  std::uint8_t ratio_next_ = 0;
  double whole_ = 0;                 ///< whole number of datagrams per answer on which measurements agreed
  std::uint8_t frequent_holds_ = 0;  ///< number of further holds at short intervals
  double ratio_above_ = 0;           ///< last measured datagrams per answer if above whole_; else zero
  double deviation_ = 0;             ///< mean deviation of measurements from per_answer_, as a share of it
  std::uint8_t summed_holds_ = 0;    ///< number of holds whose datagrams and answers are in the sums below
  double summed_datagrams_ = 0;  ///< datagrams since the search began; older ones lose weight if per_answer_ is a mean
  double summed_answers_ = 0;    ///< answers to these datagrams
  std::array<Duration, 16> probe_round_trips_{};
  std::uint32_t oldest_run_ = 0;
  std::uint32_t run_count_ = 0;
  std::array<Run, max_runs> runs_{};
};

}  // namespace sluice::control
