// report/html_style.hpp - what of a report in HTML is always the same.
#pragma once

#include <string_view>

namespace gradcoll {

inline constexpr std::string_view html_style = R"(
body { font: 15px/1.45 Helvetica, Arial, sans-serif; color: #0f172a; background: #f8fafc;
  margin: 0 auto; max-width: 1100px; padding: 16px; }
h1 { font-size: 24px; margin: 0 0 8px; } h2 { font-size: 19px; margin: 24px 0 6px; }
h3 { font-size: 15px; margin: 18px 0 4px; }
section, .total { background: #ffffff; border: 1px solid #e2e8f0; border-radius: 8px;
  padding: 2px 16px 12px; margin: 16px 0; }
.total p { margin: 10px 0 0; } .total p:first-line { font-weight: 600; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 14px; }
th { color: #475569; font-weight: 600; border-bottom: 2px solid #e2e8f0; }
th, td { text-align: right; padding: 3px 10px; } td { border-bottom: 1px solid #f1f5f9; }
th:first-child, td:first-child { text-align: left; }
.bars { margin: 8px 0; } .bars div { display: flex; align-items: center; font-size: 13px; }
.label { flex: 0 0 130px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.track { flex: 1 1 auto; display: flex; height: 13px; background: #f1f5f9; }
.words { flex: 0 0 310px; padding-left: 10px; color: #475569; }
.wire { background: #2563eb; } .codec { background: #f59e0b; } .rest { background: #94a3b8; }
.key { font-size: 13px; color: #475569; margin: 4px 0; }
.key span { display: inline-block; width: 11px; height: 11px; margin-left: 10px; }
figure { margin: 16px 0; overflow-x: auto; } figure svg { max-width: 100%; height: auto; }
figcaption { font-size: 13px; color: #475569; }
details { margin: 24px 0; color: #475569; } dt { font-weight: 600; } dd { margin: 0 0 6px 16px; }
)";

/// The page says with these words what the columns mean; docs/report.md says more.
inline constexpr std::string_view html_words = R"(<details>
<summary>What the columns mean</summary>
<dl>
<dt>served</dt><dd>by Gradcoll: over the tree, or through the memory of one host</dd>
<dt>compr.</dt><dd>of those: with a lossy codec on at least one hop</dd>
<dt>passed</dt><dd>to the MPI library; the reasons are below the table</dd>
<dt>in</dt><dd>bytes of the vectors of all calls</dd>
<dt>sent</dt><dd>bytes that this rank sent for the served calls</dd>
<dt>ratio</dt><dd>bytes that the exact codec would have sent / bytes that were sent</dd>
<dt>time</dt><dd>from call to return, of blocking calls that were served</dd>
<dt>wire</dt><dd>waiting and handling messages; late ranks count, too</dd>
<dt>saved</dt><dd>by compression, at most: wire x (exact / sent - 1) - codec</dd>
</dl>
</details>
)";

}  // namespace gradcoll
