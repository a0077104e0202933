// examples/extend/fabric_format/racks.cpp - reads lines `rack NAME: HOST HOST ...`; every rack is a
// switch below one at the top.
#include "fabric/formats.hpp"
#include "fabric/lines.hpp"

namespace gradcoll {

namespace {

constexpr std::string_view first_word = "rack ";

bool is_rack(std::string_view line) {
    return line.starts_with(first_word) && line.find(':') != line.npos;
}

Result<Fabric> read_racks(std::string_view text) {
    FabricBuilder builder;
    builder.fabric().rooted = true;
    const int top = builder.switch_named("all racks");
    Lines lines(text);
    while (lines.next() && builder.within_limits()) {
        if (!is_rack(lines.line())) return lines.error(lines.line(), "rack NAME: HOST HOST ...");
        const std::size_t colon = lines.line().find(':');
        const std::string_view name =
            trimmed(lines.line().substr(first_word.size(), colon - first_word.size()));
        const int rack = builder.switch_named(name);
        builder.add_cable(top, rack);
        for (const std::string_view host : words_of(lines.line().substr(colon + 1)))
            builder.add_cable(rack, builder.host_named(host));
    }
    return builder.take();
}

}  // namespace

FabricFormat racks_fabric_format() {
    return {.name = "racks",
            .family = "rack",
            .listed = "racks",
            .is_line = is_rack,
            .read = read_racks};
}

}  // namespace gradcoll
