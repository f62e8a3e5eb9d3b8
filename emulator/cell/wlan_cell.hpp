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

/// 802.11b with long preambles at 11 Mb/s; times of IEEE Std 802.11b-1999.
struct WlanParameters {
  std::uint32_t buffer = 100;        ///< B: packets towards the mobiles waiting in the access point; 0 = unlimited
  std::uint32_t station_buffer = 0;  ///< packets waiting in a mobile; 0 = unlimited
  double rate_bps = 11e6;            ///< of data frames, > 0
  double control_rate_bps = 2e6;     ///< of acknowledgements, > 0
  Duration slot = std::chrono::microseconds(20);
  Duration sifs = std::chrono::microseconds(10);
  Duration difs = std::chrono::microseconds(50);
  Duration preamble = std::chrono::microseconds(192);  ///< and PLCP header, before every frame
  std::uint32_t contention_window = 31;                ///< slots: half of it is waited on average
};

/// Packets by what they are: TCP segments without payload, most of them ACKs, and everything else.
struct WlanPackets {
  std::uint64_t data = 0;
  std::uint64_t acks = 0;

  [[nodiscard]] std::uint64_t all() const { return data + acks; }
  void add(bool ack) { ++(ack ? acks : data); }
};

/// How long a packet of `length` IP bytes takes the air: DIFS, the mean back-off, the frame with its 36 bytes of
/// headers, SIFS and the acknowledgement. 1.93 ms for 1500 bytes, 0.87 ms for 40.
[[nodiscard]] Duration wlan_airtime(const WlanParameters& parameters, Bytes length);

/// 802.11 as an equal-access server (Pilosof et al., INFOCOM 2003): whenever the air is free, one of the stations that
/// have something to send is chosen evenly, and sends one packet. The access point is one of them; it has one buffer
/// for all mobiles. Collisions are not modelled: throughput hardly depends on the number of stations.
class WlanCell final : public RadioCell, public Element, public EventTarget {
 public:
  /// `to_ues`, `to_core`: where what the access point and the mobiles sent goes. Throws std::invalid_argument when a
  /// parameter is out of its range.
  WlanCell(EventLoop& loop, const WlanParameters& parameters, Random random, Element& to_ues, Element& to_core);

  /// Adds a mobile. Throws std::invalid_argument when its address is taken.
  UeIndex add_ue(const IpAddress& address);
  void add_address(UeIndex ue, const IpAddress& address);

  /// A downlink frame, into the access point's buffer. What is not for a mobile of this cell goes to `to_ues` past the
  /// air.
  void receive(packet::Packet packet, Instant now) override;
  /// Where the mobiles' frames go in.
  [[nodiscard]] Element& uplink() { return uplink_; }
  void on_event(std::uint64_t tag, Instant now) override;

  void set_observer(CellObserver* observer) override { observer_ = observer; }
  [[nodiscard]] std::size_t ues() const override { return addresses_.size(); }
  [[nodiscard]] const IpAddress& address(UeIndex ue) const override { return addresses_[ue]; }
  [[nodiscard]] std::size_t queues() const override { return 1; }
  [[nodiscard]] Backlog backlog() const override;
  /// In packets of 1500 bytes that the time would have carried, and that the busy time stands for.
  [[nodiscard]] LinkUse use(Instant now) override;

  /// The figures are of the downlink; the backlog is the part of the access point's buffer that is for the mobile.
  [[nodiscard]] UeSnapshot snapshot(UeIndex ue, Instant now) override;

  /// What a station has sent, and what found no room in it; station 0 is the access point, n the mobile n − 1.
  [[nodiscard]] const WlanPackets& sent(std::size_t station) const { return stations_[station].sent; }
  [[nodiscard]] const WlanPackets& dropped(std::size_t station) const { return stations_[station].dropped; }

 private:
  struct Waiting {
    packet::Packet packet;
    Instant since{};
    UeIndex ue = 0;
    Bytes length;
    bool ack = false;
  };
  struct Station {
    Ring<Waiting> queue;
    WlanPackets sent;
    WlanPackets dropped;
  };
  class Uplink final : public Element {
   public:
    explicit Uplink(WlanCell& cell) : cell_(cell) {}
    void receive(packet::Packet packet, Instant now) override { cell_.receive_uplink(std::move(packet), now); }

   private:
    WlanCell& cell_;
  };
  void receive_uplink(packet::Packet packet, Instant now);
  void queue(std::size_t station, std::uint32_t limit, Waiting waiting, Instant now);
  void begin(Instant now);
  void finish(Instant now);

  EventLoop& loop_;
  WlanParameters parameters_;
  Random random_;
  Element& to_ues_;
  Element& to_core_;
  Uplink uplink_{*this};
  CellObserver* observer_ = nullptr;
  std::vector<IpAddress> addresses_;
  std::vector<UeSnapshot> downlink_;  ///< of each mobile; no integrals
  std::unordered_map<IpAddress, UeIndex> by_address_;
  std::vector<Station> stations_{1};
  std::size_t sender_ = 0;  ///< the station whose packet is on the air
  bool busy_ = false;
  Waiting on_air_;
  Instant began_{};
  Duration busy_time_{};  ///< of packets that have ended
  Bytes backlog_;
};

}  // namespace sluice::emulator
