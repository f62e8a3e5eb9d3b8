// Tests of the SACK scoreboard against a plain model, and of its bounded work per ACK.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "dataplane/tcp/send_queue.hpp"
#include "dataplane/tcp/stream_range.hpp"
#include "tests/sim/tcp/random.hpp"
#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

constexpr tcp::SeqNum base(0xfffffe00U);

/// A send queue with room for its scoreboard.
class MarkedQueue : public tcp::SendQueue {
 public:
  MarkedQueue() { set_recovery_state(&recovery_state_); }

 private:
  tcp::RecoveryState recovery_state_;
};

/// RFC 6675 and RFC 8985 on a plain array, with everything derived again each time.
struct Model {
  struct Entry {
    std::uint32_t position = 0, length = 0;
    Instant at;
    bool sacked = false, lost = false, copied = false;

    std::uint16_t copy = 0;  ///< order of the copy in its tick

    [[nodiscard]] tcp::Transmission transmission() const { return {tcp::tick::us(at), base + position + length, copy}; }
  };
  std::vector<Entry> sent;

  void lose(Entry& entry) const {
    if (entry.sacked) return;
    entry.lost = true;
    entry.copied = false;
  }
  /// Returns the ticks until the next is lost.
  std::uint32_t mark_overdue(const tcp::Rack& rack, Instant now, std::uint32_t window) {
    std::uint32_t wait = 0;
    for (Entry& entry : sent) {
      if (entry.sacked || (entry.lost && !entry.copied) || !rack.overtaken(entry.transmission())) continue;
      const std::int32_t left = rack.time_until_lost(entry.transmission(), tcp::tick::us(now), window);
      if (left <= 0) {
        lose(entry);
      } else {
        wait = wait == 0 ? static_cast<std::uint32_t>(left) : std::min(wait, static_cast<std::uint32_t>(left));
      }
    }
    return wait;
  }
  [[nodiscard]] std::uint32_t in_flight() const {
    std::uint32_t sum = 0;
    for (const Entry& e : sent) sum += e.sacked ? 0 : e.length * ((e.lost ? 0U : 1U) + (e.copied ? 1U : 0U));
    return sum;
  }
  [[nodiscard]] Entry* next_retransmission() {
    for (Entry& e : sent) {
      if (e.lost && !e.copied && !e.sacked) return &e;
    }
    return nullptr;
  }
};

/// A queue and its model, through the same random events.
class Duel {
 public:
  explicit Duel(std::uint64_t seed) : random_(seed) {}
  ~Duel() { queue_.clear(); }
  Duel(const Duel&) = delete;
  Duel& operator=(const Duel&) = delete;

  void step() {
    now_ += 1ms;
    switch (random_.below(6)) {
      case 0:
      case 1:
        send();
        break;
      case 2:
      case 3:
        if (model_.sent.size() >= 3) sack();
        break;
      case 4:
        if (!model_.sent.empty()) acknowledge();
        break;
      default:
        random_.chance(0.1) ? expire() : repair();
    }
    ASSERT_EQ(queue_.in_flight(), model_.in_flight());
    ASSERT_EQ(queue_.to_retransmit() != 0, model_.next_retransmission() != nullptr);
    ASSERT_EQ(queue_.outstanding(), !model_.sent.empty());
    if (!queue_.outstanding()) return;
    ASSERT_EQ(queue_.last_sent().note().seq, (base + model_.sent.back().position).raw());
  }

