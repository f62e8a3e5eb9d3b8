#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/units/ip_address.hpp"
#include "dataplane/units/time.hpp"
#include "proxy/flows/flow_journal.hpp"
#include "proxy/recorder/file_mapping.hpp"

namespace sluice::proxy {

/// What makes the file of an earlier run one of this program's.
struct StateIdentity {
  std::string ports;            ///< the devices: another pair of wires carries other connections
  std::uint32_t shards = 1;     ///< of this run; an earlier one may have had another number
  std::uint32_t max_flows = 1;  ///< … and so many connections in each
  Duration keep{};              ///< a run that was last seen to live longer ago than this is of no interest
  std::function<unsigned(const IpAddress& ue)> owner;  ///< the shard of a UE
};

/// The split connections of this run in a file that outlives it, mapped, so that a plain store is enough to write to it
/// (the kernel keeps what a killed process has stored). All its room is taken at the start: a store must not find the
/// file system full. Owned by this user, readable by nobody else, locked while it is in use. Thread: the control
/// thread's, but for the journal of each shard.
class StateFile {
 public:
  /// What an earlier run left.
  struct Left {
    std::vector<Orphan> orphans;      ///< connections that lost bytes with it, by shard
    std::vector<Survivor> survivors;  ///< connections that did not: they are their hosts' own now; by shard
    Instant alive{};                  ///< when that run was last known to live
    std::string ignored;  ///< why an earlier run's file was not believed; empty where it was, or there was none
  };
  /// What of it a shard has to see to.
  struct Inherited {
    std::span<const Orphan> orphans;
    std::span<JournalEntry> entries;  ///< one for one
    std::span<const Survivor> survivors;
  };

  /// Reads what is there, then begins a file of this run in its place, in which the orphans stay until they are done
  /// with. Throws std::runtime_error saying why it cannot be; the earlier file is as it was then.
  StateFile(std::string path, const StateIdentity& identity, Instant now);
  /// The file stays, for the next run.
  ~StateFile();
  StateFile(const StateFile&) = delete;
  StateFile& operator=(const StateFile&) = delete;

  [[nodiscard]] const Left& left() const { return left_; }
  /// By FlowId.
  [[nodiscard]] std::span<JournalEntry> entries_of(std::uint32_t shard) const;
  [[nodiscard]] Inherited inherited_by(std::uint32_t shard) const;
  /// This run lives. To be called every few seconds.
  void keep_alive(Instant now);
  /// True if another program has truncated the file, or its file system has failed: the next run finds nothing in it.
  [[nodiscard]] bool is_lost() const;
  /// This run has ended as it should: nothing is left. Nobody may use the entries any more.
  void remove();

  /// The file's beginning. Changing it means another JournalEntry::version.
  struct alignas(64) Header {
    std::array<char, 8> magic;
    std::uint32_t version;
    std::uint32_t entry_size;
    std::uint64_t entries;
    std::uint64_t network;      ///< the network namespace: its inode
    std::uint64_t ports;        ///< a hash of the devices
    std::array<char, 40> boot;  ///< the kernel's boot_id: clocks of another one do not compare
    std::int64_t alive;         ///< when this run was last known to live, in nanoseconds of the monotonic clock
  };

 private:
  class Descriptor;
  void read_left(const Descriptor& file, Instant now);
  void begin_anew(Instant now);
  [[nodiscard]] Header header_for(Instant now) const;
  [[nodiscard]] JournalEntry* first_entry() const;
  [[nodiscard]] std::span<JournalEntry> orphan_entries() const;
  template <typename Connection>
  void sort_by_shard(std::vector<Connection>& connections) const;
  /// Where those of that shard begin among them, and how many they are.
  template <typename Connection>
  [[nodiscard]] std::pair<std::size_t, std::size_t> part_of(std::uint32_t shard,
                                                            const std::vector<Connection>& connections) const;

  std::string path_;
  StateIdentity identity_;
  Left left_;
  int descriptor_ = -1;  ///< holds the lock
  std::optional<capture::FileMapping> mapping_;
};

}  // namespace sluice::proxy
