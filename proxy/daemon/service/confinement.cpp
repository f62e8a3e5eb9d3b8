#include "proxy/daemon/service/confinement.hpp"

#include <linux/bpf.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

namespace sluice::proxy {
namespace {

constexpr std::array socket_families{AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_XDP};

/// Throws std::runtime_error with the text `what` if `result` is negative. `result` is the return value of a libseccomp
/// function, a negated errno on failure.
void require(int result, const std::string& what) {
  if (result < 0) {
    throw std::runtime_error("confine.seccomp: " + what + ": " + std::generic_category().message(-result));
  }
}

class Filter {
 public:
  Filter() : filter_(seccomp_init(SCMP_ACT_ERRNO(ENOSYS)), seccomp_release) {
    if (!filter_) throw std::runtime_error("confine.seccomp: no filter can be created");
    require(seccomp_attr_set(filter_.get(), SCMP_FLTATR_CTL_TSYNC, 1), "the kernel cannot filter all threads");
  }
  void allow(std::string_view name) {
    require(seccomp_rule_add(filter_.get(), SCMP_ACT_ALLOW, number(name), 0), std::string(name));
  }
  void allow_where(std::string_view name, const scmp_arg_cmp& condition) {
    require(seccomp_rule_add_array(filter_.get(), SCMP_ACT_ALLOW, number(name), 1, &condition), std::string(name));
  }
  void load() { require(seccomp_load(filter_.get()), "the kernel refuses the filter"); }

 private:
  static int number(std::string_view name) {
    const int resolved = seccomp_syscall_resolve_name(std::string(name).c_str());
    if (resolved == __NR_SCMP_ERROR)
      throw std::runtime_error("confine.seccomp: unknown system call " + std::string(name));
    return resolved;
  }

  std::unique_ptr<void, void (*)(scmp_filter_ctx)> filter_;
};

}  // namespace

void confine() {
  Filter filter;
  for (const std::string_view name : allowed_system_calls) filter.allow(name);
  const scmp_arg_cmp not_executable{2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0};
  filter.allow_where("mmap", not_executable);
  filter.allow_where("mprotect", not_executable);
  for (const int family : socket_families) {
    filter.allow_where("socket", {0, SCMP_CMP_EQ, static_cast<scmp_datum_t>(family), 0});
  }
  // AF_XDP needs this call to detach its program from an interface.
  filter.allow_where("bpf", {0, SCMP_CMP_EQ, BPF_OBJ_GET_INFO_BY_FD, 0});
  filter.load();
}

}  // namespace sluice::proxy
