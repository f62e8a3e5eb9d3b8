#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"

namespace sluice::control::test {

/// Greedy sources that know no congestion window, only the window of the ACKs; one queue in front of a link of any
/// rate; receivers that acknowledge every packet. What regulates is attached by the hooks. Nothing is random.
class RegulatedLink {
 public:
  struct Flow {
    Duration wired{};   ///< source to queue, and of ACKs back
    Duration air{};     ///< link to receiver, and of ACKs back to the queue
    Instant start{};    ///< when the source begins
    double access = 0;  ///< bytes/s of the source's own link; 0 = any burst at once
    Bytes edge;         ///< up to here it may send; its first value is the initial window
    Bytes sent;         ///< what follows is kept by the link
    Bytes acked;        ///< bytes acknowledged, as the source knows
    Bytes delivered;    ///< in order, all of it
    Bytes queued;       ///< in the queue, with the packet in service
    std::int64_t highest_edge = 0;
    Bytes retracted;  ///< the furthest that the right edge came to lie left of an earlier one
    Instant access_free{};
  };

  Bytes packet{1000};
  Bytes buffer{};                       ///< limit of the queue; 0 = unlimited
  std::function<double(Instant)> rate;  ///< bytes/s; nothing for a while when ≤ 0
  std::vector<Flow> flows;

  std::function<void(std::size_t)> on_arrival;           ///< the queue has taken a packet of this flow
  std::function<void(std::size_t, Bytes)> on_dequeue;    ///< the link has sent this flow's data up to a position
  std::function<void(std::size_t, Bytes)> on_delivered;  ///< its receiver has it
  std::function<void(std::size_t, Bytes)> on_ack;        ///< its ACK has come back to the queue; to be passed on

  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] Bytes queue() const { return queue_; }
  [[nodiscard]] std::uint64_t drops() const { return drops_; }
  [[nodiscard]] Bytes highest_queue() const { return highest_queue_; }
  /// Time average of the queue since the last call, in bytes.
  [[nodiscard]] double mean_queue();

  /// Forwards an ACK to the source.
  void pass(std::size_t flow, Bytes ack, Bytes window);
  void run(Instant until);

 private:
  struct Packet {
    std::size_t flow = 0;
    Bytes end;
  };

  void after(Duration delay, std::function<void()> event) { events_.emplace(now_ + delay, std::move(event)); }
  void send(std::size_t flow);
  void arrive(Packet arrived);
  void serve();
  void served();
  void account();

  Instant now_{};
  std::multimap<Instant, std::function<void()>> events_;
  std::deque<Packet> waiting_;
  bool busy_ = false;
  bool begun_ = false;
  Bytes queue_, highest_queue_;
  std::uint64_t drops_ = 0;
  double area_ = 0;
  Instant accounted_{}, area_from_{};
};

inline void RegulatedLink::run(Instant until) {
  for (std::size_t i = 0; i < flows.size() && !begun_; ++i) events_.emplace(flows[i].start, [this, i] { send(i); });
  begun_ = true;
  while (!events_.empty() && events_.begin()->first <= until) {
    const auto first = events_.begin();
    now_ = first->first;
    const std::function<void()> event = std::move(first->second);
    events_.erase(first);
    event();
  }
  now_ = until;
}

inline void RegulatedLink::account() {
  area_ += static_cast<double>(queue_.count()) * to_seconds(now_ - accounted_);
  accounted_ = now_;
}

inline double RegulatedLink::mean_queue() {
  account();
  const double mean = area_ / to_seconds(now_ - area_from_);
  area_ = 0;
  area_from_ = now_;
  return mean;
}

inline void RegulatedLink::send(std::size_t flow) {
  Flow& source = flows[flow];
  while (now_ >= source.start && source.sent + packet <= source.edge) {
    source.sent += packet;
    const Packet sent{flow, source.sent};
    if (source.access > 0) {
      const Duration takes = from_seconds(static_cast<double>(packet.count()) / source.access);
      source.access_free = std::max(now_, source.access_free) + takes;
    } else {
      source.access_free = now_;
    }
    after(source.access_free - now_ + source.wired, [this, sent] { arrive(sent); });
  }
}

inline void RegulatedLink::arrive(Packet arrived) {
  if (buffer > Bytes(0) && queue_ + packet > buffer) {
    ++drops_;
    return;
  }
  account();
  queue_ += packet;
  highest_queue_ = std::max(highest_queue_, queue_);
  flows[arrived.flow].queued += packet;
  waiting_.push_back(arrived);
  if (on_arrival) on_arrival(arrived.flow);
  if (!busy_) serve();
}

inline void RegulatedLink::serve() {
  busy_ = true;
  const double bytes_per_second = rate(now_);
  if (bytes_per_second <= 0) {
    after(std::chrono::milliseconds(1), [this] { serve(); });
    return;
  }
  after(from_seconds(static_cast<double>(packet.count()) / bytes_per_second), [this] { served(); });
}

inline void RegulatedLink::served() {
  const Packet first = waiting_.front();
  waiting_.pop_front();
  account();
  queue_ -= packet;
  Flow& flow = flows[first.flow];
  flow.queued -= packet;
  after(flow.air, [this, first] {
    flows[first.flow].delivered = first.end;
    if (on_delivered) on_delivered(first.flow, first.end);
    after(flows[first.flow].air, [this, first] { on_ack(first.flow, first.end); });
  });
  busy_ = false;
  if (on_dequeue) on_dequeue(first.flow, first.end);
  if (!waiting_.empty() && !busy_) serve();
}

inline void RegulatedLink::pass(std::size_t flow, Bytes ack, Bytes window) {
  const std::int64_t edge = (ack + window).count();
  flows[flow].retracted = std::max(flows[flow].retracted, Bytes(flows[flow].highest_edge - edge));
  flows[flow].highest_edge = std::max(flows[flow].highest_edge, edge);
  after(flows[flow].wired, [this, flow, ack, window] {
    Flow& source = flows[flow];
    source.acked = std::max(source.acked, ack);
    source.edge = std::max(source.edge, ack + window);
    send(flow);
  });
}

}  // namespace sluice::control::test
