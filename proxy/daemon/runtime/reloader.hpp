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

/// Changes the policies of a running proxy by a command or from its configuration file. If anything differs that cannot
/// change at run time, the whole change is refused and the keys are named. A change that is not confirmed in time is
/// reverted. Thread: the control thread.
class Reloader {
 public:
  /// Function that activates policies on every shard.
  using Apply = std::function<void(const Policies&)>;
  /// Keeps references to its arguments. `config` is the active configuration, which every change updates. `file` is the
  /// path that reload() reads; empty if there is none.
  Reloader(boost::asio::io_context& context, Config& config, std::string file, Apply apply)
      : config_(config), file_(std::move(file)), apply_(std::move(apply)), timer_(context) {}

  /// Changes the mode, and optionally whether connections are split, as given in `words`. While a change is
  /// unconfirmed, only mode bypass is accepted; it reverts the change.
  [[nodiscard]] admin::Answer mode(const std::vector<std::string>& words);
  /// Returns every mode, with the reason if the configuration does not allow it. Computed once for each configuration.
  [[nodiscard]] const std::vector<ModeOffer>& modes();
  /// Reads the configuration file again and activates it. `words` is empty, or contains --confirm-within and a
  /// duration.
  [[nodiscard]] admin::Answer reload(const std::vector<std::string>& words);
  /// Reads the configuration file again because of SIGHUP, which log rotation also sends. Unlike reload(), refuses a
  /// file with the values of a reverted change.
  [[nodiscard]] admin::Answer reload_by_signal();
  [[nodiscard]] admin::Answer confirm();
  /// Reverts an unconfirmed change at once.
  [[nodiscard]] admin::Answer revert();
  /// True if the last reload succeeded, or if there was none.
  [[nodiscard]] bool last_reload_successful() const { return last_reload_successful_; }
  /// True while a change waits for its confirmation.
  [[nodiscard]] bool unconfirmed() const { return before_.has_value(); }

 private:
  /// Returns the active configuration with another mode and interception, checked as if its file contained them.
  [[nodiscard]] config::Loaded<Config> with_mode(const std::string& mode, const std::string& intercept) const;
  [[nodiscard]] admin::Answer change(Config next, std::optional<Duration> confirm_within);
  void activate(const Config& next);
  /// Reverts the unconfirmed change and logs `why`. The configuration before the change is active again.
  void take_back(const std::string& why);

  Config& config_;
  std::string file_;
  Apply apply_;
  boost::asio::steady_timer timer_;
  bool last_reload_successful_ = true;
  std::uint64_t trial_ = 0;       ///< number of changes so far that required confirmation; identifies the newest one
  std::vector<ModeOffer> modes_;  ///< modes that the active configuration offers; empty until the first request
  std::optional<Config> before_;  ///< configuration before the unconfirmed change; not set if there is none

  /// values of the last reverted change, as YAML with secrets; not set if there is none
  std::optional<std::string> taken_back_;
};

}  // namespace sluice::proxy
