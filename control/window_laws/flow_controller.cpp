#include "control/window_laws/flow_controller.hpp"

namespace sluice::control {

FlowCounting counting(FlowControllerKind law, const FlowControllerParameters& parameters) {
  switch (law) {
#define X(name, word, type, split, regulate, text) \
  case FlowControllerKind::name:                   \
    return type::counting(parameters);
    SLUICE_FLOW_CONTROLLERS(X)
#undef X
  }
  return {};
}

FlowController::FlowController(FlowControllerKind law, const FlowControllerParameters& parameters,
                               const FlowControllerStart& start)
    : law_(make(law, parameters, start)), segment_(start.segment) {}

FlowController::Any FlowController::make(FlowControllerKind law, const FlowControllerParameters& parameters,
                                         const FlowControllerStart& start) {
  switch (law) {
#define X(name, word, type, split, regulate, text) \
  case FlowControllerKind::name:                   \
    return type(parameters, start);
    SLUICE_FLOW_CONTROLLERS(X)
#undef X
  }
  return FlowControllerHooks();
}

}  // namespace sluice::control
