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

constexpr std::uint8_t by_hmac = 1;
constexpr std::uint8_t by_gmac = 2;

std::vector<Key> keys() {
  return {{by_hmac, std::vector<std::uint8_t>(32, 0x42)},
          {by_gmac, std::vector<std::uint8_t>(32, 0x43), TagAlgorithm::aes_256_gmac}};
}

SessionConfig config() {
  SessionConfig result;
  result.sender = 0x1122334455667788;
  result.keys = keys();
  result.send_key = by_hmac;
  return result;
}

/// The input with the magic, version and key that get it past the first checks, and a true tag.
std::vector<std::uint8_t> sealed(const std::uint8_t* data, std::size_t size, std::uint8_t key) {
  Authenticator authenticator(keys());
  std::vector<std::uint8_t> body(data, data + size);
  const std::size_t least = header_size + (key == by_gmac ? sizeof(SessionId) : 0);
  if (body.size() < least) body.resize(least);
  const std::uint8_t start[] = {0x53, 0x4c, 0x46, 0x42, version};
  for (std::size_t i = 0; i < sizeof start; ++i) body[i] = start[i];
  for (std::size_t i = 8; i < 12; ++i) body[i] = i == 11 ? key : 0;
  if (key == by_gmac) {
    if (body[14] == 0 && body[15] < least) body[15] = static_cast<std::uint8_t>(least);
    body[39] |= 1;  // number 0 is not signed
  }
  const Tag tag = authenticator.sign(key, body).value();
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
  for (const std::uint8_t key : {by_hmac, by_gmac}) {
    Session fresh(config());
    const std::vector<std::uint8_t> datagram = sealed(data, size, key);
    const Failure first = fresh.receive(datagram, ignore, at);
    const Failure second = fresh.receive(datagram, ignore, at);
    require(first != Failure::bad_tag && first != Failure::bad_magic && first != Failure::unknown_key);
    require(first != Failure::none || second == Failure::replayed);
  }
  return 0;
}
