#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/dpdk/poll_policy.hpp"
#include "dataplane/dpdk/thread_priority.hpp"
#include "proxy/admin/default_socket.hpp"
#include "proxy/config/feedback.hpp"
#include "proxy/config/page.hpp"
#include "proxy/shard/config.hpp"
#include "proxy/yaml/yaml.hpp"

namespace sluice::tcp {
void describe(config::Section& s, EndpointConfig& tcp);
}  // namespace sluice::tcp

namespace sluice::config {

/// A TCP port or a range of them: "443", "8000-8100".
template <>
struct Scalar<proxy::PortRange> {
  static constexpr std::string_view kind = "a port such as 443, or a range such as 8000-8100";
  static constexpr std::string_view name = "ports";
  static std::optional<proxy::PortRange> parse(std::string_view text);
  static std::string format(const proxy::PortRange& value);
};

}  // namespace sluice::config

namespace sluice::proxy {

/// DPDK's environment.
struct EalSettings {
  bool hugepages = false;
  bool pci = false;
  std::optional<Bytes> memory;  ///< default: what the packet buffers need
  std::vector<std::string> arguments;
};

/// One of the two ports.
struct PortSettings {
  std::string device;
  std::uint16_t mtu = 1500;
  bool fix_offloads = false;
  bool promiscuous = true;
  std::uint16_t receive_descriptors = 1024;
  std::uint16_t transmit_descriptors = 1024;
};

/// What is done with TCP checksums that a sending kernel left to an offload that never ran.
enum class PartialChecksums : std::uint8_t {
  by_driver,  ///< accepted from a port where a kernel of this machine can be the sender, refused from others
  accept,
  refuse
};

struct PortsSettings {
  PortSettings radio;
  PortSettings core;
  PartialChecksums partial_checksums = PartialChecksums::by_driver;
};

/// What the wire is when the program does not run.
enum class FailOpen : std::uint8_t {
  none,   ///< whatever the ports' devices make of it
  bridge  ///< a bridge of the kernel between the ports' interfaces
};

/// The poll threads.
struct ShardsSettings {
  std::uint16_t count = 1;
  dpdk::PollMode poll = dpdk::PollMode::adaptive;
  Duration longest_sleep = dpdk::PollPolicy::default_step;  ///< of a poll thread with a port that cannot wake it
  dpdk::ThreadPriority priority = dpdk::ThreadPriority::normal;
  std::vector<std::uint16_t> cpus;  ///< one per shard; empty: not pinned
  std::uint32_t burst = 32;         ///< packets taken from a port at once
};

/// Packet buffers, taken at start.
struct PoolSettings {
  std::uint32_t buffers = 32'768;
};

enum class LogLevel : std::uint8_t { trace, debug, info, warning, error, critical, off };
enum class LogFormat : std::uint8_t { text, json };

struct LoggingSettings {
  LogLevel level = LogLevel::info;
  LogFormat format = LogFormat::text;
  std::optional<std::string> file;  ///< default: standard error
  Duration statistics_period = std::chrono::seconds(10);
  Duration warning_period = std::chrono::seconds(10);
};

struct AdminSettings {
  std::string socket = admin::default_socket;  ///< empty: none
  std::optional<std::string> group;            ///< who may connect besides the user who runs the program
};

/// What monitoring systems read.
struct MetricsSettings {
  std::optional<config::SocketAddress> listen;  ///< default: nowhere
};

/// The live page, on the server of the metrics.
struct PageSettings : config::PageConfig {
  bool switch_modes = false;
};

/// How the program ends.
struct StopSettings {
  Duration drain = std::chrono::seconds(5);  ///< for connections to go back to their hosts; what is left is reset
};

/// What a later run finds of this one, should it end without a word.
struct StateSettings {
  std::optional<std::string> file;           ///< default: none
  Duration keep = std::chrono::minutes(10);  ///< it is of no interest any more after this
};

/// The last frames of this run, should it end without a word.
struct LastFramesSettings {
  std::optional<std::string> file;      ///< default: none
  Bytes size{std::int64_t{64} << 20U};  ///< of what is kept, all shards together
  Bytes snap_length{96};                ///< of a frame at most
  bool payload = false;                 ///< … and not only of its headers
};

/// What a file that says nothing of it gets: connections are split and steered by the acknowledgements of their UEs,
/// and by reports where they come.
[[nodiscard]] inline ShardConfig default_shard() {
  ShardConfig shard;
  shard.mode = Mode::smvs;
  shard.smvs.law = LawPlace::acks;
  return shard;
}

/// What a running program is left able to do.
struct ConfineSettings {
  bool seccomp = false;  ///< only the system calls that it needs once it has started
};

/// The whole configuration of a proxy. `shard` is what every shard is told.
struct Config {
  EalSettings eal;
  PortsSettings ports;
  FailOpen fail_open = FailOpen::none;
  ShardsSettings shards;
  PoolSettings pool;
  std::optional<config::FeedbackConfig> feedback;  ///< required where reports steer
  LoggingSettings logging;
  AdminSettings admin;
  MetricsSettings metrics;
  std::optional<PageSettings> page;  ///< default: none
  StopSettings stop;
  StateSettings state;
  LastFramesSettings last_frames;
  ConfineSettings confine;
  ShardConfig shard = default_shard();

  /// A policy is steered by what Node-Bs report.
  [[nodiscard]] bool policies_need_reports() const {
    return std::any_of(shard.policies.begin(), shard.policies.end(),
                       [](const Policy& policy) { return policy.treatment.needs_reports(); });
  }
};

/// What the packet buffers of a configuration hold of relayed payload.
struct PacketMemory {
  Bytes shard;       ///< all connections of a shard, held and advertised
  Bytes ue;          ///< those of one UE
  Bytes connection;  ///< one direction of one connection that is alone
};
[[nodiscard]] PacketMemory packet_memory(const Config& config);
/// DPDK memory that so many buffers need, with what drivers take besides.
[[nodiscard]] Bytes memory_for(const Config& config);
/// Bytes of a frame that one packet buffer takes: what the larger MTU of both ports needs.
[[nodiscard]] std::uint16_t buffer_room_for(const Config& config);
void describe(config::Section& s, Policy& policy);
void describe(config::Section& s, ShardLimits& limits);
void describe(config::Section& s, ShardTimeouts& timeouts);
/// Every key, for a file that has the proxy and the Node-B in it.
void describe(config::Section& s, SmvsMode& smvs);
/// Those that the proxy uses under the law that it has; the others are refused.
void describe_at_proxy(config::Section& s, SmvsMode& smvs);
void describe(config::Section& s, EalSettings& eal);
void describe(config::Section& s, PortSettings& port);
void describe(config::Section& s, PortsSettings& ports);
void describe(config::Section& s, ShardsSettings& shards);
/// The key `priority` of poll threads that rest as `poll` says; the same in the Node-B's files.
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
/// The same from text; `file` is how errors call it.
[[nodiscard]] config::Loaded<Config> parse_config(std::string_view text, const std::string& file);
/// Every key with unit, range, default and meaning, as Markdown.
[[nodiscard]] std::string config_reference();
/// One changed value.
struct ConfigChange {
  std::string key;  ///< dotted path, elements of lists by number
  std::string before;
  std::string after;
  bool live = false;  ///< a running proxy can apply it
};
/// What differs, in the order of the keys. Secrets are not shown, but their change is.
[[nodiscard]] std::vector<ConfigChange> difference(const Config& before, const Config& after);
/// Every key with its value, as YAML.
[[nodiscard]] std::string print_config(const Config& config, config::Secrets secrets = config::Secrets::hide);

}  // namespace sluice::proxy
