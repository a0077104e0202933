// topology/sources/discover.cpp - the collective part: rank 0 makes the tree from what it reads or
// gathers, and sends it (or the error) to all.
#include "topology/sources/discover.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <limits>
#include <numeric>
#include <utility>

#include "topology/bytes.hpp"
#include "topology/sources/host.hpp"
#include "topology/sources/reports.hpp"
#include "topology/sources/written.hpp"

namespace gradcoll {

namespace {

/// A handle of MPI that is freed with its scope.
template <class Handle, int (*Free)(Handle*)>
struct Owned {
    Handle handle;
    explicit Owned(Handle null) : handle(null), null_(null) {}
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    ~Owned() {
        if (handle != null_) Free(&handle);
    }

  private:
    Handle null_;
};
using OwnedComm = Owned<MPI_Comm, PMPI_Comm_free>;
using OwnedGroup = Owned<MPI_Group, PMPI_Group_free>;

/// What rank 0 decides before anything is gathered.
enum class Work : std::uint8_t { none, host_names, host_paths };

class Discovery {
  public:
    Discovery(MPI_Comm comm, const std::string& written) : comm_(comm), written_(written) {}

    Result<DiscoveredTree> run() {
        GRADCOLL_TRY(from_mpi(PMPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank"));
        GRADCOLL_TRY(from_mpi(PMPI_Comm_size(comm_, &size_), "MPI_Comm_size"));
        Result<WrittenSource> source = Status(Code::internal, "only rank 0 reads the source");
        if (rank_ == 0) source = written_source(written_);
        Work work = rank_ == 0 ? work_for(source) : Work::none;
        GRADCOLL_TRY(from_mpi(PMPI_Bcast(&work, sizeof work, MPI_BYTE, 0, comm_), "MPI_Bcast"));
        std::vector<std::string> reports;
        if (work != Work::none) GRADCOLL_TRY(gather_reports(work, reports));
        if (rank_ != 0) return published({});
        return published(encoded(source.ok() ? made(*source, reports) : source.status()));
    }

  private:
    static Work work_for(const Result<WrittenSource>& source) {
        if (!source.ok() || !needs_reports(source->form)) return Work::none;
        return source->form == SourceForm::discover ? Work::host_paths : Work::host_names;
    }

    // ---- gathering
    // -------------------------------------------------------------------------------------------------

    /// Host names may repeat (containers, cloned machines): only shared memory tells hosts apart.
    Status find_host(std::uint32_t& first_on_host) const {
        OwnedComm host(MPI_COMM_NULL);
        GRADCOLL_TRY(from_mpi(
            PMPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host.handle),
            "MPI_Comm_split_type"));
        first_on_host = static_cast<std::uint32_t>(
            rank_);  // the lowest rank is rank 0 there, so its value is the one
        return from_mpi(PMPI_Bcast(&first_on_host, 1, MPI_UINT32_T, 0, host.handle), "MPI_Bcast");
    }

    static void describe_self(Work work, RankReport& report) {
        if (work == Work::host_paths) {
            Result<HostPath> path = this_rank_host_path();
            if (path.ok()) {
                report.path = std::move(*path);
                return;
            }
            report.trouble = path.status().message().substr(0, max_name_bytes);
        }
        char name[256] = "";
        gethostname(name, sizeof name - 1);
        report.path.host_name = name;
    }

    Status gather_reports(Work work, std::vector<std::string>& reports) const {
        RankReport report;
        GRADCOLL_TRY(find_host(report.first_on_host));
        describe_self(work, report);
        return gather(report_bytes(report), reports);
    }

    /// Everybody's bytes to rank 0.
    Status gather(const std::string& mine, std::vector<std::string>& all) const {
        const int mine_bytes = static_cast<int>(mine.size());
        std::vector<int> sizes(rank_ == 0 ? static_cast<std::size_t>(size_) : 0);
        GRADCOLL_TRY(
            from_mpi(PMPI_Gather(&mine_bytes, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, comm_),
                     "MPI_Gather"));
        // MPI counts displacements in int: rank 0 says how many bytes each rank may send, so that
        // all agree.
        int fits = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) <=
                   std::numeric_limits<int>::max();
        GRADCOLL_TRY(from_mpi(PMPI_Bcast(&fits, 1, MPI_INT, 0, comm_), "MPI_Bcast"));
        if (!fits)
            return {Code::unsupported,
                    fmt::format("topology of {} ranks: host paths exceed 2 GiB", size_)};
        std::vector<int> starts(sizes.size());
        std::exclusive_scan(sizes.begin(), sizes.end(), starts.begin(), 0);
        std::string joined(
            sizes.empty() ? 0 : static_cast<std::size_t>(starts.back() + sizes.back()), '\0');
        GRADCOLL_TRY(from_mpi(PMPI_Gatherv(mine.data(), mine_bytes, MPI_BYTE, joined.data(),
                                           sizes.data(), starts.data(), MPI_BYTE, 0, comm_),
                              "MPI_Gatherv"));
        for (std::size_t r = 0; r < sizes.size(); ++r)
            all.push_back(joined.substr(static_cast<std::size_t>(starts[r]),
                                        static_cast<std::size_t>(sizes[r])));
        return {};
    }

