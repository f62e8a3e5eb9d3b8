// Parses request targets and the header Host, which decide whether the live page answers. HttpServer and the page's
// Guard call it. Invariant: a text that cannot be read in exactly one way is rejected (RFC 9112 section 3.2, RFC 3986
// section 3.2.2).
#include "proxy/ops/http/target.hpp"

#include <algorithm>
#include <boost/asio/ip/address_v6.hpp>

namespace sluice::http {
namespace {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

constexpr bool is_hex(char c) {
  return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f');
}

/// True if `text` is a registered name (reg-name, RFC 3986 section 3.2.2). Every IPv4 address is a reg-name, too.
bool is_name(std::string_view text) {
  constexpr std::string_view marks = "-._~!$&'()*+,;=";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%') {
      if (text.size() - i < 3 || !is_hex(text[i + 1]) || !is_hex(text[i + 2])) return false;
      i += 2;
    } else if (!is_digit(c) && (lower(c) < 'a' || lower(c) > 'z') && marks.find(c) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

bool is_ipv6(std::string_view text) {
  if (text.find('%') != std::string_view::npos) return false;
  boost::system::error_code no_address;
  boost::asio::ip::make_address_v6(std::string(text), no_address);
  return !no_address;
}

/// True if `text` is valid after a host: empty, or a colon and up to five digits of a port number.
bool is_port_part(std::string_view text) {
  constexpr std::size_t max_digits = 5;
  if (text.empty()) return true;
  const std::string_view digits = text.substr(1);
  return text.front() == ':' && digits.size() <= max_digits && std::all_of(digits.begin(), digits.end(), is_digit);
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) { return lower(c); });
  return out;
}

}  // namespace

std::optional<Authority> read_authority(std::string_view text) {
  const bool literal = text.starts_with('[');
  const std::size_t end = std::min(text.find(literal ? ']' : ':'), text.size());
  if (literal && end == text.size()) return std::nullopt;
  const std::string_view host = literal ? text.substr(1, end - 1) : text.substr(0, end);
  const std::string_view port = text.substr(literal ? end + 1 : end);
  if (!is_port_part(port) || !(literal ? is_ipv6(host) : is_name(host))) return std::nullopt;
  return Authority{lower(host), std::string(port.empty() ? port : port.substr(1))};
}

std::optional<Target> read_target(std::string_view text) {
  constexpr std::string_view scheme = "http://";
  if (text.find('#') != std::string_view::npos) return std::nullopt;
  if (text == "*") return Target{"*", {}};
  if (text.starts_with('/')) return Target{std::string(text.substr(0, text.find('?'))), {}};
  if (lower(text.substr(0, scheme.size())) != scheme) return std::nullopt;
  const std::string_view rest = text.substr(scheme.size());
  const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
  const std::string_view authority = rest.substr(0, end);
  const std::optional<Authority> read = read_authority(authority);
  if (!read || read->host.empty()) return std::nullopt;
  const std::string_view path = rest.substr(end, rest.find('?') - end);
  return Target{path.empty() ? "/" : std::string(path), std::string(authority)};
}

}  // namespace sluice::http
