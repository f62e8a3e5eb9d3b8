// What a configuration needs of the machine. Tests with interfaces and with another user need root.

#include "proxy/daemon/service/system_check.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace sluice::proxy {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A file of a configuration, in a folder of its own that stands for the root of the machine, too.
class Machine {
 public:
  Machine() : folder_(std::filesystem::temp_directory_path() / ("sluice-system-check-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
    chmod(folder_.c_str(), 0755);
    write("proc/meminfo", "MemAvailable:   64000000 kB\nSwapFree:   0 kB\n");
  }
  ~Machine() { std::filesystem::remove_all(folder_); }
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  std::string write(const std::string& name, const std::string& text, mode_t mode = 0644) {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    chmod(path.c_str(), mode);
    return path;
  }
  [[nodiscard]] std::filesystem::path path(const std::string& name) const { return folder_ / name; }

  /// What is wrong for the configuration with this text.
  std::vector<std::string> errors(const std::string& text, SystemScope scope = SystemScope::whole) {
    const std::string file = write("s.yaml", text);
    const auto loaded = load_config(file);
    EXPECT_TRUE(loaded) << to_string(loaded.errors);
    return texts(loaded ? system_errors(*loaded, file, scope, folder_) : loaded.errors);
  }
  std::vector<std::string> errors_of(const std::string& user, const std::string& text) {
    const std::string file = write("s.yaml", text);
    const auto loaded = load_config(file);
    EXPECT_TRUE(loaded) << to_string(loaded.errors);
    return texts(loaded ? errors_of_user(*loaded, file, user) : loaded.errors);
  }

 private:
  static std::vector<std::string> texts(const std::vector<config::Error>& errors) {
    std::vector<std::string> result;
    for (const config::Error& error : errors) result.push_back(error.to_string());
    return result;
  }

  std::filesystem::path folder_;
};

std::string ports_on(const std::string& radio, const std::string& core, const std::string& more = "") {
  return "ports:\n  radio: { device: \"" + radio + "\" }\n  core: { device: \"" + core + "\" }\n" + more;
}

TEST(SystemCheck, AMissingInterfaceIsAnErrorOfTheMachineAndNotOfTheFile) {
  Machine machine;
  const std::string file = ports_on("net_af_packet0,iface=nonesuch", "net_null0");
  EXPECT_THAT(machine.errors(file, SystemScope::interfaces_present), IsEmpty());
  EXPECT_THAT(machine.errors(file),
              ElementsAre(AllOf(HasSubstr("s.yaml:2:12: ports.radio.device, expected an interface"),
                                HasSubstr("got \"nonesuch\""))));
}

TEST(SystemCheck, AnUnknownGroupIsNamedByItsPlace) {
  Machine machine;
  EXPECT_THAT(machine.errors(ports_on("net_null0", "net_null1", "admin: { group: root }\n")), IsEmpty());
  EXPECT_THAT(machine.errors(ports_on("net_null0", "net_null1", "admin:\n  group: nonesuch\n")),
              ElementsAre(AllOf(HasSubstr("s.yaml:5:3: admin.group, expected a group of this machine"),
                                HasSubstr("got \"nonesuch\""))));
}

TEST(SystemCheck, PacketMemoryFitsWhatIsLeft) {
  Machine machine;
  machine.write("proc/meminfo", "MemAvailable:   100000 kB\nSwapFree:   0 kB\n");
  EXPECT_THAT(machine.errors(ports_on("net_null0", "net_null1", "pool:\n  buffers: 8192\n")), IsEmpty());
  EXPECT_THAT(machine.errors(ports_on("net_null0", "net_null1", "pool:\n  buffers: 1000000\n")),
              ElementsAre(AllOf(HasSubstr("s.yaml:5:3: pool.buffers, expected a number whose packet memory"),
                                HasSubstr("while 103 MB are left"))));
}

TEST(SystemCheck, HugePagesAreReservedAndFree) {
  Machine machine;
  const std::string file = ports_on("net_null0", "net_null1", "eal: { hugepages: true }\npool: { buffers: 8192 }\n");
  machine.write("sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "3\n");
  machine.write("sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages", "0\n");
  EXPECT_THAT(machine.errors(file), ElementsAre(AllOf(HasSubstr("s.yaml:4:8: eal.hugepages, expected "),
                                                      HasSubstr("nr_hugepages), got 7 MB"))));
  machine.write("sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages", "1\n");
  EXPECT_THAT(machine.errors(file), IsEmpty());
}

TEST(SystemCheck, APhysicalDeviceIsThereAndBoundToADriverOfDpdk) {
  Machine machine;
  const std::string file = ports_on("0000:03:00.0", "net_null1");
  EXPECT_THAT(machine.errors(file), ElementsAre(HasSubstr("expected the address of a PCI device of this machine")));
  machine.write("sys/bus/pci/devices/0000:03:00.0/net/eth7/mtu", "1500\n");
  std::filesystem::create_symlink("/drivers/ixgbe", machine.path("sys/bus/pci/devices/0000:03:00.0/driver"));
  EXPECT_THAT(machine.errors(file), ElementsAre(AllOf(HasSubstr("dpdk-devbind.py --bind=vfio-pci 0000:03:00.0"),
                                                      HasSubstr("got one that has the driver ixgbe"))));
  std::filesystem::remove_all(machine.path("sys/bus/pci/devices/0000:03:00.0"));
  machine.write("sys/bus/pci/devices/0000:03:00.0/config", "");
  EXPECT_THAT(machine.errors(file), ElementsAre(HasSubstr("got one without a driver")));
  std::filesystem::create_symlink("/drivers/vfio-pci", machine.path("sys/bus/pci/devices/0000:03:00.0/driver"));
  EXPECT_THAT(machine.errors(file), IsEmpty());
}

bool shell(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

/// A veth pair that is up and merges nothing; it goes away with the test.
class SystemCheckOfInterfaces : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "not root: cannot make interfaces";
    if (!shell("ip link add " + a_ + " type veth peer name " + b_)) GTEST_SKIP() << "cannot make a veth pair";
    shell("ethtool -K " + a_ + " gro off");
    shell("ip link set dev " + a_ + " up");
  }
  void TearDown() override { shell("ip link del " + a_); }

  std::string a_ = "slc" + std::to_string(getpid() % 100000);
  std::string b_ = "sld" + std::to_string(getpid() % 100000);
};

TEST_F(SystemCheckOfInterfaces, EachSettingHasAMessageWithTheCommandThatRepairsIt) {
  Machine machine;
  const std::string radio = "net_af_packet0,iface=" + a_;
  EXPECT_THAT(machine.errors(ports_on(radio, "net_null0")), IsEmpty());
  ASSERT_TRUE(shell("ip link set dev " + a_ + " down mtu 1400"));
  EXPECT_THAT(machine.errors(ports_on(radio, "net_null0")),
              ElementsAre(AllOf(HasSubstr("s.yaml:2:12: "), HasSubstr("ip link set dev " + a_ + " up")),
                          AllOf(HasSubstr("an MTU of 1500 or more"), HasSubstr("got 1400"))));
  EXPECT_THAT(machine.errors("ports:\n  radio: { device: \"" + radio +
                             "\", fix_offloads: true }\n  core: { device: net_null0 }\n"),
              IsEmpty())
      << "a start repairs it";
}

TEST_F(SystemCheckOfInterfaces, OneInterfaceUnderTwoNamesIsRefused) {
  Machine machine;
  if (!shell("ip link property add dev " + a_ + " altname another" + a_))
    GTEST_SKIP() << "this kernel gives an interface one name only";
  EXPECT_THAT(machine.errors(ports_on("net_af_packet0,iface=" + a_, "net_af_packet1,iface=another" + a_),
                             SystemScope::interfaces_present),
              ElementsAre(AllOf(HasSubstr("s.yaml:3:11: ports.core.device, expected another interface"),
                                HasSubstr("the same as " + a_))));
}

TEST_F(SystemCheckOfInterfaces, AMemberOfABridgeIsRefused) {
  Machine machine;
  const std::string bridge = "slbr" + std::to_string(getpid() % 100000);
  ASSERT_TRUE(shell("ip link add " + bridge + " type bridge && ip link set dev " + a_ + " master " + bridge));
  EXPECT_THAT(machine.errors(ports_on("net_af_packet0,iface=" + a_, "net_null0"), SystemScope::interfaces_present),
              ElementsAre(AllOf(HasSubstr("s.yaml:2:12: ports.radio.device"), HasSubstr("is a member of " + bridge))));
  shell("ip link del " + bridge);
}

TEST(SystemCheckOfUser, FilesThatTheServiceCannotReadAreNamedWithOwnerAndMode) {
  if (geteuid() != 0) GTEST_SKIP() << "not root: cannot take the place of another user";
  Machine machine;
  const std::string key = machine.write("feedback.key", "00112233445566778899aabbccddeeff\n", 0600);
  machine.write("page.token", "00112233445566778899aabbccddeeff\n", 0600);
  const std::string file =
      ports_on("net_null0", "net_null1",
               "feedback:\n  listen: 127.0.0.1:1\n  keys:\n    - { id: 1, secret_file: feedback.key }\n"
               "metrics: { listen: 127.0.0.1:2 }\npage: { token_file: page.token }\n");
  EXPECT_THAT(
      machine.errors_of("nobody", file),
      ElementsAre(AllOf(HasSubstr("s.yaml:7:16: feedback.keys[0].secret_file, expected a file that user nobody"),
                        HasSubstr("chmod 640 " + key), HasSubstr("got one of user 0 and group 0 with mode 0600")),
                  HasSubstr("s.yaml:9:9: page.token_file, expected a file that user nobody")));
  EXPECT_THAT(machine.errors_of("root", file), IsEmpty());
  EXPECT_THAT(machine.errors_of("nonesuch", file), IsEmpty());
}

TEST(SystemCheckOfUser, TheServiceIsAMemberOfTheGroupThatItsSocketIsFor) {
  if (geteuid() != 0) GTEST_SKIP() << "not root: cannot take the place of another user";
  Machine machine;
  EXPECT_THAT(machine.errors_of("nobody", ports_on("net_null0", "net_null1", "admin: { group: root }\n")),
              ElementsAre(HasSubstr("s.yaml:4:10: admin.group, expected a group that user nobody")));
  EXPECT_THAT(machine.errors_of("nobody", ports_on("net_null0", "net_null1", "admin: { group: nogroup }\n")),
              IsEmpty());
}

}  // namespace
}  // namespace sluice::proxy
