#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
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

  /// Arguments: a mode, and perhaps an interception.
  [[nodiscard]] admin::Answer mode(const std::vector<std::string>& words);
  /// Arguments: none, or --confirm-within and a duration.
  [[nodiscard]] admin::Answer reload(const std::vector<std::string>& words);
  [[nodiscard]] admin::Answer confirm();
  /// The last reload was put in force, or there has been none.
  [[nodiscard]] bool last_reload_successful() const { return last_reload_successful_; }
  /// A change waits for its confirmation.
  [[nodiscard]] bool unconfirmed() const { return before_.has_value(); }

 private:
  [[nodiscard]] admin::Answer change(Config next, std::optional<Duration> confirm_within);
  void put_in_force(const Config& next);
  void roll_back();

  Config& config_;
  std::string file_;
  Apply apply_;
  boost::asio::steady_timer timer_;
  bool last_reload_successful_ = true;
  std::optional<Config> before_;  ///< what an unconfirmed change goes back to
};

}  // namespace sluice::proxy
