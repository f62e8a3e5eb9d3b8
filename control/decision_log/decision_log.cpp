// Records the calls of controllers as lines of JSON. Each controller's calls go through traced(), which calls
// DecisionLog::record() only if a decision log is active. The whole state of a controller is recorded before its first
// call and again after lost lines. Replay can thus repeat the calls exactly. Nothing here blocks or allocates; a line
// that does not fit is counted as lost.

#include "control/decision_log/decision_log.hpp"

#include <algorithm>

namespace sluice::control {
DecisionLog::DecisionLog(LineSink& sink, const Selection& selection, Numbers numbers)
    : sink_(sink), selection_(selection), numbers_(numbers), line_(room_) {}

bool DecisionLog::selects(const ControllerOwner& owner) const {
  return owner.ue == selection_.ue &&
         (owner.ue_port == 0 || !selection_.ue_port || owner.ue_port == *selection_.ue_port);
}

DecisionLog::RecordedEntry* DecisionLog::find_entry(const void* law) {
  auto* const at = std::find_if(entries_.begin(), entries_.end(), [&](const auto& each) { return each.law == law; });
  return at == entries_.end() ? nullptr : at;
}

DecisionLog::RecordedEntry* DecisionLog::add_entry(const void* law, std::string_view word) {
  RecordedEntry* const place = find_entry(nullptr);
  if (place == nullptr) return nullptr;
  *place = {law, numbers_.first, word};
  numbers_.first += numbers_.step;
  return place;
}

void DecisionLog::left(const void* law) {
  RecordedEntry* const entry = find_entry(law);
  if (entry == nullptr) return;
  begin_line(*entry, "left");
  static_cast<void>(end_line());
  *entry = {};
}

void DecisionLog::begin_line(const RecordedEntry& entry, std::string_view event) {
  line_.clear();
  line_.open('{');
  FieldWriter fields(line_);
  fields("at", now_);
  fields("of", entry.number);
  fields("law", entry.word);
  fields("event", event);
}

void DecisionLog::add_owner(const ControllerOwner& owner) {
  FieldWriter fields(line_);
  fields("ue", std::string_view(owner.ue.text().data()));
  if (owner.ue_port == 0) return;
  fields("ue_port", owner.ue_port);
  fields("server", std::string_view(owner.server.text().data()));
  fields("server_port", owner.server_port);
}

/// Ends the current line and passes it to the sink. Returns true if the sink has stored it. After a loss, the state of
/// every controller is recorded again before its next call. A reader of the log does not know which controllers a lost
/// line concerned.
bool DecisionLog::end_line() {
  line_.close('}');
  line_.end_line();
  if (put_line()) return true;
  lost_.store(lost() + 1, std::memory_order_relaxed);
  ++lost_unreported_;
  for (RecordedEntry& each : entries_) {
    if (each.state == RecordedEntry::State::recorded) each.state = RecordedEntry::State::unrecorded;
  }
  return false;
}

bool DecisionLog::end_state(RecordedEntry& entry) {
  if (!line_.fits()) {
    entry.state = RecordedEntry::State::too_long;
    begin_line(entry, "state_too_long");
    static_cast<void>(end_line());
    return false;
  }
  if (!end_line()) return false;
  entry.state = RecordedEntry::State::recorded;
  return true;
}

bool DecisionLog::put_line() {
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
