// topology/sources/job/discover.cpp - the collective part: rank 0 makes the tree from what it reads
// or gathers, and sends it (or the error) to all.
#include "topology/sources/job/discover.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <numeric>
#include <optional>
#include <utility>

#include "base/options.hpp"
#include "topology/bytes.hpp"
#include "topology/pci_address.hpp"
#include "topology/sources/cluster/probe.hpp"
#include "topology/sources/host/host.hpp"
#include "topology/sources/job/exchange.hpp"
#include "topology/sources/job/job.hpp"
#include "topology/sources/job/reports.hpp"
#include "topology/sources/job/written.hpp"

namespace gradcoll {

namespace {

/// What rank 0 decides before anything is gathered.
struct Work {
    enum class Reports : std::uint8_t { none, host_names, host_paths };
    Reports reports = Reports::none;
    bool measure = false;
};

Work work_for(const Result<WrittenSource>& source) {
    if (!source.ok() || source->form != SourceForm::machine) return {};
    return {source->inside.form == InsideSource::Form::hwloc ? Work::Reports::host_paths
                                                             : Work::Reports::host_names,
            source->between.form == BetweenSource::Form::probe};
}

// ---- what a rank says of itself
// -------------------------------------------------------------------------------------------------

void describe_host(Work::Reports what, const std::string& gpu_bus_id, RankReport& report) {
    if (what == Work::Reports::host_paths) {
        report.facts = this_host_facts();
        if (!gpu_bus_id.empty()) report.gpu = this_rank_gpu(gpu_bus_id);
        Result<HostPath> path = this_rank_host_path();
        if (path.ok()) {
            report.path = std::move(*path);
            return;
        }
        report.trouble = path.status().message();
    }
    if (const auto address = PciAddress::from(gpu_bus_id)) report.gpu.bus_id = address->text();
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    report.path.host_name = name;
}

Result<RankReport> own_report(MPI_Comm comm, int rank, Work::Reports what,
                              const std::string& gpu_bus_id) {
    RankReport report;
    GRADCOLL_TRY(find_first_on_host(comm, rank, report.first_on_host));
    std::vector<int> world;
    GRADCOLL_TRY(find_world_ranks(comm, {rank}, world));
    report.world_rank = world.front() == MPI_UNDEFINED ? -1 : world.front();
    report.slurm_address = foreign_variable("SLURM_TOPOLOGY_ADDR");
    report.slurm_pattern = foreign_variable("SLURM_TOPOLOGY_ADDR_PATTERN");
    describe_host(what, gpu_bus_id, report);
    return report;
}

// ---- what rank 0 tells all
// ------------------------------------------------------------------------------------------------------

/// A tree in bytes, or the error: code, text, tree, notes.
std::string encoded(const Result<DiscoveredTree>& result) {
    ByteWriter writer;
    writer.number(static_cast<std::uint8_t>(result.ok() ? Code::ok : result.status().code()));
    writer.text(result.ok() ? result->origin : result.status().message());
    writer.text(result.ok() ? result->tree.serialize() : "");
    const std::vector<std::string> none;
    const std::vector<std::string>& notes = result.ok() ? result->notes : none;
    writer.number(static_cast<std::uint32_t>(notes.size()));
    for (const std::string& note : notes) writer.text(note);
    return writer.take();
}

bool read_notes(ByteReader& reader, std::vector<std::string>& notes) {
    std::uint32_t count = 0;
    if (!reader.number(count)) return false;
    for (std::uint32_t i = 0; i < count; ++i) {
        std::string note;
        if (!reader.text(note, reader.size_left())) return false;
        notes.push_back(std::move(note));
    }
    return reader.size_left() == 0;
}

Result<DiscoveredTree> decoded(std::string_view bytes) {
    ByteReader reader(bytes);
    std::uint8_t code = 0;
    std::string text;
    std::string tree_bytes;
    std::vector<std::string> notes;
    if (!reader.number(code) || code > static_cast<std::uint8_t>(Code::internal) ||
        !reader.text(text, bytes.size()) || !reader.text(tree_bytes, bytes.size()) ||
        !read_notes(reader, notes))
        return Status(Code::corrupt, "the topology that rank 0 sent is malformed");
    if (static_cast<Code>(code) != Code::ok) return Status(static_cast<Code>(code), text);
    Result<Tree> tree = Tree::deserialize(tree_bytes);
    if (!tree.ok()) return tree.status();
    return DiscoveredTree{std::move(*tree), std::move(text), std::move(notes)};
}

/// The facts that a probe needs on all ranks; no hosts: there is nothing to measure.
std::string probe_bytes(const WrittenSource& source, std::span<const JobHost> hosts) {
    ByteWriter writer;
    writer.text(source.between.value);
    writer.text(source.origin);
    writer.number(static_cast<std::uint32_t>(hosts.size()));
    for (const JobHost& host : hosts) {
        writer.number(static_cast<std::uint32_t>(host.ranks.front().rank));
        writer.text(host.name);
    }
    return writer.take();
}

bool read_probe_bytes(std::string_view bytes, std::uint32_t rank_count, ProbeOptions& options,
                      std::vector<ProbeHost>& hosts) {
    ByteReader reader(bytes);
    std::uint32_t count = 0;
    if (!reader.text(options.cache_file, bytes.size()) || !reader.text(options.job, bytes.size()) ||
        !reader.number(count))
        return false;
    for (std::uint32_t i = 0; i < count; ++i) {
        std::uint32_t lowest_rank = 0;
        std::string name;
        if (!reader.number(lowest_rank) || lowest_rank >= rank_count ||
            !reader.text(name, max_name_bytes))
            return false;
        hosts.push_back({static_cast<int>(lowest_rank), std::move(name)});
    }
    return reader.size_left() == 0;
}

class Discovery {
  public:
    Discovery(MPI_Comm comm, const std::string& written, const std::string& gpu_bus_id)
        : comm_(comm), written_(written), gpu_bus_id_(gpu_bus_id) {}

