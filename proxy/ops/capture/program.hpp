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

/// Compiled libpcap filter: instructions of the classic BPF machine (pcap_compile(3)). They come from any client of the
/// socket and run on a poll thread, so checked() restricts them. Jumps go forwards only, so each instruction runs at
/// most once; libpcap does not require this outside the kernel. Only operations that libpcap knows are allowed, because
/// it aborts the process at others. No memory word is read before it is written, because it would hold data of the poll
/// thread's stack.
class Program {
 public:
  /// Maximum number of instructions; every expression that a person types needs fewer.
  static constexpr std::size_t max_instructions = 400;

  /// Creates a program that accepts every frame.
  Program() = default;
  /// Returns the program, or nothing if it is unsafe: too long, a backward jump, an unknown operation, a shift by 32
  /// bits or more, a read of unwritten memory, or rejected by libpcap.
  [[nodiscard]] static std::optional<Program> checked(std::vector<bpf_insn> instructions);
  /// Parses the output of to_text() and checks the instructions.
  [[nodiscard]] static std::optional<Program> parse(std::string_view text);
  /// Returns 16 hexadecimal digits for each instruction: code, jt, jf, k.
  [[nodiscard]] static std::string to_text(std::span<const bpf_insn> instructions);

  /// True if the program accepts a frame of `length` bytes that begins with `beginning`. A read beyond `beginning`
  /// rejects the frame.
  [[nodiscard]] bool takes(std::span<const std::uint8_t> beginning, std::size_t length) const;

 private:
  std::vector<bpf_insn> instructions_;
};

}  // namespace sluice::capture
