#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "proxy/config/config.hpp"
#include "proxy/daemon/status/live_view.hpp"
#include "proxy/ops/admin/command.hpp"

namespace sluice::proxy {

/// Changes the policies of a running proxy, by command or from its configuration file. If a setting differs that cannot
/// change at run time, the whole change is refused and the error names the keys. A change that must be confirmed is
/// reverted if no confirmation arrives in time. Thread: the control thread.
class Reloader {
 public:
  /// Function that activates policies on every shard.
  using Apply = std::function<void(const Policies&)>;
  /// Keeps references to `context` and `config`. `config` is the active configuration, which every change updates.
  /// `file` is the path of the configuration file that reload() reads; empty if there is none. `apply` activates
  /// policies on every shard.
  Reloader(boost::asio::io_context& context, Config& config, std::string file, Apply apply)
      : config_(config), file_(std::move(file)), apply_(std::move(apply)), timer_(context) {}

  /// Changes the mode. `words` contains the mode and optionally whether connections are split; without words, only
  /// returns the present mode. While another change is unconfirmed, only mode bypass is accepted, and it reverts the
  /// unconfirmed change.
  [[nodiscard]] admin::Answer mode(const std::vector<std::string>& words);
  /// Returns every mode, with the reason for each mode that the configuration does not allow. The list is computed once
  /// for each active configuration.
  [[nodiscard]] const std::vector<ModeAvailability>& modes();
  /// Reads the configuration file again and activates it. `words` is empty, or contains --confirm-within and a
  /// duration, within which the change must be confirmed.
  [[nodiscard]] admin::Answer reload(const std::vector<std::string>& words);
  /// Reads the configuration file again after SIGHUP. Unlike reload(), it refuses a file with the values of a reverted
  /// change, because log rotation also sends SIGHUP.
  [[nodiscard]] admin::Answer reload_by_signal();
  [[nodiscard]] admin::Answer confirm();
  /// Reverts an unconfirmed change at once, by command.
  [[nodiscard]] admin::Answer revert();
  /// True if the last reload succeeded, or if there was no reload yet.
  [[nodiscard]] bool last_reload_successful() const { return last_reload_successful_; }
  /// True while a change waits for its confirmation.
  [[nodiscard]] bool unconfirmed() const { return before_.has_value(); }

 private:
  /// Returns the active configuration, but with the given mode and the given choice whether connections are split (key
  /// `intercept`). While a change is unconfirmed, the configuration before that change is used instead. The result is
  /// checked like a configuration file.
  [[nodiscard]] config::Loaded<Config> with_mode(const std::string& mode, const std::string& intercept) const;
  [[nodiscard]] admin::Answer change(Config next, std::optional<Duration> confirm_within);
  void activate(const Config& next);
  /// Restores the configuration that was active before the unconfirmed change, and logs `why`.
  void take_back(const std::string& why);

  Config& config_;
  std::string file_;
  Apply apply_;
  boost::asio::steady_timer timer_;
  bool last_reload_successful_ = true;
  /// number of the newest change that had to be confirmed; a timer reverts a change only if it is still the newest
  std::uint64_t trial_ = 0;
  /// every mode, and whether the active configuration allows it; empty until the first request
  std::vector<ModeAvailability> modes_;
  std::optional<Config> before_;  ///< configuration before the unconfirmed change; not set if there is none

  /// YAML, with secrets, of the configuration that was reverted last; not set if none was reverted
  std::optional<std::string> taken_back_;
};

}  // namespace sluice::proxy
