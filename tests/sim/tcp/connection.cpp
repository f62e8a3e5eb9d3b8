// Simulates one TCP connection over an impaired path for the tests in this folder. Every step checks the bytes and the
// invariants of both endpoints.
#include "tests/sim/tcp/connection.hpp"

#include <sstream>

#include "tests/sim/tcp/random_scenario.hpp"

namespace sluice::test {
namespace {

constexpr Instant start = Instant(std::chrono::hours(1));
constexpr Duration grant_period = std::chrono::milliseconds(5);
constexpr Duration production_step = std::chrono::milliseconds(5);  ///< step of applications that have a rate
constexpr std::uint32_t reserve = 2000;                             ///< buffers that applications leave

std::uint8_t shift_of(const tcp::SynOptions& own, const tcp::SynOptions& other) {
  return own.has_window_scale && other.has_window_scale ? own.window_scale : std::uint8_t{0};
}

}  // namespace

Connection::Connection(const Scenario& scenario) : scenario_(scenario), random_(scenario.seed), now_(start) {
  ends_[0].app = scenario.a;
  ends_[1].app = scenario.b;
  for (End& end : ends_) {
    end.endpoint.set_receive_room(Bytes(end.app.room));
    end.produced_at = now_;
  }
  if (scenario.allowance) ends_[0].endpoint.set_window_source(tcp::WindowSource::allowance, Bytes());
  next_grant_ = now_;
  next_path_change_ = now_ + scenario.path_changes;
  if (scenario.taken_over) {
    establish();
  } else {
    open();
  }
}

const tcp::EndpointConfig& Connection::config_of(int side) {
  return scenario_.config.wants_pacing() ? ends_[side].paced.begin(scenario_.config) : scenario_.config;
}

void Connection::open() {
  const auto iss =
      static_cast<std::uint32_t>(random_.chance(0.5) ? 0xffffff00U + random_.below(0x100) : random_.next());
  ends_[0].endpoint.connect(config_of(0), tcp::SeqNum(iss), scenario_.options_a, now_);
}

void Connection::establish() {
  const tcp::SeqNum a(static_cast<std::uint32_t>(0xffffff00U + random_.below(0x100)));
  const tcp::SeqNum b(static_cast<std::uint32_t>(0x7fffff00U + random_.below(0x100)));
  const auto set = [&](int side, tcp::SeqNum own, tcp::SeqNum other) {
    const bool first = side == 0;
    tcp::EstablishedState state;
    state.snd_nxt = own;
    state.rcv_nxt = other;
    state.rcv_adv = other + 4000;
    state.local = first ? scenario_.options_a : scenario_.options_b;
    state.remote = first ? scenario_.options_b : scenario_.options_a;
    state.snd_window = 4000;
    End& end = ends_[side];
    end.endpoint.establish_at(config_of(side), state, now_);
    end.endpoint.set_receive_room(Bytes(end.app.room));
    end.received_window = end.promised = true;
    end.received_edge = own + 4000;
    end.promised_edge = other + 4000;
  };
  set(0, a, b);
  set(1, b, a);
}

std::uint8_t Connection::content(int side, std::uint64_t position) const {
  const std::uint64_t x =
      (position + scenario_.seed * 1000003U + static_cast<std::uint64_t>(side) * 7919U) * 0x9e3779b97f4a7c15U;
  return static_cast<std::uint8_t>(x >> 56);
}

void Connection::run() {
  const Instant deadline = now_ + scenario_.limit;
  while (!done() && now_ < deadline && !testing::Test::HasFailure()) step();
  EXPECT_TRUE(done()) << "did not finish: " << describe();
  for (End& end : ends_) end.endpoint.release_queues();
}

bool Connection::advance() {
  if (done() || testing::Test::HasFailure()) return false;
  step();
  return true;
}

bool Connection::done() const {
  for (const End& end : ends_) {
    if (end.endpoint.state() != tcp::State::closed || end.endpoint.unread() != Bytes()) return false;
  }
  return !(ends_[0].written == 0 && ends_[1].written == 0 && now_ == start);
}

Instant Connection::next_event() const {
  Instant next = never;
  if (!flights_.empty()) next = flights_.begin()->first;
  for (const End& end : ends_) {
    next = std::min(next, end.endpoint.next_deadline());
    if (end.next_read > now_) next = std::min(next, end.next_read);
    if (end.app.rate > 0 && !end.finished) next = std::min(next, now_ + production_step);
  }
  if (scenario_.allowance) next = std::min(next, next_grant_);
  // A refused transmission is tried again soon.
  if (ends_[0].endpoint.wants_to_send(now_) || ends_[1].endpoint.wants_to_send(now_)) {
    next = std::min(next, now_ + std::chrono::milliseconds(1));
  }
  return next;
}

/// Handover, fading, another route: everything about the path is different from now on.
void Connection::change_paths() {
  if (scenario_.path_changes == Duration::zero() || now_ < next_path_change_) return;
  next_path_change_ = now_ + random_.below(scenario_.path_changes) + Duration(1);
  for (Impairment* path : {&scenario_.a_to_b, &scenario_.b_to_a}) {
    *path = random_path(random_);
    path->reordering_behind = random_.chance(0.5);
    if (random_.chance(0.1)) path->largest = 200 + static_cast<std::uint32_t>(random_.below(1200));
    if (random_.chance(0.3)) path->spacing = std::chrono::microseconds(random_.below(3000));
    if (!random_.chance(0.2)) continue;
    path->stall_at = now_ - start + random_.below(std::chrono::milliseconds(500));
    path->stall_for = random_.below(std::chrono::milliseconds(2500));
  }
}

void Connection::step() {
  change_paths();
  for (int side = 0; side < 2; ++side) act(side);
  const Instant next = next_event();
  if (next == never) {
    if (!done()) ADD_FAILURE() << "deadlock: nothing will ever happen; " << describe();
    now_ = never;
    return;
  }
  EXPECT_GE(next, now_) << describe();
  now_ = std::max(next, now_);
  if (scenario_.allowance && next_grant_ <= now_) {
    allowance_ = Bytes(static_cast<std::int64_t>(random_.below(20000)));
    next_grant_ = now_ + grant_period;
  }
  while (!flights_.empty() && flights_.begin()->first <= now_) {
    Flight flight = std::move(flights_.begin()->second);
    flights_.erase(flights_.begin());
    deliver(std::move(flight));
  }
  // Timers are lazy: sometimes they are looked at late, sometimes early.
  for (End& end : ends_) {
    if (!random_.chance(0.1) || end.endpoint.next_deadline() <= now_) end.endpoint.on_timer(now_);
  }
}

void Connection::deliver(Flight flight) {
  End& end = ends_[flight.to];
  const tcp::Segment& segment = flight.segment;
  if (end.endpoint.state() == tcp::State::closed) {
    if (flight.to == 1 && segment.flags.syn() && !segment.flags.ack() && end.written == 0 && !end.finished) {
      const auto iss = static_cast<std::uint32_t>(random_.next());
      end.endpoint.accept(config_of(1), segment, tcp::SeqNum(iss), scenario_.options_b, now_);
      end.received_window = true;
      end.received_edge = tcp::SeqNum(iss) + 1 + segment.window;
      return;
    }
    // What a host does for a connection it does not know (RFC 9293 section 3.10.7.1).
    if (segment.flags.rst() || !segment.flags.ack()) return;
    SentSegment reset;
    reset.segment.flags.bits = tcp::Flags::rst_bit;
    reset.segment.seq = segment.ack;
    launch(flight.to, std::move(reset));
    return;
  }
  const std::uint8_t shift = flight.to == 0 ? shift_of(scenario_.options_b, scenario_.options_a)
                                            : shift_of(scenario_.options_a, scenario_.options_b);
  if (segment.flags.ack() && !segment.flags.rst()) {
    const std::uint32_t window = std::uint32_t{segment.window} << (segment.flags.syn() ? 0 : shift);
    const tcp::SeqNum edge = segment.ack + window;
    if (!end.received_window || edge > end.received_edge) end.received_edge = edge;
    end.received_window = true;
  }
  packet::Packet payload;
  if (!flight.bytes.empty()) {
    if (pool().available() < reserve / 2) return;  // a receiver without buffers loses what comes
    payload = payload_packet(flight.bytes);
  }
  end.endpoint.receive(segment, std::move(payload), now_);
  check(flight.to);
}

void Connection::act(int side) {
  End& end = ends_[side];
  if (scenario_.timestamp_clock != Duration::zero()) {
    end.endpoint.set_timestamp(static_cast<std::uint32_t>((now_ - start) / scenario_.timestamp_clock + 1));
  }
  read_some(end, side);
  write_some(end, side);
  emit(side);
  check(side);
}

void Connection::read_some(End& end, int side) {
  if (now_ < end.next_read) return;
  bool any = false;
  while (packet::Packet packet = end.endpoint.read()) {
    any = true;
    const packet::PacketNote& note = packet.note();
    EXPECT_EQ(note.payload_len, packet.size());
    EXPECT_EQ(packet::ones_complement_sum(packet.bytes()) % 0xffff, note.payload_sum % 0xffff) << describe();
    for (const std::uint8_t byte : packet.bytes()) {
      if (byte != content(1 - side, end.received)) {
        ADD_FAILURE() << "wrong byte at " << end.received << ": " << describe();
        return;
      }
      ++end.received;
    }
    end.last_read = now_;
    if (end.app.read_every != Duration::zero() && random_.chance(0.5)) break;
  }
  if (any && end.app.random_room) end.endpoint.set_receive_room(Bytes(random_.below(end.app.room + 1ULL)));
  if (end.app.random_room && end.endpoint.unread() == Bytes() && random_.chance(0.3)) {
    end.endpoint.set_receive_room(Bytes(end.app.room));
  }
  if (end.app.read_every != Duration::zero()) end.next_read = now_ + random_.below(end.app.read_every) + Duration(1);
  if (end.app.random_room) end.next_read = std::max(end.next_read, now_ + std::chrono::milliseconds(20));
  if (end.app.abort_after != 0 && end.received >= end.app.abort_after && !end.aborted) {
    end.aborted = true;
    end.endpoint.abort();
  }
  if (end.endpoint.peer_finished()) {
    EXPECT_TRUE(end.received == ends_[1 - side].written) << "FIN before the end: " << describe();
  }
}

void Connection::write_some(End& end, int side) {
  const bool can = end.endpoint.state() != tcp::State::closed;
  if (!can || end.finished) return;
  end.produced = std::max(end.produced, static_cast<double>(end.written));
  end.produced += end.app.rate * to_seconds(now_ - end.produced_at);
  end.produced_at = now_;
  const std::uint64_t ready =
      end.app.rate > 0 ? std::min(end.app.to_send, static_cast<std::uint64_t>(end.produced)) : end.app.to_send;
  while (end.written < ready && pool().available() > reserve &&
         (end.endpoint.unsent() + end.endpoint.unacknowledged()).count() < end.app.send_buffer) {
    if (end.app.whole_writes && ready < end.app.to_send && ready - end.written < end.app.largest_write) return;
    const std::uint64_t most = std::min<std::uint64_t>(end.app.largest_write, ready - end.written);
    const std::uint64_t length = end.app.whole_writes || random_.chance(0.8) ? most : 1 + random_.below(most);
    std::vector<std::uint8_t> bytes(length);
    for (std::uint8_t& byte : bytes) byte = content(side, end.written++);
    end.endpoint.write(payload_packet(bytes));
  }
  if (end.written < end.app.to_send) return;
  if (end.app.finish_after_peer && !end.endpoint.peer_finished()) return;
  end.endpoint.finish();
  end.finished = true;
}

void Connection::emit(int side) {
  End& end = ends_[side];
  end.wire.full_after = random_.chance(scenario_.output_refusal) ? random_.below(3) : UINT64_MAX;
  const bool limited = side == 0 && scenario_.allowance;
  const Bytes allowance = limited ? allowance_ : Bytes::max();
  const Bytes sent = end.endpoint.emit(now_, end.wire, allowance);
  if (limited) {
    EXPECT_LE(sent, allowance_) << describe();
    allowance_ -= sent;
  }
  Bytes data;
  while (!end.wire.segments.empty()) {
    SentSegment segment = end.wire.next();
    if (segment.segment.payload_len != 0) data += Bytes(end.wire.wire_size(segment.segment.payload_len));
    check_sent(side, segment);
    launch(side, std::move(segment));
  }
  if (limited) {
    EXPECT_EQ(sent, data) << describe();
  }
}

void Connection::check_sent(int from, const SentSegment& sent) {
  End& end = ends_[from];
  ++segments_sent_;
  const tcp::Segment& segment = sent.segment;
  EXPECT_EQ(sent.bytes.size(), segment.payload_len);
  const tcp::SeqNum stop = segment.seq + segment.length();
  if (segment.length() != 0 && !segment.flags.syn() && (!end.sent_known || stop > end.sent_end)) {
    EXPECT_TRUE(end.received_window && stop <= end.received_edge) << "sent beyond the window: " << describe();
    end.sent_end = stop;
    end.sent_known = true;
  }
  if (segment.flags.fin()) {
    const tcp::SeqNum fin = segment.seq + segment.payload_len;
    EXPECT_TRUE(!end.fin_known || fin == end.fin) << "a second FIN: " << describe();
    end.fin = fin;
    end.fin_known = true;
  }
  EXPECT_TRUE(segment.payload_len == 0 || !end.fin_known || segment.seq + segment.payload_len <= end.fin)
      << "data behind the FIN: " << describe();
  if (!segment.flags.ack() || segment.flags.rst()) return;
  const std::uint8_t shift = segment.flags.syn() ? std::uint8_t{0}
                             : from == 0         ? shift_of(scenario_.options_a, scenario_.options_b)
                                                 : shift_of(scenario_.options_b, scenario_.options_a);
  const tcp::SeqNum edge = segment.ack + (std::uint32_t{segment.window} << shift);
  if (end.promised) {
    // FIN takes a number that no window was given for.
    EXPECT_GT(edge + (1U << shift) + 1, end.promised_edge) << "window taken back: " << describe();
  }
  end.promised_edge = end.promised ? tcp::later(end.promised_edge, edge) : edge;
  end.promised = true;
}

void Connection::launch(int from, SentSegment sent) {
  End& end = ends_[from];
  const Impairment& path = from == 0 ? scenario_.a_to_b : scenario_.b_to_a;
  const bool data = sent.segment.payload_len != 0;
  if (data && end.data_segments < 64 && (path.drop_first_data >> end.data_segments++ & 1) != 0) return;
  if (path.largest != 0 && sent.segment.payload_len > path.largest) return;
  if (random_.chance(path.loss)) {
    if (data && from == 0) ++lost_from_a_;
    return;
  }
  if (sent.segment.ecn != 0 && random_.chance(path.marking)) sent.segment.ecn = tcp::congestion_experienced;
  const int copies = random_.chance(path.duplication) ? 2 : 1;
  for (int i = 0; i < copies; ++i) {
    Duration late = random_.below(path.jitter);
    if (random_.chance(path.reordering)) late += path.hold_whole ? path.hold : random_.below(path.hold);
    Instant at = now_ + path.delay;
    if (!path.reordering_behind) at += late;
    const Duration into_stall = at - (start + path.stall_at);
    if (into_stall >= Duration::zero() && into_stall < path.stall_for) {
      at += (path.stall_for - into_stall) + into_stall / 64;
    }
    if (data && path.spacing != Duration::zero()) at = end.last_arrival = std::max(at, end.last_arrival + path.spacing);
    if (path.reordering_behind) at += late;
    flights_.emplace(at, Flight{1 - from, sent.segment, sent.bytes});
  }
}

void Connection::check(int side) {
  End& end = ends_[side];
  const tcp::Endpoint& endpoint = end.endpoint;
  if (endpoint.state() == tcp::State::closed) return;
  EXPECT_TRUE(endpoint.snd_una() <= endpoint.snd_nxt()) << describe();
  EXPECT_LE(endpoint.in_flight(), endpoint.unacknowledged() * 2) << describe();
  EXPECT_GE(endpoint.in_flight(), Bytes()) << describe();
  EXPECT_GE(endpoint.unsent(), Bytes()) << describe();
  if (endpoint.state() < tcp::State::established) return;
  if (end.edge_known) {
    EXPECT_TRUE(endpoint.rcv_adv() >= end.rcv_adv) << "right edge moved back: " << describe();
  }
  end.rcv_adv = endpoint.rcv_adv();
  end.edge_known = true;
}

std::string Connection::describe() const {
  std::ostringstream out;
  out << "seed " << scenario_.seed << " at " << to_seconds(now_ - start) << " s";
  for (int side = 0; side < 2; ++side) {
    const tcp::Endpoint& endpoint = ends_[side].endpoint;
    out << "\n  " << (side == 0 ? "a" : "b") << ": " << to_string(endpoint.state()) << " ("
        << to_string(endpoint.close_reason()) << ") written " << ends_[side].written << "/" << ends_[side].app.to_send
        << " received " << ends_[side].received << " una " << endpoint.snd_una().raw() << " nxt "
        << endpoint.snd_nxt().raw() << " rcv_nxt " << endpoint.rcv_nxt().raw() << " unsent "
        << endpoint.unsent().count() << " wnd " << endpoint.snd_window().count() << " cwnd " << endpoint.cwnd().count()
        << " pipe " << endpoint.in_flight().count() << " rto " << to_seconds(endpoint.rto()) << " due in "
        << (endpoint.next_deadline() == never ? -1.0 : to_seconds(endpoint.next_deadline() - now_)) << " timeouts "
        << endpoint.counters().timeouts << " retransmitted " << endpoint.counters().retransmitted;
  }
  out << "\n  under way: " << flights_.size();
  return out.str();
}

}  // namespace sluice::test
