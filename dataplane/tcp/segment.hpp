#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "dataplane/tcp/seq.hpp"

namespace sluice::tcp {

/// The control bits of RFC 9293 section 3.1 as they stand on the wire, and AE (RFC 9768) before them.
struct Flags {
  static constexpr std::uint8_t fin_bit = 0x01, syn_bit = 0x02, rst_bit = 0x04, psh_bit = 0x08, ack_bit = 0x10,
                                urg_bit = 0x20, ece_bit = 0x40, cwr_bit = 0x80;
  static constexpr std::uint16_t ae_bit = 0x100;
  std::uint16_t bits = 0;

  [[nodiscard]] constexpr bool fin() const { return (bits & fin_bit) != 0; }
  [[nodiscard]] constexpr bool syn() const { return (bits & syn_bit) != 0; }
  [[nodiscard]] constexpr bool rst() const { return (bits & rst_bit) != 0; }
  [[nodiscard]] constexpr bool psh() const { return (bits & psh_bit) != 0; }
  [[nodiscard]] constexpr bool ack() const { return (bits & ack_bit) != 0; }
  [[nodiscard]] constexpr bool urg() const { return (bits & urg_bit) != 0; }
  [[nodiscard]] constexpr bool ece() const { return (bits & ece_bit) != 0; }
  [[nodiscard]] constexpr bool cwr() const { return (bits & cwr_bit) != 0; }
  constexpr bool operator==(const Flags&) const = default;
};

/// Codepoints of Segment::ecn.
inline constexpr std::uint8_t ecn_scalable = 1;            ///< ECT(1): of L4S senders (RFC 9331)
inline constexpr std::uint8_t ecn_capable = 2;             ///< ECT(0)
inline constexpr std::uint8_t congestion_experienced = 3;  ///< CE

/// Whether a segment with the SYN flag is an ECN-setup SYN (both bits), or with ACK as well an ECN-setup SYN-ACK.
[[nodiscard]] constexpr bool offers_ecn(Flags flags) {
  const int bits = flags.bits & (Flags::ece_bit | Flags::cwr_bit);
  return bits == (flags.ack() ? int{Flags::ece_bit} : Flags::ece_bit | Flags::cwr_bit);
}

/// The ACE field (RFC 9768 section 3.2): AE, CWR and ECE as a number of 0 to 7.
[[nodiscard]] constexpr std::uint8_t ace_of(Flags flags) {
  constexpr unsigned shift = 6;
  return static_cast<std::uint8_t>(flags.bits >> shift & 7U);
}
[[nodiscard]] constexpr std::uint16_t ace_bits(std::uint8_t ace) {
  constexpr unsigned shift = 6;
  return static_cast<std::uint16_t>(unsigned{ace} << shift);
}

/// Whether a segment with the SYN flag offers accurate ECN feedback, or with ACK as well agrees to it: then it says how
/// the SYN's IP header was marked (RFC 9768 section 3.1, table 2).
[[nodiscard]] constexpr bool offers_accurate_ecn(Flags flags) {
  const std::uint8_t ace = ace_of(flags);
  return flags.ack() ? ace == 2 || ace == 3 || ace == 4 || ace == 6 : ace == 7;
}

/// A block the receiver holds, [left, right) (RFC 2018).
struct SackBlock {
  SeqNum left;
  SeqNum right;
  friend constexpr bool operator==(const SackBlock&, const SackBlock&) = default;
};

/// What one side offered in its SYN or SYN-ACK.
struct SynOptions {
  std::uint16_t mss = 536;        ///< RFC 9293 section 3.7.1: 536 where the option is missing (1220 for IPv6)
  std::uint8_t window_scale = 0;  ///< shift count, 0 … 14 (RFC 7323 section 2.3)
  bool has_window_scale = false;
  bool sack_permitted = false;
  bool timestamps = false;
  bool ecn = false;           ///< an ECN-setup SYN or SYN-ACK (RFC 3168 section 6.1.1): its flags, not an option
  bool accurate_ecn = false;  ///< the same of RFC 9768; a SYN that has it is an ECN-setup SYN, too
  constexpr bool operator==(const SynOptions&) const = default;
};

/// One segment without addresses and without payload bytes: what a parser read, or what an endpoint wants sent.
struct Segment {
  SeqNum seq;
  SeqNum ack;                ///< meaningful with the ACK flag
  std::uint16_t window = 0;  ///< as on the wire, not scaled
  std::uint16_t payload_len = 0;
  std::uint16_t urgent = 0;
  Flags flags;
  std::uint8_t sack_count = 0;  ///< blocks in use
  bool has_timestamps = false;
  std::uint16_t ecn = 0;  ///< the ECN field of the IP header (RFC 3168 section 5); the fields before fill whole words
  std::uint32_t ts_value = 0;
  std::uint32_t ts_echo = 0;
  std::array<SackBlock, 4> sack_blocks{};
  SynOptions syn;  ///< meaningful with the SYN flag

  [[nodiscard]] constexpr std::span<const SackBlock> sacks() const { return {sack_blocks.data(), sack_count}; }
  /// Sequence space the segment takes: payload, SYN and FIN.
  [[nodiscard]] constexpr std::uint32_t length() const {
    return payload_len + (flags.syn() ? 1U : 0U) + (flags.fin() ? 1U : 0U);
  }
};

/// All that a segment says which acknowledges and does nothing else, on a connection that nothing disturbs.
struct Acknowledgement {
  SeqNum seq;
  SeqNum ack;
  std::uint16_t window = 0;  ///< as on the wire, not scaled
  bool has_timestamps = false;
  std::uint32_t ts_value = 0;
  std::uint32_t ts_echo = 0;

  [[nodiscard]] constexpr Segment segment() const {
    Segment segment;
    segment.seq = seq;
    segment.ack = ack;
    segment.window = window;
    segment.flags.bits = Flags::ack_bit;
    segment.has_timestamps = has_timestamps;
    segment.ts_value = ts_value;
    segment.ts_echo = ts_echo;
    return segment;
  }
};

/// What a data segment that is relayed in its frame says otherwise than it did when it came in.
struct PassedHeader {
  SeqNum ack;
  std::uint16_t window = 0;   ///< as on the wire, not scaled
  std::uint32_t ts_echo = 0;  ///< where it has timestamps
};

}  // namespace sluice::tcp
