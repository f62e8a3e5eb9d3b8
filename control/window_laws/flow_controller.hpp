#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <variant>

#include "control/window_laws/flow_controller_tables.hpp"
#include "control/window_laws/flow_controller_types.hpp"

namespace sluice::control {

enum class FlowControllerKind : std::uint8_t {
#define X(name, word, type, split, regulate, text) name,
  SLUICE_FLOW_CONTROLLERS(X)
#undef X
};

struct FlowControllerText {
  std::string_view word;
  bool split = false;
  bool regulate = false;
  std::string_view text;
  /// True if the window is also written into ACKs towards the UE, because flows of both directions share the buffer
  /// (FlowControllerHooks::both_ways).
  bool both_ways = false;

  /// true if the controller works without reports of the Node-B once the buffer size B is configured
  bool needs_buffer_only = false;
};
inline constexpr std::array flow_controller_table = {
#define X(name, word, type, split, regulate, text) \
  FlowControllerText{word, split, regulate, text, type::both_ways, type::needs_buffer_only},
    SLUICE_FLOW_CONTROLLERS(X)
#undef X
};
[[nodiscard]] constexpr const FlowControllerText& text_of(FlowControllerKind law) {
  return flow_controller_table[static_cast<std::size_t>(law)];
}

/// Returns the rule by which a controller counts the flows that share a queue.
[[nodiscard]] FlowCounting counting(FlowControllerKind law, const FlowControllerParameters& parameters);

/// Window controller of one flow, of any type in the table SLUICE_FLOW_CONTROLLERS. The object is a std::variant of
/// these types, and forwards calls of the functions that FlowControllerHooks lists. Not thread-safe.
class FlowController {
 public:
  /// Makes a controller of type `law` with `parameters` that pass validate(). Allocates nothing.
  FlowController(FlowControllerKind law, const FlowControllerParameters& parameters, const FlowControllerStart& start);

  [[nodiscard]] FlowControllerKind which() const { return static_cast<FlowControllerKind>(law_.index()); }
  void on_data(Bytes end) {
    std::visit([&](auto& law) { law.on_data(end); }, law_);
  }
  [[nodiscard]] AckRelease on_queue(const QueueView& queue, const FlowView& flow) {
    return std::visit([&](auto& law) { return law.on_queue(queue, flow); }, law_);
  }
  [[nodiscard]] AckRelease on_ack(const AckView& ack, const QueueView& queue, const FlowView& flow) {
    return std::visit([&](auto& law) { return law.on_ack(ack, queue, flow); }, law_);
  }
  void on_released(Bytes ack, Bytes window) {
    std::visit([&](auto& law) { law.on_released(ack, window); }, law_);
  }
  [[nodiscard]] Bytes window(Bytes ack, const QueueView& queue, const FlowView& flow) const {
    return std::visit([&](const auto& law) { return law.window(ack, queue, flow); }, law_);
  }
  void seed(Bytes window, const QueueView& queue) {
    std::visit([&](auto& law) { law.seed(window, queue); }, law_);
  }

  /// Returns the flow's largest segment, FlowControllerStart::segment.
  [[nodiscard]] Bytes segment() const { return segment_; }
  /// Calls visit(name, value) for each data member that changes after construction. The decision log, which records
  /// calls of controllers for a replay, stores and restores their state this way. Defined in
  /// control/decision_log/states.hpp.
  template <typename Self, typename Visit>
  static void fields(Self& self, Visit& visit);

 private:
  using Any = std::variant<
#define X(name, word, type, split, regulate, text) type,
      SLUICE_FLOW_CONTROLLERS(X)
#undef X
          FlowControllerHooks>;
  static Any make(FlowControllerKind law, const FlowControllerParameters& parameters, const FlowControllerStart& start);

  Any law_;
  Bytes segment_;
};
static_assert(sizeof(FlowController) <= 448, "there is one for every connection");

}  // namespace sluice::control