    Result<DiscoveredTree> run() {
        GRADCOLL_TRY(from_mpi(PMPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank"));
        GRADCOLL_TRY(from_mpi(PMPI_Comm_size(comm_, &size_), "MPI_Comm_size"));
        Result<WrittenSource> source = Status(Code::internal, "only rank 0 reads the source");
        if (rank_ == 0) source = read_source();
        Work work = rank_ == 0 ? work_for(source) : Work{};
        GRADCOLL_TRY(from_mpi(PMPI_Bcast(&work, sizeof work, MPI_BYTE, 0, comm_), "MPI_Bcast"));
        Result<std::vector<JobHost>> hosts = std::vector<JobHost>();
        std::vector<std::string> notes;
        if (work.reports != Work::Reports::none) GRADCOLL_TRY(learn_hosts(work, hosts, notes));
        std::optional<SwitchTree> measured;
        if (work.measure) GRADCOLL_TRY(measure(source, hosts, measured));
        if (rank_ != 0) return published({});
        if (!source.ok()) return published(encoded(source.status()));
        if (!hosts.ok()) return published(encoded(hosts.status()));
        return published(encoded(source->form == SourceForm::machine
                                     ? tree_of_job(*source, *hosts, measured, std::move(notes))
                                     : whole_tree(*source)));
    }

  private:
    Result<WrittenSource> read_source() const {
        Result<WrittenSource> source = written_source(written_);
        return source.ok() ? resolved(std::move(*source)) : source;
    }

    /// `hosts` are known on rank 0 alone.
    Status learn_hosts(Work work, Result<std::vector<JobHost>>& hosts,
                       std::vector<std::string>& notes) const {
        const Result<RankReport> mine = own_report(comm_, rank_, work.reports, gpu_bus_id_);
        if (!mine.ok()) return mine.status();
        std::vector<std::string> reports;
        GRADCOLL_TRY(gather_bytes(comm_, report_bytes(*mine), reports));
        if (rank_ == 0) hosts = hosts_of_reports(reports, notes);
        return {};
    }

    /// One host alone is not measured.
    Status measure(const Result<WrittenSource>& source, const Result<std::vector<JobHost>>& hosts,
                   std::optional<SwitchTree>& measured) const {
        std::string bytes;
        const std::vector<JobHost> none;
        if (rank_ == 0) bytes = probe_bytes(*source, hosts.ok() ? *hosts : none);
        GRADCOLL_TRY(share_bytes(comm_, bytes));
        ProbeOptions options;
        std::vector<ProbeHost> probe_hosts;
        if (!read_probe_bytes(bytes, static_cast<std::uint32_t>(size_), options, probe_hosts))
            return {Code::corrupt, "the hosts that rank 0 sent to be measured are malformed"};
        if (probe_hosts.size() < 2) return {};
        Result<SwitchTree> tree = probe_switches(comm_, probe_hosts, options);
        if (!tree.ok()) return tree.status();
        measured = std::move(*tree);
        return {};
    }

    Result<DiscoveredTree> whole_tree(const WrittenSource& source) const {
        Result<Tree> tree = source.form == SourceForm::flat ? Tree::flat(size_) : pruned(source);
        if (!tree.ok())
            return Status(tree.status().code(),
                          fmt::format("{}: {}", source.origin, tree.status().message()));
        return DiscoveredTree{std::move(*tree), source.origin};
    }

    Result<Tree> pruned(const WrittenSource& source) const {
        int world_size = 0;
        GRADCOLL_TRY(from_mpi(PMPI_Comm_size(MPI_COMM_WORLD, &world_size), "MPI_Comm_size"));
        std::vector<int> own(static_cast<std::size_t>(size_));
        std::iota(own.begin(), own.end(), 0);
        std::vector<int> members;
        GRADCOLL_TRY(find_world_ranks(comm_, own, members));
        for (std::size_t r = 0; r < members.size(); ++r)
            if (members[r] == MPI_UNDEFINED)
                return Status(Code::invalid_argument,
                              fmt::format("rank {} of the communicator is not in MPI_COMM_WORLD, "
                                          "whose ranks a written topology names",
                                          r));
        const Result<Tree> world = written_tree(source, world_size);
        return world.ok() ? world->pruned(members) : world;
    }

    /// Everybody, rank 0 too, reads the same bytes.
    Result<DiscoveredTree> published(std::string bytes) const {
        GRADCOLL_TRY(share_bytes(comm_, bytes));
        return decoded(bytes);
    }

    MPI_Comm comm_;
    const std::string& written_;
    const std::string& gpu_bus_id_;
    int rank_ = 0;
    int size_ = 0;
};

}  // namespace

Result<DiscoveredTree> discover_tree(MPI_Comm comm, const std::string& written,
                                     const std::string& gpu_bus_id) {
    return Discovery(comm, written, gpu_bus_id).run();
}

}  // namespace gradcoll
