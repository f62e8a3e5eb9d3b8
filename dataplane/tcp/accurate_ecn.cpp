#include "dataplane/tcp/accurate_ecn.hpp"

#include <array>

#include "dataplane/tcp/fast_path.hpp"

// Accurate ECN feedback (RFC 9768): the counters, and their use by an endpoint.

namespace sluice::tcp {
namespace {

constexpr std::uint32_t wrap = 8;  ///< number of values of the three-bit ACE field, after which it wraps

}  // namespace

void AccurateEcn::on_syn(std::uint16_t ecn, bool answers) {
  syn_ecn_ = ecn;
  answer_due_ = answers;
  received_ = first_count;
  if (answers) on_segment(ecn);
}

std::uint8_t AccurateEcn::handshake_ace() const {
  constexpr std::array<std::uint8_t, 4> by_codepoint = {not_capable, 3, 4, 6};  // Not-ECT, ECT(1), ECT(0), CE
  return by_codepoint.at(syn_ecn_ & 3U);
}

void AccurateEcn::syn_ack_arrived(std::uint8_t ace, bool bare) {
  constexpr std::uint8_t zeroed = 0, first_with_mark = 6;
  if (ace == zeroed || (bare && (ace == 3 || ace == 4 || ace == first_with_mark))) intact_ = false;
  acknowledged_ = ace == first_with_mark ? first_with_mark : first_count;
}

std::uint32_t AccurateEcn::marked(std::uint8_t ace, std::uint32_t packets) {
  const std::uint32_t least = (wrap + ace - acknowledged_) % wrap;
  acknowledged_ = ace;
  return packets < wrap ? least : packets - (packets - least) % wrap;
}

AccurateEcn* ConnectionCore::accurate_ecn() const {
  AccurateEcn* const state = config_ != nullptr ? config_->accurate_ecn : nullptr;
  return state != nullptr && state->agreed() ? state : nullptr;
}

/// Sets the ECN fields of an outgoing segment on a connection with accurate ECN. Every segment has the ACE field, and
/// new data has an ECN-capable codepoint, which the congestion control selects.
void Sender::mark_accurately(const AccurateEcn& state, Segment& segment) const {
  segment.flags.bits |= ace_bits(state.ace());
  if (segment.payload_len != 0 && state.may_mark()) segment.ecn = congestion_.codepoint();
}

/// Sends the first acknowledgement of the SYN-ACK separately, because only this ACK reports the ECN field with which
/// the SYN-ACK arrived.
void Sender::emit_accurate_answer(Instant now, Output& output) {
  AccurateEcn* const state = accurate_ecn();
  if (state == nullptr || !state->answer_due()) return;
  emit_ack(now, output);
  if (!ack_is_due()) state->answered();
}

/// Counts the ECN mark of an acceptable segment, with or without data, new or retransmitted.
void Receiver::count_mark(const Segment& segment) {
  if (AccurateEcn* const state = accurate_ecn()) state->on_segment(segment.ecn);
}

/// Processes the number of marked packets that an ACK reports. Returns true if the caller must reduce the window as for
/// an ECN echo. If the congestion control responds to the number of marks, passes the number to it and returns false.
/// An ACK that acknowledges nothing new is ignored, because its number may be outdated.
bool Sender::handle_ace(AccurateEcn& state, const Segment& segment, const AckEvent& event) {
  if (event.delivered == 0) return false;
  const std::uint32_t packets = (event.delivered + mtu_.mss - 1) / mtu_.mss;
  const std::uint32_t marked = state.marked(ace_of(segment.flags), packets);
  if (!congestion_.scalable()) return marked != 0;
  if (bits_.window_source == WindowSource::congestion_control) {
    congestion_.on_feedback({.packets = packets, .marked = marked}, event, path(event.now));
  }
  return false;
}

}  // namespace sluice::tcp
