// Any frame that was not read as a TCP segment: where it brings the beginning of one, that lies inside of it.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "dataplane/packet/headers.hpp"
#include "proxy/engine/shard/unsplittable.hpp"
#include "tests/fuzz/packet/heap_packet.hpp"
#include "tests/fuzz/packet/repair.hpp"

namespace {

using namespace sluice;

void require(bool condition) {
  if (!condition) std::abort();
}

void examine(std::span<const std::uint8_t> bytes) {
  packet::fuzz::HeapPacket frame(bytes, 0);
  packet::Parsed parsed;
  const packet::ParseResult result = packet::parse(*frame, parsed);
  const auto unsplittable = proxy::read_unsplittable(*frame, parsed, result);
  if (!unsplittable) return;
  require(result != packet::ParseResult::tcp);
  require(unsplittable->src == parsed.src && unsplittable->dst == parsed.dst &&
          unsplittable->networks == parsed.networks);
  require(unsplittable->segment.payload_len == 0 && unsplittable->segment.sack_count == 0);
  require(parsed.frame_length() >= parsed.ip_offset + packet::ipv4_length + packet::tcp_length);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 2048) return 0;
  examine({data, size});
  std::vector<std::uint8_t> repaired(data, data + size);
  packet::fuzz::repair(repaired);
  examine(repaired);
  return 0;
}
