#pragma once

#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/packet/pool.hpp"
#include "emulator/net/element.hpp"
#include "tests/support/eal.hpp"

namespace sluice::test {

/// A router in front of a link with a small MTU: from a given time on it cuts IPv4 packets in two (RFC 791
/// section 3.2).
class Fragmenter final : public emulator::Element {
 public:
  Fragmenter(emulator::Element& next, Instant from, std::uint16_t mtu) : next_(next), from_(from), mtu_(mtu) {}

  void receive(packet::Packet packet, Instant now) override {
    packet::Parsed parsed;
    const bool cut = now >= from_ && packet::parse(packet, parsed) == packet::ParseResult::tcp &&
                     parsed.ip_version == 4 && parsed.ip_offset == link && parsed.ip_length > mtu_;
    if (!cut) {
      next_.receive(std::move(packet), now);
      return;
    }
    const auto first = static_cast<std::uint16_t>((mtu_ - header) / 8 * 8);
    const auto rest = static_cast<std::uint16_t>(parsed.ip_length - header - first);
    const std::uint16_t id = ++id_;
    next_.receive(fragment(packet, id, 0, first, true), now);
    next_.receive(fragment(packet, id, first, rest, false), now);
    ++count_;
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  static constexpr std::uint16_t link = 14, header = 20;

  static packet::Packet fragment(const packet::Packet& whole, std::uint16_t id, std::uint16_t offset,
                                 std::uint16_t length, bool more) {
    packet::Packet part = pool().allocate();
    std::uint8_t* const frame = part.append(static_cast<std::uint16_t>(link + header + length));
    std::memcpy(frame, whole.data(), link + header);
    std::memcpy(frame + link + header, whole.data() + link + header + offset, length);
    std::uint8_t* const ip = frame + link;
    packet::store_be16(ip + 2, static_cast<std::uint16_t>(header + length));
    packet::store_be16(ip + 4, id);
    packet::store_be16(ip + 6, static_cast<std::uint16_t>((more ? 0x2000U : 0U) | offset / 8U));
    std::memset(ip + 10, 0, 2);
    const std::uint16_t sum = packet::ones_complement_sum({ip, header});
    packet::store16(ip + 10, static_cast<std::uint16_t>(~sum));
    return part;
  }

  emulator::Element& next_;
  Instant from_;
  std::uint16_t mtu_;
  std::uint16_t id_ = 0;
  std::uint64_t count_ = 0;
};

/// A host's IP layer: puts what a Fragmenter has cut in two together again, whichever part comes first.
class Reassembler final : public emulator::Element {
 public:
  explicit Reassembler(emulator::Element& next) : next_(next) {}

  void receive(packet::Packet packet, Instant now) override {
    packet::Parsed parsed;
    if (packet::parse(packet, parsed) != packet::ParseResult::ip_fragment) {
      next_.receive(std::move(packet), now);
      return;
    }
    packet.truncate(parsed.frame_length());
    const auto known = waiting_.find(parsed.ip_id);
    if (known == waiting_.end()) {
      waiting_.emplace(parsed.ip_id, std::vector<std::uint8_t>(packet.data(), packet.data() + packet.size()));
      return;
    }
    const std::vector<std::uint8_t> one = known->second;
    const std::vector<std::uint8_t> two(packet.data(), packet.data() + packet.size());
    waiting_.erase(known);
    const bool one_first = (packet::load_be16(one.data() + link + 6) & 0x1fffU) == 0;
    const bool two_first = (packet::load_be16(two.data() + link + 6) & 0x1fffU) == 0;
    if (one_first == two_first) return;  // the same part twice: RFC 791 would wait for the other one
    join(one_first ? one : two, one_first ? two : one, now);
  }

 private:
  static constexpr std::uint16_t link = 14, header = 20;

  void join(const std::vector<std::uint8_t>& first, const std::vector<std::uint8_t>& rest, Instant now) {
    packet::Packet whole = pool().allocate();
    const auto tail = static_cast<std::uint16_t>(rest.size() - link - header);
    std::uint8_t* const frame = whole.append(static_cast<std::uint16_t>(first.size() + tail));
    std::memcpy(frame, first.data(), first.size());
    std::memcpy(frame + first.size(), rest.data() + link + header, tail);
    std::uint8_t* const ip = frame + link;
    packet::store_be16(ip + 2, static_cast<std::uint16_t>(first.size() - link + tail));
    packet::store_be16(ip + 6, 0);
    std::memset(ip + 10, 0, 2);
    packet::store16(ip + 10, static_cast<std::uint16_t>(~packet::ones_complement_sum({ip, header})));
    next_.receive(std::move(whole), now);
  }

  emulator::Element& next_;
  std::map<std::uint16_t, std::vector<std::uint8_t>> waiting_;
};

}  // namespace sluice::test
