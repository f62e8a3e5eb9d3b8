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

/// Header of each game datagram: sequence number and send time, on the clock that all built-in hosts share.
struct GameHead {
  static constexpr std::size_t length = 24;

  std::uint32_t interval_us = 0;  ///< time between two datagrams of the player, and between two of the server, in µs
  /// Size in bytes of the datagrams that a player requests from the server; 0 in datagrams of the server.
  std::uint16_t answer = 0;
  std::uint64_t number = 0;
  Instant sent{};
  /// True: the server sends its datagrams at exponentially distributed intervals with the mean `interval_us`.
  bool exponential = false;

  [[nodiscard]] std::array<std::uint8_t, length> encode() const;
  /// Returns the header, or nothing if the bytes do not begin with one.
  [[nodiscard]] static std::optional<GameHead> decode(std::span<const std::uint8_t> bytes);
};

/// Counts the datagrams of one direction at their receiver.
class GameReceiver {
 public:
  explicit GameReceiver(DatagramLog& log) : log_(log) {}
  /// Records a datagram, unless it was sent before `count_from`. Sequence numbers below its own that have not arrived
  /// count as lost. A datagram that arrives later than one with a higher number no longer counts as lost.
  void take(const GameHead& head, Instant count_from, Instant now);

 private:
  DatagramLog& log_;
  std::uint64_t next_ = 0;  ///< highest sequence number received, plus one
};

struct GameConfig {
  IpAddress server;
  std::uint16_t port = 3074;
  Instant start{};
  Duration interval = std::chrono::milliseconds(20);  ///< interval between datagrams, in each direction
  Bytes down{200};                                    ///< UDP payload of the server's datagrams
  Bytes up{60};                                       ///< UDP payload of the player's datagrams
  bool exponential = false;  ///< true: the server's datagrams have exponentially distributed intervals
};

/// One player of a game: sends a datagram each interval, and receives the datagrams of the server. Thread: the event
/// loop's.
class GameClient final : public DatagramApplication, public EventTarget {
 public:
  /// Creates a player that starts at `config.start`. `loop`, `host` and `log` must outlive the player. The player
  /// must outlive the last packet to `host`, because the host passes datagrams to it.
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

/// Game server of one host. Each player receives the datagrams that the player's header requests, until no datagram of
/// the player has arrived for 30 s (`player_timeout`).
class GameServer final : public DatagramApplication {
 public:
  /// Time without a datagram of a player after which the server drops the player.
  static constexpr Duration player_timeout = std::chrono::seconds(30);

  /// Maximum number of players; datagrams of further ones are ignored.
  static constexpr std::size_t max_players = 4096;

  /// Creates a server that logs the players' datagrams sent from `count_from` on. `loop`, `host` and `log` must outlive
  /// it. `random` draws the intervals between the server's datagrams for players that request exponentially distributed
  /// intervals.
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
