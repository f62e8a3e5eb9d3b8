// Games over UDP: a client and a server that exchange datagrams at fixed or random intervals, and the loss and delay
// statistics of each direction.
// BuiltInUes creates a GameClient per player; BuiltInServers a GameServer per host. Input of unknown form is ignored,
// and the number of players per server is bounded.

#include "emulator/hosts/game.hpp"

#include <algorithm>

namespace sluice::emulator {
namespace {

constexpr std::array<std::uint8_t, 2> game_magic = {'S', 'G'};
constexpr std::uint16_t largest = 1400;
/// Flag in the highest bit of the encoded field GameHead::answer. With it, a player requests that the server sends its
/// datagrams at exponentially distributed intervals.
constexpr std::uint64_t exponential_flag = 0x8000;

void store_big_endian(std::span<std::uint8_t> out, std::uint64_t value) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint8_t>(value >> (8 * (out.size() - 1 - i)));
}

std::uint64_t load_big_endian(std::span<const std::uint8_t> in) {
  std::uint64_t value = 0;
  for (const std::uint8_t byte : in) value = value << 8 | byte;
  return value;
}

void send_head(Host& host, const packet::Addresses& ours, const GameHead& head, std::uint16_t size) {
  std::array<std::uint8_t, largest> datagram{};
  const auto bytes = head.encode();
  std::copy(bytes.begin(), bytes.end(), datagram.begin());
  host.send_datagram(ours, std::span(datagram).first(std::clamp<std::size_t>(size, GameHead::length, largest)),
                     head.sent);
}

}  // namespace

std::array<std::uint8_t, GameHead::length> GameHead::encode() const {
  std::array<std::uint8_t, length> bytes{};
  const std::span all(bytes);
  std::copy(game_magic.begin(), game_magic.end(), bytes.begin());
  store_big_endian(all.subspan(2, 2), answer | (exponential ? exponential_flag : 0));
  store_big_endian(all.subspan(4, 4), interval_us);
  store_big_endian(all.subspan(8, 8), number);
  store_big_endian(all.subspan(16, 8), static_cast<std::uint64_t>(sent.time_since_epoch().count()));
  return bytes;
}

std::optional<GameHead> GameHead::decode(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < length || !std::equal(game_magic.begin(), game_magic.end(), bytes.begin())) return std::nullopt;
  GameHead head;
  const std::uint64_t asked = load_big_endian(bytes.subspan(2, 2));
  head.answer = static_cast<std::uint16_t>(asked & ~exponential_flag);
  head.exponential = (asked & exponential_flag) != 0;
  head.interval_us = static_cast<std::uint32_t>(load_big_endian(bytes.subspan(4, 4)));
  head.number = load_big_endian(bytes.subspan(8, 8));
  head.sent = Instant(Duration(static_cast<std::int64_t>(load_big_endian(bytes.subspan(16, 8)))));
  return head;
}

void GameReceiver::take(const GameHead& head, Instant count_from, Instant now) {
  const bool late = head.number < next_;  // counted as lost before
  const std::uint64_t missing = late ? 0 : head.number - next_;
  if (!late) next_ = head.number + 1;
  if (head.sent < count_from) return;
  log_.delays.add(now - head.sent);
  ++log_.received;
  log_.lost += missing;
  if (late && log_.lost > 0) --log_.lost;
}

GameClient::GameClient(EventLoop& loop, Host& host, const GameConfig& config, FlowLog& log)
    : loop_(loop), host_(host), config_(config), log_(log), receiver_(log.game) {
  addresses_ = {host.config().address, config.server, host.bind_any(*this), config.port};
  loop_.at(config_.start, *this);
}

void GameClient::on_event(std::uint64_t /*tag*/, Instant now) {
  GameHead head{static_cast<std::uint32_t>(config_.interval / std::chrono::microseconds(1)),
                static_cast<std::uint16_t>(config_.down.count()), number_++, now, config_.exponential};
  send_head(host_, addresses_, head, static_cast<std::uint16_t>(config_.up.count()));
  loop_.at(now + config_.interval, *this);
}

void GameClient::on_datagram(const packet::Addresses& ours, std::span<const std::uint8_t> bytes, Instant now) {
  const auto head = GameHead::decode(bytes);
  if (head && ours == addresses_) receiver_.take(*head, log_.count_from, now);
}

/// State of one player at the server: the datagrams that the player requests, and the log of those that the player
/// sent.
class GameServer::Player final : public EventTarget {
 public:
  Player(EventLoop& loop, Host& host, const packet::Addresses& ours, DatagramLog& log, Random random)
      : loop_(loop), host_(host), ours_(ours), receiver_(log), random_(random) {}

  void on_datagram(const GameHead& head, Instant count_from, Instant now) {
    receiver_.take(head, count_from, now);
    interval_ = std::max<Duration>(std::chrono::microseconds(head.interval_us), std::chrono::milliseconds(1));
    size_ = head.answer;
    exponential_ = head.exponential;
    last_rx_ = now;
    if (!playing_) tick(now);
  }

  void on_event(std::uint64_t /*tag*/, Instant now) override { tick(now); }

 private:
  void tick(Instant now) {
    playing_ = now - last_rx_ < player_timeout;
    if (!playing_) return;
    send_head(host_, ours_, {0, 0, number_++, now, false}, size_);
    loop_.at(now + next_interval(), *this);
  }
  Duration next_interval() {
    if (!exponential_) return interval_;
    const double drawn = random_.exponential(static_cast<double>(interval_.count()));
    // The bound of twenty means ensures that the departure of a player is noticed in time.
    return Duration(static_cast<Duration::rep>(std::clamp(drawn, 1.0, 20.0 * static_cast<double>(interval_.count()))));
  }

  EventLoop& loop_;
  Host& host_;
  packet::Addresses ours_;
  GameReceiver receiver_;
  Random random_;
  Duration interval_{};
  bool exponential_ = false;
  std::uint16_t size_ = 0;
  Instant last_rx_{};
  std::uint64_t number_ = 0;
  bool playing_ = false;
};

GameServer::GameServer(EventLoop& loop, Host& host, DatagramLog& log, Instant count_from, Random random)
    : loop_(loop), host_(host), log_(log), count_from_(count_from), random_(random) {}

GameServer::~GameServer() = default;

void GameServer::on_datagram(const packet::Addresses& ours, std::span<const std::uint8_t> bytes, Instant now) {
  const auto head = GameHead::decode(bytes);
  if (!head) return;
  const FlowEnds ends{ours.dst, ours.src, ours.dst_port, ours.src_port};
  auto at = players_.find(ends);
  if (at == players_.end()) {
    if (players_.size() >= max_players) return;
    at =
        players_
            .emplace(ends, std::make_unique<Player>(loop_, host_, ours, log_, random_.split("player", players_.size())))
            .first;
  }
  at->second->on_datagram(*head, count_from_, now);
}

}  // namespace sluice::emulator
