#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "dataplane/packet/seq.hpp"

namespace sluice::tcp {

/// TCP control bits of RFC 9293 section 3.1 as on the wire, preceded by AE (RFC 9768).
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

// Codepoints of Segment::ecn, the ECN field of the IP header.
inline constexpr std::uint8_t ecn_scalable = 1;            ///< codepoint ECT(1), for L4S senders (RFC 9331)
inline constexpr std::uint8_t ecn_capable = 2;             ///< ECT(0): ECN-capable transport
inline constexpr std::uint8_t congestion_experienced = 3;  ///< CE: congestion experienced

/// True if a segment with the SYN flag is an ECN-setup SYN (ECE and CWR), or with ACK an ECN-setup SYN-ACK (ECE only).
[[nodiscard]] constexpr bool offers_ecn(Flags flags) {
  const int bits = flags.bits & (Flags::ece_bit | Flags::cwr_bit);
  return bits == (flags.ack() ? int{Flags::ece_bit} : Flags::ece_bit | Flags::cwr_bit);
}

/// Returns the ACE field (RFC 9768 section 3.2): AE, CWR and ECE as a number from 0 to 7.
[[nodiscard]] constexpr std::uint8_t ace_of(Flags flags) {
  constexpr unsigned shift = 6;
  return static_cast<std::uint8_t>(flags.bits >> shift & 7U);
}
[[nodiscard]] constexpr std::uint16_t ace_bits(std::uint8_t ace) {
  constexpr unsigned shift = 6;
  return static_cast<std::uint16_t>(unsigned{ace} << shift);
}

/// True if a SYN offers accurate ECN feedback, or a SYN-ACK accepts it. A SYN-ACK that accepts also reports the ECN
/// field with which the SYN arrived (RFC 9768 section 3.1, table 2).
[[nodiscard]] constexpr bool offers_accurate_ecn(Flags flags) {
  const std::uint8_t ace = ace_of(flags);
  return flags.ack() ? ace == 2 || ace == 3 || ace == 4 || ace == 6 : ace == 7;
}

/// True if the ACE field of a SYN or SYN-ACK has a value that RFC 9768 reserves. Such a segment offers or accepts
/// accurate ECN feedback, as if it reported an unchanged ECN field (section 3.1.3).
[[nodiscard]] constexpr bool has_reserved_ace(Flags flags) {
  const std::uint8_t ace = ace_of(flags);
  return flags.ack() ? ace == 5 : ace != 0 && ace != 3 && ace != 7;
}

/// A block of received data, [left, right) (RFC 2018).
struct SackBlock {
  SeqNum left;
  SeqNum right;
  friend constexpr bool operator==(const SackBlock&, const SackBlock&) = default;
};

/// Options that one side offered in its SYN or SYN-ACK.
struct SynOptions {
  /// MSS option in bytes (RFC 9293 section 3.7.1): 536 if the option is missing (1220 for IPv6).
  std::uint16_t mss = 536;
  std::uint8_t window_scale = 0;  ///< shift count of the window scale option, 0 to 14 (RFC 7323 section 2.3)
  bool has_window_scale : 1 = false;
  bool sack_permitted : 1 = false;
  bool timestamps : 1 = false;
  /// True for an ECN-setup SYN or SYN-ACK (RFC 3168 section 6.1.1), signalled by flags, not by an option.
  bool ecn : 1 = false;
  /// True if accurate ECN feedback is offered (RFC 9768); a SYN that offers it is an ECN-setup SYN, too.
  bool accurate_ecn : 1 = false;
  constexpr bool operator==(const SynOptions&) const = default;

  /// Returns the shift count of the window fields that the sender of these options uses if the other host's SYN has the
  /// options `other`. The result is 0 unless both have the window scale option, and at most 14 (RFC 7323 section 2.2).
  [[nodiscard]] constexpr unsigned window_shift(const SynOptions& other) const {
    constexpr unsigned largest_shift = 14;
    const unsigned shift = window_scale < largest_shift ? window_scale : largest_shift;
    return has_window_scale && other.has_window_scale ? shift : 0U;
  }

  /// Bits of the options that take effect only if both hosts send them in their SYNs; used by offered() and
  /// difference().
  enum Agreed : std::uint8_t { agreed_scale = 1, agreed_sack = 2, agreed_timestamps = 4, agreed_ecn = 8 };
  /// Returns the bits (Agreed) of window scale, SACK, timestamps and ECN if this SYN offers them or this SYN-ACK agrees
  /// to them. Accurate ECN is not included.
  [[nodiscard]] constexpr std::uint8_t offered() const {
    return static_cast<std::uint8_t>((has_window_scale ? agreed_scale : 0) | (sack_permitted ? agreed_sack : 0) |
                                     (timestamps ? agreed_timestamps : 0) | (ecn ? agreed_ecn : 0));
  }
  /// Returns a set of bits, one for each of window scale, SACK, timestamps and ECN that differs between two copies of a
  /// SYN. The bits are those of `Agreed`.
  [[nodiscard]] constexpr std::uint8_t difference(const SynOptions& copy) const {
    const bool scale_differs = window_scale != copy.window_scale;
    return static_cast<std::uint8_t>((offered() ^ copy.offered()) | (scale_differs ? agreed_scale : 0));
  }
};

/// Header of one segment, without addresses and payload bytes: filled by a parser, or by an endpoint for transmission.
struct Segment {
  SeqNum seq;
  SeqNum ack;                ///< acknowledgement number, valid with the ACK flag
  std::uint16_t window = 0;  ///< window field, not scaled
  std::uint16_t payload_len = 0;
  std::uint16_t urgent = 0;
  Flags flags;
  std::uint8_t sack_count = 0;  ///< number of SACK blocks in the segment
  bool has_timestamps = false;
  std::uint16_t ecn = 0;  ///< ECN field of the IP header (RFC 3168 section 5); 16 bits, so that it fills a word
  std::uint32_t ts_value = 0;
  std::uint32_t ts_echo = 0;
  std::array<SackBlock, 4> sack_blocks{};
  SynOptions syn;  ///< SYN options, valid with the SYN flag

  [[nodiscard]] constexpr std::span<const SackBlock> sacks() const { return {sack_blocks.data(), sack_count}; }
  /// Returns the sequence space that the segment takes: payload, SYN and FIN.
  [[nodiscard]] constexpr std::uint32_t length() const {
    return payload_len + (flags.syn() ? 1U : 0U) + (flags.fin() ? 1U : 0U);
  }
};

/// Header of a pure ACK without SACK blocks, urgent pointer or ECN flags.
struct Acknowledgement {
  SeqNum seq;
  SeqNum ack;
  std::uint16_t window = 0;  ///< window field, not scaled
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

/// Header fields that the proxy rewrites in a data segment that it forwards in the received frame.
struct CutThroughHeader {
  SeqNum ack;
  std::uint16_t window = 0;   ///< window field, not scaled
  std::uint32_t ts_echo = 0;  ///< TSecr to write, valid if the segment has timestamps
};

}  // namespace sluice::tcp
