// Creates the mapped file of last frames (`last_frames.file`) and keeps the file of a crashed earlier run beside it.
// proxy/ops/capture/last_frames.cpp opens it at start. Invariant: a file of another kind or user, or a symbolic link,
// is never changed. All space is allocated at start, so that storing a frame needs no system call.
#include "proxy/ops/capture/ring_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "proxy/ops/capture/decision.hpp"

namespace sluice::capture {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what);
}
[[noreturn]] void fail_with(const std::string& what, int error) {
  fail(what + ": " + std::generic_category().message(error));
}

template <std::size_t Room>
void set_text(std::array<char, Room>& out, std::string_view text) {
  std::copy_n(text.begin(), std::min(text.size(), Room - 1), out.begin());
}

/// Throws std::runtime_error unless the file is a regular file that belongs to this user, because another user may have
/// put it there.
void check_ours(int descriptor) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) fail_with("cannot be inspected", errno);
  if (!S_ISREG(status.st_mode)) fail("is no ordinary file");
  if (status.st_uid != geteuid()) fail("belongs to another user");
}

/// True if the file of last frames has a complete header. False if its run ended before it wrote the header. Throws
/// std::runtime_error if the file is of another kind.
bool is_begun(int descriptor) {
  std::array<char, sizeof RingHeader::own_magic> magic{};
  const ssize_t count = pread(descriptor, magic.data(), magic.size(), 0);
  if (count < 0) fail_with("cannot be read", errno);
  if (magic == RingHeader::own_magic) return true;
  if (magic != std::array<char, sizeof RingHeader::own_magic>{}) fail("is not a file of last_frames");
  return false;
}

void lock(int descriptor) {
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return;
  if (errno == EWOULDBLOCK) fail("is used by another running program");
  fail_with("cannot be locked", errno);
}

std::uint32_t slots_of_shard(const RingPlan& plan) {
  const std::uint64_t slots = plan.size / plan.shards / slot_bytes_for(plan.snap_length);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(slots, 1, UINT32_MAX));
}

std::unique_ptr<RingHeader> header_of(const RingPlan& plan) {
  auto header = std::make_unique<RingHeader>();
  header->magic = RingHeader::own_magic;
  header->version = RingHeader::own_version;
  header->slot_bytes = slot_bytes_for(plan.snap_length);
  header->slots = slots_of_shard(plan);
  header->shards = plan.shards;
  header->snap_length = plan.snap_length;
  header->to_wall = plan.to_wall;
  set_text(header->program, plan.program);
  for (std::size_t side = 0; side < plan.devices.size(); ++side) set_text(header->devices[side], plan.devices[side]);
  for (std::size_t decision = 0; decision < header->comments.size(); ++decision) {
    if (is_from_proxy(static_cast<Decision>(decision)) || (decision < proxy::counter_count && is_decision(decision)))
      set_text(header->comments[decision], comment_of(static_cast<Decision>(decision)));
  }
  return header;
}

}  // namespace

RingFile::RingFile(const RingPlan& plan) : path_(plan.path) {
  try {
    keep_earlier();
    begin(plan);
  } catch (const std::runtime_error& problem) {
    mapping_.reset();
    if (descriptor_ >= 0) close(descriptor_);
    throw std::runtime_error("last_frames.file " + path_ + " " + problem.what());
  }
}

RingFile::~RingFile() {
  mapping_.reset();
  if (descriptor_ >= 0) close(descriptor_);
}

void RingFile::keep_earlier() {
  const int earlier = open(path_.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (earlier < 0 && errno == ENOENT) return;
  if (earlier < 0) fail_with("cannot be opened", errno);
  const auto close_it = [](const int* number) { close(*number); };
  const std::unique_ptr<const int, decltype(close_it)> owner(&earlier, close_it);
  check_ours(earlier);
  lock(earlier);
  if (!is_begun(earlier)) {
    if (unlink(path_.c_str()) != 0) fail_with("cannot be removed", errno);
    return;
  }
  const std::string beside = path_ + ".earlier";
  if (rename(path_.c_str(), beside.c_str()) != 0) fail_with("cannot be kept as " + beside, errno);
  left_ = beside;
}

void RingFile::begin(const RingPlan& plan) {
  const std::size_t slash = path_.rfind('/');
  if (slash != std::string::npos && slash != 0)  // mkdir may fail: open() then reports a missing folder
    mkdir(path_.substr(0, slash).c_str(), S_IRWXU | S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH);
  descriptor_ = open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor_ < 0) fail_with("cannot be made", errno);
  lock(descriptor_);
  const std::unique_ptr<RingHeader> header = header_of(plan);
  const std::size_t of_shard = std::size_t{header->slots} * header->slot_bytes;
  const std::size_t size = sizeof(RingHeader) + of_shard * plan.shards;
  const int taken = posix_fallocate(descriptor_, 0, static_cast<off_t>(size));
  if (taken != 0) {
    unlink(path_.c_str());  // the incomplete file would be taken for that of an earlier run
    fail_with("has no space for " + std::to_string(size >> 20U) + " MiB", taken);
  }
  // All pages are populated now, so that a shard takes no page fault.
  mapping_.emplace(descriptor_, size, true);
  std::memcpy(mapping_->data(), header.get(), sizeof *header);
  const std::span<std::byte> slots(mapping_->data() + sizeof *header, size - sizeof *header);
  for (std::size_t shard = 0; shard < plan.shards; ++shard)
    rings_.push_back(
        std::make_shared<FrameRing>(slots.subspan(shard * of_shard, of_shard), plan.snap_length, plan.payload));
}

void RingFile::remove() {
  unlink_own(path_, descriptor_);
}

bool RingFile::is_lost() const {
  return mapping_->is_lost() ||
         std::memcmp(mapping_->data(), RingHeader::own_magic.data(), sizeof RingHeader::own_magic) != 0;
}

}  // namespace sluice::capture
