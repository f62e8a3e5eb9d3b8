#include "proxy/daemon/status/report_watch.hpp"

namespace sluice::proxy {

ReportWatch::Event ReportWatch::look(bool needed, std::uint64_t accepted, Instant now) {
  if (!needed) {
    *this = {};
    return Event::none;
  }
  if (quiet_since_ == never || accepted != accepted_) {
    silence_ = quiet_since_ == never ? Duration{} : now - quiet_since_;
    quiet_since_ = now;
    accepted_ = accepted;
    const bool told = told_;
    told_ = false;
    return told ? Event::received_again : Event::none;
  }
  silence_ = now - quiet_since_;
  if (told_ || silence_ < limit) return Event::none;
  told_ = true;
  return Event::silent;
}

}  // namespace sluice::proxy
