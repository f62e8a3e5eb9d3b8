// Records the calls of controllers as lines of JSON. Each controller's calls go through traced(), which calls
// LawTrace::record() only if a decision log is active. The whole state of a controller is recorded before its first
// call and again after lost lines. Replay can thus repeat the calls exactly. Nothing here blocks or allocates; a line
// that does not fit is counted as lost.

#include "control/decision_log/law_trace.hpp"

#include <algorithm>

namespace sluice::control {
LawTrace::LawTrace(LineSink& sink, const Wanted& wanted, Numbers numbers)
    : sink_(sink), wanted_(wanted), numbers_(numbers), line_(room_) {}

bool LawTrace::wants(const LawOwner& owner) const {
  return owner.ue == wanted_.ue && (owner.ue_port == 0 || !wanted_.ue_port || owner.ue_port == *wanted_.ue_port);
}

LawTrace::Followed* LawTrace::followed_by(const void* law) {
  auto* const at = std::find_if(followed_.begin(), followed_.end(), [&](const auto& each) { return each.law == law; });
  return at == followed_.end() ? nullptr : at;
}

LawTrace::Followed* LawTrace::follow(const void* law, std::string_view word) {
  Followed* const place = followed_by(nullptr);
  if (place == nullptr) return nullptr;
  *place = {law, numbers_.first, word};
  numbers_.first += numbers_.step;
  return place;
}

void LawTrace::left(const void* law) {
  Followed* const followed = followed_by(law);
  if (followed == nullptr) return;
  begin_line(*followed, "left");
  static_cast<void>(end_line());
  *followed = {};
}

void LawTrace::begin_line(const Followed& followed, std::string_view event) {
  line_.clear();
  line_.open('{');
  FieldWriter fields(line_);
  fields("at", now_);
  fields("of", followed.number);
  fields("law", followed.word);
  fields("event", event);
}

void LawTrace::add_owner(const LawOwner& owner) {
  FieldWriter fields(line_);
  fields("ue", std::string_view(owner.ue.text().data()));
  if (owner.ue_port == 0) return;
  fields("ue_port", owner.ue_port);
  fields("server", std::string_view(owner.server.text().data()));
  fields("server_port", owner.server_port);
}

/// Ends the current line and passes it to the sink; returns true if the sink stored it. A reader cannot determine which
/// controllers a lost line concerned. Therefore, after a loss, the state of every controller is recorded again before
/// its next call.
bool LawTrace::end_line() {
  line_.close('}');
  line_.end_line();
  if (put_line()) return true;
  lost_.store(lost() + 1, std::memory_order_relaxed);
  ++lost_unreported_;
  for (Followed& each : followed_) {
    if (each.state == Followed::State::recorded) each.state = Followed::State::unrecorded;
  }
  return false;
}

bool LawTrace::end_state(Followed& followed) {
  if (!line_.fits()) {
    followed.state = Followed::State::too_long;
    begin_line(followed, "state_too_long");
    static_cast<void>(end_line());
    return false;
  }
  if (!end_line()) return false;
  followed.state = Followed::State::recorded;
  return true;
}

bool LawTrace::put_line() {
  if (!line_.fits()) return false;
  if (lost_unreported_ > 0) {
    std::array<char, 128> room;
    LineWriter line(room);
    line.open('{');
    FieldWriter fields(line);
    fields("at", now_);
    fields("event", std::string_view("lost"));
    fields("lines", lost_unreported_);
    line.close('}');
    line.end_line();
    if (!sink_.put(line.text())) return false;
    lost_unreported_ = 0;
  }
  return sink_.put(line_.text());
}

}  // namespace sluice::control
