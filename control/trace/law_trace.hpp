#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "control/trace/laws.hpp"
#include "control/trace/write_fields.hpp"
#include "dataplane/units/ip_address.hpp"

namespace sluice::control {

/// Where the lines of a trace go. Thread: that of the laws.
class LineSink {
 public:
  virtual ~LineSink() = default;
  /// False when there is no room for this line, of which then nothing is kept. Never waits.
  [[nodiscard]] virtual bool put(std::string_view line) = 0;
};

/// Whose a law is: all connections' of a UE, or that of one.
struct LawOwner {
  IpAddress ue;
  std::uint16_t ue_port = 0;  ///< 0: the UE's
  IpAddress server{};
  std::uint16_t server_port = 0;
};

/// Whose it is, and what it was made of.
template <typename Origin>
struct LawIdentity {
  LawOwner owner;
  Origin origin;
};
template <typename Origin>
LawIdentity(LawOwner, Origin) -> LawIdentity<Origin>;

/// The parts of a call's line, as LawTrace writes them and Replay repeats them: what the law is told …
template <typename Call, typename... Arguments>
void write_arguments(LineWriter& line, const Arguments&... arguments) {
  line.name("in");
  line.open('{');
  FieldWriter fields(line);
  [[maybe_unused]] std::size_t i = 0;
  (fields(Call::names[i++], arguments), ...);
  line.close('}');
}

/// … and what is seen of it afterwards, behind what the call returned where it returned something.
template <typename Law, typename WriteResult>
void write_outcome(LineWriter& line, const Law& law, const WriteResult& write_result) {
  line.name("out");
  line.open('{');
  FieldWriter fields(line);
  write_result(fields);
  TracedLaw<Law>::outcome(law, fields);
  line.close('}');
}

/// Makes the call, and writes its outcome. Returns what the call does.
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

/// Tells every call of a law as a line of JSON: what went in, and what came out of it. Of each law it tells the whole
/// state first, so that Replay can go on from there with the same results; and anew when lines found no room. Follows
/// the laws of one UE, or of this those that bear on one connection. Allocates nothing. Thread: that of the laws.
class LawTrace {
 public:
  /// Laws that are followed at once; there may be more, of which nothing is told.
  static constexpr std::size_t most_laws = 64;
  /// No line is longer. Of a law whose state does not fit only that is told.
  static constexpr std::size_t longest_line = 16'384;

  /// What is to be followed.
  struct Wanted {
    IpAddress ue;
    std::optional<std::uint16_t> ue_port;  ///< only the connections from there, beside the laws of the UE itself
  };
  /// What tells laws apart: numbers from `first` on, `step` ≥ 1 apart.
  struct Numbers {
    std::uint32_t first = 1;
    std::uint32_t step = 1;
  };
  /// `sink` outlives it.
  LawTrace(LineSink& sink, const Wanted& wanted, Numbers numbers = {1, 1});

  [[nodiscard]] const Wanted& wanted() const { return wanted_; }
  /// The lines are of this instant from now on.
  void set_time(Instant now) { now_ = now; }

  /// Makes the call, and tells of it. `identify` gives a LawIdentity<TracedLaw<Law>::Origin>.
  template <typename Call, typename Law, typename Identify, typename... Arguments>
  [[gnu::cold, gnu::noinline]] auto tell(Law& law, const Identify& identify, const Arguments&... arguments) {
    Followed* followed = followed_by(&law);
    if (followed == nullptr) followed = begin(law, identify);
    if (followed == nullptr || !is_stated(law, *followed, identify)) return Call::apply(law, arguments...);
    return tell_call<Call>(law, *followed, arguments...);
  }
  /// The law is about to go, or to become another at the same place.
  void left(const void* law);

  /// Lines that found no room. From any thread.
  [[nodiscard]] std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  struct Followed {
    const void* law = nullptr;
    std::uint32_t number = 0;
    std::string_view word;
    enum class State : std::uint8_t {
      untold,
      told,     ///< and every call since
      too_long  ///< for a line
    } state = State::untold;
  };

  [[nodiscard]] Followed* followed_by(const void* law);
  [[nodiscard]] Followed* follow(const void* law, std::string_view word);
  [[nodiscard]] bool wants(const LawOwner& owner) const;
  void begin_line(const Followed& followed, std::string_view event);
  void add_owner(const LawOwner& owner);
  [[nodiscard]] bool end_line();
  [[nodiscard]] bool put_line();
  [[nodiscard]] bool end_state(Followed& followed);

  /// Nothing where it is not wanted, or no place is left.
  template <typename Law, typename Identify>
  [[nodiscard]] Followed* begin(const Law& law, const Identify& identify) {
    const auto identity = identify();
    return wants(identity.owner) ? follow(&law, TracedLaw<Law>::word(identity.origin)) : nullptr;
  }
  template <typename Law, typename Identify>
  [[nodiscard]] bool is_stated(const Law& law, Followed& followed, const Identify& identify) {
    if (followed.state != Followed::State::untold) return followed.state == Followed::State::told;
    const auto identity = identify();
    begin_line(followed, "state");
    add_owner(identity.owner);
    FieldWriter fields(line_);
    fields("made_of", identity.origin);
    fields("state", law);
    return end_state(followed);
  }
  template <typename Call, typename Law, typename... Arguments>
  auto tell_call(Law& law, const Followed& followed, const Arguments&... arguments) {
    begin_line(followed, Call::name);
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
  Wanted wanted_;
  Numbers numbers_;
  Instant now_{};
  std::atomic<std::uint64_t> lost_{0};
  std::uint64_t lost_untold_ = 0;  ///< of these, that the trace does not tell of yet
  std::array<Followed, most_laws> followed_{};
  std::array<char, longest_line> room_{};
  LineWriter line_;
};

/// A call of a law that may be traced: `trace` is null where it is not.
template <typename Call, typename Law, typename Identify, typename... Arguments>
auto traced(LawTrace* trace, Law& law, const Identify& identify, const Arguments&... arguments) {
  if (trace == nullptr) [[likely]]
    return Call::apply(law, arguments...);
  return trace->tell<Call>(law, identify, arguments...);
}

}  // namespace sluice::control
