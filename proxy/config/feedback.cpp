// Declares and checks the keys of the feedback protocol, for the proxy and for the Node-B. config::load() calls it.
// Invariant: a configuration that was accepted has a usable key, each id once, and no secret that other users can
// read unless that is allowed explicitly.
#include "proxy/config/feedback.hpp"

#include <algorithm>
#include <array>

#include "control/feedback/epoch_file.hpp"
#include "control/feedback/session.hpp"
#include "proxy/config/secret_file.hpp"

namespace sluice::config {
namespace {

using namespace std::chrono_literals;
using control::feedback::TagAlgorithm;

constexpr Choice<TagAlgorithm> algorithms[] = {
    {"hmac-sha-256", TagAlgorithm::hmac_sha_256, "HMAC-SHA-256, truncated to 128 bits"},
    {"aes-256-gmac", TagAlgorithm::aes_256_gmac,
     "AES-256-GMAC with a key derived at each start; costs less if there are many UEs"}};

void read_secret_file(Section& s, KeyConfig& key, std::optional<control::feedback::Key>& parsed) {
  const std::string path = s.resolve(*key.secret_file);
  const std::optional<std::string> text = read_secret(s, "secret_file", path);
  if (!text) return;
  parsed = control::feedback::Key::from_hex(key.id, *text);
  s.check(parsed.has_value(), "secret_file", "a file of 32 hexadecimal digits or more (openssl rand -hex 32)", path);
}

}  // namespace

void describe(Section& s, KeyConfig& key) {
  s.required().value("id", key.id, "key id, equal on both sides");
  s.secret().value("secret", key.secret, "32 hexadecimal digits or more (openssl rand -hex 32)");
  s.value("secret_file", key.secret_file, "file whose first line holds these digits; relative to this file's folder");
  s.choice("algorithm", key.algorithm, algorithms, "algorithm that signs datagrams with this key, equal on both sides");
  s.list("learn_from", key.learn_from, {0, 64},
         "prefixes from which a sender that signs with this key may be learned, see learn_peers; statuses go to no "
         "other address");
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

namespace {

/// Refuses a configuration file or secret file that contains a secret and that every user of the machine can read.
void check_secrecy(Section& s, const FeedbackConfig& feedback) {
  if (feedback.allow_readable_secrets) return;
  const auto check = [&s](const std::string& file, const std::string& key) {
    s.check(!open_to_others(file), key,
            "a file that only its owner and group may read (chmod o-rw " + file + "), or allow_readable_secrets: true",
            "a file that everybody may read");
  };
  for (std::size_t i = 0; i < feedback.keys.size(); ++i) {
    const KeyConfig& key = feedback.keys[i];
    const std::string at = "keys[" + std::to_string(i) + "]";
    if (key.secret) check(s.file_with(at + ".secret"), at + ".secret");
    if (key.secret_file) check(s.resolve(*key.secret_file), at + ".secret_file");
  }
}

}  // namespace

void describe(Section& s, FeedbackConfig& feedback) {
  s.required().value("listen", feedback.listen, "local address for datagrams; port 0 = any free port");
  s.list("peers", feedback.peers, {0, 64}, "peers that always receive datagrams");
  s.value("learn_peers", feedback.learn_peers,
          "datagrams also go to source addresses of authenticated datagrams, if learn_from of their key contains the "
          "address");
  s.value("most_learned", feedback.most_learned, {1, 1024}, "most addresses that are learned");
  s.value("sender", feedback.sender, {1, UINT64_MAX}, "sender id of this program, different from that of every peer");
  s.required().sections("keys", feedback.keys, {1, 64}, "shared secrets that are accepted");
  s.value("send_key", feedback.send_key, "id of the key that this side signs with; the first when not set");
  s.value("max_datagram", feedback.max_datagram, {Bytes(256), Bytes(std::int64_t{control::feedback::largest_datagram})},
          "longest UDP payload sent; above 1400B only to peers that announce support, and for paths with jumbo frames");
  s.value("epoch_file", feedback.epoch_file,
          "file that stores the epoch of the last start, so that peers accept this sender after its clock went back; "
          "relative to this file's folder; not set: no file");
  s.value("status_period", feedback.status_period, {1ms, 10s}, "interval of statuses about each bearer");
  s.value("largest_rate", feedback.largest.rate, {Rate::bits_per_second(1e3), control::feedback::fastest_plausible},
          "largest rate of a UE's radio link; a report with a larger one is refused and counted");
  s.value("largest_queue", feedback.largest.queue, {Bytes(1500), control::feedback::max_plausible},
          "largest queue of a UE at the Node-B, and largest grant; a report with a larger one is refused and counted");
  s.value("allow_readable_secrets", feedback.allow_readable_secrets,
          "secrets from files that everybody on this machine may read are accepted; for keys that need not be secret");
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
  for (const KeyConfig& key : feedback.keys) {
    const bool twice = std::any_of(feedback.keys.begin(), feedback.keys.end(), [&key](const KeyConfig& other) {
      return key.bytes == other.bytes && !key.bytes.empty() && key.algorithm != other.algorithm;
    });
    if (!twice) continue;
    s.check(false, "keys", "a secret of its own for each algorithm",
            "that of id " + std::to_string(key.id) + " with both");
    break;
  }
  s.check(!feedback.send_key || has_id(*feedback.send_key) > 0, "send_key", "the id of one of the keys",
          std::to_string(feedback.send_key.value_or(0)));
  check_secrecy(s, feedback);
  s.check(feedback.learn_peers || !feedback.peers.empty(), "peers", "at least one, or learn_peers: true", "none");
}

void describe(Section& s, ProxyFeedbackConfig& feedback) {
  using control::feedback::report_source_table;
  static constexpr std::array sources = [] {
    std::array<Choice<control::feedback::ReportSourceKind>, report_source_table.size()> choices;
    for (std::size_t i = 0; i < choices.size(); ++i) {
      const auto& row = report_source_table.at(i);
      choices.at(i) = {row.word, row.kind, row.text};
    }
    return choices;
  }();
  s.choice("source", feedback.source, sources, "the format of the reports");
  describe(s, static_cast<FeedbackConfig&>(feedback));
}

std::vector<control::feedback::Key> FeedbackConfig::session_keys() const {
  std::vector<control::feedback::Key> result;
  for (const KeyConfig& key : keys) result.push_back({key.id, key.bytes, key.algorithm});
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
