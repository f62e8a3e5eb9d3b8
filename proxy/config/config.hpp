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
  /// memory that DPDK reserves; if not set, the memory that the packet buffers and drivers need
  std::optional<Bytes> memory;
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

/// Selects whether a segment with an unfinished TCP checksum is accepted. A kernel leaves the checksum to an interface
/// that offers checksum offload. A virtual interface offers it but never computes the checksum.
enum class PartialChecksums : std::uint8_t {
  /// Segments with an unfinished checksum are accepted only on a port whose device receives frames from this machine's
  /// kernel.
  by_driver,
  accept,
  refuse
};

struct PortsSettings {
  PortSettings radio;
  PortSettings core;
  PartialChecksums partial_checksums = PartialChecksums::by_driver;
};

/// Selects how frames pass between the two ports' interfaces while the program is not running.
enum class FailOpen : std::uint8_t {
  none,   ///< no fallback: frames pass only if the devices of the ports forward them themselves
  bridge  ///< a kernel bridge forwards frames between the interfaces of the two ports
};

/// Settings of the poll threads. Each shard has one, which receives and processes the packets of the shard's UEs.
struct ShardsSettings {
  std::uint16_t count = 1;
  dpdk::PollMode poll = dpdk::PollMode::adaptive;

  /// longest sleep of a poll thread if one of its ports cannot wake the thread when frames arrive
  Duration longest_sleep = dpdk::PollPolicy::default_step;
  dpdk::ThreadPriority priority = dpdk::ThreadPriority::normal;
  std::vector<std::uint16_t> cpus;  ///< processor of each shard's thread; if empty, threads are not pinned
  std::uint32_t burst = 32;         ///< maximum number of packets received from a port at once
};

/// Number of packet buffers of the program, which all ports and shards share. All buffers are allocated at start.
struct PoolSettings {
  std::uint32_t buffers = 32'768;
};

enum class LogLevel : std::uint8_t { trace, debug, info, warning, error, critical, off };
/// Returns the word that stands for a log level in the configuration file.
[[nodiscard]] std::string_view to_string(LogLevel level);
/// Returns the log level for a word of the configuration file, or nothing if no log level has this word.
[[nodiscard]] std::optional<LogLevel> parse_log_level(std::string_view word);
enum class LogFormat : std::uint8_t { text, json };

struct LoggingSettings {
  LogLevel level = LogLevel::info;
  LogFormat format = LogFormat::text;
  std::optional<std::string> file;  ///< path of the log file; standard error if not set
  /// path of the socket of a syslog daemon, which also receives each log line; none if not set
  std::optional<std::string> syslog;
  Duration statistics_period = std::chrono::seconds(10);
  Duration warning_period = std::chrono::seconds(10);
};

struct AdminSettings {
  std::string socket = admin::default_socket;  ///< path of the admin socket; none if empty

  /// group whose members may connect to the admin socket; the user who runs the program always may
  std::optional<std::string> group;
};

/// Address of the HTTP server for monitoring systems.
struct MetricsSettings {
  std::optional<config::SocketAddress> listen;  ///< address and port of the HTTP server; no server if not set
};

/// Settings of the live page, a web page that shows the state of the program. The HTTP server for metrics also serves
/// it.
struct PageSettings : config::PageConfig {
  bool switch_modes = false;
};

/// Settings of the export of ended connections as IPFIX messages.
struct IpfixSettings {
  config::SocketAddress collector;  ///< address and UDP port of the collector
  std::uint32_t domain = 1;         ///< observation domain id, which distinguishes several exporters
  Duration template_refresh = std::chrono::minutes(10);  ///< interval at which the IPFIX templates are sent again
  /// private enterprise number (RFC 7013) of the information elements that IANA has not registered
  std::uint32_t enterprise = 32473;
};

/// Settings of the orderly stop of the program.
struct StopSettings {
  /// duration of the drain (split connections are handed back to their hosts), unless StopSequence extends it
  Duration drain = std::chrono::seconds(5);
};

/// Settings of the state file. If this run crashes, the next run reads this run's connections from the file.
struct StateSettings {
  std::optional<std::string> file;  ///< path of the state file; no file if not set

  /// Maximum age of a state file that is used, counted from the last time at which its run is known to have been
  /// running. Also the time for which a new run answers segments of lost connections by resets.
  Duration keep = std::chrono::minutes(10);
};

