// topology/sources/host/host_bytes.cpp - host paths on the wire: name, u32 objects, each u8 kind,
// u32 index, name, f64 bandwidth and f64 latency of its uplink.
#include <fmt/format.h>

#include "topology/bytes.hpp"
#include "topology/sources/host/host.hpp"
#include "topology/vertex.hpp"

namespace gradcoll {

namespace {

// Far more than hwloc nests, far less than a tree may.
constexpr std::uint32_t max_objects = 128;

}  // namespace

std::string host_path_bytes(const HostPath& path) {
    ByteWriter writer;
    writer.text(path.host_name);
    writer.number(static_cast<std::uint32_t>(path.objects.size()));
    for (const HostPath::Object& object : path.objects) {
        writer.number(static_cast<std::uint8_t>(object.kind));
        writer.number(object.index);
        writer.text(object.name);
        writer.number(object.uplink.bandwidth_gbytes_per_s);
        writer.number(object.uplink.latency_us);
    }
    return writer.take();
}

Result<HostPath> host_path_from(std::string_view bytes) {
    ByteReader reader(bytes);
    HostPath path;
    std::uint32_t count = 0;
    if (!reader.text(path.host_name, max_name_bytes) || !reader.number(count) ||
        count > max_objects)
        return Status(Code::corrupt,
                      fmt::format("host path of {} bytes: bad name or object count", bytes.size()));
    for (std::uint32_t i = 0; i < count; ++i) {
        std::uint8_t kind = 0;
        HostPath::Object object{};
        if (!reader.number(kind) || !reader.number(object.index) ||
            !reader.text(object.name, max_name_bytes) ||
            !reader.number(object.uplink.bandwidth_gbytes_per_s) ||
            !reader.number(object.uplink.latency_us) ||
            !is_link_figure(object.uplink.bandwidth_gbytes_per_s) ||
            !is_link_figure(object.uplink.latency_us) || kind == 0 ||
            kind > static_cast<std::uint8_t>(VertexKind::group))
            return Status(Code::corrupt,
                          fmt::format("host path of {} bytes: bad object {}", bytes.size(), i));
        object.kind = static_cast<VertexKind>(kind);
        path.objects.push_back(std::move(object));
    }
    if (reader.size_left() != 0)
        return Status(Code::corrupt,
                      fmt::format("host path: {} bytes too many", reader.size_left()));
    return path;
}

}  // namespace gradcoll
