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

/// Changes the policies of a running proxy by a command or from its file. If anything differs that cannot change at
/// run time, the whole change is refused with the keys. A change that is not confirmed in time is reverted. Thread:
/// the control thread.
class Reloader {
 public:
  /// Activates policies on every shard.
  using Apply = std::function<void(const Policies&)>;
  /// `config` is the active configuration, which changes update. `file` is what reload() reads; empty if there is
  /// none.
  Reloader(boost::asio::io_context& context, Config& config, std::string file, Apply apply)
      : config_(config), file_(std::move(file)), apply_(std::move(apply)), timer_(context) {}

  /// Changes the mode, and optionally the interception, as given in `words`. While a change is unconfirmed only
  /// bypass is accepted, which reverts that change.
  [[nodiscard]] admin::Answer mode(const std::vector<std::string>& words);
  /// Every mode, and why the configuration does not allow the others. Computed once for each configuration.
  [[nodiscard]] const std::vector<ModeOffer>& modes();
  /// Reads the file again. `words` is empty, or --confirm-within and a duration.
  [[nodiscard]] admin::Answer reload(const std::vector<std::string>& words);
  /// Reads the file again for SIGHUP, which log rotation also sends. Unlike reload(), refuses a file with the values
  /// of a reverted change.
  [[nodiscard]] admin::Answer reload_by_signal();
  [[nodiscard]] admin::Answer confirm();
  /// Reverts an unconfirmed change at once.
  [[nodiscard]] admin::Answer revert();
  /// True if the last reload is active, or if there was none.
  [[nodiscard]] bool last_reload_successful() const { return last_reload_successful_; }
  /// True while a change waits for its confirmation.
  [[nodiscard]] bool unconfirmed() const { return before_.has_value(); }

 private:
  /// The configuration as if its file named this mode and interception: every rule of it holds.
  [[nodiscard]] config::Loaded<Config> with_mode(const std::string& mode, const std::string& intercept) const;
  [[nodiscard]] admin::Answer change(Config next, std::optional<Duration> confirm_within);
  void activate(const Config& next);
  /// Activates the configuration before the unconfirmed change again, and logs `why`.
  void take_back(const std::string& why);

  Config& config_;
  std::string file_;
  Apply apply_;
  boost::asio::steady_timer timer_;
  bool last_reload_successful_ = true;
  std::uint64_t trial_ = 0;                ///< number of the last change that had to be confirmed
  std::vector<ModeOffer> modes_;           ///< offers of the active configuration; empty until the first request
  std::optional<Config> before_;           ///< configuration before the unconfirmed change
  std::optional<std::string> taken_back_;  ///< values of the last reverted change, as YAML with secrets
};

}  // namespace sluice::proxy
