#include "proxy/config/feedback.hpp"

#include <algorithm>
#include <filesystem>

#include "control/feedback/epoch_file.hpp"
#include "control/feedback/session.hpp"

namespace sluice::config {
namespace {

using namespace std::chrono_literals;

/// The first line of a secret's file.
std::string first_line(std::string text) {
  text.resize(std::min(text.find_first_of("\r\n"), text.size()));
  return text;
}

void read_secret_file(Section& s, KeyConfig& key, std::optional<control::feedback::Key>& parsed) {
  const std::string path = s.resolve(*key.secret_file);
  std::vector<Error> errors;
  const std::string text = first_line(read_text(path, 4096, errors));
  s.check(errors.empty(), "secret_file", "a readable file", errors.empty() ? "" : errors.front().to_string());
  if (!errors.empty()) return;
  std::error_code failure;
  const auto permissions = std::filesystem::status(path, failure).permissions();
  s.advise((permissions & std::filesystem::perms::others_read) == std::filesystem::perms::none, "secret_file",
           "a file that only its owner may read (chmod 600 " + path + ")", "one that everybody may");
  parsed = control::feedback::Key::from_hex(key.id, text);
  s.check(parsed.has_value(), "secret_file", "a file of 32 hexadecimal digits or more (openssl rand -hex 32)", path);
}

}  // namespace

void describe(Section& s, KeyConfig& key) {
  s.required().value("id", key.id, "the key's number, the same on both sides");
  s.secret().value("secret", key.secret, "32 hexadecimal digits or more (openssl rand -hex 32)");
  s.value("secret_file", key.secret_file, "a file whose first line holds them; relative to this file's folder");
  s.check(key.secret.has_value() != key.secret_file.has_value(), "", "either secret or secret_file",
          key.secret ? "both" : "neither");
  if (!s.reading() || key.secret.has_value() == key.secret_file.has_value()) return;
  std::optional<control::feedback::Key> parsed;
  if (key.secret) {
    parsed = control::feedback::Key::from_hex(key.id, *key.secret);
    s.check(parsed.has_value(), "secret", "32 hexadecimal digits or more, an even number",
            std::to_string(key.secret->size()) + " characters");
  } else {
    read_secret_file(s, key, parsed);
  }
  if (parsed) key.bytes = std::move(parsed->secret);
}

void describe(Section& s, FeedbackConfig& feedback) {
  s.required().value("listen", feedback.listen, "where datagrams are received; port 0 = any");
  s.list("peers", feedback.peers, {0, 64}, "who is always sent to");
  s.value("learn_peers", feedback.learn_peers, "also send to where each authenticated sender was last heard from");
  s.value("sender", feedback.sender, {1, UINT64_MAX}, "this program's id, different from every peer's");
  s.required().sections("keys", feedback.keys, {1, 64}, "the shared secrets that are accepted");
  s.value("send_key", feedback.send_key, "id of the key that this side signs with; the first when not set");
  s.value("max_datagram", feedback.max_datagram, {Bytes(256), Bytes(1400)}, "longest UDP payload sent");
  s.value(
      "epoch_file", feedback.epoch_file,
      "keeps the epoch of the last start, so that the peers go on believing this sender when the clock has gone back "
      "since; relative to this file's folder; none when not set");
  s.value("status_period", feedback.status_period, {1ms, 10s}, "how often the other side is told about each bearer");
  if (!s.reading()) return;
  if (feedback.epoch_file) feedback.epoch_path = s.resolve(*feedback.epoch_file);
  const auto has_id = [&feedback](std::uint32_t id) {
    return std::count_if(feedback.keys.begin(), feedback.keys.end(), [id](const KeyConfig& k) { return k.id == id; });
  };
  for (const KeyConfig& key : feedback.keys) {
    if (has_id(key.id) == 1) continue;
    s.check(false, "keys", "every id once", "id " + std::to_string(key.id) + " repeated");
    break;
  }
  s.check(!feedback.send_key || has_id(*feedback.send_key) > 0, "send_key", "the id of one of the keys",
          std::to_string(feedback.send_key.value_or(0)));
  s.check(feedback.learn_peers || !feedback.peers.empty(), "peers", "at least one, or learn_peers: true", "none");
}

std::vector<control::feedback::Key> FeedbackConfig::session_keys() const {
  std::vector<control::feedback::Key> result;
  for (const KeyConfig& key : keys) result.push_back({key.id, key.bytes});
  return result;
}

std::uint64_t FeedbackConfig::session_epoch(std::uint64_t wall_clock_ns) const {
  return epoch_file ? control::feedback::begin_epoch(epoch_path, wall_clock_ns)
                    : control::feedback::next_epoch({}, wall_clock_ns);
}

std::uint32_t FeedbackConfig::session_send_key() const {
  return send_key.value_or(keys.empty() ? 0 : keys.front().id);
}

}  // namespace sluice::config
