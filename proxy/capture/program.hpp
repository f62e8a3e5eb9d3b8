#pragma once

#include <pcap/pcap.h>  // and not pcap/bpf.h, which needs what this one includes

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::capture {

/// A filter of libpcap as it was compiled: instructions of the classic BPF machine (pcap_compile(3)). They run on a
/// poll thread, and may come from anybody who may open the socket. So a program is bounded and only jumps forwards,
/// which libpcap does not ask of those that run outside the kernel: each instruction runs once at most. It has
/// operations only that libpcap knows, which would end the process at another one. And it reads no memory of the
/// machine that it has not written to, which would be what the poll thread's stack held.
class Program {
 public:
  /// More than any expression that a person types needs.
  static constexpr std::size_t most_instructions = 400;

  /// Takes everything.
  Program() = default;
  /// Nothing when it is longer than that, jumps backwards, has an unknown operation, shifts by more than a word has
  /// bits, reads what it has not written, or libpcap finds fault with it.
  [[nodiscard]] static std::optional<Program> checked(std::vector<bpf_insn> instructions);
  /// Reads to_text(), and checks what it has read.
  [[nodiscard]] static std::optional<Program> parse(std::string_view text);
  /// 16 hexadecimal digits for each instruction: code, jt, jf, k.
  [[nodiscard]] static std::string to_text(std::span<const bpf_insn> instructions);

  /// Whether it takes a frame of `length` bytes that begins with these. A frame of which it asks for more is not taken.
  [[nodiscard]] bool takes(std::span<const std::uint8_t> beginning, std::size_t length) const;

 private:
  std::vector<bpf_insn> instructions_;
};

}  // namespace sluice::capture
