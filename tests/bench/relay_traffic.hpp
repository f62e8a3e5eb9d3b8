#pragma once

#include <rte_cycles.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "dataplane/packet/pool.hpp"
#include "proxy/engine/shard/shard.hpp"
#include "tests/bench/hosts.hpp"
#include "tests/bench/onlooker.hpp"

namespace sluice::bench {

using proxy::Side;

/// Slow start, the beginning of a law and cold caches are over by then.
inline constexpr Duration warm_up = std::chrono::seconds(2);
inline constexpr int min_warm_up = 500;     ///< rounds
inline constexpr int max_warm_up = 20'000;  ///< beside two of every connection
/// With more connections than this, delayed ACKs would hold more segments than there are buffers. Then the UE
/// acknowledges each GRO run instead of every second segment.
inline constexpr std::uint32_t max_unhurried = 10'000;
inline constexpr Duration radio_round_trip = std::chrono::milliseconds(20);
inline constexpr Duration delayed_ack = std::chrono::milliseconds(40);
inline constexpr std::int64_t longest_round_trip = 1000;  ///< rounds, so that the bytes in flight fit the pool

/// Cycles that one thing has taken, all together.
struct Cycles {
  std::uint64_t receive = 0;
  std::uint64_t advance = 0;
  std::uint64_t report = 0;
};

/// Order of the segments of a burst. Segments of one connection keep their order.
enum class Order : std::uint8_t {
  grouped,      ///< all segments of a connection follow each other
  interleaved,  ///< the connections take turns
  random
};

/// What distinguishes the UEs of one case from those of another.
struct Ues {
  Duration round_trip = radio_round_trip;  ///< from a segment's transmission until its ACK, without delay by the UE
  bool acknowledge_each = false;           ///< each segment, not every second one
};

/// The hosts of a shard's connections: servers that send, UEs that acknowledge, Node-Bs that report, in memory. The
/// cycles of what the shard does are counted; what the hosts do is not.
class RelayTraffic {
 public:
  /// `gro_run`: segments that a connection has in a burst, a divisor of a burst's.
  RelayTraffic(packet::PacketPool& pool, proxy::Shard& shard, Onlooker& onlooker, Sink& sink, std::uint32_t flows,
               std::uint32_t gro_run, const Ues& ues = {}, Order order = Order::grouped)
      : shard_(shard),
        onlooker_(onlooker),
        sink_(sink),
        hosts_(pool, window_of(flows, gro_run)),
        gro_run_(gro_run),
        order_(order),
        round_time_(time_of_a_round(flows, gro_run)),
        delay_(static_cast<std::size_t>(delayed_ack / round_time_)),
        every_(flows > max_unhurried ? 1 : 2) {
    const auto rounds = std::min<std::int64_t>(ues.round_trip / round_time_, longest_round_trip);
    on_the_way_.resize(static_cast<std::size_t>(rounds));
    connections_.reserve(flows);
    for (std::uint32_t i = 0; i < flows; ++i) open_one(i);
    if (ues.acknowledge_each) every_ = 1;
    ues_.reserve(flows);
    for (const Connection& connection : connections_) ues_.push_back({connection.server_next, 0, 0});
  }

  /// One burst of data from the server; the UEs acknowledge every second segment, or each GRO run of them.
  void round(bool measured) {
    send(measured);
    acknowledge(measured);
    report_in_turn(measured);
    advance(measured);
    receive_acks();
    lost = onlooker_.read();
    ++rounds_;
    now_ += round_time_;
  }

  /// A report of every UE's queue each `period`, the UEs one after the other; the first of each at once.
  void report_every(Duration period) {
    period_ = period;
    for (const Connection& connection : connections_) report(connection, false);
  }

  /// Runs rounds until the state is steady.
  void warm() {
    const auto passes = static_cast<std::int64_t>(2 * connections_.size() * gro_run_ / burst_size);
    const std::int64_t rounds = std::max({warm_up / round_time_, passes, std::int64_t{min_warm_up}});
    for (std::int64_t i = 0; i < std::min(rounds, max_warm_up + passes); ++i) round(false);
  }

  Cycles cycles;
  std::uint64_t segments = 0;
  std::uint64_t reports = 0;
  std::uint64_t lost = 0;  ///< frames that the onlooker did not see

