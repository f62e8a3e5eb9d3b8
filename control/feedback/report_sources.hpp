#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

/// Table of the kinds of report sources: X(name, word, factory, description). `word` selects the source in the
/// configuration. `factory` is the function that creates it, with the parameters of make_report_source() except the
/// first.
#define SLUICE_REPORT_SOURCES(X) \
  X(sluice, "sluice", make_sluice_source, "the protocol of control/feedback/PROTOCOL.md, which nodeb uses")

namespace sluice::control::feedback {

class ReportReceiver;
class ReportSource;
struct ReportSourceConfig;

enum class ReportSourceKind : std::uint8_t {
#define X(name, word, factory, text) name,
  SLUICE_REPORT_SOURCES(X)
#undef X
};

/// Row of the table of report sources.
struct ReportSourceRow {
  ReportSourceKind kind;
  std::string_view word;
  std::string_view text;
};
inline constexpr std::array report_source_table = {
#define X(name, word, factory, text) ReportSourceRow{ReportSourceKind::name, word, text},
    SLUICE_REPORT_SOURCES(X)
#undef X
};

/// Returns the configuration word that selects this kind of report source.
[[nodiscard]] constexpr std::string_view word_of(ReportSourceKind kind) {
  return report_source_table.at(static_cast<std::size_t>(kind)).word;
}

/// Creates a report source. The source runs on the thread of `context` and passes reports to `receiver` from start()
/// on; both must outlive the source. Throws boost::system::system_error if the source's address is not available.
[[nodiscard]] std::unique_ptr<ReportSource> make_report_source(ReportSourceKind kind, boost::asio::io_context& context,
                                                               const ReportSourceConfig& config,
                                                               ReportReceiver& receiver);

#define X(name, word, factory, text)                                                                       \
  [[nodiscard]] std::unique_ptr<ReportSource> factory(boost::asio::io_context&, const ReportSourceConfig&, \
                                                      ReportReceiver&);
SLUICE_REPORT_SOURCES(X)
#undef X

}  // namespace sluice::control::feedback
