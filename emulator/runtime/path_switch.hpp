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

/// Whose a packet is: the addresses of the UEs, and the Node-B each is with.
class UeMap {
 public:
  /// Adds a UE, the next in number, which begins with Node-B `nodeb`.
  void add(const std::vector<IpAddress>& addresses, std::uint32_t nodeb);
  [[nodiscard]] const std::uint32_t* find(const IpAddress& address) const;
  [[nodiscard]] std::size_t ues() const { return nodebs_.size(); }
  [[nodiscard]] std::uint32_t nodeb(std::uint32_t ue) const { return nodebs_[ue]; }
  void set_nodeb(std::uint32_t ue, std::uint32_t nodeb) { nodebs_[ue] = nodeb; }

 private:
  std::unordered_map<IpAddress, std::uint32_t> by_address_;
  std::vector<std::uint32_t> nodebs_;
};

/// The core's side of a handover: sends what is for a UE to the Node-B that its path leads to, and puts an end marker
/// on the old path when the path is switched. What is for nobody takes the first path. Thread: the loop's.
class PathSwitch final : public Element {
 public:
  /// `pool`, where end markers come from, and the paths, one for each Node-B, outlive it.
  PathSwitch(packet::PacketPool& pool, UeMap ues, std::vector<Element*> paths)
      : pool_(pool), ues_(std::move(ues)), paths_(std::move(paths)) {}

  void receive(packet::Packet packet, Instant now) override;
  /// From now on the path of `ue` leads to `nodeb`, by handover number `handover`.
  void lead(std::uint32_t ue, std::uint32_t nodeb, std::uint32_t handover, Instant now);

 private:
  packet::PacketPool& pool_;
  UeMap ues_;
  std::vector<Element*> paths_;
};

/// The UEs' side: what a UE sends goes to the Node-B that it is with, and waits in the UE while it is with none.
/// Thread: the loop's.
class UplinkSwitch final : public Element {
 public:
  /// Packets that may wait in one UE.
  static constexpr std::size_t most_waiting = 4096;

  /// The lines, one for each Node-B, outlive it.
  UplinkSwitch(UeMap ues, std::vector<Element*> lines);

  void receive(packet::Packet packet, Instant now) override;
  /// `ue` is with no Node-B; it has come to `nodeb`, and sends what waits.
  void interrupt(std::uint32_t ue) { between_[ue].is = true; }
  void arrive(std::uint32_t ue, std::uint32_t nodeb, Instant now);
  /// Packets that found no room to wait.
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
