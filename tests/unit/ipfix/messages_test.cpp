// IPFIX messages, read back by the rules of RFC 7011.
#include "proxy/ops/ipfix/messages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace sluice::ipfix {
namespace {

using namespace std::chrono_literals;
using proxy::ConnectionRecord;
using proxy::Side;

/// Reads numbers in network byte order.
class Reader {
 public:
  explicit Reader(const std::vector<std::uint8_t>& octets) : octets_(octets) {}
  std::uint64_t take(std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value = value << 8U | octets_.at(at++);
    return value;
  }
  std::string text() {
    const std::size_t length = take(1);
    std::string read(octets_.begin() + static_cast<std::ptrdiff_t>(at),
                     octets_.begin() + static_cast<std::ptrdiff_t>(at + length));
    at += length;
    return read;
  }
  [[nodiscard]] bool done() const { return at == octets_.size(); }
  std::size_t at = 0;

 private:
  const std::vector<std::uint8_t>& octets_;
};

struct Header {
  std::uint64_t version, length, time, sequence, domain;
};
Header header_of(Reader& reader) {
  Header header{};
  header.version = reader.take(2);
  header.length = reader.take(2);
  header.time = reader.take(4);
  header.sequence = reader.take(4);
  header.domain = reader.take(4);
  return header;
}

struct Element {
  std::uint64_t number, length, enterprise;
};
/// Reads a message of templates. Returns the elements of each template by its number.
std::map<std::uint64_t, std::vector<Element>> templates_of(const Message& message) {
  Reader reader(message.octets);
  EXPECT_EQ(header_of(reader).length, message.octets.size());
  EXPECT_EQ(reader.take(2), 2U) << "a template set";
  EXPECT_EQ(reader.take(2), message.octets.size() - 16);
  std::map<std::uint64_t, std::vector<Element>> found;
  while (!reader.done()) {
    const std::uint64_t id = reader.take(2);
    const std::uint64_t count = reader.take(2);
    for (std::uint64_t i = 0; i < count; ++i) {
      Element element{reader.take(2), reader.take(2), 0};
      if ((element.number & 0x8000U) != 0) element.enterprise = reader.take(4);
      element.number &= 0x7fffU;
      found[id].push_back(element);
    }
  }
  return found;
}

ConnectionRecord sample_of(Side initiator) {
  ConnectionRecord record;
  record.key.ue = IpAddress::v4(10, 45, 0, 2);
  record.key.server = IpAddress::v4(198, 51, 100, 7);
  record.key.ue_port = 40'000;
  record.key.server_port = 443;
  record.initiator = initiator;
  record.handling = "split";
  record.reason = "closed";
  record.bytes = {1111, 2222};
  record.packets = {11, 22};
  record.retransmissions = {3, 4};
  record.rtt = {50ms, 20ms};
  record.queueing_delay = 7ms;
  return record;
}

TEST(IpfixMessages, TemplatesHaveTheTableOfFieldsForBothVersions) {
  const MessageWriter writer({7, 99999});
  const auto templates = templates_of(writer.templates(1'700'000'000));
  ASSERT_EQ(templates.size(), 2U);
  for (const std::uint64_t id : {256U, 257U}) {
    const std::vector<Element>& elements = templates.at(id);
    ASSERT_EQ(elements.size(), 2 + field_table.size());
    EXPECT_EQ(elements[0].length, id == 256 ? 4U : 16U);
    EXPECT_EQ(elements[0].number, id == 256 ? 8U : 27U);
    for (std::size_t i = 0; i < field_table.size(); ++i) {
      SCOPED_TRACE(field_table[i].name);
      EXPECT_EQ(elements[2 + i].number, field_table[i].element);
      EXPECT_EQ(elements[2 + i].length, field_table[i].length);
      const Space space = field_table[i].space;
      EXPECT_EQ(elements[2 + i].enterprise, space == Space::iana ? 0U : space == Space::own ? 99999U : 29305U);
    }
  }
}

TEST(IpfixMessages, ARecordHasTheValuesOfTheConnectionFromItsInitiator) {
  for (const Side initiator : {Side::radio, Side::core}) {
    SCOPED_TRACE(initiator == Side::radio ? "by the UE" : "by the server");
    const bool by_ue = initiator == Side::radio;
    MessageWriter writer({7, 99999});
    ASSERT_FALSE(writer.add(sample_of(initiator), 1000, 2000, 5));
    const auto message = writer.finish(1'700'000'000);
    ASSERT_TRUE(message);
    EXPECT_EQ(message->records, 1U);
    Reader reader(message->octets);
    const Header header = header_of(reader);
    EXPECT_EQ(header.version, 10U);
    EXPECT_EQ(header.length, message->octets.size());
    EXPECT_EQ(header.time, 1'700'000'000U) << "the time of export, not that at which the message was begun";
    EXPECT_EQ(header.sequence, 0U);
    EXPECT_EQ(header.domain, 7U);
    EXPECT_EQ(reader.take(2), 256U);
    EXPECT_EQ(reader.take(2), message->octets.size() - 16);
    EXPECT_EQ(reader.take(4), by_ue ? 0x0a2d0002U : 0xc6336407U);
    EXPECT_EQ(reader.take(4), by_ue ? 0xc6336407U : 0x0a2d0002U);
    EXPECT_EQ(reader.take(2), by_ue ? 40'000U : 443U);
    EXPECT_EQ(reader.take(2), by_ue ? 443U : 40'000U);
    EXPECT_EQ(reader.take(1), 6U);
    EXPECT_EQ(reader.take(8), 1000U);
    EXPECT_EQ(reader.take(8), 2000U);
    EXPECT_EQ(reader.take(8), by_ue ? 1111U : 2222U);
    EXPECT_EQ(reader.take(8), by_ue ? 11U : 22U);
    EXPECT_EQ(reader.take(8), by_ue ? 2222U : 1111U);
    EXPECT_EQ(reader.take(8), by_ue ? 22U : 11U);
    EXPECT_EQ(reader.take(1), 1U);
    EXPECT_EQ(reader.take(1), 3U);
    EXPECT_EQ(reader.take(1), by_ue ? 1U : 0U);
    EXPECT_EQ(reader.take(4), 50'000U);
    EXPECT_EQ(reader.take(4), 20'000U);
    EXPECT_EQ(reader.take(4), 7'000U);
    EXPECT_EQ(reader.take(4), 3U);
    EXPECT_EQ(reader.take(4), 4U);
    EXPECT_EQ(reader.text(), "split");
    EXPECT_EQ(reader.text(), "closed");
    EXPECT_TRUE(reader.done());
  }
}

TEST(IpfixMessages, MessagesStayBelowTheSmallestMtuAndCountTheirRecords) {
  MessageWriter writer({1, 99999});
  std::vector<Message> messages;
  ConnectionRecord v6 = sample_of(Side::radio);
  v6.key.ue = *IpAddress::parse("2001:db8::2");
  v6.key.server = *IpAddress::parse("2001:db8::7");
  for (int i = 0; i < 100; ++i) {
    if (auto full = writer.add(i % 3 == 0 ? v6 : sample_of(Side::radio), 1, 2, 3)) messages.push_back(std::move(*full));
  }
  messages.push_back(*writer.finish(3));
  EXPECT_FALSE(writer.finish(3)) << "nothing is left";
  std::uint64_t records = 0;
  for (const Message& message : messages) {
    EXPECT_LE(message.octets.size(), MessageWriter::max_size);
    Reader reader(message.octets);
    EXPECT_EQ(header_of(reader).sequence, records) << "RFC 7011 section 3.1: records before this message";
    while (!reader.done()) {
      const std::uint64_t id = reader.take(2);
      EXPECT_TRUE(id == 256 || id == 257) << id;
      const std::uint64_t length = reader.take(2);
      ASSERT_GT(length, 4U);
      reader.at += length - 4;
    }
    records += message.records;
  }
  EXPECT_EQ(records, 100U);
}

TEST(IpfixMessages, ReasonsMapToThoseOfIana) {
  EXPECT_EQ(end_reason_of("closed"), 3);
  EXPECT_EQ(end_reason_of("reset_relayed"), 3);
  EXPECT_EQ(end_reason_of("released_idle"), 1);
  EXPECT_EQ(end_reason_of("released_memory"), 5);
  EXPECT_EQ(end_reason_of("reset_memory"), 5);
  EXPECT_EQ(end_reason_of("released_command"), 4);
  EXPECT_EQ(end_reason_of("split"), 4);
}

}  // namespace
}  // namespace sluice::ipfix
