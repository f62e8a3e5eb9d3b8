// Tests of the configuration of the live page: its token and the addresses at which it may be served.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "proxy/config/config.hpp"
#include "tests/unit/config/configuration.hpp"

namespace sluice::proxy {
namespace {

using test::errors_of;
using test::parsed;
using test::ports;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A configuration with a page, and the page's token file.
class PageConfigTest : public testing::Test {
 protected:
  PageConfigTest() {
    folder_ = (std::filesystem::temp_directory_path() / "sluice-page-XXXXXX").string();
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
    hold("0123456789abcdef0123456789abcdef\n");
    std::filesystem::permissions(token_file(),
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  }
  ~PageConfigTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string token_file() const { return folder_ + "/token"; }
  void hold(const std::string& text) const { std::ofstream(token_file()) << text; }
  [[nodiscard]] std::string with(const std::string& listen, const std::string& more = {}) const {
    std::string text = ports;
    text.append("metrics: { ").append(listen).append(" }\n");
    text.append("page: { token_file: ").append(token_file()).append(more).append(" }\n");
    return text;
  }

  std::string folder_;
};

TEST_F(PageConfigTest, ReadsItsTokenFromAFile) {
  const auto config = parsed(with("listen: 127.0.0.1:9838"));
  ASSERT_TRUE(config) << to_string(config.errors);
  EXPECT_EQ(config->page->token, "0123456789abcdef0123456789abcdef");
  EXPECT_FALSE(config->page->switch_modes);
  EXPECT_THAT(print_config(*config), testing::Not(HasSubstr("0123456789abcdef")));
}

TEST_F(PageConfigTest, RefusesAWorldReadableToken) {
  std::filesystem::permissions(token_file(), std::filesystem::perms::others_read, std::filesystem::perm_options::add);
  EXPECT_THAT(errors_of(with("listen: 127.0.0.1:9838")),
              ElementsAre(HasSubstr("page.token_file, expected a file that only its owner and group may read")));
}

TEST_F(PageConfigTest, RefusesAWeakOrMissingToken) {
  for (const char* const text : {"", "0123456789abcdef", "a token with blanks in it, which is long"}) {
    hold(text);
    EXPECT_THAT(errors_of(with("listen: 127.0.0.1:9838")),
                ElementsAre(HasSubstr("expected a first line of 32 to 256 letters, digits, - and _")))
        << text;
  }
}

TEST_F(PageConfigTest, NeedsAMetricsAddress) {
  EXPECT_THAT(errors_of(with("")), ElementsAre(HasSubstr("metrics.listen, expected an address if there is a page")));
}

TEST_F(PageConfigTest, NeedsALoopbackAddressUnlessConfigured) {
  EXPECT_THAT(errors_of(with("listen: \"[::1]:9838\"")), IsEmpty());
  EXPECT_THAT(errors_of(with("listen: 0.0.0.0:9838")), IsEmpty());
  EXPECT_THAT(errors_of(with("listen: 192.0.2.1:9838")), ElementsAre(HasSubstr("expected an address of the loopback")));
  EXPECT_THAT(errors_of(with("listen: 192.0.2.1:9838", ", beyond_loopback: true")), IsEmpty());
}

}  // namespace
}  // namespace sluice::proxy
