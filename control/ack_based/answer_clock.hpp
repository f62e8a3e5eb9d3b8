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
/// Most QUIC receivers acknowledge every k-th packet (RFC 9000 section 13.2.2). They acknowledge a packet behind a
/// missing one at once. Each answer thus stands for k datagrams, or for those up to the next one behind a drop. The
/// clock needs k and a common starting point, and finds both by a *hold*:
///
/// 1. The proxy sends nothing of the flow, until the answers have ceased. The radio queue is then empty.
/// 2. The proxy sends a few datagrams, called a *probe*. The first answer after it shows that everything sent earlier
///    was delivered. Its delay is the round trip without a queue.
/// 3. Between two such instants, k is the number of datagrams divided by the number of answers.
///
/// While k is unknown, the flow is sent without a limit between the holds. When two of the last holds agree on a whole
/// number, k counts as known. From then on holds are rare, because they only correct an error of the count. A receiver
/// that reads several packets at once acknowledges them together. If the ratios differ little, k is their mean, and
/// holds stay frequent.
///
/// Receivers that acknowledge by time, or traffic of other kinds within the flow, do not fit the model. The clock
/// notices that the numbers do not agree, and gives up.
///
/// State and work are constant. Reads no clock; thread: its owner's.
class AnswerClock {
 public:
  /// Begins with a hold at `now`.
  explicit AnswerClock(Instant now);

  /// Records that a datagram of `bytes` IP bytes was sent to the UE.
  void on_sent(Instant now, Bytes bytes);
  /// Records that the proxy has dropped a datagram. The next one is answered at once, because one before it is missing.
  void on_dropped() { behind_drop_ = true; }
  /// What an answer shows.
  struct Delivery {
    Bytes delivered;        ///< bytes that the answer acknowledges
    Duration round_trip{};  ///< time since the newest of them was sent; zero if the answer shows nothing
  };
  /// Records an answer. `waits` is true if datagrams of the flow wait in the proxy.
  [[nodiscard]] Delivery on_answer(Instant now, bool waits);
  /// Changes the phase if its time is over. `blocked` is true if datagrams wait because the window is full.
  void on_time(Instant now, bool blocked);
  /// Returns when on_time() must be called next.
  [[nodiscard]] Instant deadline() const;

  /// True if k is known, so that in_flight() is valid and a window may limit the flow.
  [[nodiscard]] bool counts() const { return known_; }
  /// True if nothing of the flow may be sent now.
  [[nodiscard]] bool holds() const {
    return phase_ == Phase::holding || (phase_ == Phase::probing && probes_left_ == 0);
  }
  /// Returns the number of datagrams that may be sent now although the window is full.
  [[nodiscard]] std::uint32_t probes() const { return phase_ == Phase::probing ? probes_left_ : 0; }
  /// True if the flow does not fit the model. The clock is then of no use.
  [[nodiscard]] bool has_given_up() const { return phase_ == Phase::given_up; }
  /// Returns the bytes that were sent while k was known, and are not known to be delivered yet.
  [[nodiscard]] Bytes in_flight() const { return in_flight_; }
  /// Returns how many datagrams an answer stands for; 2 while unknown.
  [[nodiscard]] double datagrams_per_answer() const { return per_answer_; }
  /// Returns the round trip without a queue; zero while unknown.
  [[nodiscard]] Duration base_delay() const { return base_; }
  /// Returns the rate at which the radio queue has emptied during the hold that made k known; zero while unknown.
  [[nodiscard]] Rate drained_rate() const { return drained_rate_; }
  /// Returns the number of holds after which everything sent earlier was known to be delivered.
  [[nodiscard]] std::uint32_t synchronizations() const { return synchronizations_; }

 private:
  enum class Phase : std::uint8_t { counting, holding, probing, given_up };
  /// Datagrams that were sent within a short time.
  struct Run {
    Instant last{};  ///< time at which the newest of them was sent
    std::uint32_t datagrams = 0;
    std::uint32_t bytes = 0;
    bool is_behind_drop = false;  ///< true if the proxy has dropped a datagram before the first of them
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
  bool known_ = false;             ///< true if per_answer_ is known
  bool is_whole_ = true;           ///< true if per_answer_ is a whole number, and not a mean
  bool synchronized_ = false;      ///< true if sent_ and answers_ began at an instant with nothing in flight
  bool early_answer_ = false;      ///< true if the probe was answered once before the base delay
  bool behind_drop_ = false;       ///< true if the proxy has dropped a datagram since the last one was sent
  std::uint8_t backoff_ = 0;       ///< number of probes in sequence without an answer
  std::uint8_t tries_ = 0;         ///< number of holds since k is sought
  std::uint8_t early_probes_ = 0;  ///< number of probes in sequence that were answered before the base delay
  std::uint8_t restarts_ = 0;      ///< number of times that k was sought again
  std::uint8_t ratio_count_ = 0;   ///< number of valid elements of ratios_
  std::uint8_t base_count_ = 0;    ///< number of valid elements of probe_round_trips_
  std::uint8_t base_next_ = 0;
  std::uint32_t probes_left_ = 0;
  double per_answer_ = 2;
  double credit_ = 0;  ///< datagrams that answers stand for and that have not been removed yet
  Instant held_since_{};
  Instant probed_at_{};  ///< time at which the first datagram of the probe was sent; zero before that
  Instant next_hold_{};
  Instant last_answer_{};
  Instant before_last_answer_{};
  Instant last_sent_{};
  Duration answer_gap_;  ///< mean time between two answers
  Duration base_{};
  Bytes in_flight_;
  Rate drained_rate_;
  std::uint32_t synchronizations_ = 0;
  std::uint32_t beyond_ = 0;            ///< answers since the last hold that came too early for any datagram in flight
  std::uint64_t sent_ = 0;              ///< datagrams since the last synchronization
  std::uint64_t sent_bytes_ = 0;        ///< bytes of these datagrams
  std::uint64_t sent_since_probe_ = 0;  ///< datagrams since the probe began
  std::uint64_t answers_ = 0;           ///< answers since the last synchronization
  std::uint64_t early_ = 0;             ///< datagrams behind a drop since the last synchronization
  std::uint64_t held_answers_ = 0;      ///< answers during the hold
  std::uint64_t held_expected_ = 0;     ///< answers that the hold was expected to get
  /// Check of the numbers since window_began_: answers that the model expects, and those that came.
  Instant window_began_{};
  std::uint32_t window_expected_ = 0;
  std::uint32_t window_answers_ = 0;
  double unanswered_ = 0;  ///< datagrams since the last expected answer
  double agreement_ = 1;   ///< mean of expected answers divided by those that came
  /// last measured ratios of datagrams to answers
  std::array<double, ratios> ratios_{};
  std::uint8_t ratio_next_ = 0;
  double whole_ = 0;                 ///< whole number with which the ratios agreed
  std::uint8_t frequent_holds_ = 0;  ///< number of holds that still follow each other soon
  double ratio_above_ = 0;           ///< last ratio, if it exceeds that number; else zero
  double deviation_ = 0;             ///< mean difference between ratios and a mean k, as a part of k
  std::uint8_t summed_holds_ = 0;    ///< number of ratios in the sums below
  double summed_datagrams_ = 0;      ///< datagrams since k is sought; while k is a mean, those of the last ratios
  double summed_answers_ = 0;        ///< answers to these datagrams
  std::array<Duration, 16> probe_round_trips_{};
  std::uint32_t oldest_run_ = 0;
  std::uint32_t run_count_ = 0;
  std::array<Run, max_runs> runs_{};
};

}  // namespace sluice::control
