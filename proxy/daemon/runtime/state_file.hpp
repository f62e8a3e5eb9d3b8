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
#include "proxy/engine/flow_table/flow_journal.hpp"
#include "proxy/ops/capture/file_mapping.hpp"

namespace sluice::proxy {

/// Properties of this run. The file of an earlier run is used only if that run had the same ports, and if the file is
/// not older than `keep`.
struct StateIdentity {
  std::string ports;            ///< names of the ports' devices; a file of a run with other devices is ignored
  std::uint32_t shards = 1;     ///< number of shards of this run; an earlier run may have had a different number
  std::uint32_t max_flows = 1;  ///< maximum number of connections in each shard
  Duration keep{};              ///< maximum age of a file that is used, measured from the end of the earlier run
  std::function<unsigned(const IpAddress& ue)> owner;  ///< returns the index of the shard that a UE belongs to
};

/// Memory-mapped file with the split connections of this run. After a crash, the next run reads these connections from
/// the file. Entries are written by plain stores, because the kernel keeps the data of a mapped file when a process is
/// killed. All space is allocated at start, so that a store never fails on a full file system. Only its owner can read
/// the file, which is locked while in use. Thread: the control thread, but each shard writes its own journal.
class StateFile {
 public:
  /// Connections that an earlier run had split when it crashed.
  struct Left {
    /// connections for which bytes that were acknowledged to a host are lost, sorted by shard
    std::vector<CrashedConnection> crashed_connections;

    /// connections for which no bytes are lost, so that they continue between their hosts; sorted by shard
    std::vector<RecoveredConnection> recovered;
    Instant alive{};  ///< last time at which the earlier run is known to have been running
    /// reason why the file of an earlier run was ignored; empty if the file was used, or if there was no such file
    std::string ignored;
  };
  /// Those connections of an earlier run for which one shard is responsible.
  struct Inherited {
    std::span<const CrashedConnection> crashed_connections;
    /// one journal entry for each element of `crashed_connections`, in the same order
    std::span<JournalEntry> entries;
    std::span<const RecoveredConnection> recovered;
  };

  /// Reads the file of an earlier run if there is one, then replaces it by the file of this run. The new file also
  /// contains the crashed connections until they are reset. Throws std::runtime_error with the reason; the earlier file
  /// then remains unchanged.
  StateFile(std::string path, const StateIdentity& identity, Instant now);
  /// Closes the file and leaves it in place for the next run.
  ~StateFile();
  StateFile(const StateFile&) = delete;
  StateFile& operator=(const StateFile&) = delete;

  [[nodiscard]] const Left& left() const { return left_; }
  /// Returns the journal entries of a shard, indexed by FlowId.
  [[nodiscard]] std::span<JournalEntry> entries_of(std::uint32_t shard) const;
  [[nodiscard]] Inherited inherited_by(std::uint32_t shard) const;
  /// Records in the file that this run is still running at `now`. Called every few seconds.
  void keep_alive(Instant now);
  /// True if another program truncated the file or its file system failed. The next run then finds no connections in
  /// it.
  [[nodiscard]] bool is_lost() const;
  /// True if hosts of an earlier run's crashed connections have not confirmed that these ended. The next run must then
  /// find these connections in the file.
  [[nodiscard]] bool has_unconfirmed() const;
  /// Deletes the file after an orderly end of the run, unless another run has replaced it. The entries must no longer
  /// be in use.
  void remove();

  /// Header of the state file. If its layout changes, JournalEntry::version must change too.
  struct alignas(64) Header {
    std::array<char, 8> magic;
    std::uint32_t version;
    std::uint32_t entry_size;
    std::uint64_t entries;
    std::uint64_t network;  ///< inode of the run's network namespace
    std::uint64_t ports;    ///< hash of the names of the ports' devices
    /// boot_id of the kernel that the run used, because monotonic clocks of two boots cannot be compared
    std::array<char, 40> boot;
    std::int64_t alive;  ///< last time at which the run is known to have been running, in ns of the monotonic clock
  };

 private:
  class Descriptor;
  void read_left(const Descriptor& file, Instant now);
  void create_new_file(Instant now);
  [[nodiscard]] Header header_for(Instant now) const;
  [[nodiscard]] JournalEntry* first_entry() const;
  /// Returns the journal entries of connections that lost bytes when an earlier run crashed. In the file they are
  /// stored after the entries of the shards.
  [[nodiscard]] std::span<JournalEntry> crashed_entries() const;
  template <typename Connection>
  void sort_by_shard(std::vector<Connection>& connections) const;
  /// Returns the part of the list `connections`, which is sorted by shard, that belongs to `shard`: index of the first
  /// connection, and number of connections.
  template <typename Connection>
  [[nodiscard]] std::pair<std::size_t, std::size_t> part_of(std::uint32_t shard,
                                                            const std::vector<Connection>& connections) const;

  std::string path_;
  StateIdentity identity_;
  Left left_;
  int descriptor_ = -1;  ///< descriptor of the open file, which keeps the file locked
  std::optional<capture::FileMapping> mapping_;
};

}  // namespace sluice::proxy
