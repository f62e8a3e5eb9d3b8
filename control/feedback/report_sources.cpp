#include "control/feedback/report_sources.hpp"

#include <stdexcept>

#include "control/feedback/report_source.hpp"

namespace sluice::control::feedback {

std::unique_ptr<ReportSource> make_report_source(ReportSourceKind kind, boost::asio::io_context& context,
                                                 const ReportSourceConfig& config, ReportReceiver& receiver) {
  switch (kind) {
#define X(name, word, factory, text) \
  case ReportSourceKind::name:       \
    return factory(context, config, receiver);
    SLUICE_REPORT_SOURCES(X)
#undef X
  }
  throw std::invalid_argument("feedback: there is no such source of reports");
}

}  // namespace sluice::control::feedback
