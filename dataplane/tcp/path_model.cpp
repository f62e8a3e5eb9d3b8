#include "dataplane/tcp/path_model.hpp"

namespace sluice::tcp {

void PathModel::start(CongestionAlgorithm algorithm, const ModelStart& start) {
  const auto begin = [&]<class Hooks>(const Hooks&) {
    if constexpr (Hooks::model_based) model_.emplace<typename Hooks::Model>().start(start);
  };
  switch (algorithm) {
#define X(name, word, hooks, text) \
  case CongestionAlgorithm::name:  \
    begin(hooks{});                \
    break;
    SLUICE_CONGESTION_CONTROLS(X)
#undef X
  }
}

}  // namespace sluice::tcp
