// Tests of the proxy's configuration: all sections, rules across keys, differences between two configurations, and the
// examples in configs/inline.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "dataplane/packet/pool_memory.hpp"
#include "proxy/config/config.hpp"
#include "proxy/config/feedback_session.hpp"
#include "tests/unit/config/configuration.hpp"

namespace sluice::proxy {
namespace {

using namespace std::chrono_literals;
using test::errors_of;
using test::parsed;
using test::ports;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::filesystem::path source_dir = SLUICE_SOURCE_DIR;

constexpr const char* key = "{ id: 1, secret: 00112233445566778899aabbccddeeff }";

std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

TEST(ProxyConfig, TwoPortsAreEnough) {
  const auto config = parsed(ports);
  ASSERT_TRUE(config) << to_string(config.errors);
  EXPECT_EQ(config->shard.mode, Mode::smvs);
  EXPECT_EQ(config->shard.smvs.law, ControllerLocation::acks);
  EXPECT_EQ(config->ports.core.device, "net_null1");
  EXPECT_FALSE(config->feedback);
  EXPECT_EQ(config->admin.socket, "/run/sluice/sluice.sock");
}

TEST(ProxyConfig, ReadsEverySection) {
  const auto config = parsed(std::string(ports) + R"(  partial_checksums: refuse
mode: smvs
eal: { hugepages: true, memory: 512MiB, arguments: ["--iova-mode", va] }
shards: { count: 2, poll: busy, cpus: [4, 6], burst: 64 }
pool: { buffers: 65536 }
limits: { max_flows: 1000, max_bearers: 10, relay_buffer: 256KiB, shrink_windows_at: 0.4, refuse_flows_at: 0.6 }
timeouts: { handshake: 30s, idle: 1h }
tcp: { congestion: newreno, min_rto: 300ms, delayed_ack: 20ms, initial_window: 4 }
smvs:
  law: proxy
  parameters: { step: 25ms, delta: 35, reference: 100 frames, buffer: 8000B, one_way_delay: 25ms, eta_window: 1s }
  receive_window: { reference: 30ms, maximum: 2MiB }
  fallback: { periods: 3 }
feedback:
  listen: "[::1]:38425"
  peers: [192.0.2.1:1000]
  sender: 7
  keys: [{ id: 9, secret: 00112233445566778899aabbccddeeff }, { id: 10, secret: ffeeddccbbaa99887766554433221100 }]
  send_key: 10
logging: { level: debug, format: json, file: /tmp/x.log, statistics_period: 0s }
admin: { socket: /tmp/x.sock, group: operators }
ue_prefixes: [10.0.0.0/8, "2001:db8::/32"]
)");
  ASSERT_TRUE(config) << to_string(config.errors);
  EXPECT_EQ(config->shard.mode, Mode::smvs);
  EXPECT_THAT(config->shard.accept_partial_checksums, ElementsAre(false, false));
  EXPECT_TRUE(config->eal.hugepages);
  EXPECT_THAT(config->eal.arguments, ElementsAre("--iova-mode", "va"));
  EXPECT_THAT(config->shards.cpus, ElementsAre(4, 6));
  EXPECT_EQ(config->shards.poll, dpdk::PollMode::busy);
  EXPECT_EQ(config->shard.limits.relay_buffer, Bytes(256 * 1024));
  EXPECT_EQ(config->shard.timeouts.idle, 1h);
  EXPECT_EQ(config->shard.tcp.congestion, tcp::CongestionAlgorithm::newreno);
  EXPECT_EQ(config->shard.smvs.law, ControllerLocation::proxy);
  EXPECT_EQ(config->shard.smvs.parameters.reference, control::Reference::frames(100));
  EXPECT_EQ(config->shard.smvs.fallback.periods, 3U);
  ASSERT_TRUE(config->feedback);
  EXPECT_EQ(config->feedback->listen.port, 38425);
  EXPECT_EQ(config->feedback->session_send_key(), 10U);
  ASSERT_EQ(config->feedback->session_keys().size(), 2U);
  EXPECT_EQ(config->feedback->session_keys()[0].secret.size(), 16U);
  EXPECT_EQ(config->feedback->session_keys()[1].secret[0], 0xff);
  EXPECT_EQ(config->logging.format, LogFormat::json);
  EXPECT_EQ(config->admin.socket, "/tmp/x.sock");
  EXPECT_EQ(config->admin.group, "operators");
  EXPECT_EQ(config->shard.ue_prefixes.size(), 2U);
}

TEST(ProxyConfig, PartialChecksumsAreAcceptedFromKernelPortsByDefault) {
  const auto accepted = [](const std::string& radio, const std::string& core, const std::string& setting = "") {
    const auto config =
        parsed("ports:\n  radio: { device: \"" + radio + "\" }\n  core: { device: \"" + core + "\" }\n" + setting);
    EXPECT_TRUE(config) << to_string(config.errors);
    return config->shard.accept_partial_checksums;
  };
  EXPECT_THAT(accepted("net_af_packet0,iface=a", "net_tap0"), ElementsAre(true, true));
  EXPECT_THAT(accepted("net_memif0,role=server", "net_af_xdp0,iface=b"), ElementsAre(false, true));
  EXPECT_THAT(accepted("0000:03:00.0", "net_ring0"), ElementsAre(false, false));
  const std::string automatic = "  partial_checksums: auto\n";
  EXPECT_THAT(accepted("net_af_packet0,iface=a", "net_null0", automatic), ElementsAre(true, false));
  EXPECT_THAT(accepted("0000:03:00.0", "net_ring0", "  partial_checksums: accept\n"), ElementsAre(true, true));
  EXPECT_THAT(accepted("net_tap0", "net_tap1", "  partial_checksums: refuse\n"), ElementsAre(false, false));
}

TEST(ProxyConfig, EachPortHasItsOwnInterfaceNamedByAWholeArgument) {
  const auto with = [](const std::string& radio, const std::string& core) {
    return errors_of("ports:\n  radio: { device: \"" + radio + "\" }\n  core: { device: \"" + core + "\" }\n");
  };
  EXPECT_THAT(with("net_af_packet0,iface=a", "net_af_packet1,iface=b"), IsEmpty());
  EXPECT_THAT(with("net_af_packet0,iface=a", "net_af_packet1,iface=a"),
              ElementsAre(AllOf(HasSubstr("another interface than that of radio"), HasSubstr("a twice"))));
  EXPECT_THAT(with("net_af_packet0,iface=a", "net_af_xdp0,qpairs=1,iface=a"), ElementsAre(HasSubstr("a twice")));
  EXPECT_THAT(with("net_af_packet0,iface=a,b,framecnt=512", "net_af_packet1,iface=c"),
              ElementsAre(AllOf(HasSubstr("s.yaml:2"), HasSubstr("whose name has none"), HasSubstr("got \"b\""))));
  EXPECT_THAT(with("net_pcap0,rx_iface_in=a,tx_iface=a", "net_af_packet0,iface=a"), ElementsAre(HasSubstr("a twice")));
  EXPECT_THAT(with("net_memif0", "net_ring0"), IsEmpty());
}

TEST(ProxyConfig, APortIsADeviceThatDpdkKnows) {
  const auto with = [](const std::string& radio) {
    return errors_of("ports:\n  radio: { device: \"" + radio + "\" }\n  core: { device: net_null1 }\n");
  };
  EXPECT_THAT(with("eth0"),
              ElementsAre(AllOf(HasSubstr("s.yaml:2:12: ports.radio.device, expected net_af_packet0,iface=NAME"),
                                HasSubstr("got \"eth0\""))));
  EXPECT_THAT(with("net_af_packet0"), ElementsAre(HasSubstr("expected iface=NAME behind the comma")));
  EXPECT_THAT(with("net_af_packet0,iface=eth0"), IsEmpty());
  EXPECT_THAT(with("0000:03:00.0"), IsEmpty());
  EXPECT_THAT(with("03:00.0,representor=[0]"), IsEmpty());
}

TEST(ProxyConfig, ABridgeJoinsInterfacesOfTheKernelOnly) {
  const auto with = [](const std::string& radio) {
    return errors_of("ports:\n  radio: { device: \"" + radio +
                     "\" }\n  core: { device: \"net_af_xdp1,iface=core0\" }\nfail_open: bridge\n");
  };
  EXPECT_THAT(with("net_af_packet0,iface=radio0"), IsEmpty());
  EXPECT_THAT(with("net_memif0,role=server"), ElementsAre(HasSubstr("s.yaml:4:1: fail_open, expected none if a port")));
  EXPECT_THAT(with("0000:03:00.0"), ElementsAre(HasSubstr("got 0000:03:00.0")));
  EXPECT_THAT(with("net_af_packet0,iface=a;b"), ElementsAre(HasSubstr("letters, digits")));
  EXPECT_THAT(errors_of(std::string(ports) + "fail_open: none\n"), IsEmpty());
}

TEST(ProxyConfig, MissingPortsAreNamed) {
  EXPECT_THAT(errors_of("mode: bypass\n"),
              ElementsAre("s.yaml:1:1: missing key 'ports', expected the two ports of the bump in the wire"));
  EXPECT_THAT(errors_of("ports:\n  radio: { device: net_null0 }\n"),
              ElementsAre("s.yaml:2:3: missing key 'ports.core', expected the port towards the servers"));
}

TEST(ProxyConfig, RulesAcrossKeysAreChecked) {
  const std::string p = ports;
  EXPECT_THAT(
      errors_of("ports:\n  radio: { device: net_null0 }\n  core: { device: net_null0 }\n"),
      ElementsAre("s.yaml:3:3: ports.core, expected another device than that of radio, got \"net_null0\" twice"));
  EXPECT_THAT(errors_of(p + "shards:\n  count: 2\n  cpus: [1]\n"),
              ElementsAre("s.yaml:6:3: shards.cpus, expected as many as shards.count, 2, got 1"));
  EXPECT_THAT(errors_of(p + "shards:\n  poll: busy\n  priority: real-time\n"),
              ElementsAre("s.yaml:6:3: shards.priority, expected normal with poll: busy (the system stops a real-time "
                          "thread that never sleeps for 50 ms of every second), got real-time"));
  EXPECT_THAT(errors_of(p + "shards: {priority: real-time}\n"), ElementsAre());
  EXPECT_THAT(errors_of(p + "mode: smvs\nsmvs: { law: nodeb }\n"),
              ElementsAre("s.yaml:4:1: mode, expected a feedback section together with mode smvs, got none"));
  EXPECT_THAT(errors_of(p + "tcp: { min_rto: 30s, max_rto: 2s }\n"),
              ElementsAre("s.yaml:4:8: tcp.min_rto, expected at most max_rto, got 30s"));
  EXPECT_THAT(
      errors_of(p + "pool: { buffers: 2000 }\n"),
      ElementsAre(
          "s.yaml:4:1: pool, expected at least 3072 buffers: what the ports' receive queues hold and 1024 more, "
          "got 2000"));
  EXPECT_THAT(errors_of(p + "eal: { memory: 20MiB }\n"), ElementsAre(HasSubstr("s.yaml:4:1: eal, expected memory of")));
}

TEST(ProxyConfig, MemoryIsComputedForPoolsOfAnySize) {
  for (const char* const buffers : {"32768", "40001", "1000000", "16777216"}) {
    const auto config = parsed(std::string(ports) + "pool: { buffers: " + buffers + " }\n");
    ASSERT_TRUE(config) << to_string(config.errors);
    const std::uint64_t pool = packet::pool_footprint(config->pool.buffers);
    EXPECT_GT(memory_for(*config), Bytes(static_cast<std::int64_t>(pool)));
  }
}

TEST(ProxyConfig, ARenamedKeyIsRefusedWithItsNewName) {
  EXPECT_THAT(
      errors_of(std::string(ports) + "limits: { let_flows_go_at: 0.8 }\n"),
      ElementsAre("s.yaml:4:11: unknown key 'limits.let_flows_go_at', expected its new name 'release_flows_at'"));
  EXPECT_THAT(errors_of(std::string(ports) + "longest_hold: 100ms\n"),
              ElementsAre("s.yaml:4:1: unknown key 'longest_hold', expected its new name 'max_ack_delay'"));
  EXPECT_THAT(
      errors_of(std::string(ports) + "smvs:\n  acks: { clumps: 0.5 }\n"),
      ElementsAre("s.yaml:5:11: unknown key 'smvs.acks.clumps', expected its new name 'ack_aggregation_share'"));
  EXPECT_THAT(
      errors_of(std::string(ports) + "smvs:\n  acks: { forget_after: 5s }\n"),
      ElementsAre("s.yaml:5:11: unknown key 'smvs.acks.forget_after', expected its new name 'restart_after_idle'"));
}

TEST(ProxyConfig, ThresholdsForShortBuffersMustBeInOrder) {
  const std::string p = ports;
  EXPECT_THAT(errors_of(p + "limits: { shrink_windows_at: 0.6, refuse_flows_at: 0.5 }\n"),
              ElementsAre("s.yaml:4:35: limits.refuse_flows_at, expected at least shrink_windows_at, 0.6, got 0.5"));
  EXPECT_THAT(errors_of(p + "limits: { release_flows_at: 0.7 }\n"),
              ElementsAre("s.yaml:4:11: limits.release_flows_at, expected at least refuse_flows_at, 0.75, got 0.7"));
  EXPECT_THAT(errors_of(p + "limits: { shrink_windows_at: 0.5, refuse_flows_at: 0.5, release_flows_at: 0.5 }\n"),
              IsEmpty());
}

TEST(ProxyConfig, PoliciesInheritMissingKeysFromTheTopLevel) {
  const auto config = parsed(std::string(ports) + R"(mode: i-tcp
max_ack_delay: 70ms
control_group: 10%
policies:
  - { ports: [22, 8000-8100], mode: bypass }
  - { ue: [10.45.0.0/16], dscp: [46], gwa: { decay: 0.5 } }
)");
  ASSERT_TRUE(config) << config::to_string(config.errors);
  EXPECT_DOUBLE_EQ(config->shard.control_group, 0.1);
  ASSERT_EQ(config->shard.policies.size(), 2U);
  EXPECT_THAT(config->shard.policies[0].ports, ElementsAre(PortRange{22, 22}, PortRange{8000, 8100}));
  EXPECT_EQ(config->shard.policies[0].settings.mode, Mode::bypass);
  EXPECT_EQ(config->shard.policies[1].settings.mode, Mode::i_tcp);
  EXPECT_EQ(config->shard.policies[1].settings.laws.max_ack_delay, std::chrono::milliseconds(70));
  EXPECT_EQ(config->shard.policies[1].settings.laws.gwa.decay, 0.5);
}

TEST(ProxyConfig, APolicyMayAdviseAnotherRate) {
  const auto config = parsed(std::string(ports) + R"(mode: i-tcp
scone_rate: 10Mb/s
policies:
  - { ports: [443] }
  - { ports: [4433], scone_rate: 2Mb/s }
)");
  ASSERT_TRUE(config) << config::to_string(config.errors);
  ASSERT_EQ(config->shard.policies.size(), 2U);
  EXPECT_EQ(config->shard.scone_rate, Rate::bits_per_second(10e6));
  EXPECT_EQ(config->shard.policies[0].settings.scone_rate, Rate::bits_per_second(10e6));
  EXPECT_EQ(config->shard.policies[1].settings.scone_rate, Rate::bits_per_second(2e6));
  EXPECT_EQ(parsed(ports)->shard.scone_rate, Rate()) << "off by default";
}

TEST(ProxyConfig, APolicyMayAdviseAShareOfTheLink) {
  const auto config = parsed(std::string(ports) + R"(mode: smvs
smvs: { law: acks }
scone_link_share: 80%
policies:
  - { ports: [443] }
  - { ports: [4433], scone_link_share: 12.5%, scone_rate: 2Mb/s }
)");
  ASSERT_TRUE(config) << config::to_string(config.errors);
  EXPECT_EQ(config->shard.scone_link_share, 0.8);
  EXPECT_EQ(config->shard.policies[0].settings.scone_link_share, 0.8);
  EXPECT_EQ(config->shard.policies[1].settings.scone_link_share, 0.125);
  EXPECT_EQ(parsed(ports)->shard.scone_link_share, 0) << "off by default";
  EXPECT_FALSE(parsed(std::string(ports) + "scone_link_share: 101%\n"));
  EXPECT_FALSE(parsed(std::string(ports) + "scone_link_share: -1%\n"));
}

TEST(ProxyConfig, APolicyMayControlTheUplink) {
  const auto config = parsed(std::string(ports) + R"(mode: smvs
smvs: { law: acks, uplink: aqm }
policies:
  - { ports: [443] }
  - { ports: [4433], smvs: { uplink: forward } }
)");
  ASSERT_TRUE(config) << config::to_string(config.errors);
  EXPECT_EQ(config->shard.smvs.uplink, proxy::Uplink::aqm);
  EXPECT_EQ(config->shard.policies[0].settings.smvs.uplink, proxy::Uplink::aqm);
  EXPECT_EQ(config->shard.policies[1].settings.smvs.uplink, proxy::Uplink::forward);
  EXPECT_EQ(parsed(ports)->shard.smvs.uplink, proxy::Uplink::forward) << "off by default";
  EXPECT_FALSE(parsed(std::string(ports) + "smvs: { uplink: drop }\n"));
}

TEST(ProxyConfig, PoliciesAreCheckedByTheSameRules) {
  const std::string p(ports);
  EXPECT_THAT(
      errors_of(p + "policies:\n  - { mode: wrs }\n"),
      ElementsAre(
          "s.yaml:4:1: policies, expected a feedback section together with a mode that uses reports, got none"));
  EXPECT_THAT(errors_of(p + "policies:\n  - { ports: [80-20] }\n").size(), 1U);
  EXPECT_THAT(errors_of(p + "policies:\n  - { mode: i-tcp, intercept: regulate }\n").size(), 1U);
}

// With the law at the Node-B its parameters are keys of that program's file. Here they would do nothing.
TEST(ProxyConfig, AKeyWithoutEffectIsRefusedWithTheRightPlace) {
  const std::string p(ports);
  const std::string elsewhere = ", expected this key only when smvs.law is proxy or acks (nodeb: in the Node-B's file)";
  EXPECT_THAT(errors_of(p + "smvs:\n  law: nodeb\n  parameters:\n    reference: 80ms\n    one_way_delay: 25ms\n"),
              Contains("s.yaml:7:5: smvs.parameters.reference" + elsewhere));
  EXPECT_THAT(
      errors_of(p + "policies:\n  - smvs:\n      law: nodeb\n      parameters:\n        restart_after_idle: 1s\n"),
      Contains("s.yaml:8:9: policies[0].smvs.parameters.restart_after_idle" + elsewhere));
  EXPECT_THAT(errors_of(p + "smvs:\n  law: proxy\n  acks: { gain: 2 }\n"),
              Contains("s.yaml:6:3: smvs.acks, expected this key only when smvs.law or smvs.without_reports is acks"));
}

TEST(ProxyConfig, TheSlidingModeOfTheSecondLoopIsChecked) {
  const std::string window = std::string(ports) + "smvs: { receive_window: { ";
  EXPECT_THAT(errors_of(window + "law: sliding-mode, sliding: { step: 25ms, delta: 35 } } }\n"), IsEmpty());
  EXPECT_THAT(errors_of(window + "law: sliding-mode, sliding: { step: 25ms, delta: 50 } } }\n"),
              Contains(HasSubstr("δ·Ts < 1")));
  EXPECT_THAT(errors_of(window + "sliding: { step: 25ms } } }\n"), Contains(HasSubstr("law is sliding-mode")));
}

TEST(ProxyConfig, AKeyWithAnEffectIsAccepted) {
  const std::string p(ports);
  for (const char* const law : {"proxy", "acks"}) {
    EXPECT_THAT(errors_of(p + "mode: i-tcp\nsmvs: { law: " + law + ", parameters: { reference: 80ms } }\n"), IsEmpty())
        << law;
  }
  EXPECT_THAT(errors_of(p + "smvs: { law: acks, acks: { gain: 2 } }\n"), IsEmpty());
  EXPECT_THAT(errors_of(p + "mode: i-tcp\nsmvs: { law: nodeb, without_reports: acks, acks: { gain: 2 } }\n"),
              IsEmpty());
  EXPECT_THAT(errors_of(p + "smvs: { parameters: { one_way_delay: 5ms }, fallback: { periods: 3 }, short_flow: 1KiB, "
                            "short_flow_reference: 0.25, "
                            "receive_window: { reference: 30ms } }\n"),
              IsEmpty());
  EXPECT_THAT(errors_of(p + "mode: i-tcp\nsmvs: { law: proxy, parameters: { reference: 80ms } }\n"
                            "policies: [{ ports: [80], smvs: { law: nodeb } }]\n"),
              IsEmpty())
      << "what a policy takes from the top level nobody wrote there";
}

TEST(ProxyConfig, AReloadReportsNoChangeOfKeysWithoutEffect) {
  const auto before =
      parsed(std::string(ports) + "mode: i-tcp\nsmvs: { law: proxy, parameters: { reference: 80ms } }\n");
  const auto after = parsed(std::string(ports) + "mode: i-tcp\nsmvs: { law: nodeb }\n");
  ASSERT_TRUE(before && after);
  for (const ConfigChange& change : difference(*before, *after)) {
    if (change.key == "smvs.parameters.reference") {
      EXPECT_EQ(change.after, "not set");
    }
    EXPECT_NE(change.key, "smvs.parameters.one_way_delay");
  }
}

TEST(ProxyConfig, DifferencesStateWhatCanChangeAtRunTime) {
  const auto before = parsed(std::string(ports) + "mode: i-tcp\n");
  const auto after = parsed(std::string(ports) + "mode: bypass\nshards: { count: 2 }\npolicies: [{ports: [80]}]\n");
  ASSERT_TRUE(before && after);
  EXPECT_TRUE(difference(*before, *before).empty());
  const auto changes = difference(*before, *after);
  ASSERT_GE(changes.size(), 3U);
  EXPECT_EQ(changes[0].key, "mode");
  EXPECT_TRUE(changes[0].live);
  const auto shards =
      std::find_if(changes.begin(), changes.end(), [](const auto& c) { return c.key == "shards.count"; });
  ASSERT_NE(shards, changes.end());
  EXPECT_FALSE(shards->live);
  EXPECT_EQ(shards->before, "1");
  EXPECT_EQ(shards->after, "2");
}

TEST(ProxyConfig, KeysOfPoliciesCanChangeAtRunTime) {
  EXPECT_THAT(config::live_keys<Config>(),
              testing::UnorderedElementsAre("mode", "intercept", "observed", "scone_rate", "scone_link_share", "tcp",
                                            "smvs", "radio_buffer", "max_ack_delay", "clamp", "clamp_price", "gwa",
                                            "fair_share", "policies", "control_group"));
}

TEST(ProxyConfig, TheInterceptionMustSuitTheMode) {
  const std::string p(ports);
  EXPECT_THAT(errors_of(p + "mode: i-tcp\nintercept: regulate\n"),
              ElementsAre("s.yaml:5:1: intercept, expected split or auto in mode i-tcp, got regulate"));
  EXPECT_THAT(errors_of(p + "mode: clamp\n"),
              ElementsAre("s.yaml:4:1: mode, expected a feedback section together with mode clamp, got none"));
  EXPECT_THAT(errors_of(p + "mode: observe\n"), ElementsAre()) << "the default law needs no report";
  EXPECT_THAT(errors_of(p + "mode: observe\nobserved: wrb\n"),
              ElementsAre("s.yaml:4:1: mode, expected a feedback section together with mode observe, got none"));
}

TEST(ProxyConfig, RulesOfControllersAreReportedAtTheirKey) {
  EXPECT_THAT(errors_of(std::string(ports) + "mode: i-tcp\nsmvs:\n  law: proxy\n  parameters:\n    delta: 300\n"),
              ElementsAre("s.yaml:8:5: smvs.parameters.delta, expected δ·Ts < 1, got δ·Ts = 1.5: every step overshoots "
                          "the reference"));
  EXPECT_THAT(
      errors_of(std::string(ports) + "mode: i-tcp\nsmvs:\n  law: proxy\n  parameters:\n    alpha: 1\n    epsilon: 0\n"),
      ElementsAre("s.yaml:8:5: smvs.parameters.alpha, expected 0 < α < 1, got α = 1",
                  "s.yaml:9:5: smvs.parameters.epsilon, expected ε > 0, got ε = 0 frames/s"));
  EXPECT_THAT(errors_of(std::string(ports) + "smvs:\n  law: acks\n  acks:\n    initial: 1460B\n"),
              ElementsAre("s.yaml:7:5: smvs.acks.initial, expected initial ≥ 2 segments, got initial = 1460 B"));
  EXPECT_THAT(errors_of(std::string(ports) + "clamp_price:\n  forgetting: 0\n"),
              ElementsAre("s.yaml:5:3: clamp_price.forgetting, expected forgetting > 0, got forgetting = 0 1/s"));
}

TEST(ProxyConfig, SettingsThatWorkBadlyAreWarnings) {
  const auto config = parsed(std::string(ports) + "mode: i-tcp\nsmvs:\n  law: proxy\n  parameters:\n    delta: 20\n");
  ASSERT_TRUE(config) << to_string(config.errors);
  ASSERT_EQ(config.warnings.size(), 1U);
  EXPECT_THAT(config.warnings[0].to_string(), HasSubstr("s.yaml:8:5: smvs.parameters.delta, expected δ·Ts → 1"));
}

TEST(ProxyConfig, AWordSelectsTheSourceOfReports) {
  const auto with_source = [](const std::string& word) {
    return std::string(ports) + "feedback:\n  source: " + word + "\n  listen: 127.0.0.1:0\n  keys: [" + key + "]\n";
  };
  const auto config = parsed(with_source("sluice"));
  ASSERT_TRUE(config) << to_string(config.errors);
  EXPECT_EQ(config->feedback->source, control::feedback::ReportSourceKind::sluice);
  EXPECT_THAT(errors_of(with_source("f1u")),
              ElementsAre("s.yaml:5:11: feedback.source, expected one of sluice, got \"f1u\""));
}

TEST(ProxyConfig, KeysOfTheFeedbackProtocolAreRead) {
  const auto with_keys = [](const std::string& keys, const std::string& more = "") {
    return std::string(ports) + "feedback:\n  listen: 127.0.0.1:0\n" + more + "  keys: [" + keys + "]\n";
  };
  EXPECT_THAT(errors_of(with_keys(key)), IsEmpty());
  EXPECT_THAT(errors_of(with_keys("")), ElementsAre("s.yaml:6:9: feedback.keys, expected 1 to 64 elements, got 0"));
  EXPECT_THAT(errors_of(with_keys("{ id: 1 }")),
              ElementsAre("s.yaml:6:10: feedback.keys[0], expected either secret or secret_file, got neither"));
  EXPECT_THAT(
      errors_of(with_keys("{ id: 1, secret: abc }")),
      ElementsAre("s.yaml:6:19: feedback.keys[0].secret, expected 32 hexadecimal digits or more, an even number, "
                  "got 3 characters"));
  EXPECT_THAT(errors_of(with_keys("{ id: 1, secret_file: nosuchfile }")),
              ElementsAre(HasSubstr("s.yaml:6:19: feedback.keys[0].secret_file, expected a readable file, got "
                                    "nosuchfile: cannot be read: No such file or directory")));
  EXPECT_THAT(errors_of(with_keys(std::string(key) + ", " + key)),
              ElementsAre("s.yaml:6:3: feedback.keys, expected every id once, got id 1 repeated"));
  EXPECT_THAT(errors_of(with_keys(key, "  send_key: 2\n")),
              ElementsAre("s.yaml:6:3: feedback.send_key, expected the id of one of the keys, got 2"));
  EXPECT_THAT(errors_of(with_keys(key, "  learn_peers: false\n")),
              ElementsAre("s.yaml:5:3: feedback.peers, expected at least one, or learn_peers: true, got none"));
}

TEST(ProxyConfig, AKeyHasItsAlgorithm) {
  const auto with_keys = [](const std::string& keys) {
    return std::string(ports) + "feedback:\n  listen: 127.0.0.1:0\n  keys: [" + keys + "]\n";
  };
  const std::string first = "{ id: 1, secret: 00112233445566778899aabbccddeeff, algorithm: aes-256-gmac }";
  const auto config = parsed(with_keys(first + ", { id: 2, secret: ff112233445566778899aabbccddeeff }"));
  ASSERT_TRUE(config) << to_string(config.errors);
  const auto keys = config->feedback->session_keys();
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[0].algorithm, control::feedback::TagAlgorithm::aes_256_gmac);
  EXPECT_EQ(keys[1].algorithm, control::feedback::TagAlgorithm::hmac_sha_256);
  const control::feedback::SessionId drawn{1, 2, 3};
  EXPECT_EQ(session_config(*config->feedback, control::feedback::Role::proxy, 1, drawn).session_id, drawn);
  EXPECT_THAT(
      errors_of(with_keys(first + ", { id: 2, secret: 00112233445566778899aabbccddeeff }")),
      ElementsAre("s.yaml:6:3: feedback.keys, expected a secret of its own for each algorithm, got that of id 1 "
                  "with both"));
}

TEST(ProxyConfig, ASecretMayLieInAFileBesideTheConfiguration) {
  std::string folder = (std::filesystem::temp_directory_path() / "sluice-config-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::filesystem::path path(folder);
  std::ofstream(path / "feedback.key") << "00112233445566778899aabbccddeeff\n";
  std::filesystem::permissions(path / "feedback.key", std::filesystem::perms::owner_read);
  std::ofstream(path / "s.yaml")
      << ports << "feedback:\n  listen: 127.0.0.1:0\n  keys: [{ id: 1, secret_file: feedback.key }]\n";
  const auto config = load_config((path / "s.yaml").string());
  EXPECT_TRUE(config) << to_string(config.errors);
  EXPECT_THAT(config.warnings, IsEmpty());
  if (config) {
    EXPECT_EQ(config->feedback->session_keys()[0].secret.size(), 16U);
  }
  std::filesystem::permissions(path / "feedback.key", std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  EXPECT_THAT(
      to_string(load_config((path / "s.yaml").string()).errors),
      HasSubstr("s.yaml:6:19: feedback.keys[0].secret_file, expected a file that only its owner and group may read"));
  std::filesystem::remove_all(path);
}

TEST(ProxyConfig, AWorldReadableSecretIsRefusedUnlessAllowed) {
  std::string folder = (std::filesystem::temp_directory_path() / "sluice-config-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::filesystem::path path = std::filesystem::path(folder) / "s.yaml";
  const auto errors_with = [&path](const std::string& more, std::filesystem::perms mode) {
    std::ofstream(path) << ports << "feedback:\n  listen: 127.0.0.1:0\n" << more << "  keys: [" << key << "]\n";
    std::filesystem::permissions(path, mode);
    return to_string(load_config(path.string()).errors);
  };
  using std::filesystem::perms;
  const perms owner = perms::owner_read | perms::owner_write;
  EXPECT_EQ(errors_with("", owner), "");
  EXPECT_EQ(errors_with("", owner | perms::group_read), "") << "the group was chosen by somebody";
  for (const perms others : {perms::others_read, perms::others_write}) {
    EXPECT_THAT(
        errors_with("", owner | others),
        HasSubstr("s.yaml:6:19: feedback.keys[0].secret, expected a file that only its owner and group may read "
                  "(chmod o-rw " +
                  path.string() + "), or allow_readable_secrets: true, got a file that"));
  }
  EXPECT_EQ(errors_with("  allow_readable_secrets: true\n", owner | perms::others_read), "");
  std::filesystem::remove_all(folder);
}

TEST(ProxyConfig, AMissingFileIsAnError) {
  EXPECT_THAT(to_string(load_config("/nonexistent.yaml").errors),
              "/nonexistent.yaml: cannot be read: No such file or directory\n");
}

TEST(ProxyConfig, ThePrintedConfigurationIsReadBackUnchanged) {
  for (const auto& file : std::filesystem::directory_iterator(source_dir / "configs/inline")) {
    if (file.path().extension() != ".yaml") continue;
    const auto config = load_config(file.path().string());
    ASSERT_TRUE(config) << to_string(config.errors);
    const std::string text = print_config(*config, config::Secrets::show);
    const auto again = parse_config(text, "printed.yaml");
    ASSERT_TRUE(again) << to_string(again.errors) << text;
    EXPECT_EQ(print_config(*again, config::Secrets::show), text);
    EXPECT_EQ(again->shard.mode, config->shard.mode);
    EXPECT_EQ(again->shard.limits.max_flows, config->shard.limits.max_flows);
  }
}

TEST(ProxyConfig, PrintedSecretsAreHidden) {
  const auto config =
      parsed(std::string(ports) + "feedback:\n  listen: 127.0.0.1:0\n  keys: [" + std::string(key) + "]\n");
  ASSERT_TRUE(config);
  EXPECT_THAT(print_config(*config), testing::Not(HasSubstr("0011223344")));
}

/// The error of a value is where the value is, and a secret in an included file must not be readable for everybody.
TEST(ProxyConfig, KeysOfIncludedFilesAreCheckedWhereTheyStand) {
  std::string name = (std::filesystem::temp_directory_path() / "sluice-included-XXXXXX").string();
  const std::filesystem::path folder = mkdtemp(name.data());
  const auto write = [&folder](const std::string& file, const std::string& text, std::filesystem::perms mode) {
    std::ofstream(folder / file) << text;
    std::filesystem::permissions(folder / file, mode);
  };
  using std::filesystem::perms;
  constexpr perms for_all = perms::owner_read | perms::others_read;
  const std::string main = (folder / "main.yaml").string();
  write("main.yaml", "include: [ports.yaml, keys.yaml]\nlogging: { level: debug }\n", for_all);
  write("ports.yaml", std::string(ports) + "logging: { level: error, format: json }\n", for_all);
  write("keys.yaml", "feedback:\n  listen: 127.0.0.1:0\n  keys: [" + std::string(key) + "]\n", perms::owner_read);
  const auto good = load_config(main);
  ASSERT_TRUE(good) << to_string(good.errors);
  EXPECT_EQ(good->logging.level, LogLevel::debug);
  EXPECT_EQ(good->logging.format, LogFormat::json);

  write("keys.yaml", "", perms::owner_read | perms::owner_write);
  write("keys.yaml", "feedback:\n  listen: 127.0.0.1:0\n  keys: [" + std::string(key) + "]\n", for_all);
  EXPECT_THAT(to_string(load_config(main).errors), HasSubstr(folder.string() + "/keys.yaml:3:"));
  write("keys.yaml", "", perms::owner_read | perms::owner_write);
  write("keys.yaml", "a: 1\nlogging:\n  format: loud\n", for_all);
  EXPECT_THAT(to_string(load_config(main).errors),
              HasSubstr(folder.string() + "/keys.yaml:3:11: logging.format, expected one of text, json, got \"loud\""));
  EXPECT_THAT(to_string(load_config(main).errors), HasSubstr(folder.string() + "/keys.yaml:1:1: unknown key 'a'"));
  std::filesystem::remove_all(folder);
}

TEST(ProxyConfig, TheReferenceInTheRepositoryIsUpToDate) {
  EXPECT_EQ(read_file(source_dir / "proxy/config/REFERENCE.md"), config_reference())
      << "write it anew: sluice --help-config > proxy/config/REFERENCE.md";
}

/// One test per file of configs/inline.
class Example : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Example, LoadsWithoutErrors) {
  const auto config = load_config(GetParam().string());
  EXPECT_TRUE(config) << to_string(config.errors);
  EXPECT_THAT(config.warnings, IsEmpty());
}

// Everybody knows these keys.
TEST_P(Example, ListensOnLoopbackOnlyIfItContainsAKey) {
  const auto config = load_config(GetParam().string());
  ASSERT_TRUE(config) << to_string(config.errors);
  if (!config->feedback || !config->feedback->keys.at(0).secret) return;
  EXPECT_EQ(config->feedback->listen.address, IpAddress::v4(127, 0, 0, 1));
}

TEST_P(Example, ItsSocketIsNotInAWorldWritableFolder) {
  const auto config = load_config(GetParam().string());
  ASSERT_TRUE(config) << to_string(config.errors);
  EXPECT_EQ(config->admin.socket.find("/tmp/"), std::string::npos);
}

std::vector<std::filesystem::path> examples() {
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(source_dir / "configs/inline")) {
    if (file.path().extension() == ".yaml") files.push_back(file.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

INSTANTIATE_TEST_SUITE_P(Inline, Example, testing::ValuesIn(examples()), [](const auto& test) {
  std::string name = test.param.stem().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
});

}  // namespace
}  // namespace sluice::proxy
