// Serves the live page of sluice and nodeb: the HTML text, the history, the event stream and the mode switch.
// HttpServer calls answer() on the thread of its io_context. Invariant: the program is sampled only while a client
// watches, and the page loads nothing from other hosts.
#include "proxy/ops/http/live_page.hpp"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "proxy/ops/http/page_text.hpp"

namespace sluice::page {
namespace {

constexpr unsigned ok = 200;
constexpr unsigned bad_request = 400;
constexpr unsigned not_found = 404;
constexpr unsigned method_not_allowed = 405;
constexpr unsigned unavailable = 503;
constexpr auto look_period = std::chrono::milliseconds(500);

/// Returns the part of page.html between the first tag `begin` and the next tag `end`.
std::string_view between(std::string_view begin, std::string_view end) {
  const std::size_t first = page_text.find(begin) + begin.size();
  return page_text.substr(first, page_text.find(end, first) - first);
}

/// Returns the source expression that allows a script or style by its hash (Content Security Policy Level 3, section
/// 2.3.1).
std::string source_of(std::string_view text) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  std::array<unsigned char, 4 * ((SHA256_DIGEST_LENGTH + 2) / 3) + 1> base64{};
  const int length = EVP_EncodeBlock(base64.data(), digest.data(), digest.size());
  return "'sha256-" + std::string(base64.begin(), base64.begin() + length) + "'";
}

/// Returns a Content Security Policy that allows only the page's own script and style, and connections only to this
/// server.
std::string content_security_policy() {
  return "default-src 'none'; script-src " + source_of(between("<script>", "</script>")) + "; style-src " +
         source_of(between("<style>", "</style>")) +
         "; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
}

http::Response only(const std::string& method) {
  http::Response refused = http::plain(method_not_allowed, "only " + method + "\n");
  refused.headers.emplace_back("Allow", method);
  return refused;
}

/// True if `mode` could be the name of a mode: it has 1 to 64 characters, all of which are lower-case letters, hyphens
/// or blanks.
bool is_plausible(const std::string& mode) {
  constexpr std::size_t longest = 64;
  return !mode.empty() && mode.size() <= longest &&
         std::all_of(mode.begin(), mode.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '-' || c == ' '; });
}

}  // namespace

LivePage::LivePage(boost::asio::io_context& context, Access access, Program program, http::EventLimits limits)
    : guard_(std::move(access)),
      program_(std::move(program)),
      policy_(content_security_policy()),
      events_(context, limits),
      timer_(context) {}

std::optional<http::HttpServer::Reply> LivePage::answer(const http::Request& request) {
  const bool page = request.path == "/";
  const bool is_history = request.path == "/history";
  if (!page && !is_history && request.path != "/events" && request.path != "/mode") return std::nullopt;
  if (auto refused = page ? guard_.refuse_stranger(request) : guard_.refuse(request)) return *refused;
  if (page) return request.reads() ? show() : only("GET, HEAD");
  if (is_history) return show_history(request);
  return request.path == "/events" ? watch(request) : switch_mode(request);
}

http::Response LivePage::show() const {
  return {ok,
          "text/html; charset=utf-8",
          std::string(page_text),
          {{"Content-Security-Policy", policy_},
           {"X-Content-Type-Options", "nosniff"},
           {"X-Frame-Options", "DENY"},
           {"Referrer-Policy", "no-referrer"},
           {"Cross-Origin-Opener-Policy", "same-origin"},
           {"Cross-Origin-Resource-Policy", "same-origin"},
           {"Cache-Control", "no-store"}}};
}

http::Response LivePage::show_history(const http::Request& request) const {
  if (!request.reads()) return only("GET, HEAD");
  if (!program_.history) return http::plain(not_found, "no history is kept here\n");
  return {ok,
          "application/json",
          program_.history(),
          {{"X-Content-Type-Options", "nosniff"}, {"Cache-Control", "no-store"}}};
}

http::HttpServer::Reply LivePage::watch(const http::Request& request) {
  if (request.method != "GET") return only("GET");
  if (!events_.can_accept(request.client)) return http::plain(unavailable, "too many clients have the page open\n");
  // The first event follows once the stream has taken over the client.
  if (!std::exchange(is_collecting_, true)) schedule_look(std::chrono::milliseconds(0));
  return &events_;
}

http::Response LivePage::switch_mode(const http::Request& request) const {
  if (request.method != "POST") return only("POST");
  if (!program_.switch_mode) return http::plain(not_found, "page.switch_modes is false\n");
  if (!is_plausible(request.body)) return http::plain(bad_request, "a mode is expected, such as smvs\n");
  const std::optional<std::string> problem = program_.switch_mode(request.body);
  return problem ? http::plain(bad_request, *problem + "\n") : http::plain(ok, "");
}

void LivePage::look() {
  if (events_.empty()) {
    is_collecting_ = false;
    return;
  }
  program_.look([this](const std::string& seen) {
    events_.send(seen);
    schedule_look(look_period);
  });
}

void LivePage::schedule_look(std::chrono::milliseconds delay) {
  timer_.expires_after(delay);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) look();
  });
}

}  // namespace sluice::page
