// State of one end-to-end connection: its handshake, and the start of window tracking. EndToEndFlows calls these
// functions. Invariant: only segments with exact numbers change the handshake (RFC 5961), because anybody can forge a
// SYN.
#include "proxy/engine/end_to_end/end_to_end_flow.hpp"

#include <algorithm>

namespace sluice::proxy {
namespace {

/// Number of segments in the initial window (RFC 6928). A window that is to grow gradually starts with at least this
/// size.
constexpr std::int64_t first_segments = 10;

/// Returns the initial state of a connection whose two SYNs were seen: sequence numbers and window edges.
KnownConnection from_the_start(EndToEndFlow& flow) {
  KnownConnection known;
  for (const Side receiver : {Side::radio, Side::core}) {
    const auto at = static_cast<std::size_t>(receiver);
    known.next.at(at) = flow.syn_of(opposite(receiver)).isn + 1;
    known.edge.at(at) = known.next.at(at) + flow.syn_of(receiver).window;
  }
  return known;
}

}  // namespace

void EndToEndFlow::record_syn(Side in, const SynNote& reported) {
  syn_of(in) = reported;
  if (in == Side::radio) segment = std::max(reported.options.mss, min_segment);
}

/// Updates the handshake state from a SYN or SYN-ACK. The window field of a SYN is never scaled (RFC 7323 section 2.2),
/// and the proxy does not rewrite it.
void EndToEndFlow::learn_syn(Side in, const tcp::Segment& seen, Instant now) {
  if (is_repeated(in, seen)) {
    SynNote note = syn_of(in);
    note.options.mss = std::min(note.options.mss, seen.syn.mss);
    return record_syn(in, note);
  }
  if (phase != EndToEndPhase::syn) return;
  const bool answer = in != initiator;
  if (seen.flags.ack() != answer) return;
  const tcp::SeqNum isn = syn_of(initiator).isn;
  if (answer ? seen.ack != isn + 1 : seen.seq != isn) return;
  record_syn(in, {seen.seq, seen.window, seen.syn});
  if (answer) {
    round_trip = now - handshake;
    begin(from_the_start(*this));
    phase = EndToEndPhase::syn_ack;
  }
  handshake = last_activity = now;
}

void EndToEndFlow::record_checksum(Side in, const tcp::Segment& syn, bool is_unfinished) {
  if (!half_open() || !is_own_syn(in, syn)) return;
  Handshake shown;
  shown.unfinished = unfinished;
  shown.record_checksum(in, is_unfinished, in != initiator && phase == EndToEndPhase::syn);
  unfinished = shown.unfinished;
}

bool EndToEndFlow::is_own_syn(Side in, const tcp::Segment& syn) const {
  const tcp::SeqNum isn = syn_of(initiator).isn;
  if (syn.flags.ack()) return in != initiator && syn.ack == isn + 1;
  return in == initiator && syn.seq == isn;
}

bool EndToEndFlow::is_repeated(Side in, const tcp::Segment& syn) const {
  return phase == EndToEndPhase::syn_ack && syn.seq == syn_of(in).isn && is_own_syn(in, syn);
}

bool EndToEndFlow::leaves_options_unclear(Side in, const tcp::Segment& syn) const {
  return is_repeated(in, syn) && in != initiator &&
         (syn_of(in).options.difference(syn.syn) & syn_of(initiator).options.offered()) != 0;
}

bool EndToEndFlow::is_refused_by(Side in, const tcp::Segment& reset) const {
  const tcp::SeqNum first = syn_of(initiator).isn;
  if (in == initiator) return reset.seq == first + 1;
  const bool answered = phase == EndToEndPhase::syn_ack && reset.seq == syn_of(in).isn + 1;
  return answered || (reset.flags.ack() && reset.ack == first + 1);
}

void EndToEndFlow::begin(const KnownConnection& known) {
  const bool scaling = syns[0].options.has_window_scale && syns[1].options.has_window_scale;
  for (const Side receiver : {Side::radio, Side::core}) {
    const auto at = static_cast<std::size_t>(receiver);
    DataWay& way = towards(receiver);
    way.position = control::StreamPosition(known.next.at(at).raw());
    way.window = control::AdvertisedWindow(scaling ? syn_of(receiver).options.window_scale : std::uint8_t{0});
    way.window.advertise(Bytes(known.edge.at(at) - known.next.at(at)));
  }
}

void EndToEndFlow::begin_opening(Opening why, Bytes ack, Bytes at_least) {
  opening = why;
  opening_at = ack;
  const control::AdvertisedWindow& window = towards(Side::radio).window;
  // The window field is rounded down to its unit. A smaller window would close it, and the server could not send at
  // all.
  const Bytes least = window.rounded_up(std::max(at_least, Bytes(segment) * first_segments));
  opening_window = std::max(window.edge() - ack, least);
}

}  // namespace sluice::proxy