/// Settings of the file that keeps the most recent frames, so that they can be read after a crash of this run.
struct LastFramesSettings {
  /// path of the file that keeps the newest frames for use after a crash; no file if not set
  std::optional<std::string> file;
  Bytes size{std::int64_t{64} << 20U};  ///< size in the file of the slots (places for one frame each) of all shards
  Bytes snap_length{96};                ///< maximum number of bytes stored of each frame
  bool payload = false;                 ///< true to store headers and payload, false to store headers only
};

/// Returns the default settings of a shard. Connections are split, the ACK-based controller runs, and reports of
/// Node-Bs are used if any arrive.
[[nodiscard]] inline ShardConfig default_shard() {
  ShardConfig shard;
  shard.mode = Mode::smvs;
  shard.smvs.law = ControllerLocation::acks;
  return shard;
}

/// Restrictions that the program imposes on itself after its start.
struct ConfineSettings {
  bool seccomp = false;  ///< true to allow only the system calls needed after the start
};

/// Complete configuration of a proxy. Every shard (packet-processing thread) gets a copy of `shard`.
struct Config {
  EalSettings eal;
  PortsSettings ports;
  FailOpen fail_open = FailOpen::none;
  ShardsSettings shards;
  PoolSettings pool;

  /// settings of the feedback protocol; must be set if a mode needs reports of Node-Bs
  std::optional<config::ProxyFeedbackConfig> feedback;
  LoggingSettings logging;
  AdminSettings admin;
  MetricsSettings metrics;
  std::optional<PageSettings> page;    ///< settings of the live page; no page if not set
  std::optional<IpfixSettings> ipfix;  ///< settings of the IPFIX export of ended connections; no export if not set
  StopSettings stop;
  StateSettings state;
  LastFramesSettings last_frames;
  ConfineSettings confine;
  ShardConfig shard = default_shard();

  /// True if at least one policy selects a mode that needs reports of Node-Bs.
  [[nodiscard]] bool policies_need_reports() const {
    return std::any_of(shard.policies.begin(), shard.policies.end(),
                       [](const Policy& policy) { return policy.settings.needs_reports(); });
  }
};

/// Number of payload bytes for which the configured packet buffers suffice. Bytes count if they are held by the proxy,
/// or if they may still arrive within an advertised window.
struct PacketMemory {
  Bytes shard;       ///< payload bytes of all connections of a shard together
  Bytes ue;          ///< payload bytes of all connections of one UE together
  Bytes connection;  ///< payload bytes of one direction of a connection while no other connection occupies buffers
};
[[nodiscard]] PacketMemory packet_memory(const Config& config);
/// Returns the memory that DPDK needs for the configured packet buffers and for drivers.
[[nodiscard]] Bytes memory_for(const Config& config);
/// Returns the data size of a packet buffer in bytes. It is large enough for frames of the port with the larger MTU.
[[nodiscard]] std::uint16_t buffer_room_for(const Config& config);
void describe(config::Section& s, Policy& policy);
void describe(config::Section& s, ShardLimits& limits);
void describe(config::Section& s, ShardTimeouts& timeouts);
/// Declares every key of section `smvs`, for a file that configures both the proxy and the Node-B.
void describe(config::Section& s, SmvsSettings& smvs);
/// Declares those keys of section `smvs` that the proxy uses with the configured value of smvs.law. Other keys are
/// errors.
void describe_at_proxy(config::Section& s, SmvsSettings& smvs);
void describe(config::Section& s, EalSettings& eal);
void describe(config::Section& s, PortSettings& port);
void describe(config::Section& s, PortsSettings& ports);
void describe(config::Section& s, ShardsSettings& shards);
/// Declares the key `priority` of poll threads. `poll` is their polling mode; busy polling excludes real-time priority.
void describe_priority(config::Section& s, dpdk::PollMode poll, dpdk::ThreadPriority& priority);
void describe(config::Section& s, LoggingSettings& logging);
void describe(config::Section& s, AdminSettings& admin);
void describe(config::Section& s, MetricsSettings& metrics);
void describe(config::Section& s, PageSettings& page);
void describe(config::Section& s, IpfixSettings& ipfix);
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
/// Configuration key whose value differs between two configurations.
struct ConfigChange {
  std::string key;  ///< dotted path of the key; an element of a list is given by its index
  std::string before;
  std::string after;
  bool live = false;  ///< true if a running proxy can apply the changed value without a restart
};
/// Returns the differences between two configurations in the order of the keys. A changed secret is reported without
/// its value.
[[nodiscard]] std::vector<ConfigChange> difference(const Config& before, const Config& after);
/// Returns every key of the configuration with its value, as YAML. Secrets are left out or included according to
/// `secrets`.
[[nodiscard]] std::string print_config(const Config& config, config::Secrets secrets = config::Secrets::hide);

}  // namespace sluice::proxy
