#pragma once

#include <array>
#include <string_view>

namespace sluice::proxy {

/// List of the system calls that the program may make after its start. They were found by tracing the end-to-end tests,
/// and completed by equivalent calls of other C library releases. None starts a program or a thread, changes the user,
/// mounts, traces or loads code. mmap, mprotect, socket and bpf are restricted by their arguments, see confine().
inline constexpr auto allowed_system_calls = std::to_array<std::string_view>(
    {"brk", "munmap", "mremap", "madvise",
     // threads that begin, wait and end
     "futex", "exit", "exit_group", "gettid", "getpid", "rseq", "set_robust_list", "sched_yield", "sched_getaffinity",
     "sched_setaffinity", "sched_setscheduler", "getcpu", "prctl",
     // signals
     "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "tgkill", "restart_syscall",
     // time
     "clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "gettimeofday", "timerfd_create",
     "timerfd_settime",
     // descriptors
     "read", "write", "readv", "writev", "pread64", "pwrite64", "lseek", "close", "fcntl", "memfd_create", "ioctl",
     "select", "pselect6", "poll", "ppoll", "epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait",
     "eventfd2",
     // sockets
     "bind", "connect", "listen", "accept", "accept4", "sendto", "sendmsg", "sendmmsg", "recvfrom", "recvmsg",
     "recvmmsg", "getsockopt", "setsockopt", "getsockname", "getpeername", "shutdown",
     // files: configuration, log, state, sockets of ours
     "openat", "fstat", "newfstatat", "statx", "access", "faccessat", "faccessat2", "readlink", "readlinkat",
     "getdents64", "unlink", "unlinkat", "rmdir", "rename", "ftruncate", "fallocate", "flock", "fsync", "msync",
     // properties of the machine and the user
     "getuid", "geteuid", "getgid", "getegid", "getrandom", "uname", "sysinfo", "getrusage", "prlimit64", "getcwd"});

/// Restricts all threads of the program, and programs that they would start, to allowed_system_calls. They can neither
/// map executable memory nor open a socket of a family that no port uses. Other calls fail with ENOSYS, so that
/// libraries use their fallback and traffic continues. Cannot be undone. Throws std::runtime_error if the kernel has no
/// seccomp filter.
void confine();

}  // namespace sluice::proxy
