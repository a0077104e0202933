#include "report/report.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "report/rows.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t most_entries = 256;
constexpr std::size_t most_trees_an_entry = 4;
constexpr std::size_t most_left_out_an_entry = 32;
constexpr std::size_t most_trials_an_entry = 32;
constexpr std::size_t most_sites = 4096;
constexpr std::size_t most_listed_sites = 40;
constexpr std::string_view overflow_name = "other communicators";

/// GrowingEntry is an entry while it grows: every cell has its place, and is made with the first
/// call.
struct GrowingEntry {
    CommEntry facts;
    std::array<std::unique_ptr<CallCell>, std::size_t{call_kind_count} * size_bin_count> calls;
    std::array<ErrorCell, size_bin_count> errors;

    CallCell& cell(CallKind kind, int bin) {
        auto& place =
            calls[static_cast<std::size_t>(kind) * size_bin_count + static_cast<std::size_t>(bin)];
        if (!place) {
            place = std::make_unique<CallCell>();
            place->kind = kind;
            place->size_bin = bin;
        }
        return *place;
    }

    void add_tree(std::string_view expression, std::string_view origin) {
        auto& trees = facts.trees;
        const auto known = std::find_if(trees.begin(), trees.end(), [&](const TreeUse& tree) {
            return tree.expression == expression && tree.origin == origin;
        });
        if (known != trees.end())
            ++known->communicators;
        else if (trees.size() < most_trees_an_entry)
            trees.push_back({std::string(expression), std::string(origin), 1});
        else
            ++facts.trees_not_listed;
    }

    void add_left_out(const CodecLeftOut& codec) {
        const auto order = [](const CodecLeftOut& one) {
            return std::tie(one.bytes, one.level, one.codec);
        };
        auto& left_out = facts.left_out;
        const auto place = std::lower_bound(
            left_out.begin(), left_out.end(), codec,
            [&](const CodecLeftOut& a, const CodecLeftOut& b) { return order(a) < order(b); });
        if (place != left_out.end() && order(*place) == order(codec)) return;
        if (left_out.size() == most_left_out_an_entry)
            ++facts.left_out_not_listed;
        else
            left_out.insert(place, codec);
    }

    void add_traffic(const Tree& tree, std::span<const LinkBytes> links) {
        auto& traffic = facts.traffic;
        auto known = std::find_if(traffic.begin(), traffic.end(), [&](const TreeTraffic& one) {
            return one.tree.hash() == tree.hash() && one.links.size() == links.size();
        });
        if (known == traffic.end()) {
            if (traffic.size() == most_trees_an_entry) return;
            traffic.push_back({tree, 0, std::vector<LinkBytes>(links.size())});
            known = traffic.end() - 1;
        }
        ++known->calls;
        for (std::size_t i = 0; i < links.size(); ++i) {
            known->links[i].up += links[i].up;
            known->links[i].down += links[i].down;
        }
    }

    CommEntry finished() const {
        CommEntry entry = facts;
        for (const auto& cell : calls)
            if (cell) entry.calls.push_back(*cell);
        for (int bin = 0; bin < size_bin_count; ++bin) {
            const ErrorCell& error = errors[static_cast<std::size_t>(bin)];
            if (error.measurements == 0) continue;
            entry.errors.push_back(error);
            entry.errors.back().size_bin = bin;
        }
        return entry;
    }
};

}  // namespace

struct Report::Impl {
    explicit Impl(ReportProcess given) : process(std::move(given)) {}

    const ReportProcess process;
    const std::int64_t start_unix_ns = unix_now_ns();
    const std::uint64_t start_ns = now_ns();
    mutable std::mutex mutex;                            ///< guards all below
    std::vector<std::unique_ptr<GrowingEntry>> entries;  ///< one for each CommId
    std::map<std::pair<std::string, int>, CommId> known;
    std::vector<RankSums> ranks;
    using Site = std::pair<std::uintptr_t, CallKind>;
    std::map<Site, CallSums> sites;
    std::uint64_t sites_without_room = 0;
    SiteNames site_names;

    /// Returns the places on which most time was spent; for kinds without times those with most
    /// calls.
    std::vector<std::pair<Site, CallSums>> first_sites() const {
        std::vector<std::pair<Site, CallSums>> sorted(sites.begin(), sites.end());
        std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
            return std::tie(a.second.total_ns, a.second.calls) >
                   std::tie(b.second.total_ns, b.second.calls);
        });
        if (sorted.size() > most_listed_sites) sorted.resize(most_listed_sites);
        return sorted;
    }

    CommId make_entry(std::string_view name, int rank_count) {
        auto entry = std::make_unique<GrowingEntry>();
        entry->facts.name = name;
        entry->facts.rank_count = rank_count;
        entries.push_back(std::move(entry));
        return static_cast<CommId>(entries.size() - 1);
    }

    /// Returns the entry of a communicator. The last place is kept for all that find no other.
    CommId entry_of(std::string_view name, int rank_count) {
        if (const auto found = known.find({std::string(name), rank_count}); found != known.end())
            return found->second;
        if (entries.size() == most_entries) return most_entries - 1;
        if (entries.size() == most_entries - 1) return make_entry(overflow_name, 0);
        const CommId id = make_entry(name, rank_count);
        known.emplace(std::pair(std::string(name), rank_count), id);
        return id;
    }

    /// Returns null for a number that add_comm did not give.
    GrowingEntry* find(CommId comm) const {
        return comm < entries.size() ? entries[comm].get() : nullptr;
    }
};

