#pragma once

#include <boost/asio/ip/address.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::http {

/// HTTP request as handlers see it. The fields are not trusted, because the client may write anything into them.
struct Request {
  std::string method;         ///< "GET", "HEAD", "POST" …
  std::string path;           ///< path of the target, without the query
  std::string host;           ///< authority of an absolute target, else the header Host; may be empty
  std::string origin;         ///< header Origin; may be empty
  std::string fetch_site;     ///< header Sec-Fetch-Site; may be empty
  std::string authorization;  ///< header Authorization; may be empty
  std::string accept;         ///< header Accept; may be empty
  std::string body;
  boost::asio::ip::address client{};  ///< address of the client
  bool from_loopback = false;         ///< True if the client is on this machine

  /// True if the request only reads: GET, or HEAD, which gets the same response without the body.
  [[nodiscard]] bool reads() const { return method == "GET" || method == "HEAD"; }
};

/// HTTP response of a handler.
struct Response {
  unsigned status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers{};  ///< headers in addition to those of every response
};

[[nodiscard]] inline Response plain(unsigned status, std::string text) {
  return {status, "text/plain; charset=utf-8", std::move(text)};
}

}  // namespace sluice::http
