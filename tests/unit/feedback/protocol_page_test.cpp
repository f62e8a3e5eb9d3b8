// PROTOCOL.md is what third parties implement: its vectors and tables must be the program's.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include "control/feedback/fields.hpp"
#include "control/feedback/session.hpp"
#include "control/feedback/udp_endpoint.hpp"
#include "control/feedback/ue_ownership.hpp"
#include "tests/unit/feedback/samples.hpp"

namespace sluice::control::feedback::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t epoch = 1'700'000'000'000'000'000;
constexpr ReceivedAt at{Instant(1h), epoch};

std::string page() {
  std::ostringstream text;
  text << std::ifstream(SLUICE_PROTOCOL_PAGE).rdbuf();
  return text.str();
}

Datagram vector_of(const std::string& name) {
  const std::string text = page();
  const std::string head = "```vector " + name + "\n";
  const std::size_t begin = text.find(head);
  EXPECT_NE(begin, std::string::npos) << name;
  std::istringstream digits(text.substr(begin + head.size(), text.find("```", begin + 3) - begin - head.size()));
  Datagram result;
  for (unsigned octet = 0; digits >> std::hex >> octet;) result.push_back(static_cast<std::uint8_t>(octet));
  return result;
}

BearerReport described_report() {
  BearerReport r;
  r.ue = IpAddress::v4(10, 45, 0, 2);
  r.state = RadioState::outage;
  r.queue = 4000_B;
  r.queue_frames = 100;
  r.buffer = 8000_B;
  r.arrived = 1000000;
  r.transmitted = 990000;
  r.delivered = 980000;
  r.dropped = 1500;
  r.service_rate = Rate::bits_per_second(2500000);
  r.mean_service_rate = Rate::bits_per_second(2400000);
  r.active_flows = 3;
  r.active_users = 12;
  r.clamp = ClampPrice{3900_B, 1500us};
  r.gwa_window = 65535_B;
  r.allowance = 2632_B;
  return r;
}

BearerReport only_address() {
  BearerReport r;
  r.ue = IpAddress::parse("2001:db8::1").value();
  return r;
}

BearerStatus described_status() {
  BearerStatus s;
  s.ue = IpAddress::v4(10, 45, 0, 2);
  s.injected = 1234567;
  s.applied_sequence = 42;
  s.backlog = 90000_B;
  s.active_flows = 2;
  s.allowance_left = 700_B;
  return s;
}

/// Leaves the session about to send this sequence number.
void wind_on(Session& session, std::uint64_t sequence) {
  Recorder ignored;
  while (session.next_sequence() < sequence) session.send_reports({}, 0s, 0s, false, ignored);
}

TEST(ProtocolPage, TheReportVectorEqualsOurEncoding) {
  Session node_b(config(Role::node_b, 1001, epoch));
  wind_on(node_b, 42);
  Recorder recorder;
  const std::array reports{described_report(), only_address()};
  EXPECT_EQ(node_b.send_reports(reports, 123456789012ns, 5ms, true, recorder), 42U);
  ASSERT_EQ(recorder.sent.size(), 1U);
  EXPECT_EQ(recorder.sent[0], vector_of("report"));
}

TEST(ProtocolPage, TheReportVectorIsDecoded) {
  Session proxy(config(Role::proxy, 2002));
  Collector collector;
  Header header;
  ASSERT_EQ(proxy.receive(vector_of("report"), collector, at, header), Failure::none);
  EXPECT_EQ(header.sender, 1001U);
  EXPECT_EQ(header.epoch, epoch);
  EXPECT_EQ(header.sequence, 42U);
  EXPECT_EQ(header.sender_time, 123456789012ns);
  EXPECT_EQ(header.period, 5ms);
  EXPECT_TRUE(header.poll);
  ASSERT_EQ(collector.reports.size(), 2U);
  EXPECT_EQ(tie(collector.reports[0].second), tie(described_report()));
  EXPECT_EQ(tie(collector.reports[1].second), tie(only_address()));
}

