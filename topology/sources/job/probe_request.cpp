// topology/sources/job/probe_request.cpp - the wire format: cache file, job, u32 hosts, each u32
// lowest rank and name.
#include "topology/sources/job/probe_request.hpp"

#include <cstdint>
#include <utility>

#include "topology/bytes.hpp"
#include "topology/tree.hpp"

namespace gradcoll {

namespace {

/// Reads the hosts. Refuses hosts that are not in the order of their ranks, or do not begin with
/// rank 0: the probe would return an error that blames the caller.
bool read_hosts(ByteReader& reader, int rank_count, std::vector<ProbeHost>& hosts) {
    std::uint32_t count = 0;
    if (!reader.number(count)) return false;
    for (std::uint32_t i = 0; i < count; ++i) {
        std::int32_t lowest_rank = 0;
        std::string name;
        if (!reader.number(lowest_rank) || !reader.text(name, max_name_bytes)) return false;
        const bool follows = i == 0 ? lowest_rank == 0 : lowest_rank > hosts.back().lowest_rank;
        if (!follows || lowest_rank >= rank_count) return false;
        hosts.push_back({lowest_rank, std::move(name)});
    }
    return true;
}

}  // namespace

std::string probe_request_bytes(const ProbeRequest& request) {
    ByteWriter writer;
    writer.text(request.cache_file);
    writer.text(request.job);
    writer.number(static_cast<std::uint32_t>(request.hosts.size()));
    for (const ProbeHost& host : request.hosts) {
        writer.number(static_cast<std::int32_t>(host.lowest_rank));
        writer.text(host.name);
    }
    return writer.take();
}

Result<ProbeRequest> probe_request_from(std::string_view bytes, int rank_count) {
    ByteReader reader(bytes);
    ProbeRequest request;
    if (!reader.text(request.cache_file, bytes.size()) || !reader.text(request.job, bytes.size()) ||
        !read_hosts(reader, rank_count, request.hosts) || reader.size_left() != 0)
        return Status(Code::corrupt, "the hosts that rank 0 sent to be measured are malformed");
    return request;
}

}  // namespace gradcoll
