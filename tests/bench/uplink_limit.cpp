// How much of a recorded link an ideal sender uses at what delay, when all it hears are acknowledgements that come up
// the emulator's scheduled uplink. It knows of every byte when it reached the UE, as soon as an acknowledgement tells,
// knows the delays of all hops, loses nothing and divides nothing. What it cannot know is what the link will carry
// until its data is there. Beside it one that knows of every byte at once. Of each the best of a grid of settings.

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "dataplane/dpdk/eal.hpp"
#include "dataplane/packet/pool.hpp"
#include "emulator/cell/scheduled_uplink.hpp"
#include "emulator/channel/block_errors.hpp"
#include "emulator/channel/constant.hpp"
#include "emulator/channel/trace.hpp"

namespace {

using namespace sluice;
using namespace sluice::emulator;
using Milliseconds = std::int64_t;
using std::chrono::milliseconds;

constexpr std::int64_t packet_bytes = 1500;
constexpr std::uint16_t ack_bytes = 52;
constexpr Milliseconds way = 10;  ///< between sender and Node-B
constexpr Milliseconds duration = 300'000;
constexpr Milliseconds warmup = 5000;
constexpr Milliseconds delayed_ack = 40;
const IpAddress ue_address = IpAddress::v4(10, 45, 0, 2);

enum class Hears { by_acks, at_once };

struct Setting {
  Milliseconds memory;     ///< of the mean rate
  Milliseconds reference;  ///< of queue
  Milliseconds longest;    ///< that deliveries are taken to have gone on without news
  double gain;
};

/// What the link carries in each millisecond.
std::vector<std::int64_t> capacities(const std::string& file) {
  TraceChannel channel(std::make_shared<const CapacityTrace>(CapacityTrace::load(file)), milliseconds(1));
  std::vector<std::int64_t> bytes;
  for (Milliseconds t = 0; t < duration; ++t)
    bytes.push_back(channel.at(static_cast<std::uint64_t>(t)).capacity.count());
  return bytes;
}

/// The uplink as a scenario has it by default; hands on how many packets each acknowledgement that came stands for.
class Uplink final : public Element {
 public:
  explicit Uplink(packet::PacketPool& pool) : pool_(pool), uplink_(loop_, milliseconds(1), {}, *this) {
    constexpr double block_errors = 0.1;
    auto link = std::make_unique<ConstantChannel>(Rate::bits_per_second(20e6), milliseconds(1));
    UplinkUeConfig ue;
    ue.addresses = {ue_address};
    ue.queue = {Bytes(0), BufferUnit::packets, 0};
    ue.channel =
        std::make_unique<BlockErrorChannel>(std::move(link), block_errors, Random::stream(1, "uplink blocks", 0));
    uplink_.add_ue(std::move(ue));
  }
  /// The UE acknowledges `count` packets in all.
  void send(Milliseconds now, std::uint64_t count) {
    loop_.run_until(Instant(milliseconds(now)));
    packet::Packet packet = pool_.allocate();
    std::uint8_t* const frame = packet.append(14 + ack_bytes);
    std::fill_n(frame, 14 + ack_bytes, std::uint8_t{0});
    frame[12] = 0x08;
    frame[14] = 0x45;
    frame[17] = ack_bytes;
    std::copy_n(ue_address.octets.begin() + 12, 4, frame + 26);
    sent_.push_back(count);  // they keep their order
    uplink_.receive(std::move(packet), loop_.now());
  }
  /// The newest that has come to the Node-B by now.
  [[nodiscard]] std::uint64_t heard(Milliseconds now) {
    loop_.run_until(Instant(milliseconds(now)));
    return heard_;
  }
  void receive(packet::Packet, Instant) override {
    heard_ = sent_.front();
    sent_.pop_front();
  }

