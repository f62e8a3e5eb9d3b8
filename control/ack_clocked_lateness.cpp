// What the window that is clocked by acknowledgements makes of an uplink that is late.

#include <algorithm>

#include "control/ack_clocked_window.hpp"

namespace sluice::control {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Mean lateness from which on the uplink is taken for one that makes acknowledgements wait: timestamps are that exact.
constexpr Duration notable_late = milliseconds(2);
/// An upload of the same UE may fill a modem's buffer, which is what acknowledgements wait behind.
constexpr Duration longest_late = seconds(1);
constexpr Duration late_memory = milliseconds(500);
/// The newest lateness holds for so long; the greatest is forgotten when so much was heard of which it is unknown, and
/// a silence is nothing heard.
constexpr Duration late_known_for = seconds(1);

}  // namespace

/// What an acknowledgement has waited for the uplink is no part of the round trip that the queue is judged by. Returns
/// the rest of it.
Duration AckClockedWindow::without_uplink(const Acknowledged& news) {
  if (news.late < Duration::zero()) {
    late_unknown_for_ += std::min(news.now - last_heard_, longest_listening);
    if (late_unknown_for_ > late_known_for) latest_ = Duration::zero();
    if (news.now - late_at_ > late_known_for) late_ = Duration::zero();
    // On a connection that has just begun: as late as the others, about, and by how much the round trip is longer is
    // not known.
    return late_ > Duration::zero() ? Duration::zero() : news.round_trip;
  }
  late_ = std::min(news.late, longest_late);
  late_at_ = news.now;
  late_unknown_for_ = Duration::zero();
  usually_late_ += (late_ - usually_late_) / 32;
  if (late_ > Duration::zero() || latest_ > Duration::zero()) note_latest(news);
  // A clock that was set back makes an acknowledgement later than it can be.
  return std::max(news.round_trip - news.late, Duration::zero());
}

/// The greatest lateness of late. Meanwhile no more has come than was under way: beyond that the link stood still as
/// well.
void AckClockedWindow::note_latest(const Acknowledged& news) {
  const Duration most = delivery_.known() ? delivery_.rate().time_for(news.in_flight + news.delivered) : longest_late;
  const Duration since = std::min(news.now - last_heard_, late_memory);
  latest_ -= from_seconds(to_seconds(latest_) * to_seconds(since) / to_seconds(late_memory));
  latest_ = std::max(latest_, std::min(late_, most));
}

bool AckClockedWindow::explains_clumps() const {
  return late_unknown_for_ <= late_known_for;
}

/// The uplink makes acknowledgements wait, it is known for how long, and the sender can use what the window grows by:
/// the window of a connection that stays end to end goes in acknowledgements.
bool AckClockedWindow::extrapolates() const {
  return usually_late_ >= notable_late && explains_clumps() && further_ <= Duration::zero();
}

}  // namespace sluice::control
