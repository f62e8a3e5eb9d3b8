#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "dataplane/tcp/paced_sender.hpp"
#include "tests/sim/tcp/random.hpp"
#include "tests/unit/tcp/wire.hpp"

namespace sluice::test {

/// Endless downloads over one link of a rate with a buffer (drop tail), in virtual time.
class SharedLink {
 public:
  struct Link {
    double rate = 2.5e6;  ///< bytes per second, headers counted
    double buffer = 1e9;  ///< bytes
    Duration one_way = std::chrono::milliseconds(20);
    double loss = 0;  ///< loss rate of random data behind the buffer
  };
  /// What a stretch of time brought.
  struct Stretch {
    std::vector<double> goodput;  ///< goodput of each flow, bytes per second
    double mean_queue = 0;        ///< seconds, over the segments that came
    double longest_queue = 0;
    std::uint64_t dropped = 0;

    [[nodiscard]] double total() const {
      double sum = 0;
      for (const double each : goodput) sum += each;
      return sum;
    }
    /// Jain's index of the flows.
    [[nodiscard]] double fairness() const {
      double squares = 0;
      for (const double each : goodput) squares += each * each;
      return squares > 0 ? total() * total() / (static_cast<double>(goodput.size()) * squares) : 0;
    }
  };

  SharedLink(const Link& link, std::uint64_t seed) : link_(link), random_(seed) {}

  /// A download begins now.
  void add(tcp::CongestionAlgorithm congestion) {
    flows_.push_back(std::make_unique<Flow>());
    Flow& flow = *flows_.back();
    flow.config.congestion = congestion;
    const tcp::SeqNum data(static_cast<std::uint32_t>(random_.next()));
    const tcp::SeqNum acks(static_cast<std::uint32_t>(random_.next()));
    open(flow.sender, data, acks);
    open(flow.receiver, acks, data);
    flow.sender.endpoint.establish_at(flow.config.wants_pacing() ? flow.paced.begin(flow.config) : flow.config,
                                      flow.sender.state, now_);
    flow.receiver.endpoint.establish_at(flow.receiver_config, flow.receiver.state, now_);
    flow.receiver.endpoint.set_receive_room(Bytes(room));
  }

  Stretch run_for(Duration time) {
    const Instant end = now_ + time;
    stretch_ = Stretch();
    waits_ = 0;
    for (const auto& flow : flows_) flow->received = 0;
    while (now_ < end && !testing::Test::HasFatalFailure()) step(end);
    for (const auto& flow : flows_) {
      stretch_.goodput.push_back(static_cast<double>(flow->received) / to_seconds(time));
    }
    if (waits_ != 0) stretch_.mean_queue /= static_cast<double>(waits_);
    return stretch_;
  }

  [[nodiscard]] Link& link() { return link_; }
  /// What the rate carries without headers.
  [[nodiscard]] double capacity() const { return link_.rate * segment / (segment + header); }
  /// What the sender of a flow keeps, where it is paced.
  [[nodiscard]] const tcp::PacedSender& paced(std::size_t flow) const { return flows_[flow]->paced.sender; }
  [[nodiscard]] const tcp::Endpoint& sender(std::size_t flow) const { return flows_[flow]->sender.endpoint; }

 private:
  static constexpr std::uint32_t segment = 1448;
  static constexpr std::uint32_t header = 52;
  static constexpr std::int64_t room = 4 << 20;
  static constexpr std::int64_t send_buffer = 2 << 20;

  struct End {
    tcp::EstablishedState state;
    tcp::Endpoint endpoint;
    Wire wire;
  };
  struct Flow {
    tcp::EndpointConfig config, receiver_config;
    tcp::PacedEndpoint paced;
    End sender, receiver;
    std::uint64_t received = 0;
  };
  struct Flight {
    Flow* flow = nullptr;
    bool to_receiver = false;
    SentSegment sent;
  };

  void open(End& end, tcp::SeqNum own, tcp::SeqNum other) const {
    end.state.snd_nxt = own;
    end.state.rcv_nxt = other;
    end.state.rcv_adv = other + static_cast<std::uint32_t>(room);
    end.state.local = end.state.remote = {
        .mss = 1460, .window_scale = 9, .has_window_scale = true, .sack_permitted = true, .timestamps = true};
    end.state.snd_window = static_cast<std::uint32_t>(room);
    end.state.rtt = 2 * link_.one_way;
  }

  void step(Instant end) {
    for (const auto& flow : flows_) act(*flow);
    Instant next = flights_.empty() ? end : std::min(end, flights_.begin()->first);
    for (const auto& flow : flows_) {
      next = std::min({next, flow->sender.endpoint.next_deadline(), flow->receiver.endpoint.next_deadline()});
    }
    now_ = std::max(next, now_);
    while (!flights_.empty() && flights_.begin()->first <= now_) {
      Flight flight = std::move(flights_.begin()->second);
      flights_.erase(flights_.begin());
      End& to = flight.to_receiver ? flight.flow->receiver : flight.flow->sender;
      packet::Packet payload;
      if (!flight.sent.bytes.empty()) payload = payload_packet(flight.sent.bytes);
      to.endpoint.receive(flight.sent.segment, std::move(payload), now_);
    }
    for (const auto& flow : flows_) {
      flow->sender.endpoint.on_timer(now_);
      flow->receiver.endpoint.on_timer(now_);
    }
  }

  void act(Flow& flow) {
    static const std::vector<std::uint8_t> content(segment, 0x5a);
    tcp::Endpoint& sender = flow.sender.endpoint;
    while ((sender.unsent() + sender.unacknowledged()).count() < send_buffer && sender.unsent().count() < 64'000) {
      sender.write(payload_packet(content));
    }
    while (const packet::Packet packet = flow.receiver.endpoint.read()) flow.received += packet.size();
    for (End* end : {&flow.sender, &flow.receiver}) {
      end->endpoint.set_timestamp(static_cast<std::uint32_t>(now_.time_since_epoch() / std::chrono::milliseconds(1)));
      end->endpoint.emit(now_, end->wire, Bytes::max());
      while (!end->wire.segments.empty()) launch(flow, end == &flow.sender, end->wire.next());
    }
  }

  void launch(Flow& flow, bool to_receiver, SentSegment sent) {
    Instant at = now_ + link_.one_way;
    if (to_receiver) {
      const double waiting = to_seconds(std::max(free_at_ - now_, Duration::zero()));
      const double size = sent.segment.payload_len + header;
      if (waiting * link_.rate + size > link_.buffer) {
        ++stretch_.dropped;
        return;
      }
      stretch_.mean_queue += waiting;
      stretch_.longest_queue = std::max(stretch_.longest_queue, waiting);
      ++waits_;
      free_at_ = std::max(free_at_, now_) + from_seconds(size / link_.rate);
      at = free_at_ + link_.one_way;
      if (random_.chance(link_.loss)) return;
    }
    flights_.emplace(at, Flight{&flow, to_receiver, std::move(sent)});
  }

  Link link_;
  Random random_;
  std::vector<std::unique_ptr<Flow>> flows_;
  std::multimap<Instant, Flight> flights_;
  Instant now_{std::chrono::hours(1)};
  Instant free_at_{};
  Stretch stretch_;
  std::uint64_t waits_ = 0;
};

}  // namespace sluice::test
