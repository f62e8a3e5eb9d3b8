// Access control of the live pages: client address, Host, Origin and token. LivePage calls it for every request.
// Invariant: a request that changes something comes from the page itself, with the token. Threats: DNS rebinding and
// cross-site requests (Fetch Metadata, RFC 6454).
#include "proxy/ops/http/guard.hpp"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <cctype>
#include <utility>

#include "proxy/ops/http/target.hpp"

namespace sluice::page {
namespace {

constexpr unsigned unauthorized = 401;
constexpr unsigned forbidden = 403;
constexpr unsigned misdirected = 421;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return out;
}

/// Returns the host and port of an origin such as "http://host:80" (RFC 6454), without the scheme.
std::string_view host_of(std::string_view origin) {
  const std::size_t scheme = origin.find("://");
  return scheme == std::string_view::npos ? std::string_view() : origin.substr(scheme + 3);
}

/// True unless a header shows that a page of another site has sent the request. Browsers always send such a header;
/// other clients need not send one.
bool from_our_own_page(const http::Request& request) {
  const std::string& site = request.fetch_site;
  if (!site.empty() && site != "same-origin") return false;
  return request.origin.empty() || lower(host_of(request.origin)) == lower(request.host);
}

}  // namespace

Guard::Guard(Access access)
    : token_(digest_of(access.token)), beyond_loopback_(access.beyond_loopback), names_(std::move(access.names)) {
  for (std::string& name : names_) name = lower(name);
}

std::optional<http::Response> Guard::refuse_stranger(const http::Request& request) const {
  if (!beyond_loopback_ && !request.from_loopback) {
    return http::plain(forbidden, "the page is only for clients on this machine\n");
  }
  if (!is_allowed_host(request.host))
    return http::plain(misdirected, "this host has no such name; page.names lists further ones\n");
  return std::nullopt;
}

std::optional<http::Response> Guard::refuse(const http::Request& request) const {
  if (auto stranger = refuse_stranger(request)) return stranger;
  if (!from_our_own_page(request)) return http::plain(forbidden, "requests from pages of other sites are refused\n");
  if (!has_token(request.authorization)) {
    http::Response response = http::plain(unauthorized, "a token is needed\n");
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
    return response;
  }
  return std::nullopt;
}

/// True if the name in the header Host is an IP address, localhost or a configured name. IP addresses are allowed,
/// because DNS rebinding needs a name.
bool Guard::is_allowed_host(std::string_view host) const {
  const std::optional<http::Authority> authority = http::read_authority(host);
  if (!authority) return false;
  const std::string& name = authority->host;
  boost::system::error_code no_address;
  boost::asio::ip::make_address(name, no_address);
  return !no_address || name == "localhost" || std::find(names_.begin(), names_.end(), name) != names_.end();
}

/// True if the value of the header Authorization contains the token. Digests are compared, so that the duration of the
/// comparison reveals nothing about the token.
bool Guard::has_token(std::string_view authorization) const {
  constexpr std::string_view scheme = "Bearer ";
  if (!authorization.starts_with(scheme)) return false;
  const Digest given = digest_of(authorization.substr(scheme.size()));
  return CRYPTO_memcmp(given.data(), token_.data(), token_.size()) == 0;
}

Guard::Digest Guard::digest_of(std::string_view text) {
  Digest digest{};
  static_assert(sizeof digest == SHA256_DIGEST_LENGTH);
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return digest;
}

}  // namespace sluice::page
