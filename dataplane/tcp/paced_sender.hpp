#pragma once

#include "dataplane/tcp/delivery_rate.hpp"
#include "dataplane/tcp/endpoint.hpp"
#include "dataplane/tcp/pacer.hpp"
#include "dataplane/tcp/path_model.hpp"

namespace sluice::tcp {

/// What a paced connection keeps beside its endpoint. Others are spared the memory.
struct PacedSender {
  DeliveryRate delivery;
  Pacer pacer;
  PathModel model;
};

/// The configuration of one connection that is paced, and what it keeps. Stays where it is, and lives at least as long
/// as the connection.
struct PacedEndpoint {
  EndpointConfig config;
  PacedSender sender;

  /// Makes it that of a new connection under `common`; returns what to open that with.
  const EndpointConfig& begin(const EndpointConfig& common) {
    config = common;
    config.paced = &sender;
    return config;
  }
};

}  // namespace sluice::tcp
