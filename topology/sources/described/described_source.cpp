// topology/sources/described/described_source.cpp - see described_source.hpp.
#include "topology/sources/described/described_source.hpp"

#include <fmt/format.h>

#include <utility>

#include "fabric/host_list.hpp"
#include "topology/sources/host/host_subtree.hpp"

namespace gradcoll {

Result<const DescribedSource::Places*> DescribedSource::places_of(const std::string& host_name) {
    const auto description = description_of(host_name);
    if (!description) return nullptr;
    const auto known = places_of_description_.find(*description);
    if (known != places_of_description_.end()) return &known->second;
    Places places;
    Result<std::vector<HostPath>> paths = read_(*description, places.notes);
    if (!paths.ok() && !does_without_damaged())
        return Status(paths.status().code(),
                      fmt::format("host {}: {}", host_name, paths.status().message()));
    if (paths.ok()) places.paths = std::move(*paths);
    for (std::string& note : places.notes) note = fmt::format("\"{}\": {}", *description, note);
    if (!paths.ok()) places.notes = {paths.status().message() + "; ranks there are equally near"};
    return &places_of_description_.emplace(*description, std::move(places)).first->second;
}

Result<std::size_t> DescribedSource::places_on(const std::string& host_name) {
    GRADCOLL_TRY(open());
    const auto places = GRADCOLL_VALUE(places_of(host_name));
    return places == nullptr ? 0 : places->paths.size();
}

Status DescribedSource::learn(const Job& job, TreeDraft& draft) {
    GRADCOLL_TRY(open());
    SourceNotes undescribed;
    std::size_t damaged = 0;
    for (const JobHost& host : job.hosts) {
        const auto places = GRADCOLL_VALUE(places_of(host.name));
        if (places == nullptr) {
            undescribed.push_back(host.name);
            draft.insides.push_back(subtree_as_told(host));
            continue;
        }
        draft.notes.insert(draft.notes.end(), places->notes.begin(), places->notes.end());
        damaged += places->paths.empty();
        draft.insides.push_back(places->paths.empty() ? subtree_as_told(host)
                                                      : subtree_as_described(host, places->paths));
    }
    if (damaged > 0 && damaged + undescribed.size() == job.hosts.size())
        return {Code::invalid_argument,
                fmt::format("no host of the job has a description that can be read: {}",
                            draft.notes.back())};
    if (undescribed.empty()) return {};
    if (undescribed.size() == job.hosts.size())
        return {Code::invalid_argument,
                fmt::format("\"{}\" describes none of the hosts {}, and has nothing for *", value_,
                            hosts_in_words(undescribed))};
    draft.notes.push_back(fmt::format("\"{}\" does not describe {}: ranks there are equally near",
                                      value_, hosts_in_words(undescribed)));
    return {};
}

}  // namespace gradcoll
