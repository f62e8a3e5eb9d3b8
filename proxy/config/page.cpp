#include "proxy/config/page.hpp"

#include <algorithm>
#include <string_view>

#include "proxy/config/secret_file.hpp"

namespace sluice::config {
namespace {

/// True if `text` can be the secret token of a live page. It must have 32 to 256 characters, so that it cannot be
/// guessed: only letters, digits, - and _, which are valid unescaped in headers and URLs.
bool is_token(std::string_view text) {
  constexpr std::size_t shortest = 32;
  constexpr std::size_t longest = 256;
  const auto is_plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  };
  return text.size() >= shortest && text.size() <= longest && std::all_of(text.begin(), text.end(), is_plain);
}

/// True if a client on this machine can reach a server at this address through the loopback interface.
bool reached_by_loopback(const IpAddress& address) {
  const auto& octets = address.octets;
  const bool any =
      std::all_of(octets.begin() + (address.is_v4() ? 12 : 0), octets.end(), [](auto o) { return o == 0; });
  if (any) return true;
  if (address.is_v4()) return octets[12] == 127;
  return octets.back() == 1 && std::all_of(octets.begin(), octets.end() - 1, [](auto o) { return o == 0; });
}

}  // namespace

void describe(Section& s, PageConfig& page) {
  s.required().value(
      "token_file", page.token_file,
      "file whose first line is a token of 32 or more letters and digits (openssl rand -hex 16), readable only by "
      "owner and group; relative to this file's folder. Clients of the page need the token");
  s.value("beyond_loopback", page.beyond_loopback,
          "clients on other machines may open the page; the connection is not encrypted");
  s.list("names", page.names, {0, 16},
         "host names of this machine that requests may contain, besides its addresses and localhost; other names are "
         "refused");
  if (!s.reading() || page.token_file.empty()) return;
  const std::string path = s.resolve(page.token_file);
  s.check(!open_to_others(path), "token_file",
          "a file that only its owner and group may read (chmod o-rw " + path + ")", "a file that everybody may read");
  const std::optional<std::string> token = read_secret(s, "token_file", path);
  if (!token) return;
  s.check(is_token(*token), "token_file", "a first line of 32 to 256 letters, digits, - and _",
          std::to_string(token->size()) + " characters");
  page.token = *token;
}

void check_reach(Section& s, const PageConfig& page, const SocketAddress& listen, const std::string& key) {
  s.check(page.beyond_loopback || reached_by_loopback(listen.address), key,
          "an address of the loopback interface, or beyond_loopback: true of the page", listen.address.to_string());
}

}  // namespace sluice::config
