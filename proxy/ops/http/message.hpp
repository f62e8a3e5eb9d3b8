#pragma once

#include <boost/asio/ip/address.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::http {

/// HTTP request in the form that handlers receive. The fields are not trusted, because the client may write anything
/// into them.
struct Request {
  std::string method;  ///< method of the request: "GET", "HEAD", "POST" …
  std::string path;    ///< path of the request's target, without the query
  /// Host that the request names: authority of an absolute target, else the header Host; may be empty.
  std::string host;
  std::string origin;         ///< value of the header Origin; may be empty
  std::string fetch_site;     ///< value of the header Sec-Fetch-Site; may be empty
  std::string authorization;  ///< value of the header Authorization; may be empty
  std::string accept;         ///< value of the header Accept; may be empty
  std::string body;
  boost::asio::ip::address client{};  ///< IP address of the client
  bool from_loopback = false;         ///< true if the client is on this machine

  /// True if the request only reads: GET, or HEAD, which gets the same response without the body.
  [[nodiscard]] bool reads() const { return method == "GET" || method == "HEAD"; }
};

/// HTTP response of a handler.
struct Response {
  unsigned status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;

  /// headers of this response in addition to those that every response has
  std::vector<std::pair<std::string, std::string>> headers{};
};

[[nodiscard]] inline Response plain(unsigned status, std::string text) {
  return {status, "text/plain; charset=utf-8", std::move(text)};
}

}  // namespace sluice::http
