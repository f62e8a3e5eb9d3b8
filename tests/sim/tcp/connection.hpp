#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/tcp/paced_sender.hpp"
#include "tests/sim/tcp/random.hpp"
#include "tests/unit/tcp/wire.hpp"

namespace sluice::test {

/// One direction of a path. Probabilities per segment.
struct Impairment {
  double loss = 0;     ///< corruption is loss: the checksum catches it
  double marking = 0;  ///< share of the segments that can be marked (RFC 3168) which are
  double duplication = 0;
  double reordering = 0;  ///< share that is held back: by anything up to `hold`, or by just that
  bool hold_whole = false;
  Duration delay = std::chrono::milliseconds(10);
  Duration jitter{};
  Duration hold = std::chrono::milliseconds(30);
  std::uint32_t largest = 0;          ///< bytes of payload; segments with more are lost (a smaller MTU); 0: any
  std::uint64_t drop_first_data = 0;  ///< bit n: the n-th data segment is lost
  Duration spacing{};                 ///< least time between two arrivals of data
  bool reordering_behind = false;     ///< jitter and holding back come behind the spacing, which else undoes them
  Duration stall_at{};                ///< after the start: nothing arrives for stall_for, then all of it in order, soon
  Duration stall_for{};
};

/// What an application at one end does.
struct Application {
  std::uint64_t to_send = 0;
  double rate = 0;  ///< bytes per second that it has to send; 0: all at once
  std::uint32_t largest_write = 1448;
  bool whole_writes = false;  ///< all as large as that; else some are smaller
  std::uint32_t send_buffer = 256 * 1024;
  std::uint32_t room = 256 * 1024;  ///< receive room it sets
  Duration read_every{};            ///< zero: at once
  bool random_room = false;         ///< sets anything between nothing and `room` after each read
  bool finish_after_peer = false;   ///< half-close: sends its FIN only when the peer's has come
  std::uint32_t abort_after = 0;    ///< received bytes after which it resets; 0: never
};

struct Scenario {
  std::uint64_t seed = 0;
  tcp::EndpointConfig config;
  tcp::SynOptions options_a, options_b;
  Impairment a_to_b, b_to_a;
  Application a, b;
  bool taken_over = false;                                  ///< no handshake
  bool allowance = false;                                   ///< a sends under an allowance
  double output_refusal = 0;                                ///< share of transmissions the device refuses
  Duration timestamp_clock = std::chrono::milliseconds(1);  ///< tick of TSval; zero: the clock stops
  Duration limit = std::chrono::hours(4);
  /// Longest time after which both directions are drawn again, including delays, stalls and MTU; zero: they stay.
  Duration path_changes{};
};

/// Two endpoints and what is between them, run in virtual time, every invariant checked at each step.
class Connection {
 public:
  explicit Connection(const Scenario& scenario);
  /// Runs until both are closed and nothing is in flight. Fails the test (with the seed) if that takes too long.
  void run();
  /// One step of run(): what is due now happens, and time moves on to what is next. False when all is over.
  bool advance();

  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] const tcp::Endpoint& a() const { return ends_[0].endpoint; }
  [[nodiscard]] const tcp::Endpoint& b() const { return ends_[1].endpoint; }
  [[nodiscard]] std::uint64_t received_by_a() const { return ends_[0].received; }
  [[nodiscard]] std::uint64_t received_by_b() const { return ends_[1].received; }
  /// Instant at which the last payload byte was read at b.
  [[nodiscard]] Instant last_read_by_b() const { return ends_[1].last_read; }
  [[nodiscard]] std::uint64_t segments_sent() const { return segments_sent_; }
  /// Segments of a with payload that the path lost at random.
  [[nodiscard]] std::uint64_t lost_from_a() const { return lost_from_a_; }
  /// What a keeps where it is paced.
  [[nodiscard]] const tcp::PacedSender& paced_a() const { return ends_[0].paced.sender; }
  /// The path from a; what is changed holds for what is sent from now on.
  [[nodiscard]] Impairment& path_from_a() { return scenario_.a_to_b; }
  [[nodiscard]] Application& application_a() { return ends_[0].app; }
  /// How long the newest data of a waits for the link (Impairment::spacing) before it, beside the path's delay.
  [[nodiscard]] Duration queue_from_a() const {
    return std::max(ends_[0].last_arrival - now_ - scenario_.a_to_b.delay, Duration::zero());
  }

 private:
  struct End {
    tcp::PacedEndpoint paced;
    tcp::Endpoint endpoint;
    Application app;
    Wire wire;
    std::uint64_t written = 0;
    double produced = 0;  ///< bytes that the application has had to send, where it has a rate
    Instant produced_at{};
    std::uint64_t received = 0;
    Instant next_read{};
    Instant last_read{};
    bool finished = false;
    bool aborted = false;
    // What the checks remember.
    bool received_window = false;
    tcp::SeqNum received_edge;  ///< furthest right edge that reached it
    bool promised = false;
    tcp::SeqNum promised_edge;  ///< furthest right edge it put on the wire
    tcp::SeqNum rcv_adv;
    bool edge_known = false;
    tcp::SeqNum sent_end;  ///< furthest sequence number it sent
    bool sent_known = false;
    tcp::SeqNum fin;  ///< where its FIN stands
    bool fin_known = false;
    std::uint64_t data_segments = 0;
    Instant last_arrival{};  ///< last arrival of its data at the other end
  };
  struct Flight {
    int to = 0;
    tcp::Segment segment;
    std::vector<std::uint8_t> bytes;
  };

  void open();
  void establish();
  void step();
  void deliver(Flight flight);
  void act(int side);
  void write_some(End& end, int side);
  void read_some(End& end, int side);
  void change_paths();
  void emit(int side);
  void launch(int from, SentSegment sent);
  void check_sent(int from, const SentSegment& sent);
  void check(int side);
  [[nodiscard]] bool done() const;
  [[nodiscard]] Instant next_event() const;
  [[nodiscard]] const tcp::EndpointConfig& config_of(int side);
  [[nodiscard]] std::uint8_t content(int side, std::uint64_t position) const;
  [[nodiscard]] std::string describe() const;

  Scenario scenario_;
  Random random_;
  End ends_[2];
  std::multimap<Instant, Flight> flights_;
  Instant now_{};
  Instant next_path_change_{};
  Instant next_grant_{};
  Bytes allowance_;
  std::uint64_t segments_sent_ = 0;
  std::uint64_t lost_from_a_ = 0;
};

}  // namespace sluice::test
