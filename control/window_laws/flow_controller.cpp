#include "control/window_laws/flow_controller.hpp"

namespace sluice::control {

FlowCounting counting(FlowControllerKind law, const LawParameters& parameters) {
  switch (law) {
#define X(name, word, type, split, regulate, text) \
  case FlowControllerKind::name:                   \
    return type::counting(parameters);
    SLUICE_FLOW_CONTROLLERS(X)
#undef X
  }
  return {};
}

FlowController::FlowController(FlowControllerKind law, const LawParameters& parameters, const LawStart& start)
    : law_(make(law, parameters, start)), segment_(start.segment) {}

FlowController::Any FlowController::make(FlowControllerKind law, const LawParameters& parameters,
                                         const LawStart& start) {
  switch (law) {
#define X(name, word, type, split, regulate, text) \
  case FlowControllerKind::name:                   \
    return type(parameters, start);
    SLUICE_FLOW_CONTROLLERS(X)
#undef X
  }
  return LawHooks();
}

}  // namespace sluice::control
