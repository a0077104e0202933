// tune/links.cpp - measures messages between the branches of every level.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "measures.hpp"
#include "topology/sources/job/discover.hpp"

namespace gradcoll::tune {
namespace {

constexpr int tag = 1;

/// A Pair is two ranks that face each other at a vertex.
struct Pair {
    int vertex = -1;
    int partner = -1;  ///< partner of this rank; -1: it is in no pair
};

/// Returns the pair of first ranks of the first two branches of a vertex of this height.
Pair pair_at(const Tree& tree, int height, int rank) {
    for (const int vertex : tree.inner_vertices()) {
        if (tree.vertex(vertex).height != height) continue;
        const auto first_rank = [&](int child) {
            return tree.rank_at(tree.vertex(child).first_leaf);
        };
        const int a = first_rank(tree.children(vertex)[0]);
        const int b = first_rank(tree.children(vertex)[1]);
        if (rank == a) return {vertex, b};
        if (rank == b) return {vertex, a};
    }
    return {};
}

/// Sends both ways at once, as an exchange does.
void swap(MPI_Comm comm, int partner, const std::byte* out, std::byte* in, std::size_t bytes) {
    const int count = static_cast<int>(bytes);
    std::array<MPI_Request, 2> both{};
    PMPI_Irecv(in, count, MPI_BYTE, partner, tag, comm, both.data());
    PMPI_Isend(out, count, MPI_BYTE, partner, tag, comm, &both[1]);
    PMPI_Waitall(2, both.data(), MPI_STATUSES_IGNORE);
}

/// Sends several short messages each way, all under way together.
void swap_many(MPI_Comm comm, int partner, int messages) {
    std::vector<MPI_Request> all(2 * static_cast<std::size_t>(messages));
    std::vector<std::byte> data(16 * static_cast<std::size_t>(messages));
    for (int i = 0; i < messages; ++i) {
        std::byte* at = data.data() + 16 * i;
        PMPI_Irecv(at, 8, MPI_BYTE, partner, tag, comm, &all[2 * static_cast<std::size_t>(i)]);
        PMPI_Isend(at + 8, 8, MPI_BYTE, partner, tag, comm,
                   &all[2 * static_cast<std::size_t>(i) + 1]);
    }
    PMPI_Waitall(2 * messages, all.data(), MPI_STATUSES_IGNORE);
}

class LinkTimer {
  public:
    LinkTimer(const Options& options, MPI_Comm everybody)
        : options_(options), everybody_(everybody) {
        PMPI_Comm_rank(everybody, &rank_);
        PMPI_Comm_size(everybody, &ranks_);
    }

    /// Returns the time of one swap by the pairs of a group; the same on all ranks.
    double swap_us(const Group& group, const Pair& pair, std::size_t bytes) const {
        double us = 0;
        group.run([&] {
            std::vector<std::byte> out(bytes, std::byte{1}), in(bytes);
            us = median_us(group.comm(), options_.seconds_a_point(),
                           [&] { swap(everybody_, pair.partner, out.data(), in.data(), bytes); });
        });
        return slowest(us);
    }

    double many_us(const Group& group, const Pair& pair, int messages) const {
        double us = 0;
        group.run([&] {
            us = median_us(group.comm(), options_.seconds_a_point(),
                           [&] { swap_many(everybody_, pair.partner, messages); });
        });
        return slowest(us);
    }

    void measure_level(const Tree& tree, int height, Tuning& tuning) const {
        const Pair pair = pair_at(tree, height, rank_);
        const Group group(everybody_, pair.partner >= 0);
        LinkSpeed link;
        link.latency_us = swap_us(group, pair, 8);
        std::vector<Speed::Point> points;
        // Each rank reads and writes this many bytes.
        for (const double set : working_sets(std::size_t{64} << 10U, options_.most_bytes() / 2)) {
            const double bytes = set / 2 / group.size();
            const double us = swap_us(group, pair, static_cast<std::size_t>(bytes));
            points.push_back({set, bytes / 1e3 / std::max(us - link.latency_us, us / 10)});
        }
        link.gbytes_per_s = Speed(std::move(points));
        keep(tree, height, link, tuning);
    }

    /// Measures what one more message costs a rank's core, with the pairs nearest the ranks.
    void measure_messages(const Tree& tree, Tuning& tuning) const {
        constexpr int many = 16;
        const Pair pair = pair_at(tree, 1, rank_);
        const Group group(everybody_, pair.partner >= 0);
        const double more_us = many_us(group, pair, many) - many_us(group, pair, 1);
        tuning.message_us = std::max(0.01, more_us / (2 * (many - 1)));
    }

    /// Measures how much longer a message between neighbours takes when all ranks send and
    /// outnumber the cores.
    void measure_turns(const Tree& tree, Tuning& tuning) const {
        const int partner = rank_ % 2 == 0 ? rank_ + 1 : rank_ - 1;
        const Pair pair{tree.root(), partner};
        const Group all(everybody_, partner < ranks_);
        const Group first(everybody_, rank_ < 2);
        tuning.turn_us = std::max(0.0, swap_us(all, pair, 8) - swap_us(first, pair, 8));
    }

  private:
    double slowest(double us) const {
        PMPI_Allreduce(MPI_IN_PLACE, &us, 1, MPI_DOUBLE, MPI_MAX, everybody_);
        return us;
    }

    /// Keeps the figures for every kind of vertex at this height; a kind with two heights gets
    /// those of the higher one, which is slower.
    static void keep(const Tree& tree, int height, const LinkSpeed& link, Tuning& tuning) {
        for (const int vertex : tree.inner_vertices()) {
            if (tree.vertex(vertex).height != height) continue;
            const auto kind = static_cast<std::size_t>(tree.vertex(vertex).kind);
            tuning.links[kind] = link;
            tuning.links_said.set(kind);
        }
    }

    const Options& options_;
    MPI_Comm everybody_;
    int rank_ = 0;
    int ranks_ = 1;
};

/// Gives kinds inside a host that no level showed the figures of one that was measured.
void fill_inside(Tuning& tuning) {
    std::size_t known = 0;
    for (std::size_t kind = 1; kind < vertex_kind_count; ++kind)
        if (tuning.links_said[kind] && !connects_hosts(static_cast<VertexKind>(kind))) known = kind;
    if (known == 0) return;
    for (std::size_t kind = 1; kind < vertex_kind_count; ++kind)
        if (!tuning.links_said[kind] && !connects_hosts(static_cast<VertexKind>(kind)))
            tuning.links[kind] = tuning.links[known];
}

}  // namespace

Status measure_links(const Options& options, MPI_Comm everybody, const HostPlace& place,
                     Tuning& tuning) {
    const Result<DiscoveredTree> found = discover_tree(everybody, "auto");
    if (!found.ok()) return found.status();
    const Tree& tree = found->tree;
    if (tree.rank_count() == 1) return {};
    const LinkTimer timer(options, everybody);
    for (int height = 1; height <= tree.height(); ++height)
        timer.measure_level(tree, height, tuning);
    fill_inside(tuning);
    timer.measure_messages(tree, tuning);
    if (place.ranks > place.cores) timer.measure_turns(tree, tuning);
    return {};
}

}  // namespace gradcoll::tune