 private:
  packet::PacketPool& pool_;
  EventLoop loop_;
  ScheduledUplink uplink_;
  std::deque<std::uint64_t> sent_;
  std::uint64_t heard_ = 0;
};

struct Outcome {
  double use = 0;     ///< per cent
  double p95_ms = 0;  ///< in the radio queue
};

class Run {
 public:
  Run(packet::PacketPool& pool, const std::vector<std::int64_t>& capacity, Hears hears, const Setting& setting)
      : capacity_(capacity), hears_(hears), setting_(setting), uplink_(pool) {}

  Outcome outcome() {
    for (Milliseconds now = 0; now < duration; ++now) step(now);
    std::sort(delays_.begin(), delays_.end());
    const double p95 = delays_.empty() ? 0 : static_cast<double>(delays_[delays_.size() * 95 / 100]);
    return {100.0 * static_cast<double>(carried_) / static_cast<double>(offered_), p95};
  }

 private:
  void step(Milliseconds now) {
    while (arrived_ < sent_at_.size() && sent_at_[arrived_] + way <= now) ++arrived_;
    serve(now);
    acknowledge(now);
    hear(now);
    send(now);
  }

  void serve(Milliseconds now) {
    std::int64_t room = capacity_[static_cast<std::size_t>(now)];
    if (now >= warmup) offered_ += room;
    const bool waits = came_at_.size() < arrived_;
    std::int64_t carried = 0;
    while (room > 0 && came_at_.size() < arrived_) {
      const std::int64_t part = std::min(room, left_);
      room -= part;
      carried += part;
      left_ -= part;
      if (left_ > 0) break;
      left_ = packet_bytes;
      if (now >= warmup) delays_.push_back(now - (sent_at_[came_at_.size()] + way));
      came_at_.push_back(now);
    }
    if (now >= warmup) carried_ += carried;
    carried_at_.push_back(waits ? static_cast<double>(carried) : -1);
  }

  void acknowledge(Milliseconds now) {
    const std::size_t owed = came_at_.size() - acknowledged_;
    if (owed == 0 || (owed < 2 && now - came_at_[acknowledged_] < delayed_ack)) return;
    acknowledged_ = came_at_.size();
    uplink_.send(now, acknowledged_);
  }

  /// What is known of the link up to `known_until_`: exactly what it carried whenever something waited.
  void hear(Milliseconds now) {
    Milliseconds until = now;
    if (hears_ == Hears::at_once) {
      known_ = came_at_.size();
    } else {
      on_wire_.push_back(uplink_.heard(now));
      if (on_wire_.size() <= static_cast<std::size_t>(way)) return;
      known_ = on_wire_.front();
      on_wire_.pop_front();
      until = known_ > 0 ? came_at_[known_ - 1] : 0;
    }
    for (; known_until_ < until; ++known_until_) {
      const double carried = carried_at_[static_cast<std::size_t>(known_until_)];
      if (carried < 0) continue;
      weight_ += (1 - weight_) / static_cast<double>(setting_.memory);
      mean_ += (carried - mean_) / static_cast<double>(setting_.memory);
    }
  }

  void send(Milliseconds now) {
    const double rate = weight_ > 0 ? mean_ / weight_ : 0;  // bytes per millisecond
    const Milliseconds until_there = std::min(now + way - known_until_, setting_.longest + way);
    const double most = setting_.gain * rate * static_cast<double>(until_there + setting_.reference);
    const double least = weight_ < 0.2 ? 10 : 2;  // packets
    while (true) {
      const auto under_way = static_cast<double>(sent_at_.size() + 1 - known_);
      if (under_way > least && under_way * packet_bytes > most) return;
      sent_at_.push_back(now);
    }
  }

