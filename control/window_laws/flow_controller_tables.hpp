#pragma once

#include "control/window_laws/clamp_price.hpp"
#include "control/window_laws/clamp_window.hpp"
#include "control/window_laws/fair_share.hpp"
#include "control/window_laws/gwa.hpp"

/// Table of the per-flow window controllers' parameters: X(name in FlowControllerParameters, configuration key, type,
/// description). The function describe(Section&, type&) of each type lists its keys.
#define SLUICE_FLOW_CONTROLLER_PARAMETERS(X)                                                         \
  X(clamp, "clamp", ClampWindowParameters, "CLAMP's window agent")                                   \
  X(price, "clamp_price", ClampPriceParameters,                                                      \
    "CLAMP's price of the queue: computed at the Node-B; at the proxy only if reports contain none") \
  X(gwa, "gwa", GwaParameters, "Generalized Window Advertising, modes gwa-rr, gwa-fcfs and ba")      \
  X(fair_share, "fair_share", FairShareParameters, "equal share: floor(B/n) packets for every flow")

/// Table of the per-flow window controllers: X(name, configuration word, class, split, regulate, description). `split`
/// is true if the controller works for split connections, and `regulate` if it works for end-to-end connections. A new
/// controller is one class with the functions of FlowControllerHooks that it needs, and one line here. The modes of
/// proxy and emulator and their help are generated from this table.
#define SLUICE_FLOW_CONTROLLERS(X)                                                                           \
  X(clamp, "clamp", ClampController, true, true, "CLAMP: each flow's window follows the price of the queue") \
  X(wrs, "wrs", WindowRegulatorController<WindowRegulation::fixed>, true, true,                              \
    "Window Regulator, static: the window is B")                                                             \
  X(wrd, "wrd", WindowRegulatorController<WindowRegulation::dynamic>, true, true,                            \
    "Window Regulator, dynamic: B plus the data on the air")                                                 \
  X(wrb, "wrb", WindowRegulatorController<WindowRegulation::ack_buffer>, true, true,                         \
    "Window Regulator with ACK buffer: as wrd, but delays ACKs instead of shrinking the window")             \
  X(ack_regulator, "ack-regulator", AckRegulatorController, false, true,                                     \
    "Ack Regulator: delays ACKs until the buffer has space")                                                 \
  X(gwa_rr, "gwa-rr", GwaController<GwaPolicy::round_robin>, true, true,                                     \
    "Generalized Window Advertising: B/N minus the flow's queued bytes")                                     \
  X(gwa_fcfs, "gwa-fcfs", GwaController<GwaPolicy::fcfs>, true, true,                                        \
    "Generalized Window Advertising: the N-th part of the free buffer")                                      \
  X(ba, "ba", GwaController<GwaPolicy::bandwidth_aware>, true, true,                                         \
    "bandwidth aware: the N-th part of rate × round trip")                                                   \
  X(fair_share, "fair-share", FairShareController, true, true, "floor(B/n) packets for each of n flows")
