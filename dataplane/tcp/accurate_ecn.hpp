#pragma once

#include <cstdint>

#include "dataplane/tcp/segment.hpp"

namespace sluice::tcp {

/// What a connection with accurate ECN feedback (RFC 9768) keeps beside its endpoint, which others are spared. The ACE
/// field of every acknowledgement counts the packets that came marked with CE, modulo 8, so that the sender learns how
/// many were marked and not only that some were. The AccECN option is neither sent nor read.
///
/// Stays where it is, and lives at least as long as the connection.
class AccurateEcn {
 public:
  static constexpr std::uint8_t first_count = 5;  ///< of both counters (section 3.2.1)

  /// Begins a connection that has not agreed on anything.
  void begin() { *this = AccurateEcn(); }
  /// What the SYNs say of the two hosts.
  void agree(bool both) { agreed_ = both; }
  [[nodiscard]] bool agreed() const { return agreed_; }
  /// What leaves may be marked as ECN-capable: nothing on the way has changed the ECN field of the handshake.
  [[nodiscard]] bool may_mark() const { return agreed_ && intact_; }

  // --- receiving ---

  /// The peer's SYN or SYN-ACK came with this ECN field in its IP header.
  void heard_syn(std::uint16_t ecn, bool answers);
  /// An acceptable segment came with this ECN field.
  void heard(std::uint16_t ecn) {
    if (ecn == congestion_experienced) ++received_;
  }
  /// The ACE field of a SYN-ACK, or of the first acknowledgement of one: how the peer's SYN or SYN-ACK came (tables 2
  /// and 3).
  [[nodiscard]] std::uint8_t handshake_ace() const;
  /// The first acknowledgement, of the SYN-ACK, is still to be sent.
  [[nodiscard]] bool answer_due() const { return answer_due_; }
  void answered() { answer_due_ = false; }
  /// The ACE field of what leaves (section 3.2.2).
  [[nodiscard]] std::uint8_t ace() const { return answer_due_ ? handshake_ace() : received_ & 7U; }

  // --- sending ---

  /// The peer says how our SYN came, in a SYN-ACK. We had not marked it.
  void syn_arrived(std::uint8_t ace) { intact_ = ace == not_capable; }
  /// The peer says how our SYN-ACK came, or counts already, in the segment that completes the handshake (table 4).
  /// `bare`: it carries no data, so that it is the former.
  void syn_ack_arrived(std::uint8_t ace, bool bare);
  /// An acknowledgement with this field has acknowledged `packets` that were not before. Returns how many packets came
  /// marked since the last one that was heard. Where so many are acknowledged that the field may have wrapped, most of
  /// what it can mean (appendix A.2.1).
  std::uint32_t marked(std::uint8_t ace, std::uint32_t packets);

 private:
  static constexpr std::uint8_t not_capable = 2;  ///< of the handshake: Not-ECT

  bool agreed_ = false;
  bool intact_ = true;
  bool answer_due_ = false;
  std::uint16_t syn_ecn_ = 0;                ///< ECN field of the peer's SYN or SYN-ACK
  std::uint8_t received_ = first_count;      ///< r.cep, modulo 256
  std::uint8_t acknowledged_ = first_count;  ///< s.cep, modulo 8
};

}  // namespace sluice::tcp
