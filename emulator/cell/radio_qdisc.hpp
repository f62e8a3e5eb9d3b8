#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "dataplane/units/bytes.hpp"
#include "dataplane/units/time.hpp"
#include "emulator/aqm/abc.hpp"
#include "emulator/aqm/codel.hpp"
#include "emulator/aqm/dualpi2.hpp"
#include "emulator/aqm/fq_codel_flows.hpp"
#include "emulator/aqm/queue_discipline.hpp"
#include "emulator/net/ring.hpp"

namespace sluice::emulator {

/// Selects the packet that is dropped when a packet arrives and the buffer is full.
enum class DropPolicy : std::uint8_t {
  tail,  ///< drops the arriving packet
  head   ///< drops the oldest packet that is not being transmitted
};

/// A packet in a UE's radio queue, with its arrival time.
struct QueuedPacket : Queued {
  std::uint32_t length = 0;  ///< IP bytes
  std::uint32_t air = 0;     ///< size of the packet in bytes, with padding of radio frames
  bool is_short = true;      ///< true if the packet belongs to a short flow
};
/// Returns the IP bytes of a packet, as the CoDel and DualPI2 templates require.
[[nodiscard]] inline Bytes size_of(const QueuedPacket& waiting) {
  return Bytes(waiting.length);
}

/// Packets that active queue management dropped when a packet was taken out, and the number of packets that it marked.
struct AqmActions {
  std::vector<QueuedPacket> dropped;  ///< packets dropped
  std::uint64_t marked = 0;           ///< number of packets marked
};

/// Queue discipline of a radio queue: decides which packet is sent next, and which is dropped when the buffer is full.
/// The packet that is being transmitted is not in the queue. A transmission only sends packets that arrived before the
/// time of the transmission. Pure: time is an argument.
class RadioQdisc {
 public:
  virtual ~RadioQdisc() = default;
  RadioQdisc() = default;
  RadioQdisc(const RadioQdisc&) = delete;
  RadioQdisc& operator=(const RadioQdisc&) = delete;

  /// Adds an arriving packet; the caller checks the limit.
  virtual void push(QueuedPacket&& waiting) = 0;
  /// Returns the number of packets that wait.
  [[nodiscard]] virtual std::size_t size() const = 0;
  /// True if a packet that arrived before `now` waits.
  [[nodiscard]] virtual bool ready(Instant now) const = 0;
  /// Returns the packet that is sent next. Requires ready(now).
  [[nodiscard]] virtual const QueuedPacket& front(Instant now) = 0;
  /// Takes out the next packet without active queue management, even if it arrived at `now`. Requires size() > 0.
  [[nodiscard]] virtual QueuedPacket pop(Instant now) = 0;
  /// Takes out the next packet for transmission, after active queue management. The packets that queue management drops
  /// are moved to `aqm_actions`, and marked packets are counted there. Returns nothing if no packet older than `now`
  /// remains. Requires ready(now).
  [[nodiscard]] virtual std::optional<QueuedPacket> next(Instant now, AqmActions& aqm_actions) {
    static_cast<void>(aqm_actions);
    return pop(now);
  }
  /// True if a queued packet can be dropped to make space for the packet `arriving`. If false, `arriving` itself is
  /// dropped.
  [[nodiscard]] virtual bool may_evict(const QueuedPacket& arriving) const = 0;
  /// Removes and returns the queued packet that is dropped to make space for an arriving one. Requires may_evict().
  [[nodiscard]] virtual QueuedPacket evict() = 0;
  /// Reports that the link could have carried `bytes` between `since` and `now`; ABC uses it.
  virtual void offer(Bytes /*bytes*/, Instant /*since*/, Instant /*now*/) {}
  /// True if the next packet is of a short flow; always false if the discipline does not classify flows.
  [[nodiscard]] virtual bool short_front() const { return false; }
};

/// A FIFO queue with tail drop or head drop.
class FifoQdisc : public RadioQdisc {
 public:
  explicit FifoQdisc(DropPolicy drop) : drop_(drop) {}
  void push(QueuedPacket&& waiting) override {
    bytes_ += size_of(waiting);
    queue_.push(std::move(waiting));
  }
  [[nodiscard]] std::size_t size() const override { return queue_.size(); }
  [[nodiscard]] bool ready(Instant now) const override { return !queue_.empty() && queue_.front().since < now; }
  [[nodiscard]] const QueuedPacket& front(Instant /*now*/) override { return queue_.front(); }
  [[nodiscard]] QueuedPacket pop(Instant now) override;
  [[nodiscard]] std::optional<QueuedPacket> next(Instant now, AqmActions& aqm_actions) override;
  [[nodiscard]] bool may_evict(const QueuedPacket& /*arriving*/) const override {
    return drop_ == DropPolicy::head && !queue_.empty();
  }
  [[nodiscard]] QueuedPacket evict() override { return pop({}); }

 protected:
  [[nodiscard]] Bytes bytes() const { return bytes_; }

