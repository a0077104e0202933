// collectives/verify/contributions.cpp - follows every rank's contribution through all events of a
// chunk.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "collectives/verify/contents.hpp"
#include "collectives/verify/ensemble.hpp"
#include "compress/frame.hpp"

namespace gradcoll::verification {
namespace {

using RankSet = std::vector<std::uint64_t>;  ///< one bit for each rank

/// A Term says what a value is: the sum of whose contributions, in which order. Every encoding
/// makes a new term, and every reduction one for its two operands, so equal terms are equal bits.
struct Term {
    RankSet ranks;
    bool encoded = false;  ///< nothing was added since it was last encoded with a lossy codec
    std::int64_t loss_parts = 0;  ///< sum over the encodings of all that was added up
    Contents parts;  ///< used instead of ranks if one block of a codec holds values of several
                     ///< terms
};

class Interpreter {
  public:
    explicit Interpreter(const Ensemble& all) : all_(all) {
        for (int rank = 0; rank < all.rank_count; ++rank)
            terms_.push_back({only(rank), false, 0, {}});
        everybody_ = everybody();
        for (int rank = 0; rank < all.rank_count; ++rank) {
            memory_.emplace_back(area_count, Memory(all.spec.elem_bytes));
            const Range given = input_elems(rank);
            const Area area = all.spec.in_place ? Area::output : Area::input;
            const std::int64_t at = all.spec.in_place ? given.begin : 0;
            if (!given.empty())
                memory(rank, area)
                    .write(at * elem_bytes(),
                           {{given, CodecId::exact, static_cast<std::uint32_t>(rank)}});
        }
    }

    Status run(const std::vector<Event>& events) {
        for (const Event& event : events) {
            const std::string wrong = event.to_rank >= 0 ? deliver(event) : compute(event);
            if (!wrong.empty()) return broken(event.rank, event.step, wrong);
        }
        GRADCOLL_TRY(check_owners());
        return check_outputs();
    }

  private:
    std::int64_t elem_bytes() const { return all_.spec.elem_bytes; }
    std::int64_t block() const { return all_.count_elems() / all_.rank_count; }
    Memory& memory(int rank, Area area) {
        return memory_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(area)];
    }
    RankSet only(int rank) const {
        RankSet set(static_cast<std::size_t>(all_.rank_count + 63) / 64, 0);
        set[static_cast<std::size_t>(rank / 64)] |= std::uint64_t{1} << (rank % 64);
        return set;
    }
    RankSet everybody() const {
        RankSet set = only(0);
        for (int rank = 1; rank < all_.rank_count; ++rank) merge(set, only(rank));
        return set;
    }
    /// Adds `other` to `set`; returns false if a rank is in both.
    static bool merge(RankSet& set, const RankSet& other) {
        bool disjoint = true;
        for (std::size_t w = 0; w < set.size(); ++w) {
            disjoint = disjoint && (set[w] & other[w]) == 0;
            set[w] |= other[w];
        }
        return disjoint;
    }

    /// Returns what a rank contributes: everything, or its own block.
    Range input_elems(int rank) const {
        if (all_.spec.collective != Collective::allgather) return {0, all_.count_elems()};
        return {rank * block(), (rank + 1) * block()};
    }

    /// Returns the bytes of one of a step's places; for a framed message without what is in front
    /// of its encodings.
    Range bytes_of(int rank, const Step& step, int which) const {
        const Access access = footprint_of(
            step, geometry_of(all_.schedule(rank), all_.spec))[static_cast<std::size_t>(which)];
        Range bytes = access.extent;
        if (access.area != Area::scratch)
            bytes = {bytes.begin * elem_bytes(), bytes.end * elem_bytes()};
        if (step.kind == StepKind::recv)
            bytes.begin += static_cast<std::int64_t>(frame_front_bytes(step.codec, elems_of(step)));
        return bytes;
    }
    Area area_of(int rank, const Step& step, int which) const {
        return footprint_of(step, geometry_of(all_.schedule(rank),
                                              all_.spec))[static_cast<std::size_t>(which)]
            .area;
    }
    std::optional<Contents> read(int rank, const Step& step, int which) {
        return memory(rank, area_of(rank, step, which)).read(bytes_of(rank, step, which));
    }

