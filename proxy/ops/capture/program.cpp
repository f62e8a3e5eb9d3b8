// Checks and runs classic BPF programs that clients of the admin socket send. ShardTaps runs them on poll threads.
// Invariant: a program that passed checked() terminates after at most max_instructions steps, cannot abort the
// process and cannot read uninitialised memory. Machine: McCanne and Jacobson, "The BSD Packet Filter" (USENIX 1993).
#include "proxy/ops/capture/program.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>

namespace sluice::capture {
namespace {

/// Number of hexadecimal digits that represent one instruction as text.
constexpr std::size_t digits = 16;

/// Instructions that a filter may contain. The check is needed, because bpf_validate() checks only classes of
/// instructions, and bpf_filter() aborts the process at an unknown one.
constexpr auto operations = std::to_array<unsigned>({
    // load, store, return
    BPF_LD | BPF_W | BPF_ABS,
    BPF_LD | BPF_H | BPF_ABS,
    BPF_LD | BPF_B | BPF_ABS,
    BPF_LD | BPF_W | BPF_IND,
    BPF_LD | BPF_H | BPF_IND,
    BPF_LD | BPF_B | BPF_IND,
    BPF_LD | BPF_W | BPF_LEN,
    BPF_LD | BPF_IMM,
    BPF_LD | BPF_MEM,
    BPF_LDX | BPF_W | BPF_LEN,
    BPF_LDX | BPF_MSH | BPF_B,
    BPF_LDX | BPF_IMM,
    BPF_LDX | BPF_MEM,
    BPF_ST,
    BPF_STX,
    BPF_RET | BPF_K,
    BPF_RET | BPF_A,
    // jump
    BPF_JMP | BPF_JA,
    BPF_JMP | BPF_JEQ | BPF_K,
    BPF_JMP | BPF_JGT | BPF_K,
    BPF_JMP | BPF_JGE | BPF_K,
    BPF_JMP | BPF_JSET | BPF_K,
    BPF_JMP | BPF_JEQ | BPF_X,
    BPF_JMP | BPF_JGT | BPF_X,
    BPF_JMP | BPF_JGE | BPF_X,
    BPF_JMP | BPF_JSET | BPF_X,
    // arithmetic
    BPF_ALU | BPF_ADD | BPF_K,
    BPF_ALU | BPF_SUB | BPF_K,
    BPF_ALU | BPF_MUL | BPF_K,
    BPF_ALU | BPF_DIV | BPF_K,
    BPF_ALU | BPF_MOD | BPF_K,
    BPF_ALU | BPF_AND | BPF_K,
    BPF_ALU | BPF_OR | BPF_K,
    BPF_ALU | BPF_XOR | BPF_K,
    BPF_ALU | BPF_LSH | BPF_K,
    BPF_ALU | BPF_RSH | BPF_K,
    BPF_ALU | BPF_ADD | BPF_X,
    BPF_ALU | BPF_SUB | BPF_X,
    BPF_ALU | BPF_MUL | BPF_X,
    BPF_ALU | BPF_DIV | BPF_X,
    BPF_ALU | BPF_MOD | BPF_X,
    BPF_ALU | BPF_AND | BPF_X,
    BPF_ALU | BPF_OR | BPF_X,
    BPF_ALU | BPF_XOR | BPF_X,
    BPF_ALU | BPF_LSH | BPF_X,
    BPF_ALU | BPF_RSH | BPF_X,
    BPF_ALU | BPF_NEG,
    BPF_MISC | BPF_TAX,
    BPF_MISC | BPF_TXA,
});

bool is_known(const bpf_insn& instruction) {
  return std::find(operations.begin(), operations.end(), instruction.code) != operations.end();
}

bool only_jumps_forwards(std::span<const bpf_insn> instructions) {
  for (std::size_t at = 0; at < instructions.size(); ++at) {
    const bpf_insn& instruction = instructions[at];
    if (instruction.code == (BPF_JMP | BPF_JA) && instruction.k >= instructions.size() - at - 1) return false;
  }
  return true;
}

/// True if the instruction shifts by a constant of 32 or more. Such a shift is undefined behaviour in C, and libpcap
/// does not check it.
bool shifts_too_far(const bpf_insn& instruction) {
  constexpr bpf_u_int32 width = 32;
  const bool shifts =
      instruction.code == (BPF_ALU | BPF_LSH | BPF_K) || instruction.code == (BPF_ALU | BPF_RSH | BPF_K);
  return shifts && instruction.k >= width;
}

/// Bit set of words in the BPF machine's memory. A bit is set if every path to an instruction has written the word
/// before. The memory is not cleared at the start, so other words contain old data of the stack.
using Written = std::uint32_t;
static_assert(BPF_MEMWORDS <= 32);

constexpr Written word(bpf_u_int32 number) {
  return Written{1} << number;
}

/// Passes the set of words that are certainly written after instruction `at` to the instructions that may follow it. If
/// several instructions can precede an instruction, its set becomes the intersection of their sets. Following
/// instructions have higher indices.
void propagate(std::span<const bpf_insn> instructions, std::size_t at, std::span<Written> written) {
  const bpf_insn& instruction = instructions[at];
  const auto next = [&](std::size_t jump) {
    if (jump < instructions.size() - at - 1) written[at + 1 + jump] &= written[at];
  };
  if (BPF_CLASS(instruction.code) == BPF_RET) return;
  if (BPF_CLASS(instruction.code) != BPF_JMP) return next(0);
  if (instruction.code == (BPF_JMP | BPF_JA)) return next(instruction.k);
  next(instruction.jt);
  next(instruction.jf);
}

/// True if every memory word is written before it is read. The instructions must jump only forwards and have passed
/// bpf_validate(), so that word numbers are in range.
bool reads_only_what_it_wrote(std::span<const bpf_insn> instructions) {
  std::array<Written, Program::max_instructions> written;
  written.fill(~Written{0});
  written[0] = 0;
  for (std::size_t at = 0; at < instructions.size(); ++at) {
    const bpf_insn& instruction = instructions[at];
    const bool reads = instruction.code == (BPF_LD | BPF_MEM) || instruction.code == (BPF_LDX | BPF_MEM);
    if (reads && (written.at(at) & word(instruction.k)) == 0) return false;
    if (instruction.code == BPF_ST || instruction.code == BPF_STX) written.at(at) |= word(instruction.k);
    propagate(instructions, at, written);
  }
  return true;
}

std::optional<bpf_insn> read_instruction(std::string_view text) {
  std::uint64_t bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return bpf_insn{static_cast<std::uint16_t>(bits >> 48U), static_cast<std::uint8_t>(bits >> 40U),
                  static_cast<std::uint8_t>(bits >> 32U), static_cast<std::uint32_t>(bits)};
}

}  // namespace

std::optional<Program> Program::checked(std::vector<bpf_insn> instructions) {
  if (instructions.empty() || instructions.size() > max_instructions || !only_jumps_forwards(instructions) ||
      !std::all_of(instructions.begin(), instructions.end(), is_known) ||
      std::any_of(instructions.begin(), instructions.end(), shifts_too_far) ||
      bpf_validate(instructions.data(), static_cast<int>(instructions.size())) == 0 ||
      !reads_only_what_it_wrote(instructions))
    return std::nullopt;
  Program program;
  program.instructions_ = std::move(instructions);
  return program;
}

std::optional<Program> Program::parse(std::string_view text) {
  if (text.size() % digits != 0 || text.size() > digits * max_instructions) return std::nullopt;
  std::vector<bpf_insn> instructions;
  for (; !text.empty(); text.remove_prefix(digits)) {
    const std::optional<bpf_insn> instruction = read_instruction(text.substr(0, digits));
    if (!instruction) return std::nullopt;
    instructions.push_back(*instruction);
  }
  return checked(std::move(instructions));
}

std::string Program::to_text(std::span<const bpf_insn> instructions) {
  std::string text;
  for (const bpf_insn& each : instructions) {
    char line[digits + 1];
    std::snprintf(line, sizeof line, "%04x%02x%02x%08x", each.code, each.jt, each.jf, each.k);
    text += line;
  }
  return text;
}

bool Program::takes(std::span<const std::uint8_t> beginning, std::size_t length) const {
  return instructions_.empty() || bpf_filter(instructions_.data(), beginning.data(), static_cast<unsigned>(length),
                                             static_cast<unsigned>(beginning.size())) != 0;
}

}  // namespace sluice::capture
