#pragma once

#include <cstdint>

#include "dataplane/packet/segment.hpp"
#include "dataplane/tcp/endpoint_config.hpp"
#include "dataplane/tcp/output.hpp"
#include "dataplane/tcp/sender.hpp"

namespace sluice::tcp {

/// Opening of a connection (RFC 9293 section 3.5) with the options of RFC 7323, RFC 2018, RFC 3168 and RFC 9768.
///
/// Invariants: until the SYN-ACK arrives, the fields of the negotiated options contain those that this host's SYN
/// offers. A SYN or SYN-ACK is due only in SYN-SENT and SYN-RECEIVED. Handshake has no state of its own; the flag that
/// a SYN is due is in Sender.
class Handshake : public Sender {
 public:
  // Each of these opens a closed connection. Receive room, timestamp and window source that were set before are kept.

  /// Opens actively: the next emit() sends the SYN with initial sequence number `iss` and the options `ours`.
  void connect(const EndpointConfig& config, SeqNum iss, const SynOptions& ours, Instant now);
  /// Opens passively, in answer to `syn`. The next emit() sends the SYN-ACK with those options of `ours` that `syn`
  /// also offers.
  void accept(const EndpointConfig& config, const Segment& syn, SeqNum iss, const SynOptions& ours, Instant now);
  /// Enters ESTABLISHED directly, without a handshake. Until set_receive_room() is called, the receive room (bytes
  /// accepted beyond the first unread one) is the window that is already advertised.
  void establish_at(const EndpointConfig& config, const EstablishedState& state, Instant now);

  /// Drops all packets that the endpoint holds: data to send, data in flight, unread data and out-of-order data.
  void release_queues();

 protected:
  [[nodiscard]] bool receive_in_syn_sent(const Segment& segment, Instant now);
  bool complete_handshake(const Segment& segment, Instant now);
  void receive_late_syn(const Segment& segment, Instant now);
  void emit_handshake(Instant now, Output& output);
  /// Returns the RecoveryState to its pool. Urgent data that is pending is then no longer treated as urgent, because
  /// the RecoveryState contains the sequence number at which it ends.
  void drop_recovery();

 private:
  void reset_connection(const EndpointConfig& config, SeqNum iss);
  [[gnu::cold, gnu::noinline]] void forget_connection();
  void negotiate(const SynOptions& ours, const SynOptions& theirs, std::uint16_t port_mss = UINT16_MAX);
  [[nodiscard]] SynOptions offer() const;
  [[nodiscard]] std::uint16_t ecn_offer(bool answer) const;
  void receive_syn(const Segment& syn, const SynOptions& ours, Instant now);
  void establish(const Segment& segment, Instant now);
};

}  // namespace sluice::tcp