 private:
  /// What the UE of a connection has and has not acknowledged.
  struct Ue {
    tcp::SeqNum next;
    std::uint32_t echo = 0;
    std::uint32_t waiting = 0;  ///< segments
  };
  /// Holds a segment whose ACK is sent at that time if no other segment has arrived.
  struct Delayed {
    std::uint32_t number;
    tcp::SeqNum next;
    std::size_t due;  ///< round
  };
  /// A segment of a burst: the how manieth of its connection it is, and the how manieth connection of the burst's.
  struct Turn {
    std::size_t segment;
    std::size_t connection;
  };
  struct Ack {
    std::uint32_t number;
    tcp::SeqNum up_to;
    std::uint32_t echo;
  };

  /// Each connection has about 1 Mb/s, all together 1 to 18 Gb/s.
  [[nodiscard]] static Duration time_of_a_round(std::uint32_t flows, std::uint32_t gro_run) {
    const Duration fair = Duration(std::chrono::milliseconds(12)) * burst_size / (flows * gro_run);
    return std::clamp<Duration>(fair, std::chrono::microseconds(20), std::chrono::microseconds(400));
  }

  /// Twice what a connection needs, and no more than all together find room for.
  [[nodiscard]] static Bytes window_of(std::uint32_t flows, std::uint32_t gro_run) {
    return Bytes(std::clamp<std::int64_t>(16'000'000 / flows, 16 * 1024 * gro_run, 2 * 1024 * 1024));
  }

  /// Sends as many segments as a burst has and as the windows allow.
  void send(bool measured) {
    std::size_t count = 0;
    for (std::size_t tried = 0; tried < burst_size / gro_run_; ++tried) {
      Connection& connection = connections_[next_];
      for (std::size_t i = 0; i < gro_run_ && connection.server_next + payload_size <= connection.server_edge; ++i) {
        turns_[count] = {i, tried};
        burst_[count++] = hosts_.data_of_server(connection, now_);
      }
      next_ = (next_ + 1) % connections_.size();
    }
    if (order_ != Order::grouped) mix(count);
    if (count != 0) receive(Side::core, count, measured);
    if (measured) segments += count;
  }

  /// Puts the first `count` segments of the burst into the order that is to be measured.
  void mix(std::size_t count) {
    const std::span turns = std::span(turns_).first(count);
    std::array<std::size_t, burst_size> next{};  // where each connection's next segment is
    for (std::size_t i = count; i-- > 0;) next.at(turns[i].connection) = i;
    if (order_ == Order::interleaved) {
      std::stable_sort(turns.begin(), turns.end(), [](const Turn& a, const Turn& b) { return a.segment < b.segment; });
    } else {
      std::shuffle(turns.begin(), turns.end(), random_);
    }
    std::array<packet::Packet, burst_size> mixed;
    for (std::size_t i = 0; i < count; ++i) mixed.at(i) = std::move(burst_.at(next.at(turns[i].connection)++));
    burst_ = std::move(mixed);
  }

  /// Lets the hosts process what they have received since the last call.
  void receive_acks() {
    sink_.take(Side::core, [&](const tcp::Segment& segment, std::uint32_t number) {
      connections_[number].server_edge = segment.ack + (std::uint32_t{segment.window} << window_scale);
    });
    std::vector<Ack>& acks = on_the_way_[(rounds_ + on_the_way_.size() - 1) % on_the_way_.size()];
    sink_.take(Side::radio, [&](const tcp::Segment& segment, std::uint32_t number) {
      if (segment.payload_len == 0) return;
      Ue& ue = ues_[number];
      const bool repeated = segment.seq != ue.next;
      if (ue.waiting++ == 0) ue.echo = segment.ts_value;
      if (!repeated) ue.next += segment.payload_len;
      if (!repeated && (ue.waiting % every_ != 0 || ue.waiting < gro_run_)) {
        delayed_.push_back({number, ue.next, rounds_ + delay_});
        return;
      }
      acks.push_back({number, ue.next, ue.echo});
      ue.waiting = 0;
    });
    for (; !delayed_.empty() && delayed_.front().due <= rounds_; delayed_.pop_front()) {
      Ue& ue = ues_[delayed_.front().number];
      if (ue.waiting == 0 || ue.next != delayed_.front().next) continue;
      acks.push_back({delayed_.front().number, ue.next, ue.echo});
      ue.waiting = 0;
    }
  }

