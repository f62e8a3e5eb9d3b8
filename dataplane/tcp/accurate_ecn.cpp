#include "dataplane/tcp/accurate_ecn.hpp"

#include <array>

#include "dataplane/tcp/fast_path.hpp"

// More accurate ECN feedback (RFC 9768): the counters, and what an endpoint does with them.

namespace sluice::tcp {
namespace {

constexpr std::uint32_t wrap = 8;  ///< of the ACE field

}  // namespace

void AccurateEcn::heard_syn(std::uint16_t ecn, bool answers) {
  syn_ecn_ = ecn;
  answer_due_ = answers;
  received_ = first_count;
  if (answers) heard(ecn);
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

AccurateEcn* Endpoint::accurate_ecn() const {
  AccurateEcn* const state = config_ != nullptr ? config_->accurate_ecn : nullptr;
  return state != nullptr && state->agreed() ? state : nullptr;
}

/// What leaves on a connection with accurate feedback: the count with everything, and new data says that it can be
/// marked, by which queue is its congestion control's to say.
void Endpoint::mark_accurately(const AccurateEcn& state, Segment& segment) const {
  segment.flags.bits |= ace_bits(state.ace());
  if (segment.payload_len != 0 && state.may_mark()) segment.ecn = congestion_.codepoint();
}

/// The first acknowledgement tells how the SYN-ACK came, and no other does: it goes alone.
void Endpoint::emit_accurate_answer(Instant now, Output& output) {
  AccurateEcn* const state = accurate_ecn();
  if (state == nullptr || !state->answer_due()) return;
  emit_ack(now, output);
  if (!bits_.ack_now) state->answered();
}

/// An acceptable segment, with or without data, new or repeated.
void Endpoint::count_mark(const Segment& segment) {
  if (AccurateEcn* const state = accurate_ecn()) state->heard(segment.ecn);
}

/// Takes the count of an acknowledgement. Returns whether the window is to be reduced as for an echo: a scalable
/// congestion control is told how many were marked instead. A field that acknowledges nothing new may be an old one.
bool Endpoint::heed_count(AccurateEcn& state, const Segment& segment, const AckEvent& event) {
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
