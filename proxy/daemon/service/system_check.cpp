// Checks whether the machine has what a configuration needs, before any device or file is opened. Interfaces are
// checked by the rules of dataplane/dpdk/interface_check.hpp, which a port also applies when it starts.
#include "proxy/daemon/service/system_check.hpp"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

#include "dataplane/dpdk/device_arguments.hpp"
#include "dataplane/dpdk/interface_check.hpp"
#include "dataplane/packet/available_memory.hpp"
#include "proxy/ops/admin/socket_file.hpp"

namespace sluice::proxy {
namespace {

constexpr std::int64_t megabyte = 1'000'000;

std::string in_megabytes(std::int64_t bytes) {
  return std::to_string((bytes + megabyte - 1) / megabyte) + " MB";
}

/// Collects errors in configured values. Each error has the position of its key in the configuration file.
class Findings {
 public:
  explicit Findings(const std::string& file) : file_(file) {
    std::vector<config::Error> errors;
    root_ = config::load_document(file, errors);
  }

  /// Adds an error about the value of `key`, a dotted path with list indices in brackets. The error's position is that
  /// of the longest leading part of the path that the file contains.
  void add(const std::string& key, std::string expected, std::string got) {
    const config::Place place = place_of(key);
    errors_.push_back({config::file_of(root_, place, file_), place, key, std::move(expected), std::move(got)});
  }
  [[nodiscard]] std::vector<config::Error> take() { return std::move(errors_); }

 private:
  [[nodiscard]] config::Place place_of(const std::string& key) const {
    const config::Node* node = &root_;
    config::Place place;
    std::istringstream parts(key);
    for (std::string part; std::getline(parts, part, '.');) {
      const std::size_t bracket = part.find('[');
      const config::Entry* const entry = node->find(part.substr(0, bracket));
      if (entry == nullptr) return place;
      place = entry->place;
      node = &entry->value;
      if (bracket == std::string::npos) continue;
      const std::size_t index = std::stoul(part.substr(bracket + 1));
      if (index >= node->items.size()) return place;
      node = &node->items[index];
    }
    return place;
  }

