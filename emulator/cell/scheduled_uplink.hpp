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

/// Periodic TTIs that a UE may use without a request: configured grants in NR (TS 38.321 section 5.8.2),
/// semi-persistent scheduling in LTE (TS 36.321 section 5.10).
struct ConfiguredGrant {
  Duration period = std::chrono::milliseconds(10);  ///< time between two configured grants, > 0
  Bytes size{125};  ///< bytes that each configured grant carries, with padding of radio frames; > 0
};

/// Configuration of the uplink of one cell. Times are rounded up to whole TTIs; the defaults are those of LTE (FDD).
struct ScheduledUplinkConfig {
  /// Time between a UE's opportunities for scheduling requests (TS 36.213 table 10.1.5-1: 1 to 80 ms); > 0.
  Duration request_period = std::chrono::milliseconds(10);
  /// Time from a request or a buffer status report to the first grant that follows from it; >= 0. This time covers
  /// decoding and scheduling in the Node-B.
  Duration response = std::chrono::milliseconds(4);
  /// Time from a grant to the block that uses the grant; > 0. In LTE it is four subframes (TS 36.213 section 8), in NR
  /// it is k2 (TS 38.214 section 6.1.2.1).
  Duration grant_delay = std::chrono::milliseconds(4);
  /// Time > 0 that a UE with data waits for a new grant after a block. It then sends another scheduling request
  /// (retxBSR-Timer, TS 36.331 section 6.3.2).
  Duration retry = std::chrono::milliseconds(320);
  UplinkResources resources;
  /// Hybrid ARQ and RLC of every UE. The hybrid-ARQ round trip is `processes` TTIs: eight in LTE (TS 36.213 section 8).
  /// The other values are defaults of TS 36.331 section 9.2: maxHARQ-Tx n5, t-Reordering ms35, t-PollRetransmit ms45.
  /// There must be at least as many processes as `grant_delay` has TTIs.
  AirLinkConfig air{.harq = {.processes = 8, .transmissions = 5},
                    .reordering = {.stall_timer = std::chrono::milliseconds(35)},
                    .rlc = {.status_delay = std::chrono::milliseconds(20)},
                    .poll = std::chrono::milliseconds(45)};
  std::optional<ConfiguredGrant> configured;  ///< configured grants of every UE; absent: none
};

/// Cumulative counters of requests and grants.
struct ScheduledUplinkCounters {
  std::uint64_t requests = 0;  ///< scheduling requests that the Node-B received
  std::uint64_t grants = 0;    ///< dynamic grants, without configured grants
  std::uint64_t padding = 0;   ///< grants for which the UE had nothing to send
};

/// The uplink of LTE and NR. A UE sends a scheduling request at one of its opportunities, and the Node-B answers with a
/// grant. Each block carries a buffer status report, to which the Node-B answers with further grants. A UE that has
/// sent everything must send a request again.
///
/// TTIs of the uplink are shared by the UEs that have announced data to the Node-B. Lost blocks are retransmitted by
/// hybrid ARQ, and RLC keeps the packets in order. A packet arrives at the Node-B at the end of the TTI that carried
/// its last byte.
///
/// The model does not contain random access after lost or abandoned requests, nor a UE's transmit power. Packets of
/// unknown sources do not use the uplink and pass at once. Thread: the event loop's.
class ScheduledUplink final : public Element, private TtiUser {
 public:
  /// Creates an uplink without UEs. `next` receives the packets that have passed it. `loop` and `next` must outlive it.
  /// Throws std::invalid_argument if a parameter is out of its range.
  ScheduledUplink(EventLoop& loop, Duration tti, const ScheduledUplinkConfig& config, Element& next);

  /// Adds a UE; call it before the first packet. Opportunities for requests and configured grants are shifted by one
  /// TTI from UE to UE. Throws std::invalid_argument if an address is taken or there is no channel.
  void add_ue(UplinkUeConfig config);
  /// Puts a packet into the queue of the UE that sends it.
  void receive(packet::Packet packet, Instant now) override;

