#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/conformance/wire.hpp"

namespace sluice::conformance {

/// What the SYN of a host offers.
struct Offer {
  std::uint16_t mss = 0;
  std::optional<std::uint8_t> scale;
  bool sack = false;
  bool timestamps = false;
};

/// The octet that a host's stream has at a sequence number.
[[nodiscard]] std::uint8_t stream_octet(bool from_ue, std::uint32_t seq);

/// One of the two hosts: what it has sent, what has come to it, and what RFCs have to say of that.
class Host {
 public:
  Host(std::string called, bool ue, std::uint32_t first) : name(std::move(called)), is_ue(ue), isn(first) {}

  const std::string name;
  const bool is_ue;
  const std::uint32_t isn;
  std::optional<std::uint16_t> window;  ///< the field of what it sends, where the script gives one
  bool answers = false;                 ///< acknowledges every data segment at once
  std::uint32_t mtu = 65535;            ///< MTU of the port towards the host: octets of an IP packet
  std::deque<Octets> waiting;           ///< frames that came and were not looked at

  /// Enters a frame that the host sends; `sound` if a receiver would take it.
  void sent(const Wire& wire, const Octets& frame, bool sound);
  /// Enters a frame that came from `peer`; returns the requirement that it breaks, or nothing.
  [[nodiscard]] std::string came(const Octets& frame, const Host& peer, const Host* not_ahead_of, bool shrinks);

  [[nodiscard]] const Offer& offer() const { return offer_; }
  /// The sequence number behind all that has come without a hole; `peer_isn` + 1 where nothing has.
  [[nodiscard]] std::uint32_t next_expected(const Host& peer) const;
  /// The sequence number behind all that the host has sent.
  [[nodiscard]] std::uint32_t next_seq() const { return isn + static_cast<std::uint32_t>(sent_end_); }
  [[nodiscard]] bool fin_came() const { return fin_came_.has_value(); }
  /// The highest acknowledgement that came, if one did.
  [[nodiscard]] std::optional<std::uint32_t> acked() const;
  [[nodiscard]] std::uint32_t newest_timestamp() const { return newest_timestamp_; }
  [[nodiscard]] int resets_of_others() const { return resets_; }
  [[nodiscard]] const Octets& last_frame() const { return last_frame_; }
  /// Returns where received octets differ from what `peer` sent first.
  [[nodiscard]] std::string wrong_octets(const Host& peer) const;

 private:
  void enter_payload(const Wire& wire, std::map<std::uint32_t, std::uint8_t>& octets, std::uint32_t from) const;
  [[nodiscard]] std::string check(const Read& read, const Octets& frame, const Host& peer) const;
  [[nodiscard]] std::string check_options(const Wire& wire, const Host& peer) const;
  [[nodiscard]] std::string check_window(const Wire& wire, const Host& peer, bool shrinks);

  Offer offer_;
  bool syn_sent_ = false;
  std::int64_t sent_end_ = 0;  ///< counted from the ISN, as are the next two
  std::int64_t acked_ = 0;
  std::int64_t right_edge_ = 0;
  std::optional<std::uint32_t> ack_sent_;              ///< the highest
  std::set<Octets> frames_;                            ///< all that it sent
  std::set<std::uint32_t> timestamps_;                 ///< all values that it sent
  std::map<std::uint32_t, std::uint8_t> sent_octets_;  ///< the first that it sent at each place
  std::map<std::uint32_t, std::uint8_t> octets_;       ///< the first that came to each place of the peer's stream
  std::optional<std::uint32_t> fin_came_;              ///< counted from the first octet of the peer's stream
  std::uint32_t newest_timestamp_ = 0;
  int resets_ = 0;
  Octets last_frame_;
};

}  // namespace sluice::conformance
