#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "dataplane/units/bytes.hpp"
#include "emulator/hosts/flow_log.hpp"
#include "emulator/hosts/host.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

/// What stands at the head of each datagram of a game: its number and when it was sent, by the one clock that all
/// built-in hosts have.
struct GameHead {
  static constexpr std::size_t length = 24;

  std::uint32_t interval_us = 0;  ///< between two of them
  std::uint16_t answer = 0;       ///< bytes of those that are to come back; 0 in these
  std::uint64_t number = 0;
  Instant sent{};
  bool exponential = false;  ///< the times between the answers are to be drawn, with that mean

  [[nodiscard]] std::array<std::uint8_t, length> encode() const;
  /// Nothing when the bytes do not begin with such a head.
  [[nodiscard]] static std::optional<GameHead> decode(std::span<const std::uint8_t> bytes);
};

/// Counts one side's datagrams as they come.
class GameReceiver {
 public:
  explicit GameReceiver(DatagramLog& log) : log_(log) {}
  /// What was sent before `count_from` does not count. A gap in the numbers counts as lost until it is filled.
  void take(const GameHead& head, Instant count_from, Instant now);

 private:
  DatagramLog& log_;
  std::uint64_t next_ = 0;  ///< the number behind the highest that has come
};

struct GameConfig {
  IpAddress server;
  std::uint16_t port = 3074;
  Instant start{};
  Duration interval = std::chrono::milliseconds(20);  ///< between datagrams, each way
  Bytes down{200};                                    ///< UDP payload of what the server sends
  Bytes up{60};                                       ///< … and of what the player sends
  bool exponential = false;                           ///< times between what the server sends are drawn
};

/// One player: sends a datagram each interval, and receives as many. Thread: the loop's.
class GameClient final : public DatagramApplication, public EventTarget {
 public:
  /// `loop`, `host` and `log` outlive it, and it the last packet that comes to `host`.
  GameClient(EventLoop& loop, Host& host, const GameConfig& config, FlowLog& log);

  void on_event(std::uint64_t tag, Instant now) override;
  void on_datagram(const packet::Addresses& ours, std::span<const std::uint8_t> bytes, Instant now) override;

 private:
  EventLoop& loop_;
  Host& host_;
  GameConfig config_;
  FlowLog& log_;
  GameReceiver receiver_;
  packet::Addresses addresses_;
  std::uint64_t number_ = 0;
};

/// The server of games on one host: from a player's first datagram on it sends that player as many as it is asked for,
/// until nothing has come from there for a while.
class GameServer final : public DatagramApplication {
 public:
  static constexpr Duration patience = std::chrono::seconds(30);  ///< with a player who says nothing
  static constexpr std::size_t most_players = 4096;               ///< others are not heard

  /// `loop`, `host` and `log` outlive it. What players sent goes into `log`, but for what they sent before
  /// `count_from`. `random`: for players that ask for drawn times.
  GameServer(EventLoop& loop, Host& host, DatagramLog& log, Instant count_from, Random random = Random(0));
  ~GameServer();
  GameServer(const GameServer&) = delete;
  GameServer& operator=(const GameServer&) = delete;

  void on_datagram(const packet::Addresses& ours, std::span<const std::uint8_t> bytes, Instant now) override;

 private:
  class Player;
  EventLoop& loop_;
  Host& host_;
  DatagramLog& log_;
  Instant count_from_;
  Random random_;
  std::map<FlowEnds, std::unique_ptr<Player>> players_;
};

}  // namespace sluice::emulator
