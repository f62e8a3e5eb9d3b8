#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "control/ack_clocked_window.hpp"
#include "control/fallback.hpp"
#include "control/reference.hpp"
#include "control/second_loop.hpp"
#include "control/smvs.hpp"
#include "control/window_laws.hpp"
#include "proxy/yaml/yaml.hpp"

// The keys of the control laws, the same wherever a law runs: in the proxy's configuration and in the Node-B's.

namespace sluice::config {

template <>
struct Scalar<control::Reference> {
  static constexpr std::string_view kind = "an amount of queue such as 100 frames, 4000B or 20ms";
  static constexpr std::string_view name = "frames, size or duration";
  static std::optional<control::Reference> parse(std::string_view text) { return control::Reference::parse(text); }
  static std::string format(const control::Reference& value);
};

}  // namespace sluice::config

namespace sluice::control {

/// Also holds the parameters to Proposition 1 and section 5.2 (validate()): what it calls an error is refused, what it
/// calls a warning is advised.
void describe(config::Section& s, SmvsParameters& parameters);
/// The same where the law may be computed elsewhere: unless `computed_here` only the delay of the path has an effect,
/// and the other keys are refused with `condition`.
void describe(config::Section& s, SmvsParameters& parameters, bool computed_here, std::string_view condition);
/// Its sliding mode is held to the rules of SMVS.
void describe(config::Section& s, SecondLoopParameters& parameters);
void describe(config::Section& s, FallbackParameters& parameters);
void describe(config::Section& s, AckClockedParameters& parameters);
/// The laws of windows whose parameters do not say their keys themselves.
void describe(config::Section& s, ClampWindowParameters& parameters);
void describe(config::Section& s, ClampPriceParameters& parameters);
void describe(config::Section& s, GwaParameters& parameters);
/// Every section of LawParameters, with the buffer, as keys of `s`.
void describe_laws(config::Section& s, LawParameters& laws);

}  // namespace sluice::control