  void acknowledge(bool measured) {
    std::vector<Ack>& due = on_the_way_[rounds_ % on_the_way_.size()];
    for (std::size_t done = 0; done < due.size();) {
      const std::size_t count = std::min(burst_size, due.size() - done);
      for (std::size_t i = 0; i < count; ++i) {
        const Ack& ack = due[done++];
        burst_[i] = hosts_.ack_of_ue(connections_[ack.number], ack.up_to, ack.echo, now_);
      }
      receive(Side::radio, count, measured);
    }
    due.clear();
  }

  /// Sends the reports of the UEs that are due in this round.
  void report_in_turn(bool measured) {
    if (period_ <= Duration::zero()) return;
    due_ += static_cast<double>(connections_.size()) * (to_seconds(round_time_) / to_seconds(period_));
    for (; due_ >= 1; due_ -= 1) {
      report(connections_[reported_], measured);
      reported_ = (reported_ + 1) % connections_.size();
    }
  }

  void report(const Connection& connection, bool measured) {
    proxy::ReportArrival arrival;
    arrival.bearer.ue = connection.to_ue.dst;
    arrival.bearer.buffer = Bytes(1'000'000);
    arrival.bearer.mean_service_rate = arrival.bearer.service_rate = Rate::bits_per_second(50e6);
    arrival.bearer.allowance = Bytes(100'000);
    arrival.epoch = 1;
    arrival.sequence = ++sequence_;
    arrival.sender_time = now_.time_since_epoch();
    arrival.period = period_;
    if (measured) {
      measured_report(arrival);
      ++reports;
    } else {
      shard_.on_report(arrival, now_);
    }
  }

  void receive(Side side, std::size_t count, bool measured) {
    if (measured) {
      measured_receive(side, count);
    } else {
      onlooker_.receive(shard_, side, std::span(burst_).first(count), now_);
    }
  }

  void advance(bool measured) {
    if (measured) {
      measured_advance();
    } else {
      shard_.advance(now_);
    }
  }

  // What callgrind collects.
  __attribute__((noinline)) void measured_receive(Side side, std::size_t count) {
    const std::uint64_t before = rte_rdtsc_precise();
    onlooker_.receive(shard_, side, std::span(burst_).first(count), now_);
    cycles.receive += rte_rdtsc_precise() - before;
  }
  __attribute__((noinline)) void measured_advance() {
    const std::uint64_t before = rte_rdtsc_precise();
    shard_.advance(now_);
    cycles.advance += rte_rdtsc_precise() - before;
  }
  __attribute__((noinline)) void measured_report(const proxy::ReportArrival& arrival) {
    const std::uint64_t before = rte_rdtsc_precise();
    shard_.on_report(arrival, now_);
    cycles.report += rte_rdtsc_precise() - before;
  }

  void pass(Side side, packet::Packet packet) { shard_.receive(side, {&packet, 1}, now_); }

  void open_one(std::uint32_t number) {
    Connection connection = Hosts::connection(number, 1);
    pass(Side::radio, hosts_.syn(connection, now_));
    pass(Side::core, hosts_.syn_ack(connection, now_));
    pass(Side::radio, hosts_.ack_of_ue(connection, now_));
    sink_.take(Side::core, [&](const tcp::Segment& segment, std::uint32_t) {
      connection.server_edge = segment.ack + (std::uint32_t{segment.window} << window_scale);
    });
    sink_.take(Side::radio, [](const tcp::Segment&, std::uint32_t) {});
    connections_.push_back(connection);
  }

  proxy::Shard& shard_;
  Onlooker& onlooker_;
  Sink& sink_;
  Hosts hosts_;
  std::uint32_t gro_run_;
  Order order_;
  std::minstd_rand random_{1};
  std::array<Turn, burst_size> turns_{};
  Duration round_time_;
  std::vector<Connection> connections_;
  std::vector<Ue> ues_;
  std::deque<Delayed> delayed_;
  std::size_t delay_;                         ///< rounds
  std::uint32_t every_;                       ///< segments of an ACK
  std::vector<std::vector<Ack>> on_the_way_;  ///< a ring, by the round in which they arrive
  std::array<packet::Packet, burst_size> burst_;
  std::size_t next_ = 0;
  std::size_t rounds_ = 0;
  Duration period_{};
  double due_ = 0;  ///< reports
  std::size_t reported_ = 0;
  std::uint64_t sequence_ = 0;
  Instant now_{std::chrono::seconds(1000)};
};

}  // namespace sluice::bench
