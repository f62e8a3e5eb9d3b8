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

/// Properties of this run, which are compared with an earlier run's file to decide which of its connections can be
/// used.
struct StateIdentity {
  std::string ports;            ///< names of the ports' devices; a file of a run with other devices is ignored
  std::uint32_t shards = 1;     ///< number of shards of this run; an earlier run may have had another number
  std::uint32_t max_flows = 1;  ///< maximum number of connections in each shard
  Duration keep{};              ///< time since the end of the earlier run beyond which its file is ignored
  std::function<unsigned(const IpAddress& ue)> owner;  ///< returns the index of the shard that a UE belongs to
};

/// Mapped file of this run's split connections, from which a later run reads them. A plain store writes an entry,
/// because the kernel keeps the data of a killed process. All space is allocated at start, so that a store never finds
/// the file system full. The file is readable by its owner only and locked while in use. Thread: the control thread,
/// except for the journal of each shard.
class StateFile {
 public:
  /// Connections of an earlier run that crashed.
  struct Left {
    /// connections of which acknowledged bytes were lost, sorted by shard
    std::vector<CrashedConnection> crashed_connections;

    /// Connections that lost no bytes and that continue between their hosts, sorted by shard.
    std::vector<RecoveredConnection> recovered;
    Instant alive{};      ///< time at which the earlier run was last known to run
    std::string ignored;  ///< reason why an earlier run's file was ignored; empty if it was accepted or there was none
  };
  /// Connections of an earlier run that one shard has to handle.
  struct Inherited {
    std::span<const CrashedConnection> crashed_connections;
    std::span<JournalEntry> entries;  ///< journal entries of `crashed_connections`, in the same order
    std::span<const RecoveredConnection> recovered;
  };

  /// Reads the file of an earlier run if there is one, then replaces it by one of this run. The new file keeps the
  /// crashed connections until they are reset. Throws std::runtime_error with the reason; the earlier file is then
  /// unchanged.
  StateFile(std::string path, const StateIdentity& identity, Instant now);
  /// Closes the file and leaves it in place for the next run.
  ~StateFile();
  StateFile(const StateFile&) = delete;
  StateFile& operator=(const StateFile&) = delete;

  [[nodiscard]] const Left& left() const { return left_; }
  /// Returns the journal entries of a shard, indexed by FlowId.
  [[nodiscard]] std::span<JournalEntry> entries_of(std::uint32_t shard) const;
  [[nodiscard]] Inherited inherited_by(std::uint32_t shard) const;
  /// Records in the file that this run still runs. Called every few seconds.
  void keep_alive(Instant now);
  /// True if another program truncated the file or its file system failed, so that the next run finds nothing in it.
  [[nodiscard]] bool is_lost() const;
  /// Deletes the file after an orderly end of the run, unless another run has replaced it. The entries must no longer
  /// be in use.
  void remove();

  /// Header of the state file. A change of it requires another JournalEntry::version.
  struct alignas(64) Header {
    std::array<char, 8> magic;
    std::uint32_t version;
    std::uint32_t entry_size;
    std::uint64_t entries;
    std::uint64_t network;      ///< inode of the run's network namespace
    std::uint64_t ports;        ///< hash of the names of the ports' devices
    std::array<char, 40> boot;  ///< boot_id of the kernel, because monotonic clocks of two boots cannot be compared
    std::int64_t alive;         ///< time at which the run was last known to run, in ns of the monotonic clock
  };

 private:
  class Descriptor;
  void read_left(const Descriptor& file, Instant now);
  void begin_anew(Instant now);
  [[nodiscard]] Header header_for(Instant now) const;
  [[nodiscard]] JournalEntry* first_entry() const;
  /// Returns the journal entries of crashed connections, which follow those of the shards in the file.
  [[nodiscard]] std::span<JournalEntry> crashed_entries() const;
  template <typename Connection>
  void sort_by_shard(std::vector<Connection>& connections) const;
  /// Returns, for one shard, the index of its first connection in the sorted list and the number of its connections.
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
