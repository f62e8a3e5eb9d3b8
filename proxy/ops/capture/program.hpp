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

/// Compiled libpcap filter: instructions of the classic BPF machine (pcap_compile(3)). A client of the admin socket
/// sends them, and they run on a poll thread, so checked() refuses unsafe ones. Jumps must go forwards, so that each
/// instruction runs at most once. libpcap's own check allows backward jumps outside the kernel. Only known instructions
/// are allowed, because libpcap aborts the process at others. No memory word may be read before it is written, because
/// it contains data of the poll thread's stack.
class Program {
 public:
  /// Maximum number of instructions. Filter expressions that a person types need fewer.
  static constexpr std::size_t max_instructions = 400;

  /// Creates a program that accepts every frame.
  Program() = default;
  /// Returns the program, or nothing if it is unsafe. A program is unsafe if it has too many instructions, a backward
  /// jump, an unknown instruction, or a shift by 32 bits or more. It is also unsafe if it reads unwritten memory or if
  /// libpcap rejects it.
  [[nodiscard]] static std::optional<Program> checked(std::vector<bpf_insn> instructions);
  /// Parses a text that to_text() has returned, and checks the instructions as checked() does.
  [[nodiscard]] static std::optional<Program> parse(std::string_view text);
  /// Returns the instructions as text. Each instruction has 16 hexadecimal digits: code, jt, jf and k, in this order.
  [[nodiscard]] static std::string to_text(std::span<const bpf_insn> instructions);

  /// True if the program selects a frame of `length` bytes, of which only `beginning` is available. A program that
  /// reads beyond `beginning` does not select the frame.
  [[nodiscard]] bool takes(std::span<const std::uint8_t> beginning, std::size_t length) const;

 private:
  std::vector<bpf_insn> instructions_;
};

}  // namespace sluice::capture