TEST(ProtocolPage, TheStatusAndPollVectorsAreEncodedAndDecoded) {
  Session proxy(config(Role::proxy, 2002, epoch + 1));
  wind_on(proxy, 7);
  Recorder recorder;
  const std::array statuses{described_status()};
  proxy.send_statuses(statuses, 5s, 0s, false, recorder);
  proxy.send_statuses({}, 5005ms, 0s, true, recorder);
  ASSERT_EQ(recorder.sent.size(), 2U);
  EXPECT_EQ(recorder.sent[0], vector_of("status"));
  EXPECT_EQ(recorder.sent[1], vector_of("poll"));
  Session node_b(config(Role::node_b, 1001));
  Collector collector;
  Header header;
  ASSERT_EQ(node_b.receive(vector_of("status"), collector, at, header), Failure::none);
  ASSERT_EQ(collector.statuses.size(), 1U);
  EXPECT_EQ(tie(collector.statuses[0].second), tie(described_status()));
  ASSERT_EQ(node_b.receive(vector_of("poll"), collector, at, header), Failure::none);
  EXPECT_TRUE(header.poll);
  EXPECT_EQ(collector.statuses.size(), 1U);
}

TEST(ProtocolPage, AStatusMayNameItsReporter) {
  Session proxy(config(Role::proxy, 2002, epoch + 1));
  wind_on(proxy, 9);
  Recorder recorder;
  BearerStatus status;
  status.ue = IpAddress::v4(10, 45, 0, 2);
  status.injected = 1234567;
  status.applied_sequence = 42;
  status.reporter = 1001;
  proxy.send_statuses(std::array{status}, 5010ms, 0s, false, recorder);
  ASSERT_EQ(recorder.sent.size(), 1U);
  EXPECT_EQ(recorder.sent[0], vector_of("status_of_two"));
  Session node_b(config(Role::node_b, 1001));
  Collector collector;
  ASSERT_EQ(node_b.receive(vector_of("status_of_two"), collector, at), Failure::none);
  ASSERT_EQ(collector.statuses.size(), 1U);
  EXPECT_EQ(tie(collector.statuses[0].second), tie(status));
}

TEST(ProtocolPage, TheStatusVectorOfGmacIsEncodedAndDecoded) {
  const auto by_gmac = [](Role role, std::uint64_t sender, std::uint64_t of_epoch) {
    SessionConfig result = config(role, sender, of_epoch);
    result.keys = {test_key(8)};
    result.keys[0].algorithm = TagAlgorithm::aes_256_gmac;
    result.send_key = 8;
    for (std::size_t i = 0; i < result.session_id.size(); ++i) {
      result.session_id[i] = static_cast<std::uint8_t>((role == Role::proxy ? 0xa0 : 0xc0) + i);
    }
    return result;
  };
  Session proxy(by_gmac(Role::proxy, 2002, epoch + 1));
  wind_on(proxy, 10);
  Recorder recorder;
  proxy.send_statuses(std::array{described_status()}, 5020ms, 0s, false, recorder);
  ASSERT_EQ(recorder.sent.size(), 1U);
  EXPECT_EQ(recorder.sent[0], vector_of("status_gmac"));
  Session node_b(by_gmac(Role::node_b, 1001, epoch));
  Collector collector;
  ASSERT_EQ(node_b.receive(vector_of("status_gmac"), collector, at), Failure::none);
  ASSERT_EQ(collector.statuses.size(), 1U);
  EXPECT_EQ(tie(collector.statuses[0].second), tie(described_status()));
}