    std::string write(int rank, const Step& step, const Contents& contents) {
        const bool to_vector = step.to.where() != Space::scratch;
        if (to_vector && !are_values_of(contents, step.range))
            return "other elements than its range says";
        memory(rank, area_of(rank, step, to_place))
            .write(bytes_of(rank, step, to_place).begin, contents);
        return {};
    }

    std::string deliver(const Event& event) {
        const Step& send = all_.step(event.rank, event.step);
        const std::optional<Contents> contents = read(event.rank, send, from_place);
        if (!contents) return "sends what was not written";
        if (!all_have(*contents, send.codec)) return "sends bytes that are not encoded as it says";
        return write(event.to_rank, all_.step(event.to_rank, event.to_step), *contents);
    }

    static bool all_have(const Contents& contents, CodecId codec) {
        return std::all_of(contents.begin(), contents.end(),
                           [&](const Content& c) { return c.codec == codec; });
    }

    std::string compute(const Event& event) {
        const Step& step = all_.step(event.rank, event.step);
        std::optional<Contents> contents = read(event.rank, step, from_place);
        if (!contents) return "reads what was not written";
        const bool reads_values = step.kind == StepKind::encode;
        if (!all_have(*contents, reads_values ? CodecId::exact : step.codec))
            return "reads bytes of another codec";
        switch (step.kind) {
            case StepKind::encode:
                return encode(event, step, *contents);
            case StepKind::decode_reduce:
            case StepKind::reduce:
                return reduce(event, step, decoded(*contents));
            case StepKind::decode:
                return write(event.rank, step, decoded(*contents));
            case StepKind::copy:
            case StepKind::send:
            case StepKind::recv:
                break;
        }
        return write(event.rank, step, *contents);
    }

    static Contents decoded(Contents contents) {
        for (Content& content : contents) content.codec = CodecId::exact;
        return contents;
    }

    std::string encode(const Event& event, const Step& step, const Contents& values) {
        const auto block_elems = static_cast<std::int64_t>(codec_block_elems(step.codec));
        const bool lossy = step.codec != CodecId::exact;
        if (!lossy && !all_.spec.feedback) return write(event.rank, step, values);
        Contents encoded;
        for (std::size_t i = 0; i < values.size();) {
            Contents unit;  // what can be cut out of the encoding
            do {
                if (lossy && terms_[values[i].term].encoded)
                    return "encodes what is encoded already";
                unit.push_back(values[i++]);
            } while (i < values.size() &&
                     (values[i].elems.begin - step.range.begin) % block_elems != 0);
            encoded.push_back(
                {{unit.front().elems.begin, unit.back().elems.end}, step.codec, next_term()});
            terms_.push_back({terms_[unit.front().term].ranks,
                              lossy,
                              most_loss_parts_of(unit) + (lossy ? loss_parts_of(step.codec) : 0),
                              {}});
            if (unit.size() > 1) terms_.back().parts = std::move(unit);
        }
        return write(event.rank, step, encoded);
    }

    std::int64_t most_loss_parts_of(const Contents& contents) const {
        std::int64_t most = 0;
        for (const Content& content : contents)
            most = std::max(most, terms_[content.term].loss_parts);
        return most;
    }

    std::uint32_t next_term() const { return static_cast<std::uint32_t>(terms_.size()); }

    std::string reduce(const Event& event, const Step& step, const Contents& received) {
        const std::optional<Contents> own =
            read(event.rank, step, step.from_input ? input_place : to_place);
        if (!own) return "adds to what was not written";
        if (!are_values_of(received, step.range) || !are_values_of(*own, step.range))
            return "adds other elements than its range says";
        Contents sums;
        auto a = own->begin();
        auto b = received.begin();
        for (std::int64_t at = step.range.begin; at < step.range.end;) {
            const std::int64_t end = std::min(a->elems.end, b->elems.end);
            const std::string wrong = sum_of(a->term, b->term, {at, end}, sums);
            if (!wrong.empty()) return wrong;
            if (a->elems.end == end) ++a;
            if (b->elems.end == end) ++b;
            at = end;
        }
        return write(event.rank, step, sums);
    }

