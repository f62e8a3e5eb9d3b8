#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/dpdk/poll_policy.hpp"
#include "dataplane/dpdk/thread_priority.hpp"
#include "proxy/config/feedback.hpp"
#include "proxy/config/page.hpp"
#include "proxy/engine/base/config.hpp"
#include "proxy/ops/admin/default_socket.hpp"
#include "proxy/yaml/yaml.hpp"

namespace sluice::tcp {
void describe(config::Section& s, EndpointConfig& tcp);
}  // namespace sluice::tcp

namespace sluice::config {

/// TCP port or range of ports, written "443" or "8000-8100".
template <>
struct Scalar<proxy::PortRange> {
  static constexpr std::string_view kind = "a port such as 443, or a range such as 8000-8100";
  static constexpr std::string_view name = "ports";
  static std::optional<proxy::PortRange> parse(std::string_view text);
  static std::string format(const proxy::PortRange& value);
};

}  // namespace sluice::config

namespace sluice::proxy {

/// Settings of DPDK's environment abstraction layer (EAL).
struct EalSettings {
  bool hugepages = false;
  bool pci = false;
  std::optional<Bytes> memory;  ///< if not set, as much as the packet buffers need
  std::vector<std::string> arguments;
};

/// Settings of one port.
struct PortSettings {
  std::string device;
  std::uint16_t mtu = 1500;
  bool fix_offloads = false;
  bool promiscuous = true;
  std::uint16_t receive_descriptors = 1024;
  std::uint16_t transmit_descriptors = 1024;
};

/// Handling of TCP checksums that a sending kernel left to an offload that never ran.
enum class PartialChecksums : std::uint8_t {
  by_driver,  ///< accepted only from a port to which a kernel of this machine can send
  accept,
  refuse
};

struct PortsSettings {
  PortSettings radio;
  PortSettings core;
  PartialChecksums partial_checksums = PartialChecksums::by_driver;
};

/// Path of frames while the program does not run.
enum class FailOpen : std::uint8_t {
  none,   ///< determined by the ports' devices
  bridge  ///< a kernel bridge between the ports' interfaces
};

/// Settings of the poll threads.
struct ShardsSettings {
  std::uint16_t count = 1;
  dpdk::PollMode poll = dpdk::PollMode::adaptive;
  Duration longest_sleep = dpdk::PollPolicy::default_step;  ///< for a poll thread with a port that cannot wake it
  dpdk::ThreadPriority priority = dpdk::ThreadPriority::normal;
  std::vector<std::uint16_t> cpus;  ///< one per shard; if empty, threads are not pinned
  std::uint32_t burst = 32;         ///< maximum packets taken from a port at once
};

/// Number of packet buffers, allocated at start.
struct PoolSettings {
  std::uint32_t buffers = 32'768;
};

enum class LogLevel : std::uint8_t { trace, debug, info, warning, error, critical, off };
enum class LogFormat : std::uint8_t { text, json };

struct LoggingSettings {
  LogLevel level = LogLevel::info;
  LogFormat format = LogFormat::text;
  std::optional<std::string> file;  ///< standard error if not set
  Duration statistics_period = std::chrono::seconds(10);
  Duration warning_period = std::chrono::seconds(10);
};

struct AdminSettings {
  std::string socket = admin::default_socket;  ///< no admin socket if empty
  std::optional<std::string> group;            ///< group that may connect, besides the user who runs the program
};

/// Address of the HTTP server for monitoring systems.
struct MetricsSettings {
  std::optional<config::SocketAddress> listen;  ///< no server if not set
};

/// Settings of the live page, which the metrics' server serves.
struct PageSettings : config::PageConfig {
  bool switch_modes = false;
};

/// Settings of the orderly end of the program.
struct StopSettings {
  Duration drain = std::chrono::seconds(5);  ///< time for connections to be handed back; those left are reset
};

/// File from which a later run learns the connections of a run that crashed.
struct StateSettings {
  std::optional<std::string> file;           ///< no file if not set
  Duration keep = std::chrono::minutes(10);  ///< a run that ended longer ago is ignored
};

/// File of the last frames, for the case that this run crashes.
struct LastFramesSettings {
  std::optional<std::string> file;      ///< no file if not set
  Bytes size{std::int64_t{64} << 20U};  ///< size of the slots of all shards
  Bytes snap_length{96};                ///< maximum bytes of a frame
  bool payload = false;                 ///< True to keep payload, false for headers only
};

/// Returns the default of a file without these keys: split connections, with the ACK-based controller, and with
/// reports if they arrive.
[[nodiscard]] inline ShardConfig default_shard() {
  ShardConfig shard;
  shard.mode = Mode::smvs;
  shard.smvs.law = ControllerLocation::acks;
  return shard;
}

/// Restrictions of the running program.
struct ConfineSettings {
  bool seccomp = false;  ///< allow only the system calls needed after the start
};

/// Complete configuration of a proxy. `shard` is passed to every shard.
struct Config {
  EalSettings eal;
  PortsSettings ports;
  FailOpen fail_open = FailOpen::none;
  ShardsSettings shards;
  PoolSettings pool;
  std::optional<config::FeedbackConfig> feedback;  ///< required if a mode needs reports
  LoggingSettings logging;
  AdminSettings admin;
  MetricsSettings metrics;
  std::optional<PageSettings> page;  ///< no page if not set
  StopSettings stop;
  StateSettings state;
  LastFramesSettings last_frames;
  ConfineSettings confine;
  ShardConfig shard = default_shard();

