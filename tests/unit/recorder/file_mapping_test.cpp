// A mapped file that is truncated while it is stored to, with the kernel granting memory in its place and refusing it.
// RLIMIT_DATA refuses it: private memory that can be written to counts as data.

#include "proxy/ops/capture/file_mapping.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace sluice::capture {
namespace {

constexpr std::size_t page_bytes = 4096;

/// A file without a name.
class File {
 public:
  explicit File(std::size_t pages) : descriptor_(memfd_create("file_mapping_test", MFD_CLOEXEC)) { resize(pages); }
  ~File() { close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] int descriptor() const { return descriptor_; }
  void resize(std::size_t pages) const {
    if (ftruncate(descriptor_, static_cast<off_t>(pages * page_bytes)) != 0) throw std::runtime_error("ftruncate");
  }

 private:
  int descriptor_;
};

void store(const FileMapping& mapping, std::size_t page, std::uint8_t value) {
  *const_cast<volatile std::byte*>(mapping.data() + page * page_bytes) = std::byte{value};
}
std::uint8_t load(const FileMapping& mapping, std::size_t page) {
  return std::to_integer<std::uint8_t>(*const_cast<const volatile std::byte*>(mapping.data() + page * page_bytes));
}

/// The kernel grants no more private memory.
void refuse_memory() {
  const rlimit none{1, RLIM_INFINITY};  // Linux takes 0 for no limit
  if (setrlimit(RLIMIT_DATA, &none) != 0) _exit(1);
}
void grant_memory() {
  const rlimit all{RLIM_INFINITY, RLIM_INFINITY};
  if (setrlimit(RLIMIT_DATA, &all) != 0) _exit(1);
}
/// Ends a process that faults for ever: by SIGALRM.
void bound_time() {
  constexpr unsigned seconds = 30;
  alarm(seconds);
}

TEST(FileMapping, MapsTheFileWhileItIsWhole) {
  const File file(4);
  const FileMapping mapping(file.descriptor(), 4 * page_bytes, false);
  store(mapping, 3, 7);
  EXPECT_FALSE(mapping.is_lost());
  std::uint8_t stored = 0;
  EXPECT_EQ(pread(file.descriptor(), &stored, 1, 3 * page_bytes), 1);
  EXPECT_EQ(stored, 7);
}

TEST(FileMapping, AStoreToATruncatedFileIsCarriedOutInMemory) {
  const File file(4);
  const FileMapping mapping(file.descriptor(), 4 * page_bytes, true);
  file.resize(2);
  store(mapping, 3, 7);
  EXPECT_EQ(load(mapping, 3), 7);
  file.resize(4);
  EXPECT_TRUE(mapping.is_lost());
  store(mapping, 0, 8);
  std::uint8_t stored = 1;
  EXPECT_EQ(pread(file.descriptor(), &stored, 1, 0), 1);
  EXPECT_EQ(stored, 0) << "the file gets nothing any more";
}

TEST(FileMapping, ValuesStoredAfterTheLossRemain) {
  const File file(4);
  const FileMapping mapping(file.descriptor(), 4 * page_bytes, true);
  file.resize(0);
  EXPECT_TRUE(mapping.is_lost());
  store(mapping, 2, 9);
  EXPECT_TRUE(mapping.is_lost());
  EXPECT_EQ(load(mapping, 2), 9);
}

/// Each thread has its own pages. What it stores after is_lost() has returned true must stay; it would vanish if the
/// memory were replaced twice. Other mappings are made and removed meanwhile, and the handler passes over their slots.
TEST(FileMapping, ConcurrentStoresGetTheSameReplacementMemory) {
  constexpr std::size_t threads = 4;
  constexpr std::size_t pages_each = 8;
  constexpr std::size_t rounds = 100;
  for (std::size_t round = 0; round < rounds; ++round) {
    const File file(threads * pages_each);
    const File other(1);
    const FileMapping mapping(file.descriptor(), threads * pages_each * page_bytes, round % 2 == 0);
    std::atomic<bool> ends = false;
    std::atomic<std::size_t> begun = 0;
    std::vector<std::thread> writers;
    for (std::size_t thread = 0; thread < threads; ++thread) {
      writers.emplace_back([&, thread] {
        std::uint8_t value = 0;
        for (bool is_last = false; !is_last; ++value) {
          is_last = ends;
          for (std::size_t page = 0; page < pages_each; ++page) store(mapping, thread * pages_each + page, value);
          ++begun;
        }
        for (std::size_t page = 0; page < pages_each; ++page)
          EXPECT_EQ(load(mapping, thread * pages_each + page), static_cast<std::uint8_t>(value - 1)) << page;
      });
    }
    while (begun < threads) std::this_thread::yield();
    file.resize(round % 3);
    for (std::size_t i = 0; i < 4; ++i) {
      const FileMapping passing(other.descriptor(), page_bytes, false);
      store(passing, 0, 1);
    }
    EXPECT_TRUE(mapping.is_lost());
    ends = true;
    for (std::thread& writer : writers) writer.join();
  }
}

TEST(FileMapping, SlotsAreReusedAndBounded) {
  const File file(1);
  for (std::size_t round = 0; round < 3; ++round) {
    std::array<std::optional<FileMapping>, FileMapping::most> all;
    for (auto& one : all) one.emplace(file.descriptor(), page_bytes, false);
    EXPECT_THROW(FileMapping(file.descriptor(), page_bytes, false), std::runtime_error);
    const File shrunk(1);
    all[round].reset();
    all[round].emplace(shrunk.descriptor(), page_bytes, false);
    shrunk.resize(0);
    store(*all[round], 0, 3);
    EXPECT_TRUE(all[round]->is_lost());
    EXPECT_FALSE(all[round + 1]->is_lost());
  }
}

TEST(FileMappingDeathTest, AStoreWithoutReplacementMemoryAbortsWithAMessage) {
  const auto run = [] {
    const File file(4);
    const FileMapping mapping(file.descriptor(), 4 * page_bytes, false);
    file.resize(0);
    bound_time();
    refuse_memory();
    store(mapping, 1, 1);
  };
  EXPECT_EXIT(run(), testing::KilledBySignal(SIGABRT),
              "was truncated or its file system failed, and the kernel grants");
}

TEST(FileMappingDeathTest, AStoreAfterTheLossWasDetectedAborts) {
  const auto run = [] {
    const File file(4);
    const FileMapping mapping(file.descriptor(), 4 * page_bytes, false);
    file.resize(0);
    bound_time();
    refuse_memory();
    if (!mapping.is_lost()) _exit(1);
    store(mapping, 1, 1);
  };
  EXPECT_EXIT(run(), testing::KilledBySignal(SIGABRT), "the program ends");
}

TEST(FileMappingDeathTest, ReplacementMemoryGrantedLaterIsUsed) {
  const auto run = [] {
    const File file(4);
    const FileMapping mapping(file.descriptor(), 4 * page_bytes, false);
    file.resize(0);
    bound_time();
    refuse_memory();
    if (!mapping.is_lost()) _exit(1);
    grant_memory();
    file.resize(4);
    if (!mapping.is_lost()) _exit(2);
    store(mapping, 1, 5);
    std::uint8_t stored = 0;
    if (pread(file.descriptor(), &stored, 1, page_bytes) != 1 || stored != 0) _exit(3);
    _exit(load(mapping, 1) == 5 ? 0 : 4);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
}

/// A word that waits for a reader would keep the program from its end.
TEST(FileMappingDeathTest, TheMessageDoesNotBlockWithoutAReader) {
  const auto run = [] {
    const File file(4);
    const FileMapping mapping(file.descriptor(), 4 * page_bytes, false);
    std::array<int, 2> pipe_ends{};
    if (pipe2(pipe_ends.data(), O_NONBLOCK) != 0) _exit(1);
    while (write(pipe_ends[1], "x", 1) == 1) continue;
    if (fcntl(pipe_ends[1], F_SETFL, 0) != 0 || dup2(pipe_ends[1], STDERR_FILENO) < 0) _exit(1);
    file.resize(0);
    bound_time();
    refuse_memory();
    store(mapping, 1, 1);
  };
  EXPECT_EXIT(run(), testing::KilledBySignal(SIGABRT), "");
}

/// A fault elsewhere is not ours, whatever has become of the mappings.
TEST(FileMappingDeathTest, AFaultElsewhereEndsTheProgram) {
  const auto run = [] {
    const File file(1);
    const FileMapping mapping(file.descriptor(), page_bytes, false);
    const File other(1);
    void* const memory = mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, other.descriptor(), 0);
    other.resize(0);
    bound_time();
    *static_cast<volatile char*>(memory) = 1;
  };
  EXPECT_EXIT(run(), testing::KilledBySignal(SIGBUS), "");
}

}  // namespace
}  // namespace sluice::capture
