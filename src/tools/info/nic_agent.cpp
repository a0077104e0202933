#include "facts.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/options.hpp"
#include "nic/control.hpp"
#include "nic/directory.hpp"

namespace gradcoll::info {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string folder() {
    return gradcoll::nic_directory(gradcoll::option_text(gradcoll::OptionId::nic_dir));
}

}  // namespace

OrderedJson nic_agent_json() {
    const auto text = gradcoll::status_of_nic_agent(folder());
    if (!text.ok()) return {{"missing", text.status().message()}};
    OrderedJson status = OrderedJson::parse(*text, nullptr, false);
    return status.is_object() ? status
                              : OrderedJson{{"missing", "the agent's answer is no JSON object"}};
}

std::string nic_agent_text() {
    const OrderedJson status = nic_agent_json();
    std::string text = "NIC agent of this host (GC_NIC)\n";
    if (status.contains("missing"))
        return text + fmt::format("  none: {}\n", status["missing"].get<std::string>());
    const auto number = [&](const char* name) { return status.value(name, std::uint64_t{0}); };
    return text +
           fmt::format(
               "  process {}, up {:.0f} s, CPU {:.1f} s; {} communicators, {} ranks so far\n"
               "  sent {} frames ({} encoded), {} bytes; received {} ({} decoded), {} bytes\n"
               "  lost {} links; refused {} ranks, {} connections\n",
               number("process"), status.value("uptime_s", 0.0), status.value("cpu_s", 0.0),
               status.value("groups", OrderedJson::array()).size(), number("ranks_joined"),
               number("frames_sent"), number("frames_encoded"), number("bytes_sent"),
               number("frames_received"), number("frames_decoded"), number("bytes_received"),
               number("links_lost"), number("ranks_refused"), number("connections_refused"));
}

}  // namespace gradcoll::info
