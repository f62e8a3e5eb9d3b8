#pragma once

#include "dataplane/tcp/delivery_rate.hpp"
#include "dataplane/tcp/endpoint.hpp"
#include "dataplane/tcp/pacer.hpp"
#include "dataplane/tcp/path_model.hpp"

namespace sluice::tcp {

/// State of a paced connection, kept outside its endpoint because most connections are not paced.
struct PacedSender {
  DeliveryRate delivery;
  Pacer pacer;
  PathModel model;
};

/// Configuration and state of one paced connection. Must not move, and must outlive the connection.
struct PacedEndpoint {
  EndpointConfig config;
  PacedSender sender;

  /// Prepares a new connection with the settings of `common`; returns the configuration to open it with.
  const EndpointConfig& begin(const EndpointConfig& common) {
    config = common;
    config.paced = &sender;
    return config;
  }
};

}  // namespace sluice::tcp
