// Tests of the seccomp filter in child processes: which system calls a confined proxy may make.
#include "proxy/daemon/service/confinement.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <thread>

namespace sluice::proxy {
namespace {

// A sanitizer makes calls of its own, and no thread in a child of many threads.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

/// Whether a child of ours that is confined sees it so.
bool confined_child_sees(const std::function<bool()>& what) {
  const pid_t child = fork();
  if (child == 0) {
    confine();
    _exit(what() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool unknown_to_the_kernel(long result) {
  return result < 0 && errno == ENOSYS;
}

TEST(Confinement, NoProgramCanBeStarted) {
  EXPECT_TRUE(confined_child_sees([] {
    char name[] = "/bin/true";
    char* const words[] = {name, nullptr};
    return unknown_to_the_kernel(execv(name, words));
  }));
  EXPECT_TRUE(confined_child_sees([] { return unknown_to_the_kernel(fork()); }));
}

TEST(Confinement, NoMemoryCanBeMadeExecutable) {
  EXPECT_TRUE(confined_child_sees([] {
    void* const plain = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (plain == MAP_FAILED) return false;
    if (!unknown_to_the_kernel(mprotect(plain, 4096, PROT_READ | PROT_EXEC))) return false;
    const void* const code = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return code == MAP_FAILED && errno == ENOSYS;
  }));
}

TEST(Confinement, OnlySocketFamiliesOfThePortsCanBeOpened) {
  EXPECT_TRUE(confined_child_sees([] { return socket(AF_INET, SOCK_DGRAM, 0) >= 0; }));
  EXPECT_TRUE(confined_child_sees([] { return unknown_to_the_kernel(socket(AF_ALG, SOCK_SEQPACKET, 0)); }));
}

TEST(Confinement, AppliesToRunningThreads) {
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<bool> confined = false;
    std::atomic<bool> refused = false;
    std::thread other([&] {
      while (!confined) std::this_thread::yield();
      refused = unknown_to_the_kernel(setuid(getuid()));
    });
    confine();
    confined = true;
    other.join();
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#endif

TEST(Confinement, TheTableHasNoCallTwiceAndNoneThatStartsOrTraces) {
  auto calls = allowed_system_calls;
  std::sort(calls.begin(), calls.end());
  EXPECT_EQ(std::adjacent_find(calls.begin(), calls.end()), calls.end());
  for (const std::string_view call :
       {"execve", "execveat", "fork", "clone", "clone3", "ptrace", "mount", "setuid", "mmap"}) {
    EXPECT_FALSE(std::binary_search(calls.begin(), calls.end(), call)) << call;
  }
}

}  // namespace
}  // namespace sluice::proxy
