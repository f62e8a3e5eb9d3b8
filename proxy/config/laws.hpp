#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "control/ack_based/delay_based_controller.hpp"
#include "control/reference.hpp"
#include "control/smvs/fallback.hpp"
#include "control/smvs/second_loop.hpp"
#include "control/smvs/smvs.hpp"
#include "control/window_laws/flow_controller.hpp"
#include "proxy/yaml/yaml.hpp"

// Keys of the controllers' parameters, which the proxy's and the Node-B's configuration share.

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

/// Declares the keys of SMVS (the sliding-mode controller). Checks their values by validate(), that is, by Proposition
/// 1 and section 5.2 of the SMVS paper. A broken rule is an error if it makes the controller unusable, else a warning.
void describe(config::Section& s, SmvsParameters& parameters);
/// Declares the keys of SMVS (the sliding-mode controller) for a program in which the Node-B may run SMVS instead. If
/// `computed_here` is false, only the key of the path delay is allowed. Other keys are then errors, explained by
/// `condition`.
void describe(config::Section& s, SmvsParameters& parameters, bool computed_here, std::string_view condition);
/// Declares the keys of the controller that computes the window advertised to the server. The keys of its sliding mode
/// must satisfy the rules of SMVS.
void describe(config::Section& s, SecondLoopParameters& parameters);
void describe(config::Section& s, FallbackParameters& parameters);
void describe(config::Section& s, DelayBasedParameters& parameters);
/// Declares the keys of CLAMP's window computation. CLAMP is a per-flow window controller.
void describe(config::Section& s, ClampWindowParameters& parameters);
void describe(config::Section& s, ClampPriceParameters& parameters);
void describe(config::Section& s, GwaParameters& parameters);
/// Declares the keys of the per-flow window controllers: size of the radio buffer, longest delay of an ACK, and a
/// section for each controller.
void describe_laws(config::Section& s, FlowControllerParameters& laws);

}  // namespace sluice::control
