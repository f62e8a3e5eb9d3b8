// Mapped journal of split connections (state.file) and recovery from that of a crashed run. Runtime creates it before
// the shards. Invariant: the file is always complete, either that of the earlier run or that of this one, because
// rename() replaces it. The contents of an earlier file are not trusted.
#include "proxy/daemon/runtime/state_file.hpp"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>

#include "proxy/daemon/runtime/private_file.hpp"

namespace sluice::proxy {
namespace {

constexpr std::array<char, 8> magic{'S', 'L', 'U', 'I', 'C', 'E', 'S', 'T'};
constexpr std::size_t chunk = 512;  ///< number of journal entries that one read call reads from the file
static_assert(sizeof(StateFile::Header) % alignof(JournalEntry) == 0);

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what);
}
[[noreturn]] void fail_with_errno(const std::string& what) {
  fail(what + ": " + strerror(errno));
}

std::array<char, 40> boot_id_field() {
  std::array<char, 40> field{};
  const std::string id = boot_id();
  std::copy_n(id.begin(), std::min(id.size(), field.size() - 1), field.begin());
  return field;
}

std::uint64_t network_namespace() {
  struct stat status {};
  return stat("/proc/thread-self/ns/net", &status) == 0 ? status.st_ino : 0;
}

std::uint64_t hash_of(const std::string& text) {
  std::uint64_t fnv = 0xcbf29ce484222325U;
  for (const char c : text) fnv = (fnv ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return fnv;
}

/// Reads `size` bytes at `offset`. Returns false if fewer are available.
bool read_at(int descriptor, void* out, std::size_t size, std::size_t offset) {
  return pread(descriptor, out, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
}

void lock(int descriptor) {
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return;
  if (errno == EWOULDBLOCK) fail("another running program uses it");
  fail_with_errno("cannot be locked");
}

}  // namespace

/// Owns the file descriptor of the state file. The descriptor holds the lock on the file.
class StateFile::Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

StateFile::StateFile(std::string path, const StateIdentity& identity, Instant now)
    : path_(std::move(path)), identity_(identity) {
  try {
    const Descriptor earlier(open(path_.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
    if (earlier.number() < 0 && errno != ENOENT) fail_with_errno("cannot be opened");
    if (earlier.number() >= 0) {
      require_private(earlier.number());
      lock(earlier.number());
      read_left(earlier, now);
      sort_by_shard(left_.crashed_connections);
      sort_by_shard(left_.recovered);
    }
    create_new_file(now);
  } catch (const std::runtime_error& problem) {
    unlink((path_ + ".new").c_str());
    throw std::runtime_error("state.file " + path_ + " " + problem.what());
  }
}

StateFile::~StateFile() {
  mapping_.reset();
  if (descriptor_ >= 0) close(descriptor_);
}

template <typename Connection>
void StateFile::sort_by_shard(std::vector<Connection>& connections) const {
  std::stable_sort(connections.begin(), connections.end(), [this](const Connection& a, const Connection& b) {
    return identity_.owner(a.key.ue) < identity_.owner(b.key.ue);
  });
}

StateFile::Header StateFile::header_for(Instant now) const {
  Header header{};
  header.magic = magic;
  header.version = JournalEntry::version;
  header.entry_size = sizeof(JournalEntry);
  header.entries = std::uint64_t{identity_.shards} * identity_.max_flows + left_.crashed_connections.size();
  header.network = network_namespace();
  header.ports = hash_of(identity_.ports);
  header.boot = boot_id_field();
  header.alive = now.time_since_epoch().count();
  return header;
}

/// Reads from an earlier run's file the connections that were split when that run ended. Checks every field, because
/// another program could have written the file.
void StateFile::read_left(const Descriptor& file, Instant now) {
  Header header{};
  const Header ours = header_for(now);
  if (!read_at(file.number(), &header, sizeof header, 0)) return;  // the earlier run ended before it wrote the header
  if (header.magic != ours.magic || header.version != ours.version || header.entry_size != ours.entry_size) {
    left_.ignored = "it was written by another version of this program, or by another program";
  } else if (header.boot != ours.boot) {
    left_.ignored = "it was written before this machine started";
  } else if (header.network != ours.network || header.ports != ours.ports) {
    left_.ignored = "it was written for other ports";
  } else if (std::chrono::abs(now - Instant(Duration(header.alive))) > identity_.keep) {
    left_.ignored = "it is older than state.keep";
  }
  if (!left_.ignored.empty()) return;
  left_.alive = Instant(Duration(header.alive));
  const off_t end = lseek(file.number(), 0, SEEK_END);
  const std::uint64_t fits =
      (static_cast<std::uint64_t>(std::max<off_t>(end, 0)) - sizeof header) / sizeof(JournalEntry);
  const std::uint64_t count = std::min(header.entries, fits);
  const std::size_t most = std::size_t{identity_.shards} * identity_.max_flows;
  std::vector<JournalEntry> entries(chunk);
  const auto found = [&] { return left_.crashed_connections.size() + left_.recovered.size(); };
  for (std::uint64_t at = 0; at < count && found() < most; at += chunk) {
    const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(chunk, count - at));
    if (!read_at(file.number(), entries.data(), some * sizeof(JournalEntry), sizeof header + at * sizeof(JournalEntry)))
      return;
    for (const JournalEntry& entry : std::span(entries).first(some)) {
      if (entry.state == JournalEntry::even) {
        if (const auto connection = read_recovered(entry)) left_.recovered.push_back(*connection);
      } else if (const auto crashed = read(entry)) {
        left_.crashed_connections.push_back(*crashed);
      }
    }
  }
}

/// Creates the file of this run under a temporary name. Only the complete file is renamed, so that it replaces the file
/// of the earlier run. If this run is killed before it has renamed the file, the file of the earlier run remains.
void StateFile::create_new_file(Instant now) {
  const std::string fresh = path_ + ".new";
  make_folder_of(path_);
  unlink(fresh.c_str());
  Descriptor file(open(fresh.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (file.number() < 0) fail_with_errno("cannot be made");
  lock(file.number());
  const Header header = header_for(now);
  const std::size_t size = sizeof header + header.entries * sizeof(JournalEntry);
  const int taken = posix_fallocate(file.number(), 0, static_cast<off_t>(size));
  if (taken != 0) fail("has no space for " + std::to_string(size >> 20U) + " MiB: " + strerror(taken));
  mapping_.emplace(file.number(), size, false);
  std::memcpy(mapping_->data(), &header, sizeof header);
  const std::span<JournalEntry> entries = crashed_entries();
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = to_entry(left_.crashed_connections[i]);
  if (rename(fresh.c_str(), path_.c_str()) != 0) fail_with_errno("cannot be renamed to its final name");
  descriptor_ = file.release();
}

JournalEntry* StateFile::first_entry() const {
  return reinterpret_cast<JournalEntry*>(mapping_->data() + sizeof(Header));
}

std::span<JournalEntry> StateFile::entries_of(std::uint32_t shard) const {
  return {first_entry() + std::size_t{shard} * identity_.max_flows, identity_.max_flows};
}

std::span<JournalEntry> StateFile::crashed_entries() const {
  return {first_entry() + std::size_t{identity_.shards} * identity_.max_flows, left_.crashed_connections.size()};
}

template <typename Connection>
std::pair<std::size_t, std::size_t> StateFile::part_of(std::uint32_t shard,
                                                       const std::vector<Connection>& connections) const {
  const auto before = [this](const Connection& each, std::uint32_t of) { return identity_.owner(each.key.ue) < of; };
  const auto first = std::lower_bound(connections.begin(), connections.end(), shard, before);
  const auto end = std::lower_bound(first, connections.end(), shard + 1, before);
  return {static_cast<std::size_t>(first - connections.begin()), static_cast<std::size_t>(end - first)};
}

StateFile::Inherited StateFile::inherited_by(std::uint32_t shard) const {
  const auto [crashed, crashed_connections] = part_of(shard, left_.crashed_connections);
  const auto [connection, recovered] = part_of(shard, left_.recovered);
  return {std::span(left_.crashed_connections).subspan(crashed, crashed_connections),
          crashed_entries().subspan(crashed, crashed_connections),
          std::span(left_.recovered).subspan(connection, recovered)};
}

void StateFile::keep_alive(Instant now) {
  std::atomic_ref(reinterpret_cast<Header*>(mapping_->data())->alive).store(now.time_since_epoch().count());
}

bool StateFile::is_lost() const {
  return mapping_ && (mapping_->is_lost() || reinterpret_cast<const Header*>(mapping_->data())->magic != magic);
}

bool StateFile::has_unconfirmed() const {
  return mapping_ && std::ranges::any_of(crashed_entries(),
                                         [](const JournalEntry& entry) { return entry.state != JournalEntry::unused; });
}

void StateFile::remove() {
  mapping_.reset();
  // An empty file has the same effect as none.
  if (ftruncate(descriptor_, 0) == 0) capture::unlink_own(path_, descriptor_);
}

}  // namespace sluice::proxy
