#pragma once

#include <array>
#include <string_view>

namespace sluice::proxy {

/// The system calls that a program makes once it has started: found by watching it in the end to end tests, with those
/// of the same family that another release of the C library may use in their place. Nothing that starts a program or a
/// thread, changes who we are, mounts, traces or loads. mmap, mprotect, socket and bpf are bounded by their
/// arguments, see confine().
inline constexpr auto allowed_system_calls = std::to_array<std::string_view>(
    {"brk", "munmap", "mremap", "madvise",
     // threads that begin, wait and end
     "futex", "exit", "exit_group", "gettid", "getpid", "rseq", "set_robust_list", "sched_yield", "sched_getaffinity",
     "sched_setaffinity", "sched_setscheduler", "getcpu", "prctl",
     // signals
     "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "tgkill", "restart_syscall",
     // time
     "clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "gettimeofday", "timerfd_create",
     "timerfd_settime", "timer_settime", "timer_delete",
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
     // what the machine is
     "getuid", "geteuid", "getgid", "getegid", "getrandom", "uname", "sysinfo", "getrusage", "prlimit64", "getcwd"});

/// From now on no thread of the program can make another system call, map memory that can be executed, or open a socket
/// of a family that no port has; nor will anything it could start. Others fail as if the kernel did not have them, so
/// that a library falls back to what it did before, and traffic goes on. Cannot be undone. Throws std::runtime_error
/// where the kernel has no such filter.
void confine();

}  // namespace sluice::proxy