Report::Report(ReportProcess process) : impl_(std::make_unique<Impl>(std::move(process))) {}
Report::~Report() = default;

Report::CommId Report::add_comm(std::string_view name, int rank_count) {
    const std::scoped_lock lock(impl_->mutex);
    const CommId id = impl_->entry_of(name, rank_count);
    ++impl_->entries[id]->facts.communicators;
    return id;
}

void Report::set_tree(CommId comm, std::string_view expression, std::string_view origin) {
    const std::scoped_lock lock(impl_->mutex);
    if (GrowingEntry* entry = impl_->find(comm)) entry->add_tree(expression, origin);
}

void Report::add_call(CommId comm, const CallRecord& call) {
    const int bin = size_bin_of(call.bytes);
    const std::scoped_lock lock(impl_->mutex);
    if (GrowingEntry* entry = impl_->find(comm)) entry->cell(call.kind, bin).add(call);
}

void Report::add_error(CommId comm, std::uint64_t bytes, const SumError& error) {
    const auto bin = static_cast<std::size_t>(size_bin_of(bytes));
    const std::scoped_lock lock(impl_->mutex);
    if (GrowingEntry* entry = impl_->find(comm)) entry->errors[bin].add(error);
}

void Report::add_engine(CommId comm, const EngineFigures& engine) {
    const std::scoped_lock lock(impl_->mutex);
    if (GrowingEntry* entry = impl_->find(comm)) entry->facts.engines.add(engine);
}

void Report::add_left_out(CommId comm, const CodecLeftOut& codec) {
    const std::scoped_lock lock(impl_->mutex);
    if (GrowingEntry* entry = impl_->find(comm)) entry->add_left_out(codec);
}

void Report::add_trial(CommId comm, const WayTrial& trial) {
    const std::scoped_lock lock(impl_->mutex);
    GrowingEntry* entry = impl_->find(comm);
    if (entry != nullptr && entry->facts.trials.size() < most_trials_an_entry)
        entry->facts.trials.push_back(trial);
}

void Report::add_traffic(CommId comm, const Tree& tree, std::span<const LinkBytes> links) {
    if (tree.vertex_count() > most_pictured_vertices) return;
    const std::scoped_lock lock(impl_->mutex);
    if (GrowingEntry* entry = impl_->find(comm)) entry->add_traffic(tree, links);
}

void Report::add_site(std::uintptr_t site, const CallRecord& call) {
    const std::scoped_lock lock(impl_->mutex);
    const Impl::Site key(site, call.kind);
    if (impl_->sites.size() == most_sites && !impl_->sites.contains(key))
        ++impl_->sites_without_room;
    else
        impl_->sites[key].add(call);
}

void Report::name_sites_by(SiteNames names) {
    const std::scoped_lock lock(impl_->mutex);
    impl_->site_names = std::move(names);
}

void Report::set_ranks(std::vector<RankSums> ranks) {
    const std::scoped_lock lock(impl_->mutex);
    impl_->ranks = std::move(ranks);
}

ReportSnapshot Report::snapshot() const {
    ReportSnapshot taken;
    taken.process = impl_->process;
    taken.start_unix_ns = impl_->start_unix_ns;
    taken.seconds = seconds_of(now_ns() - impl_->start_ns);
    taken.nic = NicCounters::of_process().read();
    const std::scoped_lock lock(impl_->mutex);
    for (const auto& entry : impl_->entries) taken.comms.push_back(entry->finished());
    taken.ranks = impl_->ranks;
    if (!impl_->site_names) return taken;
    const auto sites = impl_->first_sites();
    std::vector<std::uintptr_t> addresses;
    for (const auto& [site, sums] : sites) addresses.push_back(site.first);
    const std::vector<std::string> places = impl_->site_names(addresses);
    for (std::size_t i = 0; i < sites.size(); ++i)
        taken.sites.push_back({places[i], sites[i].first.second, sites[i].second});
    taken.sites_not_listed = impl_->sites.size() - sites.size() + impl_->sites_without_room;
    return taken;
}

}  // namespace gradcoll