  std::string file_;
  config::Node root_;
  std::vector<config::Error> errors_;
};

/// Checks the interface settings that the key fix_offloads would correct. Without fix_offloads, wrong settings are
/// errors.
void check_settings(Findings& found, const std::string& key, const dpdk::InterfaceState& state, std::uint16_t mtu) {
  const std::string repair = ", or fix_offloads: true)";
  if (!state.up)
    found.add(key, "an interface that is up (ip link set dev " + state.name + " up" + repair, "one that is down");
  if (state.gro) {
    found.add(key, "an interface that does not merge what it receives (ethtool -K " + state.name + " gro off" + repair,
              "one with GRO");
  }
  if (state.lro) {
    found.add(key, "an interface that does not merge what it receives (ethtool -K " + state.name + " lro off" + repair,
              "one with LRO");
  }
  if (state.mtu < mtu) {
    found.add(key,
              "an MTU of " + std::to_string(mtu) + " or more (ip link set dev " + state.name + " mtu " +
                  std::to_string(mtu) + repair,
              std::to_string(state.mtu));
  }
}

/// Names of the interfaces already seen, by interface index. The index shows if both ports use one interface under two
/// names.
using SeenInterfaces = std::map<unsigned, std::string>;

void check_interface(Findings& found, const Config& config, SystemScope scope, const std::string& side,
                     SeenInterfaces& seen) {
  const PortSettings& port = side == "radio" ? config.ports.radio : config.ports.core;
  const auto served = dpdk::served_interface(port.device);
  if (!served) return;
  const std::string key = "ports." + side + ".device";
  const auto state = dpdk::interface_state(*served);
  if (!state) {
    if (scope == SystemScope::whole)
      found.add(key, "an interface of this machine and network namespace (ip link show lists them)",
                "\"" + *served + "\"");
    return;
  }
  for (const std::string& obstacle : dpdk::interface_obstacles(*state, config.fail_open == FailOpen::bridge))
    found.add(key, "an Ethernet interface whose frames no bridge or bond takes", obstacle);
  if (const auto [other, is_new] = seen.emplace(state->index, state->name); !is_new) {
    found.add(key, "another interface than ports.radio has, because each frame would return to its source",
              state->name + ", which is the same as " + other->second);
  }
  const bool is_prepared = dpdk::driver_traits(port.device).kernel_interface;
  if (scope == SystemScope::whole && is_prepared && !port.fix_offloads) check_settings(found, key, *state, port.mtu);
}

/// Checks that the PCI device of a port exists and is bound to a driver that DPDK can use.
void check_device(Findings& found, const PortSettings& port, const std::string& side,
                  const std::filesystem::path& root) {
  if (!dpdk::is_pci_address(port.device)) return;
  std::string address(dpdk::device_name(port.device));
  if (std::ranges::count(address, ':') == 1) address = "0000:" + address;
  const std::filesystem::path folder = root / "sys/bus/pci/devices" / address;
  const std::string key = "ports." + side + ".device";
  std::error_code failure;
  if (!std::filesystem::exists(folder, failure)) {
    found.add(key, "the address of a PCI device of this machine (dpdk-devbind.py --status lists them)",
              "\"" + address + "\"");
    return;
  }
  const std::string driver = std::filesystem::read_symlink(folder / "driver", failure).filename().string();
  // Mellanox devices stay with the kernel's driver, which DPDK works through.
  const bool serves_dpdk = driver.starts_with("mlx") || !std::filesystem::exists(folder / "net", failure);
  if (driver.empty() || !serves_dpdk) {
    found.add(key, "a device that is bound to vfio-pci (dpdk-devbind.py --bind=vfio-pci " + address + ")",
              driver.empty() ? "one without a driver" : "one that has the driver " + driver);
  }
}

std::int64_t number_in(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::int64_t number = 0;
  stream >> number;
  return number;
}

/// Returns the number of bytes in free huge pages of all sizes. Each size has a folder, such as "hugepages-2048kB".
std::int64_t free_huge_pages(const std::filesystem::path& root) {
  constexpr std::string_view prefix = "hugepages-";
  std::int64_t bytes = 0;
  std::error_code failure;
  for (const auto& entry : std::filesystem::directory_iterator(root / "sys/kernel/mm/hugepages", failure)) {
    const std::string name = entry.path().filename().string();
    std::int64_t kibibytes = 0;
    std::istringstream(name.starts_with(prefix) ? name.substr(prefix.size()) : "") >> kibibytes;
    bytes += number_in(entry.path() / "free_hugepages") * kibibytes * 1024;
  }
  return bytes;
}

void check_memory(Findings& found, const Config& config, const std::filesystem::path& root) {
  const std::int64_t needed = config.eal.memory.value_or(memory_for(config)).count();
  if (config.eal.hugepages) {
    constexpr std::int64_t page = 2048 * 1024;
    const std::int64_t free = free_huge_pages(root);
    if (free >= needed) return;
    found.add("eal.hugepages",
              in_megabytes(needed) + " of free huge pages (echo " + std::to_string((needed + page - 1) / page) +
                  " > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages)",
              in_megabytes(free));
    return;
  }
  const auto available = packet::available_memory(root);
  if (!available || *available >= static_cast<std::uint64_t>(needed)) return;
  found.add("pool.buffers", "a number whose packet memory this machine has left",
            std::to_string(config.pool.buffers) + ", which need " + in_megabytes(needed) + " while " +
                in_megabytes(static_cast<std::int64_t>(*available)) + " are left");
}

void check_group(Findings& found, const Config& config) {
  if (!config.admin.group || admin::group_of(*config.admin.group)) return;
  found.add("admin.group", "a group of this machine (getent group lists them)", "\"" + *config.admin.group + "\"");
}

/// File that the program must read, and the configuration key that contains its path. The key is empty for the
/// configuration file itself.
struct NeededFile {
  std::string key;
  std::string path;
};

std::vector<NeededFile> needed_files(const Config& config, const std::string& file) {
  const auto resolve = [&file](const std::string& path) {
    return (std::filesystem::path(file).parent_path() / path).string();  // an absolute path replaces the folder
  };
  std::vector<NeededFile> files = {{"", file}};
  std::vector<config::Error> ignored;
  for (const std::string& included : config::load_document(file, ignored).included_files)
    files.push_back({"", included});
  const std::size_t keys = config.feedback ? config.feedback->keys.size() : 0;
  for (std::size_t i = 0; i < keys; ++i) {
    if (const auto& path = config.feedback->keys[i].secret_file)
      files.push_back({"feedback.keys[" + std::to_string(i) + "].secret_file", resolve(*path)});
  }
  if (config.page) files.push_back({"page.token_file", resolve(config.page->token_file)});
  return files;
}

/// Numeric id of a user, and the groups of a process that runs as this user.
struct Identity {
  uid_t user = 0;
  gid_t group = 0;
  std::string group_name;
  std::vector<gid_t> groups;
};

std::optional<Identity> identity_of(const std::string& name) {
  std::array<char, 16'384> space{};
  passwd entry{};
  passwd* known = nullptr;
  if (getpwnam_r(name.c_str(), &entry, space.data(), space.size(), &known) != 0 || known == nullptr)
    return std::nullopt;
  Identity identity{entry.pw_uid, entry.pw_gid, std::to_string(entry.pw_gid), std::vector<gid_t>(1024)};
  int count = static_cast<int>(identity.groups.size());
  if (getgrouplist(name.c_str(), identity.group, identity.groups.data(), &count) < 0) return std::nullopt;
  identity.groups.resize(static_cast<std::size_t>(count));
  group group_entry{};
  group* known_group = nullptr;
  if (getgrgid_r(identity.group, &group_entry, space.data(), space.size(), &known_group) == 0 && known_group != nullptr)
    identity.group_name = group_entry.gr_name;
  return identity;
}

/// Changes this process to another user. Then exits with the index of the first file of `files`, from `first` on, that
/// this user cannot read; with the number of files if there is none. Must be called in a child process, because the
/// change cannot be undone.
[[noreturn]] void read_as(const Identity& identity, const std::vector<NeededFile>& files, std::size_t first) {
  if (setgroups(identity.groups.size(), identity.groups.data()) != 0 || setgid(identity.group) != 0 ||
      setuid(identity.user) != 0)
    _exit(static_cast<int>(files.size()));
  std::size_t at = first;
  while (at < files.size() && access(files[at].path.c_str(), R_OK) == 0) ++at;
  _exit(static_cast<int>(at));
}

/// Returns the indices of the files that the user cannot read. A child process of that user tests this, because
/// folders, access lists and security modules can also deny access.
std::vector<std::size_t> unreadable(const Identity& identity, const std::vector<NeededFile>& files) {
  std::vector<std::size_t> numbers;
  for (std::size_t first = 0; first < files.size(); ++first) {
    const pid_t child = fork();
    if (child == 0) read_as(identity, files, first);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return numbers;
    first = static_cast<std::size_t>(WEXITSTATUS(status));
    if (first < files.size()) numbers.push_back(first);
  }
  return numbers;
}

std::string owner_and_mode(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return "one that is missing";
  std::array<char, 16> mode{};
  snprintf(mode.data(), mode.size(), "%04o", status.st_mode & 07777U);
  return "one of user " + std::to_string(status.st_uid) + " and group " + std::to_string(status.st_gid) +
         " with mode " + mode.data() + ", or a folder above it that the user cannot enter";
}

}  // namespace

std::vector<config::Error> system_errors(const Config& config, const std::string& file, SystemScope scope,
                                         const std::filesystem::path& root) {
  Findings found(file);
  SeenInterfaces seen;
  for (const char* const side : {"radio", "core"}) check_interface(found, config, scope, side, seen);
  if (scope == SystemScope::whole) {
    check_device(found, config.ports.radio, "radio", root);
    check_device(found, config.ports.core, "core", root);
    check_memory(found, config, root);
    check_group(found, config);
  }
  return found.take();
}

std::vector<config::Error> errors_of_user(const Config& config, const std::string& file, const std::string& user) {
  const std::optional<Identity> identity = identity_of(user);
  if (geteuid() != 0 || !identity || identity->user == 0) return {};
  Findings found(file);
  const std::vector<NeededFile> files = needed_files(config, file);
  for (const std::size_t number : unreadable(*identity, files)) {
    const NeededFile& needed = files[number];
    found.add(needed.key.empty() ? "this file" : needed.key,
              "a file that user " + user + " of the service can read (chgrp " + identity->group_name + " " +
                  needed.path + "; chmod 640 " + needed.path + ")",
              owner_and_mode(needed.path));
  }
  const auto group = config.admin.group ? admin::group_of(*config.admin.group) : std::nullopt;
  if (group && std::ranges::find(identity->groups, *group) == identity->groups.end()) {
    found.add("admin.group",
              "a group that user " + user + " of the service is a member of (adduser " + user + " " +
                  *config.admin.group + ")",
              "\"" + *config.admin.group + "\"");
  }
  return found.take();
}

}  // namespace sluice::proxy