 private:
  void send() {
    for (std::uint64_t i = random_.below(12); i > 0; --i) {
      const auto length = 1 + static_cast<std::uint32_t>(random_.below(30));
      packet::Packet packet = payload_packet(stream_bytes(end_, length));
      packet.note().seq = (base + end_).raw();
      packet.note().header_len = 0;
      queue_.push(std::move(packet));
      queue_.sent(now_);
      model_.sent.push_back({.position = end_, .length = length, .at = now_});
      end_ += length;
    }
  }
  /// Blocks arrive, cut where segments end.
  void sack() {
    tcp::AckEvent event{.now = now_};
    tcp::Delivery delivery = queue_.begin_delivery(base + una_);
    delivery.now = tcp::tick::us(now_);
    std::vector<tcp::SackBlock> blocks;
    for (std::uint64_t n = 1 + random_.below(3); n > 0; --n) {
      const std::size_t from = 1 + random_.below(model_.sent.size() - 1);
      const std::size_t to = std::min(model_.sent.size(), from + 1 + random_.below(5));
      for (std::size_t i = from; i < to; ++i) {
        model_.sent[i].sacked = true;
        model_.sent[i].lost = model_.sent[i].copied = false;
      }
      blocks.push_back(
          {base + model_.sent[from].position, base + model_.sent[to - 1].position + model_.sent[to - 1].length});
    }
    queue_.mark_sacked(blocks, base + una_, base + end_, event, delivery);
    rack_.update(delivery);
    const auto window = static_cast<std::uint32_t>(random_.below(4000));
    const std::uint32_t wait = model_.mark_overdue(rack_, now_, window);
    ASSERT_EQ(queue_.mark_overdue(rack_, tcp::tick::us(now_), window, event), wait);
    ASSERT_EQ(queue_.sacked(), std::ranges::count_if(model_.sent, &Model::Entry::sacked));
  }
  void acknowledge() {
    const std::size_t count = random_.below(std::min<std::size_t>(model_.sent.size(), 8) + 1);
    if (count == 0) return;
    una_ = model_.sent[count - 1].position + model_.sent[count - 1].length;
    model_.sent.erase(model_.sent.begin(), model_.sent.begin() + static_cast<std::ptrdiff_t>(count));
    tcp::AckEvent event{.now = now_};
    queue_.acknowledge(base + una_, event);
  }
  void expire() {
    const Instant before = now_ - random_.below(20ms);
    for (Model::Entry& entry : model_.sent) {
      if (&entry == &model_.sent.front() || entry.at <= before) model_.lose(entry);
    }
    tcp::AckEvent event{.now = now_};
    queue_.mark_lost_by_timeout(before, event);
  }
  void repair() {
    for (std::uint64_t n = random_.below(4); n > 0; --n) {
      Model::Entry* const expected = model_.next_retransmission();
      const packet::Cursor next = queue_.next_retransmission();
      ASSERT_EQ(static_cast<bool>(next), expected != nullptr);
      if (!next) return;
      ASSERT_EQ(next.note().seq, (base + expected->position).raw());
      queue_.resent(next, now_);
      expected->copied = true;
      expected->at = now_;
      expected->copy = tcp::transmission_of(next.note()).copy;
      ASSERT_GT(expected->copy, 0);
    }
  }

  Random random_;
  MarkedQueue queue_;
  tcp::Rack rack_;
  Model model_;
  Instant now_{1h};
  std::uint32_t una_ = 0;
  std::uint32_t end_ = 0;
};

TEST(Scoreboard, AgreesWithAPlainModel) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Duel duel(seed);
    for (int step = 0; step < 150; ++step) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", step " + std::to_string(step));
      duel.step();
      if (HasFatalFailure()) return;
    }
  }
}

/// Packets of 10 bytes, each sent 10 ms after the one before; ends when the next would leave.
void send_tens(tcp::SendQueue& queue, std::uint32_t count, Instant& now) {
  for (std::uint32_t i = 0; i < count; ++i) {
    packet::Packet packet = payload_packet(stream_bytes(i * 10, 10));
    packet.note().seq = (base + i * 10).raw();
    packet.note().header_len = 0;
    queue.push(std::move(packet));
    queue.sent(now);
    now += 10ms;
  }
}

