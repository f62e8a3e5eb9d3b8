#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "control/ack_clocked_window.hpp"
#include "control/fallback.hpp"
#include "control/second_loop.hpp"
#include "control/smvs.hpp"
#include "control/window_laws.hpp"
#include "dataplane/units/bytes.hpp"

namespace sluice::proxy {

/// What is done with TCP connections besides the laws of control/window_laws.hpp: configuration name and text from one
/// line.
#define SLUICE_OWN_MODES(X)                                                         \
  X(bypass, "bypass", "forward untouched")                                          \
  X(i_tcp, "i-tcp", "split, ordinary congestion control on both legs")              \
  X(smvs, "smvs", "split, the radio leg sends by the SMVS allowance of the bearer") \
  X(observe, "observe", "computes what another mode would decide, changes nothing, and records both")

/// The modes: our own, then one for each law of windows.
enum class Mode : std::uint8_t {
#define X(name, key, text) name,
  SLUICE_OWN_MODES(X)
#undef X
#define X(name, key, type, split, regulate, text) name,
      SLUICE_WINDOW_LAWS(X)
#undef X
};

struct ModeText {
  Mode mode;
  std::string_view key;
  std::string_view text;
};
inline constexpr std::array mode_table = {
#define X(name, key, text) ModeText{Mode::name, key, text},
    SLUICE_OWN_MODES(X)
#undef X
#define X(name, key, type, split, regulate, text) ModeText{Mode::name, key, text},
        SLUICE_WINDOW_LAWS(X)
#undef X
};
[[nodiscard]] constexpr std::string_view to_string(Mode mode) {
  return mode_table[static_cast<std::size_t>(mode)].key;
}

/// The law of windows that a mode is; nothing for our own modes.
[[nodiscard]] constexpr std::optional<control::WindowLaw> window_law_of(Mode mode) {
  constexpr std::size_t own = mode_table.size() - control::window_law_table.size();
  const auto number = static_cast<std::size_t>(mode);
  if (number < own) return std::nullopt;
  return static_cast<control::WindowLaw>(number - own);
}
/// What the Node-B reports may decide what is sent.
[[nodiscard]] constexpr bool needs_feedback(Mode mode) {
  return mode == Mode::smvs || mode == Mode::observe || window_law_of(mode).has_value();
}

/// Where the SMVS law is computed.
enum class LawPlace : std::uint8_t {
  nodeb,  ///< the allowance comes in the report (the paper's way)
  proxy,  ///< the report brings the measurements, the proxy computes
  acks    ///< no report is needed: the UE's acknowledgements bring the measurements (control/ack_clocked_window.hpp)
};

/// What follows from the place of the law for a whole deployment; how a bearer is steered by it: AllowanceLaw.
struct LawPlaceTraits {
  bool needs_reports = true;  ///< they bring the allowance, or what it is computed from
};
[[nodiscard]] constexpr LawPlaceTraits traits_of(LawPlace place) {
  return {place != LawPlace::acks};
}

/// What steers a bearer whose law needs reports while these are late.
enum class WithoutReports : std::uint8_t {
  congestion_control,  ///< the ordinary one of each connection
  acks                 ///< the law by acknowledgements
};

/// SMVS as the proxy applies it.
struct SmvsMode {
  LawPlace law = LawPlace::nodeb;
  control::SmvsParameters parameters;
  control::SecondLoopParameters receive_window;
  control::FallbackParameters fallback;
  WithoutReports without_reports = WithoutReports::congestion_control;
  control::AckClockedParameters acks;
  /// Flows that have sent less than this go before the others of their bearer; 0 = no preference.
  Bytes short_flow{256 * 1024};
  /// … and while one of them is waited for beside others this share of the law's reference is left, 0 … 1.
  double young_reference = 0.5;
};

/// How a connection is got hold of.
enum class Intercept : std::uint8_t {
  automatic,  ///< split where the mode can be, regulate otherwise
  split,      ///< two connections, one on each side
  regulate    ///< one connection end to end; windows are rewritten and ACKs wait in passing
};
[[nodiscard]] constexpr bool can_split(Mode mode) {
  const auto law = window_law_of(mode);
  return mode != Mode::bypass && mode != Mode::observe && (!law || text_of(*law).split);
}
/// SMVS can by the law by acknowledgements alone: an allowance is nothing that could be told to a server.
[[nodiscard]] constexpr bool can_regulate(Mode mode) {
  const auto law = window_law_of(mode);
  return mode == Mode::observe || mode == Mode::smvs || (law && text_of(*law).regulate);
}

/// How the connections of a policy are treated: the mode, and the parameters of every law it may be.
struct Treatment {
  Mode mode = Mode::i_tcp;
  Intercept intercept = Intercept::automatic;
  Mode observed = Mode::smvs;  ///< whose decisions mode observe computes; one that needs feedback
  SmvsMode smvs;               ///< the path to the Node-B, the second loop and the fallback in it hold for every law
  control::LawParameters laws;

  [[nodiscard]] bool observes() const { return mode == Mode::observe; }
  /// The mode whose law runs.
  [[nodiscard]] Mode law() const { return observes() ? observed : mode; }
  /// The Node-B's reports decide what is sent. The share of a buffer whose size is configured needs none.
  [[nodiscard]] bool needs_reports() const {
    if (mode == Mode::smvs) return traits_of(smvs.law).needs_reports;
    const auto window_law = window_law_of(mode);
    const bool told_all = window_law && control::text_of(*window_law).needs_buffer_only && laws.buffer > Bytes{};
    return needs_feedback(mode) && !told_all;
  }
  /// The acknowledgements of its UEs are listened to: they steer always, or while reports are late.
  [[nodiscard]] bool listens() const {
    return mode == Mode::smvs && (!traits_of(smvs.law).needs_reports || smvs.without_reports == WithoutReports::acks);
  }
  /// The law gives way to young flows.
  [[nodiscard]] bool minds_young() const {
    return law() == Mode::smvs && smvs.short_flow > Bytes{} && smvs.young_reference < 1;
  }
  /// The law can do with connections that pass end to end.
  [[nodiscard]] bool can_regulate() const {
    return proxy::can_regulate(mode) && (mode != Mode::smvs || smvs.law == LawPlace::acks);
  }
  /// Connections pass end to end under a law.
  [[nodiscard]] bool regulates() const {
    return can_regulate() && (intercept == Intercept::regulate || !can_split(mode));
  }
  /// Connections are ended on both sides. Where neither, they are left alone.
  [[nodiscard]] bool splits() const { return can_split(mode) && !regulates(); }
};

}  // namespace sluice::proxy
