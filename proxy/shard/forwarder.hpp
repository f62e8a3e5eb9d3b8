#pragma once

#include "proxy/end_to_end/end_to_end_flows.hpp"
#include "proxy/relay/relay_memory.hpp"
#include "proxy/shard/arrival.hpp"
#include "proxy/shard/context.hpp"

namespace sluice::proxy {

/// What passes: untouched, or as a segment of a connection that is regulated end to end. Thread: the shard's.
class Forwarder {
 public:
  /// What it is given outlives it.
  Forwarder(const ShardContext& shard, EndToEndFlows& end_to_end, const RelayMemory& memory)
      : shard_(shard), end_to_end_(end_to_end), memory_(memory) {}

  /// From now on bearers are told what passes to the radio: some policy is steered by reports.
  void count_radio() { radio_counted_ = true; }
  /// What becomes of a checksum that a kernel may have left unfinished.
  enum class Checksum : std::uint8_t {
    finish,  ///< it is finished where the port may have such ones: behind it nobody else would do it
    keep     ///< it stays: its host finishes its own, so that the segment is damaged
  };
  /// Passes for this reason, untouched but for the checksum. What belongs to no connection whose handshake was seen
  /// (UDP, connections older than the proxy, bypass) has shown nothing, so the port alone decides: on a veth or TAP
  /// each datagram of a host with offloads arrives unfinished, the first one too, and would be lost. A physical
  /// interface never has one, and a damaged frame stays damaged there.
  [[gnu::noinline]] void forward(Arrival& arrival, Counter reason, Checksum checksum = Checksum::finish);
  /// Of a connection that is regulated: now or later, with the window that its law wants.
  void pass_end_to_end(Arrival& arrival, EndToEndId id);

 private:
  [[nodiscard]] bool is_too_long(Arrival& arrival);
  [[gnu::cold, gnu::noinline]] void drop_too_long(Arrival& arrival);
  [[gnu::noinline]] void tell_bearer(const Arrival& arrival);

  const ShardContext shard_;
  EndToEndFlows& end_to_end_;
  const RelayMemory& memory_;
  bool radio_counted_ = false;
};

}  // namespace sluice::proxy
