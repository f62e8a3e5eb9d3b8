#pragma once

#include <array>
#include <string_view>

namespace sluice::proxy {

/// System calls that the program may make after its start. The list was found by tracing the end-to-end tests, and
/// completed by equivalent calls that other C library releases use. No call in it starts a program or a thread, changes
/// the user, mounts, traces or loads code. confine() also restricts the arguments of mmap, mprotect, socket and bpf.
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

/// Restricts all threads of the program, and programs started from it, to allowed_system_calls. Executable memory
/// cannot be mapped, and sockets can be opened only of the families that the program uses. A system call that is not
/// allowed fails with ENOSYS, so that libraries use their fallback and traffic continues. The restriction cannot be
/// undone. Throws std::runtime_error if the kernel does not support seccomp filters.
void confine();

}  // namespace sluice::proxy
