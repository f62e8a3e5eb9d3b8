#include "dataplane/packet/huge_pages.hpp"

#include <fstream>
#include <string>

namespace sluice::packet {

bool grants_huge_pages(const std::filesystem::path& root) {
  std::ifstream stream(root / "sys/kernel/mm/transparent_hugepage/enabled");
  std::string choices;  // such as "always [madvise] never"
  return std::getline(stream, choices) && choices.find("[never]") == std::string::npos;
}

}  // namespace sluice::packet
