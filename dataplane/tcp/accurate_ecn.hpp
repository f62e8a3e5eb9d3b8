#pragma once

#include <cstdint>

#include "dataplane/packet/segment.hpp"

namespace sluice::tcp {

/// Counters of a connection with accurate ECN feedback (RFC 9768). They are stored outside the endpoint, because most
/// connections need none. The ACE field of every ACK counts the packets that arrived with CE, modulo 8. The sender thus
/// gets the number of marked packets. The AccECN option is neither sent nor read.
///
/// The object must not move, because the connection has a pointer to it. The object must outlive the connection.
class AccurateEcn {
 public:
  static constexpr std::uint8_t first_count = 5;  ///< initial value of both counters (RFC 9768 section 3.2.1)

  /// Resets the counters for a connection that has negotiated no accurate ECN yet.
  void begin() { *this = AccurateEcn(); }
  /// Records whether both hosts negotiated accurate ECN in the handshake.
  void agree(bool both) { agreed_ = both; }
  [[nodiscard]] bool agreed() const { return agreed_; }
  /// True if outgoing data may be ECN-capable: the peer uses accurate ECN, and the path has not changed the ECN field
  /// during the handshake.
  [[nodiscard]] bool may_mark() const { return agreed_ && intact_; }

  // --- receiving ---

  /// Records the ECN field in the IP header of the peer's SYN or, with `answers`, SYN-ACK.
  void on_syn(std::uint16_t ecn, bool answers);
  /// Counts an acceptable segment that arrived with this ECN field.
  void on_segment(std::uint16_t ecn) {
    if (ecn == congestion_experienced) ++received_;
  }
  /// Returns the ACE field of a SYN-ACK or of its first acknowledgement. The field reports the ECN field of the peer's
  /// SYN or SYN-ACK (RFC 9768 tables 2 and 3).
  [[nodiscard]] std::uint8_t handshake_ace() const;
  /// True if the first acknowledgement of the SYN-ACK is still to be sent.
  [[nodiscard]] bool answer_due() const { return answer_due_; }
  void answered() { answer_due_ = false; }
  /// Returns the ACE field of outgoing segments (RFC 9768 section 3.2.2).
  [[nodiscard]] std::uint8_t ace() const { return answer_due_ ? handshake_ace() : received_ & 7U; }

  // --- sending ---

  /// Processes the ACE field of a SYN-ACK. The field reports the ECN field with which this host's SYN arrived; the SYN
  /// was sent as Not-ECT.
  void syn_arrived(std::uint8_t ace) { intact_ = ace == not_capable; }
  /// Processes the ACE field of the segment that completes the handshake (RFC 9768 table 4). If the segment has no data
  /// (`bare`), the field reports the ECN field with which this host's SYN-ACK arrived. With data it may already count
  /// CE marks.
  void syn_ack_arrived(std::uint8_t ace, bool bare);
  /// Processes the ACE field of an ACK that newly acknowledges `packets` packets. Returns how many packets were marked
  /// since the last processed ACK. If more packets are acknowledged than the field can count, returns the largest
  /// possible number (RFC 9768 appendix A.2.1).
  std::uint32_t marked(std::uint8_t ace, std::uint32_t packets);

 private:
  /// ACE code by which a handshake reports that the SYN arrived as Not-ECT.
  static constexpr std::uint8_t not_capable = 2;

  bool agreed_ = false;
  bool intact_ = true;
  bool answer_due_ = false;
  std::uint16_t syn_ecn_ = 0;                ///< ECN field of the peer's SYN or SYN-ACK
  std::uint8_t received_ = first_count;      ///< CE packets received (r.cep), modulo 256
  std::uint8_t acknowledged_ = first_count;  ///< last ACE field received from the peer (s.cep), modulo 8
};

}  // namespace sluice::tcp
