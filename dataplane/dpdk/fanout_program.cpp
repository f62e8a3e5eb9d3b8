// Builds the classic BPF program that distributes frames over the packet sockets of a port by the UE's address. Called
// by Port for net_af_packet with several queues. The program computes the same hash as ue_address_hash(), so the kernel
// delivers each packet to the shard that owns its UE. Jump offsets follow from the lengths of the two load_address()
// parts.

#include "dataplane/dpdk/fanout_program.hpp"

#include <linux/if_packet.h>
#include <string.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "dataplane/dpdk/address_hash.hpp"
#include "dataplane/packet/headers.hpp"

namespace sluice::dpdk {
namespace {

namespace ethertype = packet::ethertype;

/// Returns what one bit of a folded address contributes to the table index, the hash modulo rss_table_size. A folded
/// address is the exclusive or of the address's 16-bit words, on which alone the hash depends. The hash is linear, so
/// the table index is the exclusive or of the contributions of all bits that are set.
std::uint32_t weight_of(unsigned bit) {
  const std::uint32_t word = 1U << bit;
  return address_hash(IpAddress::v4(0, 0, static_cast<std::uint8_t>(word >> 8U), static_cast<std::uint8_t>(word))) %
         rss_table_size;
}

/// Appends instructions to a classic BPF program.
class Writer {
 public:
  void put(unsigned code, std::uint32_t operand = 0) { jump(code, operand, 0, 0); }
  /// Skips `then_skip` instructions if the accumulator equals `operand`, else `else_skip`.
  void if_equal(std::uint32_t operand, std::size_t then_skip, std::size_t else_skip) {
    jump(BPF_JMP | BPF_JEQ | BPF_K, operand, then_skip, else_skip);
  }
  /// Loads the exclusive or of an address's 32-bit words into the accumulator. The address begins `offset` bytes after
  /// the position in the index register.
  void load_address(std::uint32_t offset, std::uint32_t words) {
    for (std::uint32_t i = 0; i < words; ++i) {
      put(BPF_LD | BPF_W | BPF_IND, offset + 4 * i);
      if (i + 1 < words) put(BPF_ST, i);
    }
    for (std::uint32_t i = 0; i + 1 < words; ++i) {
      put(BPF_LDX | BPF_W | BPF_MEM, i);
      put(BPF_ALU | BPF_XOR | BPF_X);
    }
  }
  /// Appends the end of the program, which computes and returns the queue. At this point the accumulator contains the
  /// exclusive or of all 32-bit words of the address. The program folds it to 16 bits, and combines weight_of() of each
  /// bit that is set by exclusive or. This number modulo `queues` is the queue.
  void answer(unsigned queues) {
    put(BPF_MISC | BPF_TAX);
    put(BPF_ALU | BPF_RSH | BPF_K, 16);
    put(BPF_ALU | BPF_XOR | BPF_X);
    put(BPF_ST, 0);
    put(BPF_LDX | BPF_W | BPF_IMM, 0);
    for (unsigned bit = 0; bit < 16; ++bit) {
      put(BPF_LD | BPF_W | BPF_MEM, 0);
      put(BPF_ALU | BPF_RSH | BPF_K, bit);
      put(BPF_ALU | BPF_AND | BPF_K, 1);
      put(BPF_ALU | BPF_MUL | BPF_K, weight_of(bit));
      put(BPF_ALU | BPF_XOR | BPF_X);
      put(BPF_MISC | BPF_TAX);
    }
    put(BPF_ALU | BPF_MOD | BPF_K, queues);
    put(BPF_RET | BPF_A);
  }
  [[nodiscard]] std::vector<sock_filter> program() && { return std::move(program_); }

 private:
  void jump(unsigned code, std::uint32_t operand, std::size_t then_skip, std::size_t else_skip) {
    program_.push_back({static_cast<std::uint16_t>(code), static_cast<std::uint8_t>(then_skip),
                        static_cast<std::uint8_t>(else_skip), operand});
  }

  std::vector<sock_filter> program_;
};

}  // namespace

std::vector<sock_filter> fanout_program(Facing facing, unsigned queues) {
  constexpr std::uint32_t words_v4 = 1, words_v6 = 4;
  // Number of instructions of load_address() for IPv4 and IPv6.
  constexpr std::size_t length_v4 = 4 * words_v4 - 3, length_v6 = 4 * words_v6 - 3;
  const bool source = facing == Facing::radio;
  Writer out;
  // Index register: offset of the IP header. Accumulator: its EtherType.
  out.put(BPF_LDX | BPF_W | BPF_IMM, 0);
  out.put(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_PROTOCOL));
  out.if_equal(ethertype::vlan, 2, 0);
  out.if_equal(ethertype::service_vlan, 1, 0);
  out.if_equal(ethertype::old_service_vlan, 0, 2);
  out.put(BPF_LD | BPF_H | BPF_ABS, 2);
  out.put(BPF_LDX | BPF_W | BPF_IMM, packet::vlan_tag_length);
  out.if_equal(ethertype::ipv4, 0, length_v4 + 1);
  out.load_address(source ? 12 : 16, words_v4);
  out.put(BPF_JMP | BPF_JA, length_v6 + 2);
  out.if_equal(ethertype::ipv6, 1, 0);
  out.put(BPF_RET | BPF_K, 0);
  out.load_address(source ? 8 : 24, words_v6);
  out.answer(queues);
  return std::move(out).program();
}

std::string spread_by_address(std::span<const int> sockets, Facing facing, unsigned queues) {
  std::vector<sock_filter> program = fanout_program(facing, queues);
  const sock_fprog text = {.len = static_cast<unsigned short>(program.size()), .filter = program.data()};
  if (setsockopt(sockets.front(), SOL_PACKET, PACKET_FANOUT_DATA, &text, sizeof text) != 0) return strerror(errno);
  return {};
}

}  // namespace sluice::dpdk
