#pragma once

#include <cstdint>
#include <variant>

#include "dataplane/tcp/bbr.hpp"
#include "dataplane/tcp/bbr3.hpp"
#include "dataplane/tcp/congestion.hpp"
#include "dataplane/tcp/copa.hpp"
#include "dataplane/tcp/model_ack.hpp"

namespace sluice::tcp {

/// Model of the path of one connection with a model-based congestion control (ModelBased), held by value. The model
/// sets window and pacing rate. Class Bbr documents every hook.
class PathModel {
 public:
  /// Starts the model for `algorithm`; called when a connection starts. Does nothing if `algorithm` has no model, and
  /// no other function may be called then.
  void start(CongestionAlgorithm algorithm, const ModelStart& start);
  void seed(std::uint32_t cwnd, Duration srtt) {
    std::visit([&](auto& model) { model.seed(cwnd, srtt); }, model_);
  }
  [[nodiscard]] std::uint32_t on_ack(const ModelAck& ack, std::uint32_t cwnd) {
    return std::visit([&](auto& model) { return model.on_ack(ack, cwnd); }, model_);
  }
  void on_timeout(std::uint32_t cwnd) {
    std::visit([&](auto& model) { model.on_timeout(cwnd); }, model_);
  }
  void on_undo() {
    std::visit([](auto& model) { model.on_undo(); }, model_);
  }
  [[nodiscard]] std::uint32_t on_restart(bool app_limited, Instant now, std::uint32_t cwnd) {
    return std::visit([&](auto& model) { return model.on_restart(app_limited, now, cwnd); }, model_);
  }
  [[nodiscard]] Rate pacing_rate() const {
    return std::visit([](const auto& model) { return model.pacing_rate(); }, model_);
  }
  [[nodiscard]] bool limits_itself() const {
    return std::visit([](const auto& model) { return model.limits_itself(); }, model_);
  }

  /// Returns the model, which must be of the type that was started.
  template <class Model>
  [[nodiscard]] const Model& as() const {
    return std::get<Model>(model_);
  }

 private:
  std::variant<Bbr, Bbr3, Copa> model_;
};

}  // namespace sluice::tcp
