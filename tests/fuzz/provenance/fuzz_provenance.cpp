// What a folder of results says of where it is from, and a kept run: read whole, or refused with a message. What was
// read is written and read as the same. The first byte says which of both it is.

#include <cstdint>
#include <stdexcept>
#include <string>

#include "emulator/provenance/provenance.hpp"
#include "emulator/provenance/result_archive.hpp"

namespace {

using namespace sluice::emulator;

void read_provenance(const std::string& text) {
  const std::string written = to_json(parse_provenance(text));
  if (to_json(parse_provenance(written)) != written) __builtin_trap();
}

void read_run(const std::string& bytes) {
  const std::string written = archive(result_of(bytes));
  if (archive(result_of(written)) != written) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string rest(data + 1, data + size);
  try {
    data[0] == 'r' ? read_run(rest) : read_provenance(rest);
  } catch (const std::runtime_error&) {
    return 0;
  }
  return 0;
}