/// A report may name any place: what it costs to find it is bounded, not what the queue holds.
TEST(Scoreboard, SearchesBehindThousandsOfHolesAreBounded) {
  constexpr std::uint32_t packets = 3000;
  MarkedQueue queue;
  Instant now(1h);
  send_tens(queue, packets, now);
  const auto report = [&](std::uint32_t number) {
    tcp::AckEvent event{.now = now};
    tcp::Delivery delivery = queue.begin_delivery(base);
    const std::vector<tcp::SackBlock> blocks{{base + number * 10, base + number * 10 + 10}};
    queue.mark_sacked(blocks, base, base + packets * 10, event, delivery);
    return event.newly_sacked;
  };
  EXPECT_EQ(report(packets - 2), 0U);
  EXPECT_EQ(report(packets - 1), 10U) << "as the answer to a loss probe has it";
  EXPECT_EQ(report(packets - 1), 0U) << "known";
  EXPECT_EQ(report(tcp::SendQueue::max_steps), 10U);
  tcp::AckEvent event{.now = now};
  queue.acknowledge(base + (packets - 500) * 10, event);
  EXPECT_EQ(report(packets - 2), 10U) << "within reach now";
  queue.clear();
}

/// A receiver repeats a block, and each time the way to it goes on from where the bound has ended it.
TEST(Scoreboard, ARepeatedSackBlockIsFoundAtAnyDistance) {
  constexpr std::uint32_t packets = 3500;
  MarkedQueue queue;
  Instant now(1h);
  send_tens(queue, packets, now);
  std::uint32_t newly = 0;
  for (int i = 0; i < 4; ++i) {
    tcp::AckEvent event{.now = now};
    tcp::Delivery delivery = queue.begin_delivery(base);
    const std::vector<tcp::SackBlock> blocks{{base + 34'000, base + 34'010}};
    queue.mark_sacked(blocks, base, base + packets * 10, event, delivery);
    newly += event.newly_sacked;
    EXPECT_EQ(newly, i < 3 ? 0U : 10U);
  }
  queue.clear();
}

/// Thousands of holes, as a slow start leaves them: each acknowledgement reports the run that has just grown and
/// repeats two others. The oldest packet and its copy are missing, so the walk from the front would be long.
TEST(Scoreboard, EverySackBlockIsFoundBehindThousandsOfHoles) {
  constexpr std::uint32_t packets = 6000;
  MarkedQueue queue;
  Instant now(1h);
  send_tens(queue, packets, now);
  std::vector<tcp::SackBlock> blocks;
  const auto report = [&](std::uint32_t from, std::uint32_t to) {
    std::erase_if(blocks, [&](const tcp::SackBlock& block) { return block.left >= base + from * 10; });
    blocks.insert(blocks.begin(), {base + from * 10, base + to * 10});
    if (blocks.size() > 3) blocks.pop_back();
    tcp::AckEvent event{.now = now};
    tcp::Delivery delivery = queue.begin_delivery(base);
    queue.mark_sacked(blocks, base, base + packets * 10, event, delivery);
    return event.newly_sacked;
  };
  const auto report_alone = [&](std::uint32_t number) {
    tcp::AckEvent event{.now = now};
    tcp::Delivery delivery = queue.begin_delivery(base);
    blocks.insert(blocks.begin(), {base + number * 10, base + number * 10 + 10});
    if (blocks.size() > 3) blocks.pop_back();
    queue.mark_sacked(blocks, base, base + packets * 10, event, delivery);
    return event.newly_sacked;
  };
  for (std::uint32_t odd = 1; odd < packets; odd += 2) ASSERT_EQ(report_alone(odd), 10U) << odd;
  // The copies of all the others but the first come in order.
  for (std::uint32_t even = 2; even + 1 < packets; even += 2) ASSERT_EQ(report(1, even + 2), 10U) << even;
  queue.clear();
}

/// Places that are kept end with their packets.
TEST(Scoreboard, AMarkIsForgottenWhenItsPacketIsAcknowledged) {
  MarkedQueue queue;
  Instant now(1h);
  send_tens(queue, 100, now);
  const auto report = [&](std::uint32_t number) {
    tcp::AckEvent event{.now = now};
    tcp::Delivery delivery = queue.begin_delivery(base);
    const std::vector<tcp::SackBlock> blocks{{base + number * 10, base + number * 10 + 10}};
    queue.mark_sacked(blocks, base, base + 1000, event, delivery);
    return event.newly_sacked;
  };
  for (const std::uint32_t number : {10U, 20U, 30U, 40U, 50U}) EXPECT_EQ(report(number), 10U);
  for (const std::uint32_t upto : {11U, 35U, 51U}) {
    tcp::AckEvent event{.now = now};
    queue.acknowledge(base + upto * 10, event);
    EXPECT_EQ(report(upto + 4), 10U);
  }
  EXPECT_EQ(report(90), 10U);
  queue.clear();
}