 private:
  DropPolicy drop_;
  Ring<QueuedPacket> queue_;
  Bytes bytes_;
};

/// Sends short flows before long ones (SFP; Chan and Ramjee, INFOCOM 2004). If the buffer is full when a packet of a
/// short flow arrives, the newest packet of the long flows is dropped for it.
class ShortFlowsFirstQdisc final : public RadioQdisc {
 public:
  void push(QueuedPacket&& waiting) override { queues_[waiting.is_short ? 0 : 1].push(std::move(waiting)); }
  [[nodiscard]] std::size_t size() const override { return queues_[0].size() + queues_[1].size(); }
  [[nodiscard]] bool ready(Instant now) const override;
  [[nodiscard]] const QueuedPacket& front(Instant now) override { return queues_[next_queue(now)].front(); }
  [[nodiscard]] QueuedPacket pop(Instant now) override { return queues_[next_queue(now)].pop(); }
  [[nodiscard]] bool may_evict(const QueuedPacket& arriving) const override {
    return arriving.is_short && !queues_[1].empty();
  }
  [[nodiscard]] QueuedPacket evict() override { return queues_[1].pop_back(); }
  [[nodiscard]] bool short_front() const override { return !queues_[0].empty(); }

 private:
  /// Returns the index of the queue that sends next: 0 for short flows, 1 for long flows.
  [[nodiscard]] std::size_t next_queue(Instant now) const;
  std::array<Ring<QueuedPacket>, 2> queues_;  ///< the queue of short flows, then the queue of long flows
};

/// A FIFO queue under CoDel (RFC 8289). CoDel controls the time from a packet's arrival to the transmission of its
/// first byte.
class CodelQdisc final : public FifoQdisc {
 public:
  /// Creates an empty queue. Throws std::invalid_argument if a parameter is out of its range.
  CodelQdisc(DropPolicy drop, const CodelParameters& parameters) : FifoQdisc(drop), control_(parameters) {}
  [[nodiscard]] std::optional<QueuedPacket> next(Instant now, AqmActions& aqm_actions) override;

 private:
  CodelControl control_;
};

/// One queue per flow, each under CoDel (RFC 8290). When the buffer is full, the longest queue loses its oldest packet.
class FqCodelQdisc final : public RadioQdisc {
 public:
  /// Creates empty queues. Throws std::invalid_argument if a parameter is out of its range.
  explicit FqCodelQdisc(const FqCodelParameters& parameters) : flows_(parameters) {}
  void push(QueuedPacket&& waiting) override { arrivals_.push(std::move(waiting)); }
  [[nodiscard]] std::size_t size() const override { return flows_.size() + arrivals_.size(); }
  [[nodiscard]] bool ready(Instant now) const override {
    return flows_.size() > 0 || (!arrivals_.empty() && arrivals_.front().since < now);
  }
  [[nodiscard]] const QueuedPacket& front(Instant now) override;
  [[nodiscard]] QueuedPacket pop(Instant now) override;
  [[nodiscard]] std::optional<QueuedPacket> next(Instant now, AqmActions& aqm_actions) override;
  [[nodiscard]] bool may_evict(const QueuedPacket& /*arriving*/) const override { return size() > 0; }
  [[nodiscard]] QueuedPacket evict() override { return flows_.size() > 0 ? flows_.pop_fattest() : arrivals_.pop(); }

 private:
  /// Moves packets that arrived before `now` into the queues of their flows. Packets that arrive exactly at `now` stay
  /// outside, because they must not be sent yet.
  void admit_arrivals(Instant now);

  FqCodelFlows<QueuedPacket> flows_;
  /// Arrived packets that are not in the queue of their flow yet. They are moved there when a packet is taken out.
  Ring<QueuedPacket> arrivals_;
};

/// The two queues of DualPI2 (RFC 9332). Arrivals are dropped when the buffer is full.
class DualPi2Qdisc final : public RadioQdisc {
 public:
  /// Creates empty queues. Throws std::invalid_argument if a parameter is out of its range.
  explicit DualPi2Qdisc(const DualPi2Parameters& parameters) : queues_(parameters) {}
  void push(QueuedPacket&& waiting) override { queues_.push(std::move(waiting)); }
  [[nodiscard]] std::size_t size() const override { return queues_.size(); }
  [[nodiscard]] bool ready(Instant now) const override { return queues_.ready(now); }
  [[nodiscard]] const QueuedPacket& front(Instant now) override { return queues_.front(now); }
  [[nodiscard]] QueuedPacket pop(Instant now) override { return queues_.pop(now); }
  [[nodiscard]] std::optional<QueuedPacket> next(Instant now, AqmActions& aqm_actions) override;
  [[nodiscard]] bool may_evict(const QueuedPacket& /*arriving*/) const override { return false; }
  [[nodiscard]] QueuedPacket evict() override { return queues_.pop({}); }

 private:
  DualPi2Queues<QueuedPacket> queues_;
};

/// A FIFO queue of an ABC router (Accel-Brake Control, NSDI 2020): each packet that it sends asks the sender to
/// accelerate or to brake.
class AbcQdisc final : public FifoQdisc {
 public:
  /// Creates an empty queue. Throws std::invalid_argument if a parameter is out of its range.
  AbcQdisc(DropPolicy drop, const AbcParameters& parameters) : FifoQdisc(drop), control_(parameters) {}
  [[nodiscard]] std::optional<QueuedPacket> next(Instant now, AqmActions& aqm_actions) override;
  void offer(Bytes bytes, Instant since, Instant now) override { control_.offer(bytes, since, now); }

 private:
  AbcControl control_;
};

}  // namespace sluice::emulator