TEST(ProtocolPage, TheVectorOfAReportWithOmittedUesIsEncodedAndDecoded) {
  SessionConfig sender = config(Role::node_b, 1001, epoch);
  sender.features = {true, true};
  Session node_b(sender);
  wind_on(node_b, 44);
  Recorder recorder;
  BearerReport report;
  report.ue = IpAddress::v4(10, 45, 0, 2);
  report.queue = 4000_B;
  node_b.send_reports(std::array{report}, 123466789012ns, 5ms, false, recorder, 500ms);
  ASSERT_EQ(recorder.sent.size(), 1U);
  EXPECT_EQ(recorder.sent[0], vector_of("report_changes"));
  Session proxy(config(Role::proxy, 2002));
  Collector collector;
  ASSERT_EQ(proxy.receive(vector_of("report_changes"), collector, at), Failure::none);
  ASSERT_EQ(collector.messages.size(), 1U);
  EXPECT_EQ(collector.messages[0].refresh, 500ms);
  EXPECT_TRUE(collector.messages[0].features.changes && collector.messages[0].features.large);
  ASSERT_EQ(collector.reports.size(), 1U);
  EXPECT_EQ(tie(collector.reports[0].second), tie(report));
}

TEST(ProtocolPage, AMessageOfALaterVersionIsDecoded) {
  Session proxy(config(Role::proxy, 2002));
  Collector collector;
  ASSERT_EQ(proxy.receive(vector_of("future"), collector, at), Failure::none);
  ASSERT_EQ(collector.reports.size(), 1U);
  EXPECT_EQ(collector.reports[0].second.queue, 77_B);
  EXPECT_FALSE(collector.reports[0].first.poll);
  EXPECT_TRUE(collector.statuses.empty());
}

TEST(ProtocolPage, ItsTablesListExactlyTheFields) {
  std::string expected;
#define X(number, name) expected += #number " " #name "\n";
  SLUICE_REPORT_FIELDS(X)
  SLUICE_STATUS_FIELDS(X)
  SLUICE_OMISSION_FIELDS(X)
#undef X
  const std::string text = page();
  const std::regex row(R"(\n\| (\d+) \| ([a-z_]+) \| [\d or]+ \| )");
  std::string found;
  const std::size_t records = text.find("### Kind 1");
  const std::string tables = text.substr(records);
  for (std::sregex_iterator match(tables.begin(), tables.end(), row), end; match != end; ++match) {
    found += (*match)[1].str() + " " + (*match)[2].str() + "\n";
  }
  EXPECT_EQ(found, expected);
}

TEST(ProtocolPage, ItsTimesAndBoundsAreThoseOfTheProgram) {
  const std::string text = std::regex_replace(page(), std::regex(R"(\s+)"), " ");
  const auto states = [&text](const std::string& words) { return text.find(words) != std::string::npos; };
  EXPECT_TRUE(states("Without a status for 2 s the claim expires"));
  EXPECT_EQ(UeOwnership::lease_time, 2s);
  EXPECT_TRUE(states("if the sender has sent nothing for 2 s in an epoch that is not ahead"));
  EXPECT_EQ(ReplayGuard::active_for, 2s);
  EXPECT_TRUE(states("from which it received in the last 2 s"));
  EXPECT_EQ(UdpEndpoint::learned_for, 2s);
  EXPECT_TRUE(states("An epoch more than 24 h ahead of the receiver's clock replaces no other epoch"));
  EXPECT_EQ(ReplayGuard::lead, 24h);
  EXPECT_TRUE(states("if that sender was silent for at least a minute"));
  EXPECT_EQ(ReplayGuard::min_idle_time, 1min);
  EXPECT_TRUE(states("is older than the 256"));
  EXPECT_EQ(ReplayWindow::size, 256U);
  EXPECT_TRUE(states("A receiver has space for 1024 senders"));
  EXPECT_EQ(SessionConfig().max_senders, 1024U);
  EXPECT_TRUE(states("accepts datagrams of up to 8952 bytes. A peer that does not set the flag accepts 1400 bytes"));
  EXPECT_EQ(largest_datagram, 8952U);
  EXPECT_EQ(default_max_datagram, 1400U);
}

TEST(ProtocolPage, ItNamesEveryFailure) {
  const std::string text = page();
  for (std::size_t i = 1; i < failure_count; ++i) {
    const std::string name(name_of(static_cast<Failure>(i)));
    EXPECT_TRUE(std::regex_search(text, std::regex("\\b" + name + "\\b"))) << name;
    EXPECT_FALSE(text_of(static_cast<Failure>(i)).empty());
  }
}

}  // namespace
}  // namespace sluice::control::feedback::test
