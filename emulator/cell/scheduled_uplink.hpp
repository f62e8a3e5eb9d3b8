#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "emulator/cell/tti_clock.hpp"
#include "emulator/cell/uplink_scheduler.hpp"
#include "emulator/cell/uplink_ue.hpp"
#include "emulator/net/delay_line.hpp"
#include "emulator/net/element.hpp"
#include "emulator/net/event_loop.hpp"

namespace sluice::emulator {

/// TTIs that a UE may use without asking: TS 38.321 section 5.8.2, semi-persistent scheduling in TS 36.321
/// section 5.10.
struct ConfiguredGrant {
  Duration period = std::chrono::milliseconds(10);  ///< > 0
  Bytes size{125};                                  ///< of each, on the air; > 0
};

/// The uplink of one cell. Times are rounded up to whole TTIs. The defaults are those of LTE (FDD).
struct ScheduledUplinkConfig {
  /// A UE may send a scheduling request so often (TS 36.213 table 10.1.5-1: 1 to 80 ms); > 0.
  Duration request_period = std::chrono::milliseconds(10);
  /// From a request, or a block that tells what a UE has, to the first grant that follows from it: the Node-B's
  /// decoding and scheduling; >= 0.
  Duration response = std::chrono::milliseconds(4);
  /// From a grant to its block: four subframes (TS 36.213 section 8), k2 in TS 38.214 section 6.1.2.1; > 0.
  Duration grant_delay = std::chrono::milliseconds(4);
  /// After a block a UE that is granted nothing for so long asks again (retxBSR-Timer, TS 36.331 section 6.3.2); > 0.
  Duration retry = std::chrono::milliseconds(320);
  UplinkResources resources;
  /// Its round trip is `processes` TTIs: eight in LTE (TS 36.213 section 8). The other values are those that
  /// TS 36.331 section 9.2 has as defaults: maxHARQ-Tx n5, t-Reordering ms35, t-PollRetransmit ms45. At least as many
  /// processes as `grant_delay` has TTIs.
  AirLinkConfig air{.harq = {.processes = 8, .transmissions = 5},
                    .reordering = {.stall_timer = std::chrono::milliseconds(35)},
                    .rlc = {.status_delay = std::chrono::milliseconds(20)},
                    .poll = std::chrono::milliseconds(45)};
  std::optional<ConfiguredGrant> configured;
};

/// What became of TTIs and requests; cumulative.
struct ScheduledUplinkCounters {
  std::uint64_t requests = 0;  ///< scheduling requests that the Node-B heard
  std::uint64_t grants = 0;    ///< those of configured grants not counted
  std::uint64_t padding = 0;   ///< grants for which the UE had nothing to send
};

/// The uplink of LTE and NR: a UE asks for leave to send, once in a period; the Node-B answers with a grant; a block
/// tells how much more there is, and more grants follow. A UE that has sent everything must ask again. TTIs are shared
/// by the UEs that are known to wait; blocks are lost and come again by hybrid ARQ, and packets keep their order behind
/// it (RLC). A packet is with the Node-B when the TTI that carried its last byte is over.
///
/// Not modelled: requests that are lost or given up (random access), and the power that a UE has. Packets that are of
/// no UE pass at once. Thread: the loop's.
class ScheduledUplink final : public Element, private TtiUser {
 public:
  /// `loop` and `next` outlive it. Throws std::invalid_argument when a parameter is out of its range.
  ScheduledUplink(EventLoop& loop, Duration tti, const ScheduledUplinkConfig& config, Element& next);

  /// Is called before the first packet. A UE's requests, and its configured grants, come as many TTIs later than those
  /// of the first UE as its number says. Throws std::invalid_argument when an address is taken or there is no channel.
  void add_ue(UplinkUeConfig config);
  void receive(packet::Packet packet, Instant now) override;

  [[nodiscard]] std::size_t ues() const { return ues_.size(); }
  /// The UE that was added as number `index`.
  [[nodiscard]] const UplinkUe& ue(std::size_t index) const { return *ues_[index]; }
  [[nodiscard]] const ScheduledUplinkCounters& counters() const { return counters_; }
  /// Sets who is told of drops, and of packets that have come to the Node-B (see UplinkUe).
  void set_observer(CellObserver* observer);

 private:
  /// What the Node-B will know once it has decoded it.
  struct News {
    UeIndex ue = 0;
    bool request = false;  ///< else a buffer status
    BufferStatus status;
  };
  std::uint64_t run_tti(std::uint64_t tti, Instant now) override;
  void transmit(std::uint64_t tti, Instant now);
  void repeat(std::uint64_t tti, Instant now);
  void use_grants(std::uint64_t tti, Instant now);
  void use_configured(std::uint64_t tti, Instant now);
  void request(std::uint64_t tti, Instant now);
  void learn(std::uint64_t tti);
  void grant(std::uint64_t tti, Instant now);
  void tell(UeIndex ue, std::uint64_t tti, const std::optional<BufferStatus>& status);
  [[nodiscard]] std::uint64_t next_tti(std::uint64_t from, Instant now);
  [[nodiscard]] std::uint64_t next_for(UeIndex ue, std::uint64_t from, Instant now);
  [[nodiscard]] std::uint64_t next_configured(UeIndex ue, std::uint64_t from) const;
  [[nodiscard]] bool is_configured(UeIndex ue, std::uint64_t tti) const { return next_configured(ue, tti) == tti; }
  [[nodiscard]] std::uint32_t units_for(Bytes size, Bytes capacity) const;
  [[nodiscard]] std::uint64_t in_ttis(Duration span) const;

  EventLoop& loop_;
  TtiClock clock_;
  ScheduledUplinkConfig config_;
  Element& next_;
  DelayLine air_;  ///< to the end of a TTI
  UplinkScheduler scheduler_;
  std::vector<std::unique_ptr<UplinkUe>> ues_;
  std::unordered_map<IpAddress, UeIndex> by_address_;
  std::uint64_t response_;
  std::uint64_t distance_;
  std::uint64_t configured_period_;              ///< 0: there are no configured grants
  std::vector<std::vector<News>> news_;          ///< by the TTI in which it is known, modulo the size
  std::vector<std::vector<UplinkGrant>> plans_;  ///< by the TTI that they are for, modulo the size
  std::vector<Bytes> capacities_;                ///< of the TTI that is granted
  std::vector<bool> sent_;                       ///< in the TTI at hand, by UE
  CellObserver* observer_ = nullptr;
  ScheduledUplinkCounters counters_;
};

}  // namespace sluice::emulator