    // ---- on rank 0: making
    // -----------------------------------------------------------------------------------------

    Result<DiscoveredTree> made(const WrittenSource& source,
                                const std::vector<std::string>& reports) const {
        if (needs_reports(source.form)) return tree_from_reports(source, reports);
        Result<Tree> tree = from_writing(source);
        if (!tree.ok())
            return Status(tree.status().code(),
                          fmt::format("{}: {}", source.origin, tree.status().message()));
        return DiscoveredTree{std::move(*tree), source.origin};
    }

    Result<Tree> from_writing(const WrittenSource& source) const {
        if (source.form == SourceForm::flat) return Tree::flat(size_);
        int world_size = 0;
        GRADCOLL_TRY(from_mpi(PMPI_Comm_size(MPI_COMM_WORLD, &world_size), "MPI_Comm_size"));
        std::vector<int> members(static_cast<std::size_t>(size_));
        GRADCOLL_TRY(world_ranks(members));
        const Result<Tree> world = written_tree(source, world_size);
        return world.ok() ? world->pruned(members) : world;
    }

    Status world_ranks(std::vector<int>& members) const {
        OwnedGroup mine(MPI_GROUP_NULL);
        OwnedGroup world(MPI_GROUP_NULL);
        GRADCOLL_TRY(from_mpi(PMPI_Comm_group(comm_, &mine.handle), "MPI_Comm_group"));
        GRADCOLL_TRY(from_mpi(PMPI_Comm_group(MPI_COMM_WORLD, &world.handle), "MPI_Comm_group"));
        std::vector<int> own(members.size());
        std::iota(own.begin(), own.end(), 0);
        GRADCOLL_TRY(from_mpi(PMPI_Group_translate_ranks(mine.handle, size_, own.data(),
                                                         world.handle, members.data()),
                              "MPI_Group_translate_ranks"));
        for (std::size_t r = 0; r < members.size(); ++r)
            if (members[r] == MPI_UNDEFINED)
                return {Code::invalid_argument,
                        fmt::format("rank {} of the communicator is not in MPI_COMM_WORLD, whose "
                                    "ranks a written topology names",
                                    r)};
        return {};
    }

    // ---- to all
    // ----------------------------------------------------------------------------------------------------

    static std::string encoded(const Result<DiscoveredTree>& result) {
        ByteWriter writer;
        writer.number(static_cast<std::uint8_t>(result.ok() ? Code::ok : result.status().code()));
        writer.text(result.ok() ? result->origin : result.status().message());
        writer.text(result.ok() ? result->tree.serialize() : "");
        return writer.take();
    }

    /// Everybody, rank 0 too, reads the same bytes.
    Result<DiscoveredTree> published(std::string bytes) const {
        std::int64_t size_bytes = static_cast<std::int64_t>(bytes.size());
        GRADCOLL_TRY(from_mpi(PMPI_Bcast(&size_bytes, 1, MPI_INT64_T, 0, comm_), "MPI_Bcast"));
        if (size_bytes < 0 || size_bytes > std::numeric_limits<int>::max())
            return Status(Code::unsupported,
                          fmt::format("a topology of {} bytes is too large to send", size_bytes));
        bytes.resize(static_cast<std::size_t>(size_bytes));
        GRADCOLL_TRY(
            from_mpi(PMPI_Bcast(bytes.data(), static_cast<int>(size_bytes), MPI_BYTE, 0, comm_),
                     "MPI_Bcast"));
        return decoded(bytes);
    }

    static Result<DiscoveredTree> decoded(std::string_view bytes) {
        ByteReader reader(bytes);
        std::uint8_t code = 0;
        std::string text;
        std::string tree_bytes;
        if (!reader.number(code) || code > static_cast<std::uint8_t>(Code::internal) ||
            !reader.text(text, bytes.size()) || !reader.text(tree_bytes, bytes.size()) ||
            reader.size_left() != 0)
            return Status(Code::corrupt, "the topology that rank 0 sent is malformed");
        if (static_cast<Code>(code) != Code::ok) return Status(static_cast<Code>(code), text);
        Result<Tree> tree = Tree::deserialize(tree_bytes);
        if (!tree.ok()) return tree.status();
        return DiscoveredTree{std::move(*tree), text};
    }

    MPI_Comm comm_;
    const std::string& written_;
    int rank_ = 0;
    int size_ = 0;
};

}  // namespace

Result<DiscoveredTree> discover_tree(MPI_Comm comm, const std::string& written) {
    return Discovery(comm, written).run();
}

}  // namespace gradcoll
