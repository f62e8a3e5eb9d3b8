#pragma once

#include <boost/asio/ip/address.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::http {

/// HTTP request that is passed to a handler. Its fields must not be trusted, because the client determines them.
struct Request {
  std::string method;  ///< method of the request: "GET", "HEAD", "POST" …
  std::string path;    ///< path of the request's target, without the query
  /// host that the request names: the authority of an absolute target, or else the header Host; may be empty
  std::string host;
  std::string origin;         ///< value of the header Origin; may be empty
  std::string fetch_site;     ///< value of the header Sec-Fetch-Site; may be empty
  std::string authorization;  ///< value of the header Authorization; may be empty
  std::string accept;         ///< value of the header Accept; may be empty
  std::string body;
  boost::asio::ip::address client{};  ///< IP address of the client
  bool from_loopback = false;         ///< true if the client is on this machine

  /// True if the request reads only: GET or HEAD. HEAD gets the response to GET without its body.
  [[nodiscard]] bool reads() const { return method == "GET" || method == "HEAD"; }
};

/// HTTP response that a handler returns.
struct Response {
  unsigned status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;

  /// additional headers of this response, besides those that every response has
  std::vector<std::pair<std::string, std::string>> headers{};
};

[[nodiscard]] inline Response plain(unsigned status, std::string text) {
  return {status, "text/plain; charset=utf-8", std::move(text)};
}

}  // namespace sluice::http
