#pragma once

#include <boost/asio/ip/address.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::http {

/// A request as handlers see it. Whoever sent it may have written anything into any field.
struct Request {
  std::string method;         ///< "GET", "HEAD", "POST" …
  std::string path;           ///< of the target, without what follows '?'
  std::string host;           ///< of an absolute target, else of the header Host; empty without, like those below
  std::string origin;         ///< of Origin
  std::string fetch_site;     ///< of Sec-Fetch-Site
  std::string authorization;  ///< of Authorization
  std::string accept;         ///< of Accept
  std::string body;
  boost::asio::ip::address client{};  ///< where it comes from
  bool from_loopback = false;         ///< the client is on this machine

  /// It only reads: HEAD gets what GET gets, without the body.
  [[nodiscard]] bool reads() const { return method == "GET" || method == "HEAD"; }
};

/// What goes back.
struct Response {
  unsigned status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers{};  ///< besides those of every response
};

[[nodiscard]] inline Response plain(unsigned status, std::string text) {
  return {status, "text/plain; charset=utf-8", std::move(text)};
}

}  // namespace sluice::http
