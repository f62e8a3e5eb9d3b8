// The decoder on bytes that a holder of the key might send: no tag stands before it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "control/feedback/codec.hpp"

namespace {

using namespace sluice::control::feedback;

/// Sends on what was understood, in the hope of getting the same again.
struct Echo final : RecordHandler {
  std::vector<BearerReport> reports;
  std::vector<BearerStatus> statuses;
  void on_report(const Header&, const BearerReport& report) override { reports.push_back(report); }
  void on_status(const Header&, const BearerStatus& status) override { statuses.push_back(status); }
};

void require(bool holds) {
  if (!holds) std::abort();
}

template <typename Record>
void check_round_trip(Header header, const std::vector<Record>& records) {
  for (const Record& record : records) {
    std::vector<std::uint8_t> buffer(512);
    DatagramWriter writer(buffer);
    require(writer.add(record));
    const Decoded again = decode_header(writer.finish(header));
    require(again.failure == Failure::none);
    require(decode_records(again.records, again.header, nullptr) == Failure::none);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Decoded decoded = decode_header({data, size});
  if (decoded.failure != Failure::none) return 0;
  Echo echo;
  const Failure checked = decode_records(decoded.records, decoded.header, nullptr);
  const Failure handed = decode_records(decoded.records, decoded.header, &echo);
  require(checked == handed);
  if (checked != Failure::none) return 0;
  require(echo.reports.size() + echo.statuses.size() <= decoded.header.records);
  check_round_trip(decoded.header, echo.reports);
  check_round_trip(decoded.header, echo.statuses);
  return 0;
}
