// Applies changes of the configuration at run time: `mode`, `reload`, `confirm`, `revert` and SIGHUP. Invariant: a
// change is applied as a whole or not at all, and only one change at a time may be unconfirmed.
#include "proxy/daemon/runtime/reloader.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

namespace sluice::proxy {
namespace {

using admin::Answer;
using admin::Json;

constexpr const char* note =
    "running connections continue with the new controller. Split connections that the new mode does not split are "
    "handed back once idle; end-to-end ones are split at their next pause (blocked_by in flows --wide); tcp.* applies "
    "to "
    "connections that are split from now on";

constexpr const char* unconfirmed_note =
    "the last change is not confirmed yet; confirm keeps it, revert and mode bypass undo it at once";

std::string joined(const std::vector<config::Error>& errors) {
  std::string text;
  for (const config::Error& error : errors) text += (text.empty() ? "" : "; ") + error.to_string();
  return text;
}

Json to_json(const std::vector<ConfigChange>& changes) {
  Json list = Json::array();
  for (const ConfigChange& change : changes) {
    list.push_back({{"key", change.key}, {"before", change.before}, {"after", change.after}});
  }
  return list;
}

}  // namespace

Answer Reloader::mode(const std::vector<std::string>& words) {
  if (words.empty()) return Answer::success(std::string(to_string(config_.shard.mode)));
  config::Loaded<Config> next = with_mode(words[0], words.size() > 1 ? words[1] : "auto");
  if (!next) return Answer::failure(joined(next.errors));
  // The bypass is for emergencies, so it is activated at once and reverts the unconfirmed change, which may be the
  // cause.
  if (unconfirmed() && next->shard.mode == Mode::bypass) take_back("replaced by bypass");
  return change(std::move(*next), std::nullopt);
}

config::Loaded<Config> Reloader::with_mode(const std::string& mode, const std::string& intercept) const {
  std::vector<config::Error> errors;
  const Config& base = before_ ? *before_ : config_;
  config::Node root = config::parse_document(print_config(base, config::Secrets::show), file_, errors);
  for (config::Entry& entry : root.entries) {
    if (entry.key == "mode") entry.value.text = mode;
    if (entry.key == "intercept") entry.value.text = intercept;
  }
  return config::parse<Config>(root, file_.empty() ? "mode" : file_);
}

const std::vector<ModeAvailability>& Reloader::modes() {
  // If a file with a secret cannot be read, no mode is allowed, not even the present one. Such a list is not kept,
  // because the file may become readable.
  const auto is_present = [this](const ModeAvailability& offer) {
    return offer.mode == config_.shard.mode && offer.why_not.empty();
  };
  if (std::ranges::any_of(modes_, is_present)) return modes_;
  modes_.clear();
  for (const ModeText& mode : mode_table) {
    std::string why_not;
    for (config::Error& error : with_mode(std::string(mode.key), "auto").errors) {
      // This check reads the printed configuration, so the line numbers in its errors are not those of the file.
      error.place = {};
      error.file = "the file";
      why_not += (why_not.empty() ? "" : "; ") + error.to_string();
    }
    modes_.push_back({mode.mode, std::move(why_not)});
  }
  return modes_;
}

Answer Reloader::reload(const std::vector<std::string>& words) {
  std::optional<Duration> confirm_within;
  if (!words.empty()) {
    if (words.size() == 2 && words[0] == "--confirm-within") confirm_within = config::Scalar<Duration>::parse(words[1]);
    if (!confirm_within || *confirm_within <= Duration::zero() || *confirm_within > std::chrono::hours(1)) {
      return Answer::failure("usage: reload [--confirm-within DURATION], such as 30s, at most 1h");
    }
  }
  if (file_.empty()) return Answer::failure("there is no file to read again");
  config::Loaded<Config> next = load_config(file_);
  Answer answer = next ? change(std::move(*next), confirm_within) : Answer::failure(joined(next.errors));
  last_reload_successful_ = answer.ok;
  if (answer.ok) taken_back_.reset();
  return answer;
}

Answer Reloader::reload_by_signal() {
  if (unconfirmed()) return Answer::failure(unconfirmed_note);
  if (file_.empty()) return Answer::failure("there is no file to read again");
  config::Loaded<Config> next = load_config(file_);
  Answer answer;
  if (!next)
    answer = Answer::failure(joined(next.errors));
  else if (print_config(*next, config::Secrets::show) == taken_back_)
    answer = Answer::failure(
        file_ +
        " still contains the change that was taken back; correct the file, or activate it with sluicectl reload");
  else
    answer = change(std::move(*next), std::nullopt);
  last_reload_successful_ = answer.ok;
  return answer;
}

Answer Reloader::change(Config next, std::optional<Duration> confirm_within) {
  if (unconfirmed()) return Answer::failure(unconfirmed_note);
  const std::vector<ConfigChange> changes = difference(config_, next);
  if (changes.empty()) return Answer::success("nothing has changed");
  std::string fixed;
  for (const ConfigChange& change : changes) {
    if (!change.live) fixed += (fixed.empty() ? "" : ", ") + change.key;
  }
  if (!fixed.empty()) return Answer::failure("only a restart can change " + fixed + "; nothing was changed");
  if (confirm_within) {
    before_ = config_;
    timer_.expires_after(std::chrono::duration_cast<boost::asio::steady_timer::duration>(*confirm_within));
    // If the timer has expired but its handler has not run yet, cancel() has no effect, so the handler compares the
    // number.
    timer_.async_wait([this, trial = ++trial_](const boost::system::error_code& error) {
      if (!error && trial == trial_) take_back("not confirmed in time");
    });
  }
  activate(next);
  for (const ConfigChange& change : changes) {
    spdlog::info("configuration: {}: {} → {}", change.key, change.before, change.after);
  }
  Json answer = {{"changed", to_json(changes)}, {"note", note}};
  if (confirm_within) answer["taken_back_after"] = config::Scalar<Duration>::format(*confirm_within);
  return Answer::success(std::move(answer));
}

Answer Reloader::confirm() {
  if (!unconfirmed()) return Answer::failure("no change needs confirmation");
  before_.reset();
  modes_.clear();
  timer_.cancel();
  spdlog::info("configuration: confirmed");
  return Answer::success("confirmed");
}

Answer Reloader::revert() {
  if (!unconfirmed()) return Answer::failure("no change needs confirmation, so none can be taken back");
  take_back("reverted");
  return Answer::success("taken back; " + file_ + " still contains the change");
}

void Reloader::activate(const Config& next) {
  config_ = next;
  modes_.clear();
  apply_(next.shard.policy_set());
}

void Reloader::take_back(const std::string& why) {
  if (!unconfirmed()) return;
  timer_.cancel();
  taken_back_ = print_config(config_, config::Secrets::show);
  last_reload_successful_ = false;
  const Config before = std::move(*before_);
  before_.reset();
  activate(before);
  spdlog::warn("configuration: the last change was {} and is taken back; a SIGHUP does not activate it again", why);
}

}  // namespace sluice::proxy
