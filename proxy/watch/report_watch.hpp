#pragma once

#include <cstdint>

#include "dataplane/units/time.hpp"

namespace sluice::proxy {

/// Sees that the loop is open: a mode needs the Node-B's reports, and nobody is heard. Thread: the control thread.
class ReportWatch {
 public:
  /// So long may a Node-B be silent. Reports come many times a second.
  static constexpr Duration limit = std::chrono::seconds(1);

  enum class Event : std::uint8_t {
    none,
    silent,      ///< nobody has been heard for `limit`; told once
    heard_again  ///< after a silence that was told
  };
  /// `needed`: what is in force needs reports. `accepted`: how many messages of Node-Bs were taken so far. To be called
  /// about once a second.
  [[nodiscard]] Event look(bool needed, std::uint64_t accepted, Instant now);
  /// For how long nobody has been heard, or was before heard_again; zero while nobody is needed.
  [[nodiscard]] Duration silence() const { return silence_; }

 private:
  Instant quiet_since_ = never;  ///< nothing came after it; never while no reports are needed
  std::uint64_t accepted_ = 0;
  bool told_ = false;
  Duration silence_{};
};

}  // namespace sluice::proxy
