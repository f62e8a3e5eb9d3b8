// Built-in host: TCP connections and UDP ports behind one address. Built-in servers and UEs create one per address.
// Packets arrive by receive(), timers by on_event(); every event of a connection ends with serve(). Invariant: an event
// is armed at the earliest deadline of each connection; events that are out of date are ignored.

#include "emulator/hosts/host.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "dataplane/packet/build_datagram.hpp"

namespace sluice::emulator {
namespace {

constexpr std::uint16_t first_ephemeral_port = 49'152;
constexpr Duration starvation_retry = std::chrono::milliseconds(10);

packet::Addresses local_view(const packet::Parsed& parsed) {
  return {parsed.dst, parsed.src, parsed.dst_port, parsed.src_port};
}

/// Returns the headers for answers to a frame: MAC addresses swapped, other outer headers kept.
packet::HeaderTemplate answer_headers(const packet::Packet& frame, const packet::Parsed& parsed) {
  packet::HeaderTemplate headers = packet::learn(frame, parsed);
  headers.outer.swap_addresses();
  headers.ttl = 64;
  headers.dont_fragment = true;
  return headers;
}

}  // namespace

Host::Host(EventLoop& loop, packet::PacketPool& pool, const HostConfig& config, Random random, Element& wire)
    : loop_(loop), pool_(pool), config_(config), random_(random), wire_(wire) {}

tcp::SynOptions Host::syn_options() const {
  tcp::SynOptions options;
  const int headers = config_.address.is_v4() ? 40 : 60;
  options.mss = static_cast<std::uint16_t>(config_.mtu - headers);
  options.has_window_scale = true;
  options.window_scale = config_.window_scale;
  options.sack_permitted = config_.sack;
  options.ecn = config_.ecn || config_.accurate_ecn;
  options.accurate_ecn = config_.accurate_ecn;
  options.timestamps = config_.timestamps;
  return options;
}

std::uint16_t Host::free_port(const IpAddress& remote, std::uint16_t port) {
  constexpr int ports = 65'536 - first_ephemeral_port;
  for (int i = 0; i < ports; ++i) {
    const std::uint16_t candidate = next_port_;
    next_port_ = next_port_ == 65'535 ? first_ephemeral_port : static_cast<std::uint16_t>(next_port_ + 1);
    if (!by_address_.contains(Key(remote, port, candidate))) return candidate;
  }
  throw std::runtime_error("host " + config_.address.to_string() + " has no free port left");
}

Connection& Host::connect(const IpAddress& remote, std::uint16_t port, Application& application, Instant now) {
  Connection::Parts parts;
  parts.addresses = {config_.address, remote, free_port(remote, port), port};
  parts.headers = packet::make_template(config_.mac, config_.gateway_mac, config_.address.is_v4() ? 4 : 6);
  const std::uint64_t number = add(parts, Key(remote, port, parts.addresses.src_port), nullptr, &application);
  Connection& connection = *connections_.at(number).connection;
  const tcp::SeqNum iss(static_cast<std::uint32_t>(random_.next()));
  connection.endpoint().connect(connection.endpoint_config(config_.tcp), iss, syn_options(), now);
  serve(number, now);
  return connection;
}

std::uint64_t Host::add(Connection::Parts parts, const Key& key, std::unique_ptr<Application> owned,
                        Application* lent) {
  const std::uint64_t number = next_number_++;
  parts.number = number;
  parts.send_buffer = config_.send_buffer;
  parts.mtu = config_.mtu;
  parts.ack_every = config_.ack_every;
  parts.ack_delay = config_.tcp.delayed_ack;
  parts.accurate_ecn = config_.accurate_ecn;
  parts.clock_offset = static_cast<std::uint32_t>(random_.next());
  auto connection = owned ? std::make_unique<Connection>(parts, pool_, wire_, std::move(owned))
                          : std::make_unique<Connection>(parts, pool_, wire_, *lent);
  connection->endpoint().set_receive_room(config_.receive_buffer);
  connections_.emplace(number, Slot{std::move(connection), never});
  by_address_[key] = number;
  ++counters_.opened;
  return number;
}

void Host::receive(packet::Packet packet, Instant now) {
  ++counters_.received;
  packet::Parsed parsed;
  const packet::ParseResult result = packet::parse(packet, parsed);
  if (result == packet::ParseResult::udp && receive_datagram(parsed, packet, now)) return;
  if (result != packet::ParseResult::tcp && result != packet::ParseResult::tcp_options_unknown) {
    ++counters_.not_tcp;
    return;
  }
  if (parsed.dst != config_.address) {
    ++counters_.not_for_us;
    return;
  }
  if (packet::verify_tcp_checksum(packet, parsed) != packet::ChecksumState::good) {
    ++counters_.bad_checksum;
    return;
  }
  receive_segment(parsed, std::move(packet), now);
}

bool Host::receive_datagram(const packet::Parsed& parsed, const packet::Packet& packet, Instant now) {
  const auto at = datagrams_.find(parsed.dst_port);
  const std::size_t end = parsed.frame_length();
  const std::size_t payload = parsed.l4_offset + packet::udp_length;
  if (at == datagrams_.end() || parsed.dst != config_.address || end < payload) return false;
  at->second->on_datagram(local_view(parsed), packet.bytes().subspan(payload, end - payload), now);
  return true;
}

std::uint16_t Host::bind_any(DatagramApplication& application) {
  for (std::uint32_t port = first_ephemeral_port; port <= UINT16_MAX; ++port) {
    if (datagrams_.try_emplace(static_cast<std::uint16_t>(port), &application).second) {
      return static_cast<std::uint16_t>(port);
    }
  }
  throw std::runtime_error("host " + config_.address.to_string() + " has no free port left for datagrams");
}

void Host::send_datagram(const packet::Addresses& ours, std::span<const std::uint8_t> bytes, Instant now) {
  packet::Packet frame = pool_.allocate();
  if (!frame || bytes.size() > frame.tailroom()) return;
  std::copy(bytes.begin(), bytes.end(), frame.append(static_cast<std::uint16_t>(bytes.size())));
  const auto headers = packet::make_template(config_.mac, config_.gateway_mac, config_.address.is_v4() ? 4 : 6);
  packet::write_udp_headers(frame, headers, ours, ip_id_++);
  wire_.receive(std::move(frame), now);
}

void Host::receive_segment(const packet::Parsed& parsed, packet::Packet packet, Instant now) {
  const auto at = by_address_.find(Key(parsed.src, parsed.src_port, parsed.dst_port));
  if (at == by_address_.end()) {
    const std::uint64_t number = accept(parsed, packet, now);
    if (number != 0) {
      serve(number, now);
    } else {
      refuse(parsed, packet, now);
    }
    return;
  }
  const std::uint64_t number = at->second;
  if (parsed.segment.payload_len > 0) {
    packet::strip_to_payload(packet, parsed);
  } else {
    packet.reset();
  }
  connections_.at(number).connection->endpoint().receive(parsed.segment, std::move(packet), now);
  serve(number, now);
}

std::uint64_t Host::accept(const packet::Parsed& parsed, const packet::Packet& frame, Instant now) {
  const tcp::Flags flags = parsed.segment.flags;
  const auto listener = listeners_.find(parsed.dst_port);
  if (listener == listeners_.end() || !flags.syn() || flags.ack() || flags.rst()) return 0;
  Connection::Parts parts;
  parts.addresses = local_view(parsed);
  parts.headers = answer_headers(frame, parsed);
  const std::uint64_t number =
      add(parts, Key(parsed.src, parsed.src_port, parsed.dst_port), listener->second(parts.addresses), nullptr);
  const tcp::SeqNum iss(static_cast<std::uint32_t>(random_.next()));
  Connection& connection = *connections_.at(number).connection;
  connection.endpoint().accept(connection.endpoint_config(config_.tcp), parsed.segment, iss, syn_options(), now);
  return number;
}

// Answers a segment of no connection with a reset that its sender accepts (RFC 9293 section 3.10.7.1).
void Host::refuse(const packet::Parsed& parsed, const packet::Packet& frame, Instant now) {
  const tcp::Segment& segment = parsed.segment;
  if (segment.flags.rst()) return;
  packet::Packet answer = pool_.allocate();
  if (!answer) return;
  tcp::Segment reset;
  reset.flags.bits = tcp::Flags::rst_bit;
  if (segment.flags.ack()) {
    reset.seq = segment.ack;
  } else {
    reset.flags.bits |= tcp::Flags::ack_bit;
    reset.ack = segment.seq + segment.length();
  }
  packet::write_headers(answer, answer_headers(frame, parsed), local_view(parsed), reset, 0, 0);
  ++counters_.resets_sent;
  wire_.receive(std::move(answer), now);
}

void Host::serve(std::uint64_t number, Instant now) {
  const auto at = connections_.find(number);
  if (at == connections_.end()) return;
  if (at->second.connection->serve(now)) {
    set_alarm(at->second, now);
  } else {
    remove(number);
  }
}

void Host::end_run(Instant now) {
  for (auto& [number, slot] : connections_) slot.connection->end_run(now);
}

std::uint64_t Host::timeouts() const {
  std::uint64_t sum = counters_.timeouts;
  for (const auto& [number, slot] : connections_) sum += slot.connection->endpoint().counters().timeouts;
  return sum;
}

void Host::set_alarm(Slot& slot, Instant now) {
  Instant deadline = slot.connection->next_deadline();
  if (slot.connection->starved()) deadline = std::min(deadline, now + starvation_retry);
  if (deadline >= slot.alarm) return;
  slot.alarm = deadline;
  loop_.at(deadline, *this, slot.connection->number());
}

void Host::on_event(std::uint64_t tag, Instant now) {
  const auto at = connections_.find(tag);
  if (at == connections_.end()) return;
  Slot& slot = at->second;
  if (now < slot.alarm) return;  // stale event: an earlier alarm, set after this one, has been served
  slot.alarm = never;
  if (slot.connection->endpoint().next_deadline() <= now) slot.connection->endpoint().on_timer(now);
  serve(tag, now);
}

void Host::remove(std::uint64_t number) {
  const auto at = connections_.find(number);
  const Connection& connection = *at->second.connection;
  counters_.retransmitted += connection.endpoint().counters().retransmitted;
  counters_.timeouts += connection.endpoint().counters().timeouts;
  const packet::Addresses& addresses = connection.addresses();
  by_address_.erase(Key(addresses.dst, addresses.dst_port, addresses.src_port));
  connections_.erase(at);
}

}  // namespace sluice::emulator
