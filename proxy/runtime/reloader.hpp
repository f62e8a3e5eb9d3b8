#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "proxy/admin/command.hpp"
#include "proxy/config/config.hpp"

namespace sluice::proxy {

/// Changes the treatments of a running proxy: by a word, or from its file. What cannot change while it runs is refused
/// as a whole, with what it is. A change that must be confirmed and is not is taken back. Thread: the control thread.
class Reloader {
 public:
  /// Puts policies in force on every shard.
  using Apply = std::function<void(const Policies&)>;
  /// `config` is the one in force, and kept up to date. `file` is what reload reads; empty when there is none.
  Reloader(boost::asio::io_context& context, Config& config, std::string file, Apply apply)
      : config_(config), file_(std::move(file)), apply_(std::move(apply)), timer_(context) {}

  /// Arguments: a mode, and perhaps an interception. Only the bypass is accepted while a change is unconfirmed, which
  /// is taken back then.
  [[nodiscard]] admin::Answer mode(const std::vector<std::string>& words);
  /// Arguments: none, or --confirm-within and a duration.
  [[nodiscard]] admin::Answer reload(const std::vector<std::string>& words);
  /// Reads the file again for SIGHUP, which a log rotation sends too. Unlike reload(), refuses a file whose values are
  /// those of a change that was taken back.
  [[nodiscard]] admin::Answer reload_by_signal();
  [[nodiscard]] admin::Answer confirm();
  /// Takes an unconfirmed change back at once.
  [[nodiscard]] admin::Answer revert();
  /// True if the last reload is in force, or there has been none.
  [[nodiscard]] bool last_reload_successful() const { return last_reload_successful_; }
  /// A change waits for its confirmation.
  [[nodiscard]] bool unconfirmed() const { return before_.has_value(); }

 private:
  [[nodiscard]] admin::Answer change(Config next, std::optional<Duration> confirm_within);
  void put_in_force(const Config& next);
  /// Puts the configuration before the unconfirmed change in force again, and logs `why`.
  void take_back(const std::string& why);

  Config& config_;
  std::string file_;
  Apply apply_;
  boost::asio::steady_timer timer_;
  bool last_reload_successful_ = true;
  std::uint64_t trial_ = 0;                ///< number of the last change that had to be confirmed
  std::optional<Config> before_;           ///< what an unconfirmed change goes back to
  std::optional<std::string> taken_back_;  ///< values of the last change that was taken back, as YAML with secrets
};

}  // namespace sluice::proxy
