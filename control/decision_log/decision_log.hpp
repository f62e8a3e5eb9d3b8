#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "control/decision_log/recorded_controllers.hpp"
#include "control/decision_log/write_fields.hpp"
#include "dataplane/units/ip_address.hpp"

namespace sluice::control {

/// Receiver of the lines of a decision log, called in the thread of the controllers that are recorded.
class LineSink {
 public:
  virtual ~LineSink() = default;
  /// Stores a line. Returns false if there is no space; then no part of the line is stored. Never blocks.
  [[nodiscard]] virtual bool put(std::string_view line) = 0;
};

/// Traffic that a recorded controller controls, given by addresses and ports: one UE with all its connections, or a
/// single connection.
struct ControllerOwner {
  IpAddress ue;

  /// UE's port of the connection; 0 if the controller belongs to the UE, not to one connection
  std::uint16_t ue_port = 0;
  IpAddress server{};
  std::uint16_t server_port = 0;
};

/// Owner of a recorded controller, and the parameters from which the controller was constructed.
template <typename Origin>
struct ControllerIdentity {
  ControllerOwner owner;
  Origin origin;
};
template <typename Origin>
ControllerIdentity(ControllerOwner, Origin) -> ControllerIdentity<Origin>;

/// Writes the arguments of a call of a controller to a line of JSON, in the form that class Replay reads.
template <typename Call, typename... Arguments>
void write_arguments(LineWriter& line, const Arguments&... arguments) {
  line.name("in");
  line.open('{');
  FieldWriter fields(line);
  [[maybe_unused]] std::size_t i = 0;
  (fields(Call::names[i++], arguments), ...);
  line.close('}');
}

/// Writes the outcome of a call of a controller: the return value of the call, if it has one, and the values of the
/// controller's getters after the call.
template <typename Law, typename WriteResult>
void write_outcome(LineWriter& line, const Law& law, const WriteResult& write_result) {
  line.name("out");
  line.open('{');
  FieldWriter fields(line);
  write_result(fields);
  RecordedController<Law>::outcome(law, fields);
  line.close('}');
}

/// Calls the controller, writes the outcome of the call to the line, and returns what the call returns.
template <typename Call, typename Law, typename... Arguments>
auto call_and_write(LineWriter& line, Law& law, const Arguments&... arguments) {
  if constexpr (std::is_void_v<decltype(Call::apply(law, arguments...))>) {
    Call::apply(law, arguments...);
    write_outcome(line, law, [](FieldWriter&) {});
  } else {
    const auto result = Call::apply(law, arguments...);
    write_outcome(line, law, [&](FieldWriter& fields) { fields(Call::result, result); });
    return result;
  }
}

/// Records every call of a controller as a line of JSON, with its arguments and its outcome. The whole state of a
/// controller is recorded before its first recorded call, and again after lines were lost. Class Replay can then
/// continue from that state, and gets equal results. One object records the controllers of one UE, or of one connection
/// of that UE. Allocates nothing. Not thread-safe, except lost().
class DecisionLog {
 public:
  /// Largest number of controllers that are recorded at once; calls of further controllers are not recorded.
  static constexpr std::size_t max_controllers = 64;
  /// Longest line in bytes. If the state of a controller does not fit, the line only states that it is too long.
  static constexpr std::size_t longest_line = 16'384;

  /// Selects the controllers that are recorded: those of one UE, or of one of its connections.
  struct Selection {
    IpAddress ue;
    std::optional<std::uint16_t> ue_port;  ///< records only connections with this port at the UE, if set
  };
  /// Numbers that identify recorded controllers in the log: the first controller has the number `first`, each later one
  /// a number greater by `step` ≥ 1.
  struct Numbers {
    std::uint32_t first = 1;
    std::uint32_t step = 1;
  };
  /// Starts a decision log that writes to `sink`. The sink must outlive the decision log.
  DecisionLog(LineSink& sink, const Selection& selection, Numbers numbers = {1, 1});

  [[nodiscard]] const Selection& selection() const { return selection_; }
  /// Sets the time that is written into the next lines.
  void set_time(Instant now) { now_ = now; }

  /// Calls the controller, and records the call if the controller is selected for recording. `identify` is a function
  /// that returns a ControllerIdentity<RecordedController<Law>::Origin>. It is called only if the controller has no
  /// entry yet, or if its state must be recorded.
  template <typename Call, typename Law, typename Identify, typename... Arguments>
  [[gnu::cold, gnu::noinline]] auto record(Law& law, const Identify& identify, const Arguments&... arguments) {
    RecordedEntry* entry = find_entry(&law);
    if (entry == nullptr) entry = begin(law, identify);
    if (entry == nullptr || !is_stated(law, *entry, identify)) return Call::apply(law, arguments...);
    return record_call<Call>(law, *entry, arguments...);
  }
  /// Ends the recording of a controller. Called before the controller is destroyed, or replaced by another one at its
  /// address.
  void left(const void* law);

