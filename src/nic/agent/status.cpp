#include "nic/agent/status.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "nic/control.hpp"

namespace gradcoll {
namespace {

double seconds_of(const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

std::string json_of(const AgentFacts& facts) {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const AgentCounters& counted = facts.counters;
    nlohmann::ordered_json value;
    value["version"] = nic_version;
    value["process"] = getpid();
    value["port"] = facts.port;
    value["uptime_s"] = facts.uptime_s;
    value["cpu_s"] = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
    value["ranks_joined"] = counted.ranks_joined;
    value["ranks_refused"] = counted.ranks_refused;
    value["links_made"] = counted.links_made;
    value["links_lost"] = counted.links_lost;
    value["connections_refused"] = counted.connections_refused;
    value["frames_sent"] = counted.frames_sent;
    value["bytes_sent"] = counted.bytes_sent;
    value["frames_received"] = counted.frames_received;
    value["bytes_received"] = counted.bytes_received;
    value["frames_encoded"] = counted.frames_encoded;
    value["bytes_before_encoding"] = counted.bytes_before_encoding;
    value["bytes_encoded"] = counted.bytes_encoded;
    value["frames_packed"] = counted.frames_packed;
    value["bytes_saved_by_packing"] = counted.bytes_saved_by_packing;
    value["frames_decoded"] = counted.frames_decoded;
    value["frames_echoed"] = counted.frames_echoed;
    value["pieces_added"] = counted.pieces_added;
    value["codec_s"] = static_cast<double>(counted.codec_ns) * 1e-9;
    value["bad_frames"] = counted.bad_frames;
    value["bad_entries"] = counted.bad_entries;
    value["sleeps"] = counted.sleeps;
    value["groups"] = nlohmann::ordered_json::array();
    for (const GroupFacts& group : facts.groups)
        value["groups"].push_back({{"ranks", group.ranks},
                                   {"ranks_here", group.ranks_here},
                                   {"hosts", group.hosts},
                                   {"links", group.links}});
    return value.dump(2) + "\n";
}

}  // namespace gradcoll
