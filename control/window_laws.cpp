#include "control/window_laws.hpp"

namespace sluice::control {

FlowCounting counting(WindowLaw law, const LawParameters& parameters) {
  switch (law) {
#define X(name, word, type, split, regulate, text) \
  case WindowLaw::name:                            \
    return type::counting(parameters);
    SLUICE_WINDOW_LAWS(X)
#undef X
  }
  return {};
}

FlowLaw::FlowLaw(WindowLaw law, const LawParameters& parameters, const LawStart& start)
    : law_(make(law, parameters, start)), segment_(start.segment) {}

FlowLaw::Any FlowLaw::make(WindowLaw law, const LawParameters& parameters, const LawStart& start) {
  switch (law) {
#define X(name, word, type, split, regulate, text) \
  case WindowLaw::name:                            \
    return type(parameters, start);
    SLUICE_WINDOW_LAWS(X)
#undef X
  }
  return LawHooks();
}

}  // namespace sluice::control
