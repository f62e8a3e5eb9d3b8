#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "dataplane/tcp/send_queue.hpp"
#include "tests/sim/tcp/random.hpp"
#include "tests/unit/tcp/script.hpp"

namespace sluice::test {
namespace {

constexpr tcp::SeqNum base(0xfffffe00U);

/// RFC 6675 and RFC 8985 on a plain array, everything derived anew each time.
struct Model {
  struct Entry {
    std::uint32_t position = 0, length = 0;
    Instant at;
    int transmissions = 1;
    bool sacked = false, lost = false, copied = false;

    [[nodiscard]] tcp::Transmission transmission() const { return {tcp::tick::micro(at), base + position + length}; }
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
      if (entry.copied && !entry.lost) continue;  // does not happen here
      const std::int32_t left = rack.patience(entry.transmission(), tcp::tick::micro(now), window);
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
  [[nodiscard]] const Entry* next_retransmission() const {
    for (const Entry& e : sent) {
      if (e.lost && !e.copied && !e.sacked) return &e;
    }
    return nullptr;
  }
};

TEST(Scoreboard, AgreesWithAPlainModel) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    tcp::SendQueue queue;
    tcp::Rack rack;
    Model model;
    Instant now(1h);
    std::uint32_t una = 0;
    std::uint32_t end = 0;
    for (int step = 0; step < 150; ++step) {
      now += 1ms;
      tcp::AckEvent event{.now = now};
      switch (random.below(6)) {
        case 0:
        case 1:  // send some
          for (std::uint64_t i = random.below(12); i > 0; --i) {
            const auto length = 1 + static_cast<std::uint32_t>(random.below(30));
            packet::Packet packet = payload_packet(stream_bytes(end, length));
            packet.note().seq = (base + end).raw();
            packet.note().header_len = 0;
            queue.push(std::move(packet));
            queue.sent(now);
            model.sent.push_back({end, length, now});
            end += length;
          }
          break;
        case 2:
        case 3: {  // blocks arrive, cut where segments end
          if (model.sent.size() < 3) break;
          tcp::Delivery delivery = queue.begin_delivery(base + una);
          delivery.now = tcp::tick::micro(now);
          std::vector<tcp::SackBlock> blocks;
          for (std::uint64_t n = 1 + random.below(3); n > 0; --n) {
            const std::size_t from = 1 + random.below(model.sent.size() - 1);
            const std::size_t to = std::min(model.sent.size(), from + 1 + random.below(5));
            for (std::size_t i = from; i < to; ++i) {
              model.sent[i].sacked = true;
              model.sent[i].lost = model.sent[i].copied = false;
            }
            blocks.push_back(
                {base + model.sent[from].position, base + model.sent[to - 1].position + model.sent[to - 1].length});
          }
          queue.mark_sacked(blocks, base + una, base + end, event, delivery);
          rack.update(delivery);
          const auto window = static_cast<std::uint32_t>(random.below(4000));
          const std::uint32_t wait = model.mark_overdue(rack, now, window);
          ASSERT_EQ(queue.mark_overdue(rack, tcp::tick::micro(now), window, event), wait) << "step " << step;
          ASSERT_EQ(queue.sacked(), std::ranges::count_if(model.sent, &Model::Entry::sacked));
          break;
        }
        case 4: {  // the cumulative acknowledgement moves
          if (model.sent.empty()) break;
          const std::size_t count = random.below(std::min<std::size_t>(model.sent.size(), 8) + 1);
          if (count == 0) break;
          una = model.sent[count - 1].position + model.sent[count - 1].length;
          model.sent.erase(model.sent.begin(), model.sent.begin() + static_cast<std::ptrdiff_t>(count));
          queue.acknowledge(base + una, event);
          break;
        }
        default:
          if (random.chance(0.1)) {  // the timer expires
            const Instant before = now - random.below(20ms);
            for (Model::Entry& e : model.sent) {
              if (&e == &model.sent.front() || e.at <= before) model.lose(e);
            }
            queue.mark_lost_by_timeout(before, event);
            break;
          }
          for (std::uint64_t n = random.below(4); n > 0; --n) {  // repair
            const Model::Entry* const expected = model.next_retransmission();
            const packet::Cursor next = queue.next_retransmission();
            ASSERT_EQ(static_cast<bool>(next), expected != nullptr);
            if (!next) break;
            ASSERT_EQ(next.note().seq, (base + expected->position).raw());
            queue.resent(next, now);
            auto* const copied = const_cast<Model::Entry*>(expected);
            copied->copied = true;
            copied->at = now;
            ++copied->transmissions;
          }
      }
      ASSERT_EQ(queue.in_flight(), model.in_flight()) << "step " << step;
      ASSERT_EQ(queue.to_retransmit() != 0, model.next_retransmission() != nullptr) << "step " << step;
      ASSERT_EQ(queue.outstanding(), !model.sent.empty());
    }
    queue.clear();
  }
}

TEST(Scoreboard, KarnsRule) {
  tcp::SendQueue queue;
  Instant now(1h);
  for (std::uint32_t i = 0; i < 3; ++i) {
    packet::Packet packet = payload_packet(stream_bytes(i * 10, 10));
    packet.note().seq = (base + i * 10).raw();
    packet.note().header_len = 0;
    queue.push(std::move(packet));
    queue.sent(now);
    now += 10ms;
  }
  queue.resent(queue.front(), now);
  tcp::AckEvent event{.now = now + 100ms};
  queue.acknowledge(base + 10, event);
  EXPECT_EQ(event.rtt, tcp::AckEvent::no_rtt);
  queue.acknowledge(base + 30, event);
  EXPECT_EQ(event.rtt, 110ms) << "the newest segment's";
}

}  // namespace
}  // namespace sluice::test
