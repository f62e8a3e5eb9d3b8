// Tests of capture requests: their options, and the check of BPF programs. A program from a client runs on the poll
// thread, so it must be safe.
#include "proxy/ops/capture/request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pcap/bpf.h>

#include "proxy/ops/sluicectl/capture.hpp"

namespace sluice::capture {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::string>;

TEST(CaptureRequest, ParsesFilterDurationAndSnapLength) {
  const auto parsed = Request::parse({"--ue", "10.45.0.2", "--port", "443", "--leg", "core", "--reason", "handshake",
                                      "--seconds", "1.5", "--snaplen", "128"});
  ASSERT_TRUE(std::holds_alternative<Request>(parsed)) << std::get<std::string>(parsed);
  const Request& request = std::get<Request>(parsed);
  EXPECT_EQ(request.filter.ue, IpAddress::v4(10, 45, 0, 2));
  EXPECT_EQ(request.filter.port, 443);
  EXPECT_EQ(request.filter.leg, proxy::Side::core);
  EXPECT_FALSE(request.filter.decisions.contains(sent_own));
  EXPECT_EQ(request.duration, std::chrono::milliseconds(1500));
  EXPECT_EQ(request.filter.snap_length, 128);
}

TEST(CaptureRequest, WithoutOptionsItCapturesAllHeadersWithoutALimit) {
  const auto parsed = Request::parse({});
  const Request& request = std::get<Request>(parsed);
  EXPECT_FALSE(request.filter.ue || request.filter.port || request.filter.leg || request.filter.snap_length);
  EXPECT_TRUE(request.filter.decisions.contains(sent_own));
  EXPECT_FALSE(request.duration);
}

TEST(CaptureRequest, WrongOptionsAreNamed) {
  const std::vector<std::pair<Words, const char*>> wrong = {
      {{"more"}, "no argument more"},
      {{"--ue"}, "--ue needs a value"},
      {{"--ue", "10.45.0"}, "--ue: an IP address"},
      {{"--port", "0"}, "--port: 1 to 65535"},
      {{"--port", "65536"}, "--port"},
      {{"--leg", "Radio"}, "--leg: radio or core"},
      {{"--reason", "weather"}, "--reason"},
      {{"--seconds", "-1"}, "--seconds"},
      {{"--seconds", "nan"}, "--seconds"},
      {{"--seconds", "1e300"}, "--seconds"},
      {{"--snaplen", "0"}, "--snaplen"},
      {{"--program", ""}, "--program"},
      {{"--port", "1", "--port", "2"}, "--port is given twice"},
  };
  for (const auto& [words, text] : wrong) {
    const auto parsed = Request::parse(words);
    ASSERT_TRUE(std::holds_alternative<std::string>(parsed)) << words.front();
    EXPECT_THAT(std::get<std::string>(parsed), HasSubstr(text));
  }
}

TEST(CaptureRequest, TheEndsOfRangesAreAllowed) {
  const auto refused = [](const Words& words) { return std::holds_alternative<std::string>(Request::parse(words)); };
  EXPECT_EQ(std::get<Request>(Request::parse({"--port", "1"})).filter.port, 1);
  EXPECT_EQ(std::get<Request>(Request::parse({"--port", "65535"})).filter.port, 65535);
  EXPECT_EQ(std::get<Request>(Request::parse({"--snaplen", "1"})).filter.snap_length, 1);
  EXPECT_EQ(std::get<Request>(Request::parse({"--snaplen", "65535"})).filter.snap_length, 65535);
  EXPECT_EQ(std::get<Request>(Request::parse({"--leg", "radio"})).filter.leg, proxy::Side::radio);
  EXPECT_EQ(std::get<Request>(Request::parse({"--seconds", "86400"})).duration, std::chrono::hours(24));
  EXPECT_TRUE(refused({"--seconds", "86401"}));
  EXPECT_TRUE(refused({"--seconds", "0"}));
  EXPECT_TRUE(refused({"--snaplen", "65536"}));
}

/// Hostile programs: what libpcap's own check lets through, and what it does not.
TEST(CaptureProgram, OnlyProgramsThatEndAndStayInBoundsAreAccepted) {
  const bpf_insn take = {BPF_RET | BPF_K, 0, 0, 1};
  EXPECT_TRUE(Program::checked({take}));
  EXPECT_FALSE(Program::checked({}));
  EXPECT_FALSE(Program::checked({{BPF_JMP | BPF_JA, 0, 0, UINT32_MAX}, take})) << "jumps to itself";
  EXPECT_FALSE(Program::checked({take, {BPF_JMP | BPF_JA, 0, 0, UINT32_MAX - 1}, take})) << "jumps back";
  EXPECT_FALSE(Program::checked({{BPF_JMP | BPF_JA, 0, 0, 1}, take})) << "jumps behind the end";
  EXPECT_FALSE(Program::checked({{BPF_JMP | BPF_JEQ | BPF_K, 9, 9, 0}, take})) << "jumps behind the end";
  EXPECT_FALSE(Program::checked({{BPF_ST, 0, 0, BPF_MEMWORDS}, take})) << "writes outside its memory";
  EXPECT_FALSE(Program::checked({{BPF_ALU | BPF_DIV | BPF_K, 0, 0, 0}, take})) << "divides by zero";
  EXPECT_FALSE(Program::checked({{BPF_LD | BPF_IMM, 0, 0, 0}})) << "has no end";
  EXPECT_FALSE(Program::checked({{BPF_ALU | BPF_LSH | BPF_K, 0, 0, 32}, take})) << "shifts by more than there is";
  EXPECT_TRUE(Program::checked({{BPF_ALU | BPF_RSH | BPF_K, 0, 0, 31}, take}));
  EXPECT_FALSE(Program::checked({{0xffff, 0, 0, 0}, take})) << "no instruction";
  EXPECT_FALSE(Program::checked(std::vector<bpf_insn>(Program::max_instructions + 1, take)));
}

/// The memory of the BPF machine lies on the poll thread's stack and is not cleared, so reading it would leak the
/// stack.
TEST(CaptureProgram, MemoryThatAnyPathLeavesUnwrittenIsNotRead) {
  const bpf_insn take = {BPF_RET | BPF_A, 0, 0, 0};
  const bpf_insn store = {BPF_ST, 0, 0, 3};
  const bpf_insn load = {BPF_LD | BPF_MEM, 0, 0, 3};
  const bpf_insn load_index = {BPF_LDX | BPF_MEM, 0, 0, 3};
  EXPECT_TRUE(Program::checked({store, load, take}));
  EXPECT_TRUE(Program::checked({{BPF_STX, 0, 0, 3}, load_index, take}));
  EXPECT_FALSE(Program::checked({load, take}));
  EXPECT_FALSE(Program::checked({load_index, take}));
  EXPECT_FALSE(Program::checked({{BPF_ST, 0, 0, 2}, load, take})) << "another word";
  const bpf_insn over_one = {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 7};
  EXPECT_FALSE(Program::checked({over_one, store, load, take})) << "one way leads past it";
  EXPECT_TRUE(Program::checked({over_one, store, store, load, take}));
  EXPECT_FALSE(Program::checked({{BPF_JMP | BPF_JA, 0, 0, 1}, store, load, take}));
}

/// libpcap lets operations pass at which it then aborts the process.
TEST(CaptureProgram, EveryAcceptedOperationCanBeRun) {
  const std::vector<std::uint8_t> frame(60);
  int taken = 0;
  for (std::uint32_t code = 0; code <= UINT16_MAX; ++code) {
    const bpf_insn any = {static_cast<std::uint16_t>(code), 0, 0, 1};
    const bpf_insn take = {BPF_RET | BPF_K, 0, 0, 1};
    const bpf_insn store = {BPF_ST, 0, 0, 1};  // what one of them reads
    const auto program = Program::checked({store, any, take, take});
    if (!program) continue;
    static_cast<void>(program->takes(frame, frame.size()));
    ++taken;
  }
  EXPECT_EQ(taken, 49) << "the operations of the machine";
}

TEST(CaptureProgram, AReadOutsideTheFrameRejectsIt) {
  const auto program = Program::checked({{BPF_LD | BPF_W | BPF_ABS, 0, 0, 0x7fffffff}, {BPF_RET | BPF_K, 0, 0, 1}});
  ASSERT_TRUE(program);
  const std::vector<std::uint8_t> frame(60);
  EXPECT_FALSE(program->takes(frame, frame.size()));
  EXPECT_FALSE(program->takes({}, 0));
}

TEST(CaptureProgram, IsWrittenAndParsedUnchanged) {
  const bpf_insn wide = {BPF_LD | BPF_W | BPF_ABS, 0, 0, 12};
  const bpf_insn choice = {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0x08004500};
  const std::vector<bpf_insn> instructions = {wide, choice, {BPF_RET | BPF_K, 0, 0, 1}, {BPF_RET | BPF_K, 0, 0, 0}};
  const std::string text = Program::to_text(instructions);
  EXPECT_EQ(text.substr(0, 32), "002000000000000c0015000108004500");
  const auto program = Program::parse(text);
  ASSERT_TRUE(program);
  std::vector<std::uint8_t> frame(60);
  EXPECT_FALSE(program->takes(frame, frame.size()));
  frame[12] = 0x08;
  frame[14] = 0x45;
  EXPECT_TRUE(program->takes(frame, frame.size()));
  for (const char* const malformed : {"0", "zz20000000000000", "002000000000000c0", "+020000000000000"})
    EXPECT_FALSE(Program::parse(malformed)) << malformed;
  EXPECT_FALSE(Program::parse(std::string(16 * (Program::max_instructions + 1), '0')));
}

TEST(CaptureProgram, ExpressionsAreCompiledByTheClient) {
  EXPECT_TRUE(Program::parse(sluicectl::compile_filter("tcp port 80 and host 10.45.0.2")));
  EXPECT_TRUE(Program::parse(sluicectl::compile_filter("")));
  EXPECT_THROW((void)sluicectl::compile_filter("tcp port port"), std::invalid_argument);
  EXPECT_THROW((void)sluicectl::compile_filter("ip6 protochain 6"), std::invalid_argument);
}

TEST(CaptureCommand, SeparatesItsOwnOptionsFromThoseForTheProxy) {
  const auto command = sluicectl::CaptureCommand::take({"--ue", "10.45.0.2", "-w", "a file", "--seconds", "3"});
  EXPECT_EQ(command.line, "capture --ue 10.45.0.2 --seconds 3");
  EXPECT_EQ(command.file, "a file");
  EXPECT_THAT(sluicectl::CaptureCommand::take({"--filter", "udp"}).line, HasSubstr("capture --program 0028"));
  EXPECT_THROW((void)sluicectl::CaptureCommand::take({"tcp port 80"}), std::invalid_argument);
  EXPECT_THROW((void)sluicectl::CaptureCommand::take({"-w"}), std::invalid_argument);
}

}  // namespace
}  // namespace sluice::capture
