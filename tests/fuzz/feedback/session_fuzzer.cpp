// A proxy's whole session: the input as it comes must never be believed; the same input under a true tag may be, once.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "control/feedback/session.hpp"

namespace {

using namespace sluice::control::feedback;

struct Ignore final : RecordHandler {
  void on_report(const Header&, const BearerReport&) override {}
  void on_status(const Header&, const BearerStatus&) override {}
};

std::vector<Key> keys() {
  return {{1, std::vector<std::uint8_t>(32, 0x42)}};
}

SessionConfig config() {
  SessionConfig result;
  result.sender = 0x1122334455667788;
  result.keys = keys();
  result.send_key = 1;
  return result;
}

/// The input with the magic, version and key that get it past the first checks, and a true tag.
std::vector<std::uint8_t> sealed(const std::uint8_t* data, std::size_t size) {
  static Authenticator authenticator(keys());
  std::vector<std::uint8_t> body(data, data + size);
  if (body.size() < header_size) body.resize(header_size);
  const std::uint8_t start[] = {0x53, 0x4c, 0x46, 0x42, version};
  for (std::size_t i = 0; i < sizeof start; ++i) body[i] = start[i];
  for (std::size_t i = 8; i < 12; ++i) body[i] = i == 11 ? 1 : 0;
  const Tag tag = authenticator.sign(1, body).value();
  body.insert(body.end(), tag.begin(), tag.end());
  return body;
}

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Session session(config());
  Ignore ignore;
  const ReceivedAt at{};
  require(session.receive({data, size}, ignore, at) != Failure::none);
  const std::vector<std::uint8_t> datagram = sealed(data, size);
  const Failure first = session.receive(datagram, ignore, at);
  const Failure second = session.receive(datagram, ignore, at);
  require(first != Failure::bad_tag && first != Failure::bad_magic && first != Failure::unknown_key);
  require(first != Failure::none || second == Failure::replayed);
  return 0;
}