  /// True if some policy needs reports of Node-Bs.
  [[nodiscard]] bool policies_need_reports() const {
    return std::any_of(shard.policies.begin(), shard.policies.end(),
                       [](const Policy& policy) { return policy.settings.needs_reports(); });
  }
};

/// Payload that the packet buffers of a configuration provide for, held and advertised.
struct PacketMemory {
  Bytes shard;       ///< all connections of a shard
  Bytes ue;          ///< all connections of one UE
  Bytes connection;  ///< one direction of a connection that has no competitor
};
[[nodiscard]] PacketMemory packet_memory(const Config& config);
/// Returns the DPDK memory for the configured packet buffers, plus that of drivers.
[[nodiscard]] Bytes memory_for(const Config& config);
/// Returns the data size of a packet buffer in bytes, which fits the larger MTU of both ports.
[[nodiscard]] std::uint16_t buffer_room_for(const Config& config);
void describe(config::Section& s, Policy& policy);
void describe(config::Section& s, ShardLimits& limits);
void describe(config::Section& s, ShardTimeouts& timeouts);
/// Declares every key, for files that configure both the proxy and the Node-B.
void describe(config::Section& s, SmvsMode& smvs);
/// Declares the keys that the proxy uses with its setting of smvs.law; the others are refused.
void describe_at_proxy(config::Section& s, SmvsMode& smvs);
void describe(config::Section& s, EalSettings& eal);
void describe(config::Section& s, PortSettings& port);
void describe(config::Section& s, PortsSettings& ports);
void describe(config::Section& s, ShardsSettings& shards);
/// Declares the key `priority` of poll threads that run in mode `poll`; the Node-B's files have it too.
void describe_priority(config::Section& s, dpdk::PollMode poll, dpdk::ThreadPriority& priority);
void describe(config::Section& s, LoggingSettings& logging);
void describe(config::Section& s, AdminSettings& admin);
void describe(config::Section& s, MetricsSettings& metrics);
void describe(config::Section& s, PageSettings& page);
void describe(config::Section& s, StopSettings& stop);
void describe(config::Section& s, StateSettings& state);
void describe(config::Section& s, LastFramesSettings& frames);
void describe(config::Section& s, ConfineSettings& confine);
void describe(config::Section& s, Config& config);

/// Reads and checks a configuration file.
[[nodiscard]] config::Loaded<Config> load_config(const std::string& file);
/// Reads and checks a configuration from text. `file` names the text in errors.
[[nodiscard]] config::Loaded<Config> parse_config(std::string_view text, const std::string& file);
/// Returns the reference of every key with unit, range, default and meaning, as Markdown.
[[nodiscard]] std::string config_reference();
/// A value that differs between two configurations.
struct ConfigChange {
  std::string key;  ///< dotted path; elements of lists by number
  std::string before;
  std::string after;
  bool live = false;  ///< True if a running proxy can apply the change
};
/// Returns the differences in the order of the keys. A changed secret is reported without its value.
[[nodiscard]] std::vector<ConfigChange> difference(const Config& before, const Config& after);
/// Returns every key with its value, as YAML.
[[nodiscard]] std::string print_config(const Config& config, config::Secrets secrets = config::Secrets::hide);

}  // namespace sluice::proxy
