#pragma once

#include "dataplane/units/time.hpp"

namespace sluice::emulator {

/// Discontinuous reception with the long cycle alone (TS 36.321 and TS 38.321, section 5.7). The defaults are common
/// values of TS 36.331 section 6.3.2: psf100, psf10, sf320.
struct DrxParameters {
  Duration inactivity = std::chrono::milliseconds(100);  ///< awake so long after the last grant, either way; >= 0
  Duration on = std::chrono::milliseconds(10);           ///< awake so long at the start of every cycle; > 0
  Duration cycle = std::chrono::milliseconds(320);       ///< >= on
};

/// Is told when a UE has something to do with its Node-B.
class DrxUser {
 public:
  /// The UE is awake, and was perhaps not a moment ago.
  virtual void on_active(Instant now) = 0;

 protected:
  ~DrxUser() = default;
};

/// When a UE listens. It is asleep at first, but for its cycles. Pure: time is an argument.
class Drx {
 public:
  /// `offset`: where in time its cycles begin, 0 … cycle. Throws std::invalid_argument when a parameter is out of its
  /// range.
  explicit Drx(const DrxParameters& parameters, Duration offset = Duration::zero());
  /// Sets who is told; null: nobody is.
  void set_user(DrxUser* user) { user_ = user; }

  /// The UE sends a scheduling request, or is given a TTI, up or down.
  void active(Instant now);
  [[nodiscard]] bool awake(Instant at) const { return next_awake(at) == at; }
  /// The first instant from `from` on at which it listens, if nothing wakes it before.
  [[nodiscard]] Instant next_awake(Instant from) const;

 private:
  DrxParameters parameters_;
  Duration offset_;
  Instant active_until_{};
  DrxUser* user_ = nullptr;
};

}  // namespace sluice::emulator
