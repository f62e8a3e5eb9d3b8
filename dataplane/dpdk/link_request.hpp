#pragma once

#include <libmnl/libmnl.h>

#include <cstdint>
#include <optional>
#include <string>

namespace sluice::dpdk {

/// Asks the kernel (rtnetlink, RTM_GETLINK) for the interface with index `index`. Calls `read` with each attribute
/// (IFLA_…) of the answer and with `into`; `read` returns MNL_CB_OK. The index belongs to the network namespace with
/// identifier `network_namespace`; without one, to this process's namespace. Returns false if the kernel does not
/// answer or refuses. A request to another namespace needs CAP_NET_ADMIN there.
bool request_link(unsigned index, std::optional<std::uint32_t> network_namespace, mnl_attr_cb_t read,
                  void* into) noexcept;

/// Returns the text of an attribute; empty if it is no text.
[[nodiscard]] std::string text_of(const nlattr* attribute);

}  // namespace sluice::dpdk
