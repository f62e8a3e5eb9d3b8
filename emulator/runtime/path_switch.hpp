#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dataplane/packet/pool.hpp"
#include "dataplane/units/ip_address.hpp"
#include "emulator/net/element.hpp"
#include "emulator/net/ring.hpp"

namespace sluice::emulator {

/// Maps addresses to UEs, and UEs to their serving Node-Bs.
class UeMap {
 public:
  /// Adds the next UE, whose first Node-B is `nodeb`.
  void add(const std::vector<IpAddress>& addresses, std::uint32_t nodeb);
  /// Returns the number of the UE with this address, or null.
  [[nodiscard]] const std::uint32_t* find(const IpAddress& address) const;
  [[nodiscard]] std::size_t ues() const { return nodebs_.size(); }
  [[nodiscard]] std::uint32_t nodeb(std::uint32_t ue) const { return nodebs_[ue]; }
  void set_nodeb(std::uint32_t ue, std::uint32_t nodeb) { nodebs_[ue] = nodeb; }

 private:
  std::unordered_map<IpAddress, std::uint32_t> by_address_;
  std::vector<std::uint32_t> nodebs_;
};

/// Core side of a handover. It sends packets for a UE on the path to the UE's Node-B. When the core switches a UE's
/// path, an end marker is sent on the old path. Packets that are addressed to no UE are sent on the path to the first
/// Node-B. Thread: the event loop's.
class PathSwitch final : public Element {
 public:
  /// Creates the switch. `paths` has one path for each Node-B. `pool` provides the end markers. `pool` and the paths
  /// must outlive the switch.
  PathSwitch(packet::PacketPool& pool, UeMap ues, std::vector<Element*> paths)
      : pool_(pool), ues_(std::move(ues)), paths_(std::move(paths)) {}

  void receive(packet::Packet packet, Instant now) override;
  /// Sends the packets of `ue` to `nodeb` from now on, after an end marker on the old path. `handover` is the number of
  /// the handover.
  void lead(std::uint32_t ue, std::uint32_t nodeb, std::uint32_t handover, Instant now);

 private:
  packet::PacketPool& pool_;
  UeMap ues_;
  std::vector<Element*> paths_;
};

/// UE side of a handover: sends a UE's packets to its serving Node-B. While no Node-B serves the UE, its packets are
/// kept in the UE. Thread: the event loop's.
class UplinkSwitch final : public Element {
 public:
  /// Largest number of packets that one UE keeps during an interruption.
  static constexpr std::size_t max_waiting = 4096;

  /// Creates the switch. `lines` has one line to each Node-B; the lines must outlive the switch.
  UplinkSwitch(UeMap ues, std::vector<Element*> lines);

  void receive(packet::Packet packet, Instant now) override;
  /// Starts the interruption: the UE has no serving Node-B, so its packets are kept.
  void interrupt(std::uint32_t ue) { between_[ue].is = true; }
  /// Ends the interruption: `nodeb` serves the UE, which sends the kept packets.
  void arrive(std::uint32_t ue, std::uint32_t nodeb, Instant now);
  /// Returns the number of packets dropped during interruptions, because the UE already kept as many as it can.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  struct Between {
    bool is = false;
    Ring<packet::Packet> waiting;
  };
  UeMap ues_;
  std::vector<Element*> lines_;
  std::vector<Between> between_;
  std::uint64_t dropped_ = 0;
};

}  // namespace sluice::emulator
