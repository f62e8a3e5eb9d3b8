// What holds for each frame that the proxy writes in the name of a host, whatever the script is about. A frame that is
// octet for octet one that the host has sent itself is the host's own business.

#include "tests/conformance/host.hpp"

#include <algorithm>

#include "tests/conformance/script.hpp"

namespace sluice::conformance {
namespace {

constexpr std::uint8_t largest_shift = 14;  // RFC 7323 section 2.3

Offer read_offer(const Wire& syn) {
  Offer offer;
  const auto options = options_of(syn);
  const auto find = [&](std::uint8_t which, std::size_t size) {
    const auto found = options.find(which);
    return found != options.end() && found->second.size() == size ? &found->second : nullptr;
  };
  offer.mss = syn.family == 4 ? 536 : 1220;  // RFC 9293 section 3.7.1 (MUST-15)
  if (const Octets* mss = find(kind::mss, 2)) offer.mss = static_cast<std::uint16_t>(big_endian(*mss, 0, 2));
  if (const Octets* scale = find(kind::scale, 1)) offer.scale = std::min(scale->front(), largest_shift);
  offer.sack = find(kind::sack_permitted, 0) != nullptr;
  offer.timestamps = find(kind::timestamps, 8) != nullptr;
  return offer;
}

/// How far a sequence number is ahead of another one.
std::int64_t ahead(std::uint32_t number, std::uint32_t of) {
  return static_cast<std::int32_t>(number - of);
}

}  // namespace

std::uint8_t stream_octet(bool from_ue, std::uint32_t seq) {
  return static_cast<std::uint8_t>((seq * 2654435761U >> 24U) ^ (from_ue ? 0x55U : 0U));
}

void Host::sent(const Wire& wire, const Octets& frame, bool sound) {
  last_frame_ = frame;
  frames_.insert(frame);
  if (!sound) return;
  const auto options = options_of(wire);
  if (wire.has(bit::syn) && !syn_sent_) {
    syn_sent_ = true;
    offer_ = read_offer(wire);
  }
  if (const auto found = options.find(kind::timestamps); found != options.end() && found->second.size() == 8) {
    timestamps_.insert(big_endian(found->second, 0, 4));
  }
  if (wire.has(bit::ack) && !wire.has(bit::rst) && (!ack_sent_ || ahead(wire.ack, *ack_sent_) > 0))
    ack_sent_ = wire.ack;
  if (!wire.has(bit::rst)) {
    sent_end_ = std::max(sent_end_, ahead(wire.seq, isn) + static_cast<std::int64_t>(wire.length()));
    enter_payload(wire, sent_octets_, isn + 1);
  }
}

void Host::enter_payload(const Wire& wire, std::map<std::uint32_t, std::uint8_t>& octets, std::uint32_t from) const {
  std::uint32_t at = wire.seq + (wire.has(bit::syn) ? 1U : 0U) - from;
  for (const std::uint8_t octet : wire.payload) octets.try_emplace(at++, octet);
}

std::uint32_t Host::next_expected(const Host& peer) const {
  std::uint32_t next = 0;
  for (auto at = octets_.begin(); at != octets_.end() && at->first == next; ++at) ++next;
  return peer.isn + 1 + next + (fin_came_ == next ? 1U : 0U);
}

std::optional<std::uint32_t> Host::acked() const {
  if (acked_ == 0) return std::nullopt;
  return isn + static_cast<std::uint32_t>(acked_);
}

std::string Host::came(const Octets& frame, const Host& peer, const Host* not_ahead_of, bool shrinks) {
  const auto read = conformance::read(frame);
  const bool own = peer.frames_.count(frame) != 0;
  waiting.push_back(frame);
  if (!read) return own ? "" : "a frame that nobody sent and that is no TCP segment";
  const Wire& wire = read->wire;
  std::string wrong = own ? "" : check(*read, frame, peer);
  if (!read->good_tcp_sum) return wrong;
  if (wire.has(bit::rst)) {
    if (!own) ++resets_;
    return wrong;
  }
  // What the host announces itself is its own business, and binds what the proxy announces afterwards.
  if (wrong.empty()) wrong = check_window(wire, peer, shrinks || own);
  if (wire.has(bit::ack) && (own || wrong.empty())) {
    acked_ = std::max(acked_, std::min(ahead(wire.ack, isn), sent_end_));
    // The exposure: an ACK that the proxy writes may be no further than the other host's own ones.
    if (not_ahead_of != nullptr && !own && not_ahead_of->ack_sent_ && ahead(wire.ack, *not_ahead_of->ack_sent_) > 0) {
      wrong = "acknowledges what the other host has not";
    }
  }
  const std::uint32_t first = peer.isn + 1;
  enter_payload(wire, octets_, first);
  if (wire.has(bit::fin)) fin_came_ = wire.seq + static_cast<std::uint32_t>(wire.payload.size()) - first;
  const auto options = options_of(wire);
  if (const auto found = options.find(kind::timestamps); found != options.end() && found->second.size() == 8) {
    newest_timestamp_ = big_endian(found->second, 0, 4);
  }
  return wrong;
}

std::string Host::check(const Read& read, const Octets& frame, const Host& peer) const {
  const Wire& wire = read.wire;
  if (!read.good_ip_sum) return "a wrong IPv4 header checksum (RFC 791)";
  if (!read.good_tcp_sum) return "a wrong TCP checksum (RFC 9293 MUST-2)";
  if (frame.size() > 14 + 4 * wire.tags.size() + mtu) return "a packet longer than the port's MTU";
  if (wire.has(bit::syn)) return "";
  const std::int64_t end = ahead(wire.seq, peer.isn) + static_cast<std::int64_t>(wire.length());
  if (!wire.has(bit::rst) && end > peer.sent_end_) return "octets that were never sent";
  if (wire.has(bit::ack) && ahead(wire.ack, isn) > sent_end_) return "an acknowledgement of what was never sent";
  if (wire.payload.size() + wire.options.size() > offer_.mss) {
    return "a segment beyond the receiver's MSS (RFC 9293 MUST-16)";
  }
  return wire.has(bit::rst) ? "" : check_options(wire, peer);
}

std::string Host::check_options(const Wire& wire, const Host& peer) const {
  const auto options = options_of(wire);
  const bool timestamps = offer_.timestamps && peer.offer_.timestamps;
  const auto stamp = options.find(kind::timestamps);
  if (timestamps != (stamp != options.end())) return "timestamps against the handshake (RFC 7323 section 3.2)";
  if (timestamps && wire.has(bit::ack) && timestamps_.count(big_endian(stamp->second, 4, 4)) == 0) {
    return "an echo of a timestamp that was never sent (RFC 7323 section 4)";
  }
  const auto sack = options.find(kind::sack);
  if (sack == options.end()) return "";
  if (!offer_.sack || !peer.offer_.sack) return "SACK blocks that were not negotiated (RFC 2018 section 2)";
  for (std::size_t at = 0; at + 8 <= sack->second.size(); at += 8) {
    const std::int64_t left = ahead(big_endian(sack->second, at, 4), isn);
    const std::int64_t right = ahead(big_endian(sack->second, at + 4, 4), isn);
    if (left >= right || right > sent_end_) return "a SACK block of what was never sent (RFC 2018 section 3)";
  }
  return "";
}

std::string Host::check_window(const Wire& wire, const Host& peer, bool shrinks) {
  if (!wire.has(bit::ack)) return "";
  const bool scaled = offer_.scale && peer.offer_.scale && !wire.has(bit::syn);
  const unsigned shift = scaled ? *peer.offer_.scale : 0U;
  const std::int64_t edge = ahead(wire.ack, isn) + (std::int64_t{wire.window} << shift);
  const std::int64_t unit = std::int64_t{1} << shift;
  const std::int64_t before = right_edge_;
  right_edge_ = std::max(right_edge_, edge);
  if (ahead(wire.ack, isn) < acked_ || shrinks) return "";  // an old one means nothing
  return edge + unit <= before ? "a window whose right edge moves back (RFC 9293 SHLD-14)" : "";
}

std::string Host::wrong_octets(const Host& peer) const {
  for (const auto& [place, octet] : octets_) {
    const auto found = peer.sent_octets_.find(place);
    if (found == peer.sent_octets_.end() || found->second != octet) {
      return "another octet than was sent first at " + std::to_string(peer.isn + 1 + place);
    }
  }
  return "";
}

}  // namespace sluice::conformance
