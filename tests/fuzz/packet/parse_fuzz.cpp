// Any frame: parse, verify, rebuild, parse again. What was understood must come back the same.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "dataplane/dpdk/address_hash.hpp"
#include "dataplane/packet/build.hpp"
#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/headers.hpp"
#include "dataplane/packet/icmp_error.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/packet/scone.hpp"
#include "tests/fuzz/packet/heap_packet.hpp"
#include "tests/fuzz/packet/repair.hpp"
#include "tests/support/same_segment.hpp"

namespace {

using namespace sluice;
using namespace sluice::packet;
using fuzz::HeapPacket;
using fuzz::repair;

void require(bool condition) {
  if (!condition) std::abort();
}

/// 0x0000 and 0xffff are the same sum.
bool same_sum(std::uint16_t a, std::uint16_t b) {
  return a == b || (a % 0xffff == 0 && b % 0xffff == 0);
}

/// What the builder can say of a segment: it does not repeat options that have no place in it.
tcp::Segment normalised(tcp::Segment segment) {
  if (segment.flags.syn()) segment.sack_count = 0;
  return segment;
}

void require_same(const tcp::Segment& a, const tcp::Segment& b) {
  require(a.seq == b.seq && a.ack == b.ack && a.window == b.window && a.flags == b.flags && a.urgent == b.urgent);
  require(a.payload_len == b.payload_len && a.ecn == b.ecn && a.has_timestamps == b.has_timestamps);
  require(a.ts_value == b.ts_value && a.ts_echo == b.ts_echo && a.syn == b.syn);
  require(std::ranges::equal(a.sacks(), b.sacks()));
}

/// What a short way takes, the long way reads alike.
void require_same_either_way(std::span<const std::uint8_t> bytes) {
  Parsed quick;
  if (!parse_fast(bytes, quick) && !parse_fast_syn(bytes, quick)) return;
  Parsed thorough;
  require(parse_any(bytes, thorough) == ParseResult::tcp);
  require(test::same_segment(quick, thorough));
}

/// Takes the headers off, puts new ones on, and reads them.
void rebuild(const Packet& frame, const Parsed& parsed) {
  const HeaderTemplate header = learn(frame, parsed);
  const tcp::Segment segment = normalised(parsed.segment);
  HeapPacket copy(frame.bytes().subspan(parsed.payload_offset, segment.payload_len), max_header_length);
  const std::uint16_t length =
      write_headers(*copy, header, addresses_of(parsed), segment, frame.note().payload_sum, parsed.ip_id);
  require(length == header_length(header, segment) && copy->size() == length + segment.payload_len);
  Parsed again;
  require(parse(*copy, again) == ParseResult::tcp);
  require(verify_tcp_checksum(*copy, again) == ChecksumState::good);
  require_same(again.segment, segment);
  require(addresses_of(again) == addresses_of(parsed) && again.networks == parsed.networks);
  require(again.ttl == parsed.ttl && again.tos >> 2 == parsed.tos >> 2 && again.flow_label == parsed.flow_label);
  require(again.dont_fragment == parsed.dont_fragment && again.ip_id == parsed.ip_id);
  require(learn(*copy, again) == header);
}

void examine(std::span<const std::uint8_t> bytes) {
  HeapPacket frame(bytes, 0);
  static_cast<void>(dpdk::ue_address_hash(*frame, dpdk::Facing::radio));
  static_cast<void>(dpdk::ue_address_hash(*frame, dpdk::Facing::core));
  Parsed parsed;
  const ParseResult result = parse(*frame, parsed);
  require_same_either_way(bytes);
  require(parsed.ip_version == 0 || parsed.frame_length() <= bytes.size());
  if (result == ParseResult::tcp || result == ParseResult::tcp_options_unknown) {
    require(parsed.payload_offset + parsed.segment.payload_len == parsed.frame_length());
    require(parsed.segment.sack_count <= 4 && parsed.segment.syn.window_scale <= 14);
    static_cast<void>(verify_tcp_checksum(*frame, parsed));
    const auto payload = bytes.subspan(parsed.payload_offset, parsed.segment.payload_len);
    require(same_sum(frame->note().payload_sum, ones_complement_sum(payload)));
    rebuild(*frame, parsed);
  }
  if (result == ParseResult::icmp) {
    if (const auto error = read_icmp_error(*frame, parsed)) {
      require(error->src == parsed.dst && error->src.is_v4() == (parsed.ip_version == 4));
      require(plateau_below(error->ip_length) < error->ip_length || error->ip_length == 0);
      require(error->mtu == 0 || error->problem == IcmpProblem::too_big);
    }
  }
  if (complete_partial_checksum(*frame, parsed, result) && result == ParseResult::tcp) {
    require(verify_tcp_checksum(*frame, parsed) == ChecksumState::good);
  }
}

/// Requires that the packet behind a SCONE packet shows the same connection IDs. Reads them in another way than
/// scone_format(). Only a packet without any connection ID needs no match.
void require_quic_behind(std::span<const std::uint8_t> payload) {
  const std::size_t destination = payload[5];
  const std::size_t source = payload[6 + destination];
  const std::span<const std::uint8_t> next = payload.subspan(7 + destination + source);
  const bool is_long = (next[0] & 0x80) != 0;
  const std::size_t ids = is_long ? 2 + destination + source : destination;
  const std::size_t ids_at = is_long ? 5 : 1;
  require(next.size() >= ids_at + ids + 20);
  require(std::ranges::equal(next.subspan(ids_at, ids), payload.subspan(is_long ? 5 : 6, ids)));
  require(is_long || destination != 0 || source == 0);
}

/// Lowers the signal of a SCONE packet. Nothing else changes but the checksum, whose error stays the same.
void lower_scone(std::vector<std::uint8_t> bytes) {
  HeapPacket frame(bytes, 0);
  Parsed parsed;
  if (parse(*frame, parsed) != ParseResult::udp || parsed.frame_length() < parsed.l4_offset + udp_length) return;
  const std::span<std::uint8_t> udp(frame->data() + parsed.l4_offset, parsed.frame_length() - parsed.l4_offset);
  if (scone_format(udp.subspan(udp_length)) != SconeFormat::packet) return;
  require_quic_behind(udp.subspan(udp_length));
  require(scone_signal(udp.subspan(udp_length)) <= no_scone_advice);
  const bool has_checksum = load16(udp.data() + 6) != 0;
  const std::uint16_t before = ones_complement_sum(udp);
  set_scone_signal(udp, 40);
  require(scone_signal(udp.subspan(udp_length)) == 40 && scone_format(udp.subspan(udp_length)) == SconeFormat::packet);
  require(has_checksum ? same_sum(ones_complement_sum(udp), before) : load16(udp.data() + 6) == 0);
  require(std::ranges::equal(udp.subspan(udp_length + 2),
                             std::span(bytes).subspan(parsed.l4_offset + udp_length + 2, udp.size() - udp_length - 2)));
}

/// Makes the checksum of an ICMP message right.
void repair_icmp(std::vector<std::uint8_t>& bytes) {
  HeapPacket frame(bytes, 0);
  Parsed parsed;
  if (parse(*frame, parsed) != ParseResult::icmp || parsed.frame_length() < parsed.l4_offset + icmp_length) return;
  const std::span<std::uint8_t> message(bytes.data() + parsed.l4_offset, bytes.data() + parsed.frame_length());
  store16(message.data() + 2, 0);
  std::uint64_t sum = ones_complement_sum(message);
  if (parsed.ip_version == 6) {
    const auto length = static_cast<std::uint16_t>(message.size());
    sum = add_wide(pseudo_header_v6(bytes.data() + parsed.ip_offset + 8, ip_protocol::icmp_v6, length), sum);
  }
  store16(message.data() + 2, static_cast<std::uint16_t>(~fold(sum)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 9216) return 0;
  examine({data, size});
  std::vector<std::uint8_t> repaired(data, data + size);
  repair(repaired);
  examine(repaired);
  lower_scone(repaired);
  repair_icmp(repaired);
  examine(repaired);
  return 0;
}