    /// Appends `a` + `b` to `sums`.
    std::string sum_of(std::uint32_t a, std::uint32_t b, Range elems, Contents& sums) {
        if (!terms_[a].parts.empty() || !terms_[b].parts.empty())
            return "adds values of which parts have different contributions";
        const auto [known, is_new] = sums_.try_emplace({a, b}, next_term());
        if (is_new) {
            Term sum{terms_[a].ranks, false, terms_[a].loss_parts + terms_[b].loss_parts, {}};
            if (!merge(sum.ranks, terms_[b].ranks))
                return "adds a contribution that is there already";
            terms_.push_back(std::move(sum));
        }
        const Content content{elems, CodecId::exact, known->second};
        if (terms_[content.term].ranks == everybody_) complete_.push_back(content);
        sums.push_back(content);
        return {};
    }

    /// Checks that after the reduce-scatter every element is complete on one rank, and on one only;
    /// if the spec allows it, on any number of ranks that all added up in the same order.
    Status check_owners() {
        if (all_.spec.collective == Collective::allgather || all_.rank_count == 1) return {};
        std::sort(complete_.begin(), complete_.end(),
                  [](const Content& a, const Content& b) { return a.elems.begin < b.elems.begin; });
        const bool many = may_have_several_owners(all_.spec);
        std::int64_t at = 0;
        std::uint32_t last = 0;
        for (const Content& content : complete_) {
            const bool again = content.elems.begin < at;
            if (content.elems.begin > at || (again && (!many || content.term != last)))
                return no_one_owner(std::min(at, content.elems.begin));
            at = std::max(at, content.elems.end);
            last = content.term;
        }
        return at == all_.count_elems() ? Status{} : no_one_owner(at);
    }

    static Status no_one_owner(std::int64_t element) {
        return {Code::internal, fmt::format("element {} has no owner or several after the "
                                            "reduce-scatter",
                                            element)};
    }

    Status check_outputs() {
        Contents first;
        for (int rank = 0; rank < all_.rank_count; ++rank) {
            const bool one_block = all_.spec.collective == Collective::reduce_scatter_block;
            const std::int64_t count = one_block ? block() : all_.count_elems();
            const auto output = memory(rank, Area::output).read({0, count * elem_bytes()});
            const std::int64_t first_elem = one_block ? rank * block() : 0;
            if (!output || !are_values_of(*output, {first_elem, first_elem + count}))
                return {Code::internal, fmt::format("rank {}: its output is not complete", rank)};
            for (const Content& content : *output)
                if (!is_result(content))
                    return {Code::internal,
                            fmt::format("rank {}: element {} of its output lacks contributions",
                                        rank, content.elems.begin)};
            if (const std::int64_t most = most_loss_parts_of(*output); most > all_.loss_parts)
                return {Code::internal,
                        fmt::format("rank {}: its output lost {} parts in encodings, the plan "
                                    "says {}",
                                    rank, most, all_.loss_parts)};
            if (one_block) continue;
            if (rank == 0) first = joined(*output);
            if (!same(first, joined(*output)))
                return {Code::internal,
                        fmt::format(
                            "rank {}: its output comes from other sums or encodings than rank 0's",
                            rank)};
        }
        return {};
    }

    static bool same(const Contents& a, const Contents& b) {
        const auto equal = [](const Content& x, const Content& y) {
            return x.term == y.term && x.elems == y.elems;
        };
        return std::equal(a.begin(), a.end(), b.begin(), b.end(), equal);
    }

    bool is_result(const Content& content) const {
        const Contents& parts = terms_[content.term].parts;
        const auto is_part_result = [&](const Content& part) {
            const Range elems = intersect(part.elems, content.elems);
            return elems.empty() || is_result({elems, CodecId::exact, part.term});
        };
        if (!parts.empty()) return std::all_of(parts.begin(), parts.end(), is_part_result);
        const RankSet& ranks = terms_[content.term].ranks;
        if (all_.spec.collective != Collective::allgather) return ranks == everybody_;
        const std::int64_t owner = content.elems.begin / block();
        return content.elems.end <= (owner + 1) * block() && ranks == only(static_cast<int>(owner));
    }

    static constexpr int from_place = 0;  // positions in a Footprint
    static constexpr int to_place = 1;
    static constexpr int input_place = 2;

    const Ensemble& all_;
    std::vector<Term> terms_;  ///< the first rank_count are the ranks' own inputs
    std::vector<std::vector<Memory>> memory_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>
        sums_;  ///< by operands: the term of their sum
    RankSet everybody_;
    Contents complete_;  ///< the elements of which some rank reached everybody's sum
};

}  // namespace

Status check_contributions(const Ensemble& all, const std::vector<Event>& events) {
    return Interpreter(all).run(events);
}

}  // namespace gradcoll::verification