  /// Returns the number of lines that were lost because the sink had no space for them. May be called from any thread.
  [[nodiscard]] std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  /// One controller whose calls are recorded.
  struct RecordedEntry {
    const void* law = nullptr;  ///< address of the recorded controller
    std::uint32_t number = 0;   ///< number of the controller in the decision log
    std::string_view word;      ///< name of the controller's type in the decision log
    enum class State : std::uint8_t {
      unrecorded,  ///< the controller's state must be recorded before the next call
      recorded,    ///< the controller's state and every call since are recorded
      too_long     ///< the controller's state does not fit a line, so no call is recorded
    } state = State::unrecorded;
  };

  /// Returns the entry of the controller at the address `law`, or null if that controller is not recorded.
  [[nodiscard]] RecordedEntry* find_entry(const void* law);
  /// Adds an entry for the controller at `law`, whose type has the name `word` in the log. Returns null if all entries
  /// are used.
  [[nodiscard]] RecordedEntry* add_entry(const void* law, std::string_view word);
  /// True if the controllers of this UE or connection are selected for recording.
  [[nodiscard]] bool selects(const ControllerOwner& owner) const;
  /// Begins a line with the controller's number and name, the time and the event.
  void begin_line(const RecordedEntry& entry, std::string_view event);
  /// Adds the addresses and ports of the controller's owner to the line.
  void add_owner(const ControllerOwner& owner);
  /// Ends the line and passes it to the sink. Returns false if the line is lost; the state of all controllers is then
  /// recorded again.
  [[nodiscard]] bool end_line();
  /// Passes the line to the sink. Returns false if it does not fit or the sink refuses it.
  [[nodiscard]] bool put_line();
  /// Ends a line with a controller's state. Returns true if the line was stored, so that later calls of this controller
  /// can be recorded.
  [[nodiscard]] bool end_state(RecordedEntry& entry);

  /// Starts to record a controller; returns null if it is not selected or max_controllers are recorded already.
  template <typename Law, typename Identify>
  [[nodiscard]] RecordedEntry* begin(const Law& law, const Identify& identify) {
    const auto identity = identify();
    return selects(identity.owner) ? add_entry(&law, RecordedController<Law>::word(identity.origin)) : nullptr;
  }
  /// Records the controller's state in a line of its own if it is not recorded yet. Returns true if a call of the
  /// controller can be recorded now, because its state is in the log.
  template <typename Law, typename Identify>
  [[nodiscard]] bool is_stated(const Law& law, RecordedEntry& entry, const Identify& identify) {
    if (entry.state != RecordedEntry::State::unrecorded) return entry.state == RecordedEntry::State::recorded;
    const auto identity = identify();
    begin_line(entry, "state");
    add_owner(identity.owner);
    FieldWriter fields(line_);
    fields("made_of", identity.origin);
    fields("state", law);
    return end_state(entry);
  }
  /// Makes the call, and records its arguments and its outcome in one line.
  template <typename Call, typename Law, typename... Arguments>
  auto record_call(Law& law, const RecordedEntry& entry, const Arguments&... arguments) {
    begin_line(entry, Call::name);
    write_arguments<Call>(line_, arguments...);
    if constexpr (std::is_void_v<decltype(Call::apply(law, arguments...))>) {
      call_and_write<Call>(line_, law, arguments...);
      static_cast<void>(end_line());
    } else {
      const auto result = call_and_write<Call>(line_, law, arguments...);
      static_cast<void>(end_line());
      return result;
    }
  }

  LineSink& sink_;
  Selection selection_;
  Numbers numbers_;
  Instant now_{};
  std::atomic<std::uint64_t> lost_{0};
  std::uint64_t lost_unreported_ = 0;  ///< number of lost lines that the log does not state yet
  std::array<RecordedEntry, max_controllers> entries_{};
  std::array<char, longest_line> room_{};
  LineWriter line_;
};

/// Calls a controller and, unless `trace` is null, records the call. Returns the result of the call.
template <typename Call, typename Law, typename Identify, typename... Arguments>
auto traced(DecisionLog* trace, Law& law, const Identify& identify, const Arguments&... arguments) {
  if (trace == nullptr) [[likely]]
    return Call::apply(law, arguments...);
  return trace->record<Call>(law, identify, arguments...);
}

}  // namespace sluice::control