  const std::vector<std::int64_t>& capacity_;
  Hears hears_;
  Setting setting_;
  Uplink uplink_;
  std::vector<Milliseconds> sent_at_;
  std::vector<Milliseconds> came_at_;  ///< to the UE
  std::vector<double> carried_at_;     ///< bytes in each millisecond; negative: nothing waited
  std::deque<std::uint64_t> on_wire_;  ///< what the Node-B had heard in the last milliseconds
  std::size_t arrived_ = 0;            ///< at the queue
  std::size_t acknowledged_ = 0;
  std::size_t known_ = 0;
  Milliseconds known_until_ = 0;
  std::int64_t left_ = packet_bytes;  ///< of the first that waits
  double mean_ = 0;
  double weight_ = 0;
  std::int64_t offered_ = 0;
  std::int64_t carried_ = 0;
  std::vector<Milliseconds> delays_;
};

struct Link {
  std::string trace;
  double use;     ///< wanted, per cent
  double p95_ms;  ///< … at this delay
};
const std::array links{Link{"Verizon-LTE-short.down", 95, 60}, Link{"TMobile-UMTS-driving.down", 95, 70},
                       Link{"ATT-LTE-driving.down", 98, 45}};

std::vector<Setting> grid() {
  std::vector<Setting> settings;
  for (const Milliseconds memory : {40, 60, 80, 120, 160}) {
    for (const Milliseconds reference : {0, 5, 10, 15, 20, 25, 30}) {
      for (const Milliseconds longest : {20, 30, 40, 60, 80}) {
        for (const double gain : {0.9, 1.0, 1.1, 1.2, 1.3}) settings.push_back({memory, reference, longest, gain});
      }
    }
  }
  return settings;
}

/// By how much a use falls short where the delay is as wanted; much where it is not.
double shortfall(const Outcome& outcome, const Link& link) {
  return link.use - outcome.use + (outcome.p95_ms > link.p95_ms ? 1000 : 0);
}

void print(const char* what, const Setting& setting, const std::vector<Outcome>& outcomes) {
  std::printf("  %-22s", what);
  for (const Outcome& outcome : outcomes) std::printf("  %5.1f %% %4.0f ms", outcome.use, outcome.p95_ms);
  std::printf("   memory %lld ms, reference %lld ms, longest %lld ms, gain %.1f\n",
              static_cast<long long>(setting.memory), static_cast<long long>(setting.reference),
              static_cast<long long>(setting.longest), setting.gain);
}

void explore(packet::PacketPool& pool, const std::vector<std::vector<std::int64_t>>& capacity, Hears hears) {
  const std::vector<Setting> settings = grid();
  std::vector<std::vector<Outcome>> outcomes;
  for (const Setting& setting : settings) {
    outcomes.emplace_back();
    for (const auto& link : capacity) outcomes.back().push_back(Run(pool, link, hears, setting).outcome());
  }
  const auto worst = [&](std::size_t i) {
    double most = -1000;
    for (std::size_t link = 0; link < links.size(); ++link)
      most = std::max(most, shortfall(outcomes[i][link], links.at(link)));
    return most;
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < settings.size(); ++i) best = worst(i) < worst(best) ? i : best;
  print("one setting", settings[best], outcomes[best]);
  for (std::size_t link = 0; link < links.size(); ++link) {
    std::size_t own = 0;
    for (std::size_t i = 1; i < settings.size(); ++i) {
      const bool better = shortfall(outcomes[i][link], links.at(link)) < shortfall(outcomes[own][link], links.at(link));
      own = better ? i : own;
    }
    print(("best for link " + std::to_string(link + 1)).c_str(), settings[own], outcomes[own]);
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: uplink_limit FOLDER_OF_TRACES\n", stderr);
    return 2;
  }
  dpdk::EalConfig config;
  config.program = "uplink_limit";
  config.memory_mib = 256;
  const dpdk::Eal eal(config);
  packet::PacketPool pool("bench", 16'384);
  std::vector<std::vector<std::int64_t>> capacity;
  std::printf("wanted                  ");
  for (const Link& link : links) {
    capacity.push_back(capacities(std::string(argv[1]) + "/" + link.trace));
    std::printf("  %5.1f %% %4.0f ms", link.use, link.p95_ms);
  }
  std::printf("\nhears by acknowledgements:\n");
  explore(pool, capacity, Hears::by_acks);
  std::printf("hears at once:\n");
  explore(pool, capacity, Hears::at_once);
  return 0;
}
