#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "emulator/cell/radio_cell.hpp"
#include "emulator/net/element.hpp"
#include "emulator/net/event_loop.hpp"
#include "emulator/net/ring.hpp"
#include "emulator/random.hpp"

namespace sluice::emulator {

/// Parameters of 802.11b with long preambles at 11 Mb/s; times of IEEE Std 802.11b-1999.
struct WlanParameters {
  std::uint32_t buffer = 100;        ///< buffer of the access point for all mobiles (B), packets; 0: unlimited
  std::uint32_t station_buffer = 0;  ///< buffer of each mobile, packets; 0: unlimited
  double rate_bps = 11e6;            ///< bit rate of data frames, > 0
  double control_rate_bps = 2e6;     ///< bit rate of acknowledgement frames, > 0
  Duration slot = std::chrono::microseconds(20);
  Duration sifs = std::chrono::microseconds(10);
  Duration difs = std::chrono::microseconds(50);
  Duration preamble = std::chrono::microseconds(192);  ///< duration of the preamble and PLCP header of every frame
  std::uint32_t contention_window = 31;                ///< contention window in slots; the mean back-off is half of it
};

/// Numbers of packets of two kinds: TCP segments without payload (most of them ACKs), and all other packets.
struct WlanPackets {
  std::uint64_t data = 0;  ///< all other packets
  std::uint64_t acks = 0;  ///< TCP segments without payload

  [[nodiscard]] std::uint64_t all() const { return data + acks; }
  void add(bool ack) { ++(ack ? acks : data); }
};

/// Returns how long a packet of `length` IP bytes occupies the air. The time includes DIFS, the mean back-off, the
/// frame with 36 bytes of headers, SIFS and the acknowledgement. With the default parameters it is 1.93 ms for 1500
/// bytes and 0.87 ms for 40 bytes.
[[nodiscard]] Duration wlan_airtime(const WlanParameters& parameters, Bytes length);

/// 802.11 as an equal-access server (Pilosof et al., INFOCOM 2003). Whenever the air is free, one of the stations with
/// packets is chosen at random and sends one packet. The access point is one of these stations and has one buffer for
/// all mobiles. Collisions are not modelled, because throughput hardly depends on the number of stations.
class WlanCell final : public RadioCell, public Element, public EventTarget {
 public:
  /// Creates a cell without mobiles. Packets sent by the access point go to `to_ues`, those of the mobiles to
  /// `to_core`. Throws std::invalid_argument if a parameter is out of its range.
  WlanCell(EventLoop& loop, const WlanParameters& parameters, Random random, Element& to_ues, Element& to_core);

  /// Adds a mobile. Throws std::invalid_argument if its address is taken.
  UeIndex add_ue(const IpAddress& address);
  /// Gives a mobile a further address. Throws std::invalid_argument if it is taken.
  void add_address(UeIndex ue, const IpAddress& address);

  /// Puts a downlink packet into the access point's buffer. A packet for no mobile of this cell goes directly to the
  /// element that receives downlink packets, without using the air.
  void receive(packet::Packet packet, Instant now) override;
  /// Returns the element that receives the mobiles' packets.
  [[nodiscard]] Element& uplink() { return uplink_; }
  /// Ends the transmission of the packet on the air. The event loop calls it.
  void on_event(std::uint64_t tag, Instant now) override;

  void set_observer(CellObserver* observer) override { observer_ = observer; }
  [[nodiscard]] std::size_t ues() const override { return addresses_.size(); }
  [[nodiscard]] const IpAddress& address(UeIndex ue) const override { return addresses_[ue]; }
  [[nodiscard]] std::size_t queues() const override { return 1; }
  [[nodiscard]] Backlog backlog() const override;
  /// Returns the use of the air, with times converted to the bytes that successive packets of 1500 bytes could carry in
  /// them. `offered` stands for the time since the start, and `carried` for the time in which the air was busy.
  [[nodiscard]] LinkUse use(Instant now) override;

  /// Returns the state of a mobile's downlink; its backlog is its part of the access point's buffer.
  [[nodiscard]] UeSnapshot snapshot(UeIndex ue, Instant now) override;

  /// Returns the numbers of packets that a station has sent; station 0 is the access point, station n the mobile n − 1.
  [[nodiscard]] const WlanPackets& sent(std::size_t station) const { return stations_[station].sent; }
  /// Returns the numbers of packets that a station dropped because its buffer was full.
  [[nodiscard]] const WlanPackets& dropped(std::size_t station) const { return stations_[station].dropped; }

 private:
  /// A packet in a station's queue.
  struct Waiting {
    packet::Packet packet;
    Instant since{};  ///< arrival time
    UeIndex ue = 0;
    Bytes length;
    bool ack = false;  ///< true for a TCP segment without payload
  };
  /// Queue and counters of the access point or a mobile.
  struct Station {
    Ring<Waiting> queue;
    WlanPackets sent;
    WlanPackets dropped;
  };
  /// Receives the mobiles' packets on behalf of the cell.
  class Uplink final : public Element {
   public:
    explicit Uplink(WlanCell& cell) : cell_(cell) {}
    void receive(packet::Packet packet, Instant now) override { cell_.receive_uplink(std::move(packet), now); }

   private:
    WlanCell& cell_;
  };
  void receive_uplink(packet::Packet packet, Instant now);
  /// Queues a packet at a station, or drops it if `limit` packets wait there. A `limit` of 0 means no limit.
  void queue(std::size_t station, std::uint32_t limit, Waiting waiting, Instant now);
  /// Chooses the next station at random and starts its transmission.
  void begin(Instant now);
  /// Counts and forwards the packet whose transmission has ended.
  void finish(Instant now);

  EventLoop& loop_;
  WlanParameters parameters_;
  Random random_;
  Element& to_ues_;
  Element& to_core_;
  Uplink uplink_{*this};
  CellObserver* observer_ = nullptr;
  std::vector<IpAddress> addresses_;
  std::vector<UeSnapshot> downlink_;  ///< downlink state of each mobile; the member queued_seconds is not used
  std::unordered_map<IpAddress, UeIndex> by_address_;
  std::vector<Station> stations_{1};
  std::size_t sender_ = 0;  ///< number of the station whose packet is on the air
  bool busy_ = false;
  Waiting on_air_;
  Instant began_{};       ///< start of the transmission that occupies the air
  Duration busy_time_{};  ///< duration of all transmissions that have ended
  Bytes backlog_;         ///< IP bytes in the access point's buffer
};

}  // namespace sluice::emulator
