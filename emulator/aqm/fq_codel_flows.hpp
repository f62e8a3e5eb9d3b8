#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "emulator/aqm/codel.hpp"
#include "emulator/net/flow_key.hpp"
#include "emulator/net/ring.hpp"

namespace sluice::emulator {

/// Parameters of FQ-CoDel (RFC 8290).
struct FqCodelParameters {
  CodelParameters codel;
  std::uint32_t queues = 1024;  ///< number of queues that flows are hashed into, > 0
  Bytes quantum{1514};          ///< bytes that a queue may send per round, > 0
  std::uint64_t seed = 0;       ///< seed of the flow hash
};

/// Queues of FQ-CoDel (RFC 8290, section 4). Flows are hashed into queues, each under CoDel. Deficit round robin serves
/// the queues, and queues that just became busy are served first. `Item` is Queued or a derived type; size_of(item)
/// returns the size of a packet in bytes.
template <typename Item>
class FqCodelFlows {
 public:
  /// Creates empty queues. Throws std::invalid_argument if a parameter is out of its range.
  explicit FqCodelFlows(const FqCodelParameters& parameters) : quantum_(parameters.quantum), seed_(parameters.seed) {
    if (parameters.queues == 0 || parameters.quantum <= Bytes(0)) {
      throw std::invalid_argument("FQ-CoDel: there must be queues and a quantum");
    }
    flows_.reserve(parameters.queues);
    for (std::uint32_t i = 0; i < parameters.queues; ++i) flows_.emplace_back(parameters.codel);
  }

  /// Queues a packet in the queue of its flow.
  void push(Item item) {
    const auto key = read_flow_key(item.packet.bytes());
    const auto number = static_cast<std::uint32_t>((key ? key->hash(seed_) : 0) % flows_.size());
    Flow& flow = flows_[number];
    ++size_;
    flow.bytes += size_of(item);
    flow.queue.push(std::move(item));
    if (flow.active) return;
    flow.active = true;
    flow.deficit = quantum_;
    new_.push_back(number);
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Returns the oldest packet of the queue that sends next. Requires size() > 0.
  [[nodiscard]] const Item& front() { return busy().queue.front(); }
  /// Takes out the packet that front() returns, without dropping or marking packets. Requires size() > 0.
  [[nodiscard]] Item pop() {
    Flow& flow = busy();
    Item oldest = take(flow);
    flow.deficit -= size_of(oldest);
    return oldest;
  }
  /// Takes out the oldest packet of the queue that has the most bytes. Requires size() > 0.
  [[nodiscard]] Item pop_fattest() {
    return take(*std::max_element(flows_.begin(), flows_.end(),
                                  [](const Flow& a, const Flow& b) { return a.bytes < b.bytes; }));
  }
  /// Takes out the next packet to be sent and returns it; empty if there is none. `drop(item)` is called for each
  /// packet that CoDel drops, and `mark()` for each packet that it marks.
  template <typename Drop, typename Mark>
  std::optional<Item> dequeue(Instant now, Drop&& drop, Mark&& mark) {
    while (active() > 0) {
      ServiceList& list = serving_list();
      Flow& flow = flows_[list.front()];
      const auto pull = [&]() -> std::optional<Item> {
        if (flow.queue.empty()) return std::nullopt;
        return take(flow);
      };
      std::optional<Item> next = flow.control.dequeue(
          now, pull, [&] { return flow.bytes; }, drop, mark);
      if (next) {
        flow.deficit -= size_of(*next);
        return next;
      }
      retire(list);
    }
    return std::nullopt;
  }
  /// Returns the number of active queues: those on the lists of new and old queues (RFC 8290).
  [[nodiscard]] std::size_t active() const { return new_.size() + old_.size(); }

 private:
  /// One queue of FQ-CoDel with its CoDel controller and its deficit.
  struct Flow {
    explicit Flow(const CodelParameters& parameters) : control(parameters) {}
    Ring<Item> queue;
    Bytes bytes;
    Bytes deficit;  ///< bytes that the flow's queue may still send in this round
    CodelControl control;
    bool active = false;  ///< true while the queue is active: on the list of new or old queues (RFC 8290)
  };
  /// List of queue numbers in service order.
  using ServiceList = std::list<std::uint32_t>;

  /// Takes out the oldest packet of a queue.
  Item take(Flow& flow) {
    Item oldest = flow.queue.pop();
    flow.bytes -= size_of(oldest);
    --size_;
    return oldest;
  }
  /// Returns the list of new or of old queues, whichever contains the queue that may send now; that queue is the first.
  /// Requires active() > 0.
  ServiceList& serving_list() {
    for (;;) {
      ServiceList& list = new_.empty() ? old_ : new_;
      Flow& flow = flows_[list.front()];
      if (flow.deficit > Bytes(0)) return list;
      flow.deficit += quantum_;
      old_.splice(old_.end(), list, list.begin());
    }
  }
  /// Removes the first queue from `list`, because it is empty. A new queue becomes the last old queue, unless there is
  /// no old one. Every other queue becomes inactive.
  void retire(ServiceList& list) {
    // An empty new queue goes to the end of the old list once, so that it cannot return as new at once (section 4.2).
    if (&list == &new_ && !old_.empty()) {
      old_.splice(old_.end(), list, list.begin());
    } else {
      flows_[list.front()].active = false;
      list.pop_front();
    }
  }
  /// Returns the queue that sends next, which is not empty. Requires size() > 0.
  Flow& busy() {
    for (;;) {
      ServiceList& list = serving_list();
      Flow& flow = flows_[list.front()];
      if (!flow.queue.empty()) return flow;
      retire(list);
    }
  }

  Bytes quantum_;
  std::uint64_t seed_;
  std::vector<Flow> flows_;
  /// List of new queues (RFC 8290): numbers of active queues that have not used their first quantum.
  ServiceList new_;
  /// List of old queues (RFC 8290): numbers of all other active queues.
  ServiceList old_;
  std::size_t size_ = 0;
};

}  // namespace sluice::emulator
