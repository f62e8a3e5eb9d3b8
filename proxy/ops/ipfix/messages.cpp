// Writes IPFIX messages: header, template sets and data sets of RFC 7011 section 3. The exporter of the runtime calls
// it for each record of a connection that has ended. Invariant: a record has the fields of fields.hpp in their order,
// so that templates and records agree.
#include "proxy/ops/ipfix/messages.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice::ipfix {
namespace {

constexpr std::uint16_t version = 10;
constexpr std::uint16_t template_set = 2;
constexpr std::uint16_t template_v4 = 256;
constexpr std::uint16_t template_v6 = 257;
constexpr std::size_t header_size = 16;
constexpr std::uint16_t enterprise_bit = 0x8000;
constexpr std::uint8_t tcp = 6;

using Octets = std::vector<std::uint8_t>;

/// Appends the low `size` bytes of a number in network byte order.
void put(Octets& out, std::uint64_t value, std::size_t size) {
  for (std::size_t i = size; i > 0; --i) out.push_back(static_cast<std::uint8_t>(value >> (8 * (i - 1))));
}

void set_length(Octets& out, std::size_t at, std::size_t length) {
  out[at] = static_cast<std::uint8_t>(length >> 8U);
  out[at + 1] = static_cast<std::uint8_t>(length);
}

/// Appends an address: its 4 bytes if `as_v4` is true, else 16 bytes.
void put_address(Octets& out, const IpAddress& address, bool as_v4) {
  out.insert(out.end(), address.octets.begin() + (as_v4 ? 12 : 0), address.octets.end());
}

/// Appends a text, preceded by one byte with its length (RFC 7011 section 7). Texts are cut off after 254 bytes.
void put_text(Octets& out, std::string_view text) {
  const std::string_view part = text.substr(0, 254);
  out.push_back(static_cast<std::uint8_t>(part.size()));
  out.insert(out.end(), part.begin(), part.end());
}

void put_microseconds(Octets& out, Duration duration) {
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
  put(out, static_cast<std::uint64_t>(std::clamp<std::int64_t>(microseconds, 0, UINT32_MAX)), 4);
}

void put_field(Octets& out, const Field& field, std::uint32_t enterprise) {
  const bool own = field.space != Space::iana;
  put(out, own ? field.element | enterprise_bit : field.element, 2);
  put(out, field.length, 2);
  if (own) put(out, field.space == Space::reverse ? reverse_enterprise : enterprise, 4);
}

void put_template(Octets& out, std::uint16_t id, const std::array<Field, 2>& addresses, std::uint32_t enterprise) {
  put(out, id, 2);
  put(out, addresses.size() + field_table.size(), 2);
  for (const Field& field : addresses) put_field(out, field, enterprise);
  for (const Field& field : field_table) put_field(out, field, enterprise);
}

bool is_v4(const proxy::ConnectionRecord& record) {
  return record.key.ue.is_v4() && record.key.server.is_v4();
}

/// Returns the bytes of a data record: the addresses, then the fields of field_table.
Octets octets_of(const proxy::ConnectionRecord& record, UnixMilliseconds first, UnixMilliseconds last) {
  const bool by_ue = record.initiator == proxy::Side::radio;
  const auto from = static_cast<std::size_t>(record.initiator);
  const auto to = static_cast<std::size_t>(proxy::opposite(record.initiator));
  constexpr auto radio = static_cast<std::size_t>(proxy::Side::radio);
  constexpr auto core = static_cast<std::size_t>(proxy::Side::core);
  Octets out;
  put_address(out, by_ue ? record.key.ue : record.key.server, is_v4(record));
  put_address(out, by_ue ? record.key.server : record.key.ue, is_v4(record));
  put(out, by_ue ? record.key.ue_port : record.key.server_port, 2);
  put(out, by_ue ? record.key.server_port : record.key.ue_port, 2);
  put(out, tcp, 1);
  put(out, first, 8);
  put(out, last, 8);
  put(out, record.bytes.at(from), 8);
  put(out, record.packets.at(from), 8);
  put(out, record.bytes.at(to), 8);
  put(out, record.packets.at(to), 8);
  put(out, 1, 1);  // biflowDirection: initiator
  put(out, end_reason_of(record.reason), 1);
  put(out, by_ue ? 1 : 0, 1);
  put_microseconds(out, record.rtt.at(radio));
  put_microseconds(out, record.rtt.at(core));
  put_microseconds(out, record.queueing_delay);
  put(out, record.retransmissions.at(radio), 4);
  put(out, record.retransmissions.at(core), 4);
  put_text(out, record.handling);
  put_text(out, record.reason);
  return out;
}

}  // namespace

std::uint8_t end_reason_of(std::string_view reason) {
  constexpr std::uint8_t idle = 1;
  constexpr std::uint8_t end_detected = 3;
  constexpr std::uint8_t forced = 4;
  constexpr std::uint8_t no_resources = 5;
  if (reason == "idle" || reason == "released_idle" || reason == "reset_timed_out") return idle;
  if (reason == "closed" || reason == "reset" || reason == "reset_relayed") return end_detected;
  return reason.ends_with("_memory") ? no_resources : forced;
}

/// Returns the header of a message (RFC 7011 section 3.1). The length field is zero and must be set later.
Octets MessageWriter::header(std::uint32_t now_s) const {
  Octets out;
  put(out, version, 2);
  put(out, 0, 2);
  put(out, now_s, 4);
  put(out, sequence_, 4);
  put(out, identity_.domain, 4);
  return out;
}

Message MessageWriter::templates(std::uint32_t now_s) const {
  Octets out = header(now_s);
  put(out, template_set, 2);
  put(out, 0, 2);
  put_template(out, template_v4, address_fields_v4, identity_.enterprise);
  put_template(out, template_v6, address_fields_v6, identity_.enterprise);
  set_length(out, header_size + 2, out.size() - header_size);
  set_length(out, 2, out.size());
  return {std::move(out), 0};
}

void MessageWriter::begin_set(std::uint16_t id) {
  set_ = id;
  set_at_ = octets_.size();
  put(octets_, id, 2);
  put(octets_, 0, 2);
}

void MessageWriter::end_set() {
  if (set_ != 0) set_length(octets_, set_at_ + 2, octets_.size() - set_at_);
  set_ = 0;
}

std::optional<Message> MessageWriter::add(const proxy::ConnectionRecord& record, UnixMilliseconds first,
                                          UnixMilliseconds last, std::uint32_t now_s) {
  constexpr std::size_t set_header = 4;
  const Octets octets = octets_of(record, first, last);
  std::optional<Message> complete;
  if (records_ > 0 && octets_.size() + set_header + octets.size() > max_size) complete = finish(now_s);
  if (octets_.empty()) octets_ = header(now_s);
  const std::uint16_t id = is_v4(record) ? template_v4 : template_v6;
  if (set_ != id) {
    end_set();
    begin_set(id);
  }
  octets_.insert(octets_.end(), octets.begin(), octets.end());
  ++records_;
  return complete;
}

std::optional<Message> MessageWriter::finish(std::uint32_t now_s) {
  if (records_ == 0) return std::nullopt;
  end_set();
  set_length(octets_, 2, octets_.size());
  const Octets current = header(now_s);
  std::copy(current.begin() + 4, current.end(), octets_.begin() + 4);
  Message message{std::exchange(octets_, {}), std::exchange(records_, 0)};
  sequence_ += message.records;
  return message;
}

}  // namespace sluice::ipfix