  [[nodiscard]] std::size_t ues() const { return ues_.size(); }
  /// Returns UE number `index`, in the order in which UEs were added.
  [[nodiscard]] const UplinkUe& ue(std::size_t index) const { return *ues_[index]; }
  [[nodiscard]] const ScheduledUplinkCounters& counters() const { return counters_; }
  /// Sets the observer of drops and of packets that arrived at the Node-B (see UplinkUe).
  void set_observer(CellObserver* observer);

 private:
  /// A scheduling request or buffer status report that the Node-B has received and is still decoding.
  struct DecodedRequest {
    UeIndex ue = 0;
    bool request = false;  ///< true: a scheduling request, false: a buffer status report
    BufferStatus status;
  };
  std::uint64_t run_tti(std::uint64_t tti, Instant now) override;
  /// Sends all blocks of a TTI.
  void transmit(std::uint64_t tti, Instant now);
  /// Sends the hybrid-ARQ retransmissions of a TTI.
  void repeat(std::uint64_t tti, Instant now);
  /// Sends the blocks of the grants that apply to this TTI.
  void use_grants(std::uint64_t tti, Instant now);
  /// Sends blocks of configured grants, for UEs that have data and send no other block in this TTI.
  void use_configured(std::uint64_t tti, Instant now);
  /// Sends the scheduling requests of a TTI.
  void request(std::uint64_t tti, Instant now);
  /// Passes to the scheduler the scheduling requests and buffer status reports whose decoding in the Node-B ends with
  /// this TTI.
  void learn(std::uint64_t tti);
  /// Grants the resource blocks of a TTI that neither retransmissions nor configured grants use.
  void grant(std::uint64_t tti, Instant now);
  /// Passes a buffer status report to the scheduler after the time that the Node-B needs to decode it
  /// (ScheduledUplinkConfig::response). The report was received in TTI `tti`. Has no effect if `status` is empty.
  void notify(UeIndex ue, std::uint64_t tti, const std::optional<BufferStatus>& status);
  /// Returns the first TTI from `from` on with work for the uplink; TTIs without work are skipped.
  [[nodiscard]] std::uint64_t next_tti(std::uint64_t from, Instant now);
  [[nodiscard]] std::uint64_t next_for(UeIndex ue, std::uint64_t from, Instant now);
  [[nodiscard]] std::uint64_t next_configured(UeIndex ue, std::uint64_t from) const;
  [[nodiscard]] bool is_configured(UeIndex ue, std::uint64_t tti) const { return next_configured(ue, tti) == tti; }
  /// Returns the number of resource blocks needed for `size` bytes in a TTI whose resource blocks together carry
  /// `capacity` bytes.
  [[nodiscard]] std::uint32_t units_for(Bytes size, Bytes capacity) const;
  /// Returns the duration `span` in TTIs, rounded up.
  [[nodiscard]] std::uint64_t in_ttis(Duration span) const;

  EventLoop& loop_;
  TtiClock clock_;
  ScheduledUplinkConfig config_;
  Element& next_;
  DelayLine air_;  ///< delays each packet to the end of the TTI that carried its last byte
  UplinkScheduler scheduler_;
  std::vector<std::unique_ptr<UplinkUe>> ues_;
  std::unordered_map<IpAddress, UeIndex> by_address_;
  /// Time from a scheduling request or buffer status report to the grant that follows, in TTIs.
  std::uint64_t response_;
  std::uint64_t distance_;           ///< time from a grant to the block that uses the grant, in TTIs
  std::uint64_t configured_period_;  ///< period of configured grants, in TTIs; 0: no configured grants
  /// Scheduling requests and buffer status reports that are decoded in TTI n, at index n modulo the size.
  std::vector<std::vector<DecodedRequest>> decoding_;
  std::vector<std::vector<UplinkGrant>> plans_;  ///< grants that are used in TTI n, at index n modulo the size
  std::vector<Bytes> capacities_;  ///< bytes that each UE could send in the TTI to be granted; 0: no grant
  std::vector<bool> sent_;         ///< true for UEs that have sent a block in this TTI
  CellObserver* observer_ = nullptr;
  ScheduledUplinkCounters counters_;
};

}  // namespace sluice::emulator
