#pragma once

#include <string_view>

namespace sluice::emulator {

/// Style sheet of reports, with one colour per line (classes m0 … m8) for light and dark backgrounds. Its hues remain
/// distinct under the common kinds of colour blindness, after Okabe and Ito. Markers also differ in shape.
inline constexpr std::string_view report_style = R"css(
:root { color-scheme: light dark; --ink: #1d2430; --soft: #5d6775; --rule: #d9dee6; --paper: #ffffff; --panel: #f6f8fa;
  --capacity: #c3ccd8; --m0: #6f7782; --m1: #d55e00; --m2: #0072b2; --m3: #009e73; --m4: #8549b8; --m5: #cc5f9e;
  --m6: #a8830b; --m7: #42a5e0; --m8: #20242b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ee; --soft: #9aa5b3; --rule: #343c48; --paper: #14181e;
  --panel: #1b2129; --capacity: #3d4856; --m0: #9aa3ae; --m1: #f0883e; --m2: #4a9be8; --m3: #3fc79a; --m4: #bc8cff;
  --m5: #f778b8; --m6: #d4ad3a; --m7: #8fd0f5; --m8: #f2f4f7; } }
body { margin: 0 auto; max-width: 1320px; padding: 24px 28px 48px; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 18px; margin: 36px 0 8px; } h3 { font-size: 15px; margin: 20px 0 4px; }
p { margin: 4px 0 10px; max-width: 90ch; } .answer { font-size: 19px; line-height: 1.4; font-weight: 600; margin: 14px 0 6px; }
.answers { margin: 0 0 14px; padding-left: 20px; max-width: 100ch; } .hint { font-size: 13px; margin: 0; } .together > * { margin-bottom: 14px; } .soft { color: var(--soft); }
.row { display: flex; flex-wrap: wrap; gap: 10px 14px; } .scroll { overflow-x: auto; }
.grid { display: grid; gap: 6px 10px; justify-content: start; }
table { border-collapse: collapse; font-size: 13.5px; font-variant-numeric: tabular-nums; }
th, td { padding: 5px 11px; border-bottom: 1px solid var(--rule); text-align: right; white-space: nowrap; }
th { color: var(--soft); font-weight: 600; } td.key, th.key { text-align: left; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; font-size: 13.5px; margin: 6px 0; }
.legend span::before { content: ""; display: inline-block; width: 18px; height: 3px; margin: 0 7px 4px 0; background: var(--c); }
.legend span.block::before { height: 11px; margin-bottom: -1px; }
.legend span.thin::before { height: 1px; }
.legend span.entry::before { content: none; } .legend .entry svg { background: none; vertical-align: -1px; margin-right: 5px; }
.legend span.dashed::before { height: 0; background: none; border-top: 2px dashed var(--c); }
figure { margin: 14px 0 26px; } figcaption { font-weight: 600; } details { margin: 18px 0; }
summary h3 { display: inline; } summary { cursor: pointer; font-size: 18px; font-weight: 600; }
svg { background: var(--panel); border-radius: 6px; max-width: 100%; height: auto; }
svg text { fill: var(--ink); font-size: 11px; } svg .title { font-size: 12.5px; font-weight: 600; }
svg .tick { fill: var(--soft); font-size: 10.5px; } svg .label { fill: var(--soft); }
svg .grid { stroke: var(--rule); stroke-width: 1; } svg .axis { stroke: var(--soft); stroke-width: 1; }
svg .line { fill: none; stroke: var(--c); stroke-width: 1.6; stroke-linejoin: round; }
svg .thin { stroke-width: 1; opacity: .65; } svg .dashed { stroke-dasharray: 5 4; stroke-width: 1.2; }
svg .area { fill: var(--c); stroke: none; } svg .dot { fill: var(--c); stroke: var(--panel); stroke-width: 1; }
svg .hollow { fill: var(--panel); stroke: var(--c); stroke-width: 1.5; } svg .error { fill: none; stroke: var(--c); stroke-width: 1.1; }
svg .category { font-size: 11px; } svg .beyond { fill: var(--soft); font-size: 10px; }
svg.plot:focus-visible { outline: 2px solid var(--m2); } svg.plot[data-x] .data { cursor: crosshair; }
svg .cursor { stroke: var(--ink); stroke-width: 1; opacity: .5; } svg .frame { fill: var(--m2); opacity: .15; }
#reading { position: absolute; display: none; pointer-events: none; padding: 3px 8px; border-radius: 4px; font-size: 12.5px;
  background: var(--ink); color: var(--paper); white-space: pre; z-index: 1; }
.capacity { --c: var(--capacity); } .ink { --c: var(--ink); } .soft-line { --c: var(--soft); }
.m0 { --c: var(--m0); } .m1 { --c: var(--m1); } .m2 { --c: var(--m2); } .m3 { --c: var(--m3); }
.m4 { --c: var(--m4); } .m5 { --c: var(--m5); } .m6 { --c: var(--m6); } .m7 { --c: var(--m7); } .m8 { --c: var(--m8); }
)css";

}  // namespace sluice::emulator
