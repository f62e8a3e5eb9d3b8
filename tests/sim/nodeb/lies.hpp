#pragma once

#include <cstdint>
#include <utility>

#include "dataplane/packet/build.hpp"
#include "dataplane/packet/parse.hpp"
#include "emulator/net/element.hpp"
#include "tests/support/eal.hpp"

namespace sluice::emulator {

/// Records which sequence number of the data to one UE was sent last.
class SentTap final : public Element {
 public:
  SentTap(Element& next, const IpAddress& ue) : next_(&next), ue_(ue) {}
  void receive(packet::Packet packet, Instant now) override {
    packet::Parsed parsed;
    const bool is_data = packet::parse(packet, parsed) == packet::ParseResult::tcp && parsed.segment.payload_len > 0;
    if (is_data && parsed.dst == ue_) end_ = parsed.segment.seq + parsed.segment.payload_len;
    next_->receive(std::move(packet), now);
  }
  [[nodiscard]] tcp::SeqNum end() const { return end_; }

 private:
  Element* next_;
  IpAddress ue_;
  tcp::SeqNum end_;
};

/// Changes the acknowledgements that a UE sends, as a dishonest UE would. It knows how much was sent to the UE.
class Lie : public Element {
 public:
  /// Where acknowledgements go, and what a lie may use.
  struct Means {
    Element& next;
    const SentTap& sent;
  };
  explicit Lie(const Means& means) : means_(means) {}
  virtual ~Lie() = default;
  Lie(const Lie&) = delete;
  Lie& operator=(const Lie&) = delete;
  void receive(packet::Packet packet, Instant now) override {
    packet::Parsed parsed;
    const bool is_ack = packet::parse(packet, parsed) == packet::ParseResult::tcp && parsed.segment.flags.ack() &&
                        !parsed.segment.flags.syn() && parsed.segment.payload_len == 0;
    if (!is_ack) return means_.next.receive(std::move(packet), now);
    headers_ = packet::learn(packet, parsed);
    addresses_ = packet::addresses_of(parsed);
    on_ack(parsed.segment, now);
  }

 protected:
  /// Handles an acknowledgement of the UE, which goes on only by send().
  virtual void on_ack(tcp::Segment ack, Instant now) = 0;
  void send(const tcp::Segment& ack, Instant now) {
    packet::Packet packet = ::sluice::test::pool().allocate();
    if (!packet) return;
    packet::write_headers(packet, headers_, addresses_, ack, 0, 0);
    means_.next.receive(std::move(packet), now);
  }
  /// Returns the sequence number behind all data that was sent to the UE.
  [[nodiscard]] tcp::SeqNum sent() const { return means_.sent.end(); }
  static constexpr std::uint32_t full = 1448;  ///< payload bytes of a full segment

 private:
  Means means_;
  packet::HeaderTemplate headers_;
  packet::Addresses addresses_;
};

/// Changes nothing.
class Honest final : public Lie {
 public:
  using Lie::Lie;

 private:
  void on_ack(tcp::Segment ack, Instant now) override { send(ack, now); }
};

/// Changes timestamps, from which delays on the uplink follow. No timestamp decreases, because it would be dropped.
class FalseClock : public Lie {
 public:
  using Lie::Lie;

 private:
  void on_ack(tcp::Segment ack, Instant now) final {
    const std::uint32_t value = ack.ts_value + ticks_ahead(ack, now);
    if (!known_ || static_cast<std::int32_t>(value - newest_) > 0) newest_ = value;
    known_ = true;
    ack.ts_value = newest_;
    send(ack, now);
  }
  /// Returns by how many milliseconds the clock is ahead, modulo 2^32.
  [[nodiscard]] virtual std::uint32_t ticks_ahead(const tcp::Segment& ack, Instant now) = 0;
  std::uint32_t newest_ = 0;
  bool known_ = false;
};

/// The clock stops once for 150 ms after six seconds.
class ClockSetBack final : public FalseClock {
 public:
  using FalseClock::FalseClock;

 private:
  std::uint32_t ticks_ahead(const tcp::Segment& /*ack*/, Instant now) override {
    return now < Instant(std::chrono::seconds(6)) ? 0U : 0U - 150U;
  }
};

/// The clock gains `Gain` milliseconds in every `Period` milliseconds, in one step; a negative gain loses them.
template <int Gain, std::uint32_t Period>
class WrongClock final : public FalseClock {
 public:
  using FalseClock::FalseClock;

 private:
  std::uint32_t ticks_ahead(const tcp::Segment& /*ack*/, Instant now) override {
    return static_cast<std::uint32_t>((now - Instant{}) / std::chrono::milliseconds(Period)) *
           static_cast<std::uint32_t>(Gain);
  }
};

/// Acknowledges in ten parts what one acknowledgement would.
class Divider final : public Lie {
 public:
  using Lie::Lie;

 private:
  void on_ack(tcp::Segment ack, Instant now) override {
    constexpr std::uint32_t parts = 10;
    const tcp::SeqNum end = ack.ack;
    const auto news = end - last_;
    if (known_ && news >= static_cast<std::int32_t>(parts) && news < 1'000'000) {
      for (std::uint32_t part = 1; part < parts; ++part) {
        ack.ack = last_ + static_cast<std::uint32_t>(news) / parts * part;
        send(ack, now);
      }
    }
    known_ = true;
    last_ = ack.ack = end;
    send(ack, now);
  }
  tcp::SeqNum last_;
  bool known_ = false;
};

/// Sends every acknowledgement `Times` times.
template <std::uint32_t Times>
class Repeater final : public Lie {
 public:
  using Lie::Lie;

 private:
  void on_ack(tcp::Segment ack, Instant now) override {
    for (std::uint32_t i = 0; i < Times; ++i) send(ack, now);
  }
};

/// Acknowledges a part of the segments that are still in the queue (optimistic ACKs), as if all were full ones.
template <std::uint32_t Percent>
class Optimist final : public Lie {
 public:
  using Lie::Lie;

 private:
  void on_ack(tcp::Segment ack, Instant now) override {
    if (now >= Instant(std::chrono::seconds(3))) {
      const std::uint32_t queued = static_cast<std::uint32_t>(sent() - ack.ack) / full;
      const tcp::SeqNum ahead = ack.ack + queued * Percent / 100 * full;
      if (!known_ || ahead > last_) last_ = ahead;
      known_ = true;
      ack.ack = last_;
    }
    send(ack, now);
  }
  tcp::SeqNum last_;
  bool known_ = false;
};

/// Reports segments that are still in the queue as received out of order, by SACK blocks. `Hole` segments are neither
/// acknowledged nor reported.
template <std::uint32_t Hole>
class SackOptimist final : public Lie {
 public:
  using Lie::Lie;

 private:
  void on_ack(tcp::Segment ack, Instant now) override {
    const auto queued = sent() > ack.ack ? static_cast<std::uint32_t>(sent() - ack.ack) / full : 0U;
    if (now >= Instant(std::chrono::seconds(3)) && queued > Hole) {
      ack.sack_count = 1;
      ack.sack_blocks[0] = {ack.ack + Hole * full, ack.ack + queued * full};
    }
    send(ack, now);
  }
};

/// Halves the window and restores it at every acknowledgement.
class WindowSwinger final : public Lie {
 public:
  using Lie::Lie;

 private:
  void on_ack(tcp::Segment ack, Instant now) override {
    ack.window = static_cast<std::uint16_t>(++count_ % 2 == 0 ? ack.window / 2 : ack.window);
    send(ack, now);
  }
  std::uint64_t count_ = 0;
};

}  // namespace sluice::emulator
