#include "dataplane/dpdk/peer_segmentation.hpp"

#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <stdexcept>

namespace sluice::dpdk {
namespace {

/// Calls bpf(2). Returns a file descriptor, or -1 with errno set.
int bpf(bpf_cmd command, bpf_attr& attributes) {
  return static_cast<int>(syscall(SYS_bpf, command, &attributes, sizeof attributes));
}

std::uint64_t address_of(const void* object) {
  return reinterpret_cast<std::uintptr_t>(object);
}

/// Loads an XDP program of two instructions that returns XDP_PASS. `flags` are the flags of BPF_PROG_LOAD. Returns a
/// file descriptor, or -1 with errno set.
int load_program(std::uint32_t flags) {
  constexpr std::array<bpf_insn, 2> instructions = {{
      {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .src_reg = 0, .off = 0, .imm = XDP_PASS},
      {.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0},
  }};
  bpf_attr attributes{};
  attributes.prog_type = BPF_PROG_TYPE_XDP;
  attributes.expected_attach_type = BPF_XDP;
  attributes.insns = address_of(instructions.data());
  attributes.insn_cnt = instructions.size();
  attributes.license = address_of("Apache-2.0");
  attributes.prog_flags = flags;
  std::string_view("sluice_pass").copy(attributes.prog_name, sizeof attributes.prog_name - 1);
  return bpf(BPF_PROG_LOAD, attributes);
}

int link_program(int program, unsigned interface) {
  bpf_attr attributes{};
  attributes.link_create.prog_fd = static_cast<std::uint32_t>(program);
  attributes.link_create.target_ifindex = interface;
  attributes.link_create.attach_type = BPF_XDP;
  attributes.link_create.flags = XDP_FLAGS_DRV_MODE;  // the peer changes its features only for native XDP
  return bpf(BPF_LINK_CREATE, attributes);
}

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what + ": " + strerror(errno));
}

}  // namespace

PeerSegmentation::PeerSegmentation(const std::string& interface) {
  const unsigned index = if_nametoindex(interface.c_str());
  if (index == 0) fail("no interface " + interface);
  int program = load_program(BPF_F_XDP_HAS_FRAGS);  // otherwise a veth with jumbo MTU refuses it
  if (program < 0) program = load_program(0);       // before Linux 5.18
  if (program < 0) fail("the kernel accepts no XDP program");
  link_ = link_program(program, index);
  const int error = errno;
  close(program);
  errno = error;
  if (link_ < 0 && error != EBUSY && error != EEXIST) fail("interface " + interface + " accepts no XDP program");
}

PeerSegmentation::~PeerSegmentation() {
  if (link_ >= 0) close(link_);
}

}  // namespace sluice::dpdk
