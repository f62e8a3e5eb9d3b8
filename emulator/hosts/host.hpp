#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "dataplane/packet/parse.hpp"
#include "dataplane/packet/pool.hpp"
#include "dataplane/tcp/endpoint.hpp"
#include "emulator/hosts/connection.hpp"
#include "emulator/net/element.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

struct HostConfig {
  IpAddress address;
  std::array<std::uint8_t, 6> mac{0x02, 0, 0, 0, 0, 1};
  std::array<std::uint8_t, 6> gateway_mac{0x02, 0, 0, 0, 0, 2};
  std::uint16_t mtu = 1500;       ///< bytes per IP packet; the announced MSS follows from it (RFC 9293 section 3.7.1)
  bool timestamps = true;         ///< offer timestamps (RFC 7323)
  std::uint8_t window_scale = 8;  ///< window scale shift that the host announces, 0 … 14 (RFC 7323 section 2.2)
  bool sack = true;               ///< offer SACK (RFC 2018)
  bool ecn = false;               ///< true: the host offers and accepts ECN (RFC 3168)
  bool accurate_ecn = false;  ///< true: the host offers and accepts accurate ECN (RFC 9768), and falls back to RFC 3168
  std::uint32_t ack_every = 2;  ///< number of in-order segments that one ACK acknowledges, see AckStretcher
  Bytes receive_buffer{4 * 1024 * 1024};
  Bytes send_buffer{4 * 1024 * 1024};
  tcp::EndpointConfig tcp;
};

struct HostCounters {
  std::uint64_t received = 0;       ///< received frames
  std::uint64_t not_tcp = 0;        ///< frames that contain neither a TCP segment nor a datagram for a bound port
  std::uint64_t not_for_us = 0;     ///< frames for another address
  std::uint64_t bad_checksum = 0;   ///< frames dropped for a wrong TCP checksum
  std::uint64_t resets_sent = 0;    ///< resets sent for segments without a connection
  std::uint64_t opened = 0;         ///< connections opened, by this host and by its peers
  std::uint64_t retransmitted = 0;  ///< segments retransmitted by connections now closed
  std::uint64_t timeouts = 0;       ///< retransmission timeouts of connections now closed
};

/// Receiver of the datagrams for a port of a host.
class DatagramApplication {
 public:
  /// Called with a received datagram. `ours` are the addresses for an answer; `bytes` are valid during the call.
  virtual void on_datagram(const packet::Addresses& ours, std::span<const std::uint8_t> bytes, Instant now) = 0;

 protected:
  ~DatagramApplication() = default;
};

/// A host with one address on one wire, with TCP, UDP and applications. It receives frames as an Element, and sends its
/// own frames to the wire. Timers are events of the event loop. Thread: the event loop's.
class Host final : public Element, public EventTarget {
 public:
  using Acceptor = std::function<std::unique_ptr<Application>(const packet::Addresses& ours)>;

  /// Makes a host. `loop`, `pool` and `wire` must outlive it. `random` determines initial sequence numbers and
  /// timestamp offsets.
  Host(EventLoop& loop, packet::PacketPool& pool, const HostConfig& config, Random random, Element& wire);

  /// Accepts connections to `port`; `acceptor` makes the application of each one.
  void listen(std::uint16_t port, Acceptor acceptor) { listeners_[port] = std::move(acceptor); }
  /// Opens a connection for `application`, which must outlive it. Local ports are assigned in ascending order from
  /// 49152 on.
  Connection& connect(const IpAddress& remote, std::uint16_t port, Application& application, Instant now);

  /// Passes datagrams that arrive for `port` to `application`, which must outlive the host.
  void bind(std::uint16_t port, DatagramApplication& application) { datagrams_[port] = &application; }
  /// Binds a free ephemeral port to `application` and returns it.
  std::uint16_t bind_any(DatagramApplication& application);
  /// Sends a datagram with the payload `bytes` and the addresses `ours`. Sends nothing if packet memory is exhausted.
  void send_datagram(const packet::Addresses& ours, std::span<const std::uint8_t> bytes, Instant now);

  /// Sends what an application wrote to the connection with the number `connection`. Needed if the application wrote it
  /// while no callback of that connection was running.
  void push(std::uint64_t connection, Instant now) { serve(connection, now); }
  /// Informs the applications of all open connections that the run has ended.
  void end_run(Instant now);

  void receive(packet::Packet packet, Instant now) override;
  /// Handles the timer of the connection with number `tag`.
  void on_event(std::uint64_t tag, Instant now) override;

  [[nodiscard]] const HostConfig& config() const { return config_; }
  [[nodiscard]] const HostCounters& counters() const { return counters_; }
  [[nodiscard]] std::size_t connections() const { return connections_.size(); }
  /// Calls `look` for every connection, in the order in which the connections were opened.
  template <typename Look>
  void for_each_connection(Look&& look) const {
    for (const auto& [number, slot] : connections_) look(std::as_const(*slot.connection));
  }
  /// Returns the number of retransmission timeouts of all connections, including closed ones.
  [[nodiscard]] std::uint64_t timeouts() const;

 private:
  /// Key of a connection: remote address and port, local port.
  using Key = std::tuple<IpAddress, std::uint16_t, std::uint16_t>;
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept {
      const auto& [address, remote_port, local_port] = key;
      const std::size_t ports = std::size_t{remote_port} << 16 | local_port;
      return std::hash<IpAddress>()(address) ^ ports * 0x9e3779b97f4a7c15U;
    }
  };
  struct Slot {
    std::unique_ptr<Connection> connection;
    Instant alarm = never;  ///< time of the earliest event that is scheduled for the connection
  };

  [[nodiscard]] bool receive_datagram(const packet::Parsed& parsed, const packet::Packet& packet, Instant now);
  void receive_segment(const packet::Parsed& parsed, packet::Packet packet, Instant now);
  std::uint64_t accept(const packet::Parsed& parsed, const packet::Packet& frame, Instant now);
  /// Creates a connection whose application is either `owned` or `lent`. Returns the connection's number.
  std::uint64_t add(Connection::Parts parts, const Key& key, std::unique_ptr<Application> owned, Application* lent);
  void serve(std::uint64_t number, Instant now);
  void set_alarm(Slot& slot, Instant now);
  void remove(std::uint64_t number);
  void refuse(const packet::Parsed& parsed, const packet::Packet& frame, Instant now);
  [[nodiscard]] tcp::SynOptions syn_options() const;
  [[nodiscard]] std::uint16_t free_port(const IpAddress& remote, std::uint16_t port);

  EventLoop& loop_;
  packet::PacketPool& pool_;
  HostConfig config_;
  Random random_;
  Element& wire_;
  std::map<std::uint16_t, Acceptor> listeners_;
  std::map<std::uint16_t, DatagramApplication*> datagrams_;
  std::unordered_map<Key, std::uint64_t, KeyHash> by_address_;
  std::map<std::uint64_t, Slot> connections_;
  std::uint64_t next_number_ = 1;
  std::uint16_t next_port_ = 49'152;
  std::uint16_t ip_id_ = 0;  ///< IP identification of datagrams
  HostCounters counters_;
};

}  // namespace sluice::emulator