TEST(Scoreboard, RetransmissionsOfOneInstantKeepTheirOrder) {
  MarkedQueue queue;
  Instant now(1h);
  send_tens(queue, 4, now);
  tcp::AckEvent event{.now = now};
  queue.mark_lost_by_timeout(now, event);
  std::uint16_t last = 0;
  for (int i = 0; i < 4; ++i) {
    const packet::Cursor next = queue.next_retransmission();
    queue.resent(next, now);
    const tcp::Transmission sent = tcp::transmission_of(next.note());
    EXPECT_EQ(sent.at, tcp::tick::us(now));
    EXPECT_GT(sent.copy, last);
    last = sent.copy;
  }
  queue.clear();
}

TEST(Scoreboard, AnUndoneRecoveryCountsEachByteInFlightOnce) {
  MarkedQueue queue;
  Instant now(1h);
  send_tens(queue, 20, now);
  tcp::AckEvent event{.now = now};
  tcp::Delivery delivery = queue.begin_delivery(base);
  const std::vector<tcp::SackBlock> blocks{{base + 50, base + 80}};
  queue.mark_sacked(blocks, base, base + 200, event, delivery);
  queue.mark_lost_by_timeout(now - 50ms, event);
  for (int i = 0; i < 4; ++i) queue.resent(queue.next_retransmission(), now);
  queue.resent(queue.last_sent(), now);  // a loss probe
  EXPECT_NE(queue.to_retransmit(), 0U);
  queue.unmark_lost();
  EXPECT_EQ(queue.in_flight(), 170U);
  EXPECT_EQ(queue.to_retransmit(), 0U);
  EXPECT_EQ(queue.sacked(), 3U);
  EXPECT_FALSE(queue.front_lost());
  EXPECT_FALSE(queue.front_retransmitted());
  queue.acknowledge(base + 100, event);
  EXPECT_EQ(queue.in_flight(), 100U);
  queue.mark_lost_by_timeout(now + 1ms, event);
  EXPECT_EQ(queue.to_retransmit(), 100U);
  queue.acknowledge(base + 200, event);
  EXPECT_EQ(queue.in_flight(), 0U);
  EXPECT_TRUE(queue.empty());
}

/// A retransmission that was undone leaves no mark, but the copy was sent after the packets behind it.
TEST(Scoreboard, OnlyARetransmissionOvertakesTheOldestPacket) {
  MarkedQueue queue;
  Instant now(1h);
  send_tens(queue, 4, now);
  const auto acknowledge = [&](std::uint32_t bytes) {
    tcp::Delivery delivery = queue.begin_delivery(base);
    delivery.now = tcp::tick::us(now + 1s);
    queue.record_delivered(base + bytes, delivery);
    tcp::AckEvent event{.now = now + 1s};
    queue.acknowledge(base + bytes, event);
    return delivery;
  };
  EXPECT_FALSE(queue.front_overtaken(acknowledge(10)));
  tcp::AckEvent event{.now = now};
  queue.mark_front_lost(event);
  queue.resent(queue.front(), now);
  queue.unmark_lost();
  EXPECT_TRUE(queue.front_overtaken(acknowledge(20)));
  EXPECT_FALSE(queue.front_overtaken(acknowledge(40))) << "nothing is left";
}

TEST(Scoreboard, RetransmittedSegmentsGiveNoRttSample) {
  MarkedQueue queue;
  Instant now(1h);
  send_tens(queue, 3, now);
  queue.resent(queue.front(), now);
  tcp::AckEvent event{.now = now + 100ms};
  queue.acknowledge(base + 10, event);
  EXPECT_EQ(event.rtt, tcp::AckEvent::no_rtt);
  queue.acknowledge(base + 30, event);
  EXPECT_EQ(event.rtt, 110ms) << "the newest segment's";
}

}  // namespace
}  // namespace sluice::test
