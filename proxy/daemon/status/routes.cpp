#include "proxy/daemon/status/routes.hpp"

namespace sluice::metrics {

std::optional<http::Response> answer(const http::Request& request, const Page& page, const Health& healthy) {
  constexpr unsigned ok = 200;
  constexpr unsigned method_not_allowed = 405;
  constexpr unsigned unavailable = 503;
  if (request.path != "/metrics" && request.path != "/health") return std::nullopt;
  if (!request.reads()) {
    http::Response refused = http::plain(method_not_allowed, "only GET and HEAD\n");
    refused.headers.emplace_back("Allow", "GET, HEAD");
    return refused;
  }
  if (request.path == "/health") {
    return healthy() ? http::plain(ok, "ok\n") : http::plain(unavailable, "a shard is stalled\n");
  }
  const Format format = format_for(request.accept);
  return http::Response{ok, std::string(content_type(format)), page(format)};
}

}  // namespace sluice::metrics
