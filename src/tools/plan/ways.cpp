// plan/ways.cpp - the ways to do a call, and the predicted time of each.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "collectives/choose/chunk_choice.hpp"
#include "collectives/exchange/exchange.hpp"
#include "collectives/predict/model.hpp"
#include "reports.hpp"

namespace gradcoll::plan {
namespace {

/// Shorter chunks have costs that the model does not know.
constexpr std::int64_t least_chunk_bytes = 64 << 10;

bool is_lossy(const HopCodecs& codecs) {
    return std::any_of(codecs.named().begin(), codecs.named().end(),
                       [](CodecId codec) { return codec != CodecId::exact; });
}

/// Returns whether some exchanges are inside hosts and others between them.
bool has_links_of_both_kinds(const Tree& tree) {
    const auto vertices = tree.inner_vertices();
    const auto inside = std::count_if(vertices.begin(), vertices.end(),
                                      [&](int vertex) { return is_inside_host(tree, vertex); });
    return inside > 0 && inside < static_cast<std::ptrdiff_t>(vertices.size());
}

/// Returns whether --what-if can try it by itself: it is defined for the type, and the user need
/// not say how much it may lose.
bool is_offered(CodecId codec, ElementType type) {
    return codec_supports(codec, type) && !waits_for_tolerance(codec);
}

/// Returns exact, and every other codec, both everywhere and, if the tree has both kinds of links,
/// between hosts only; or what `wanted` says, if that is not empty.
std::vector<HopCodecs> codec_choices(const Tree& tree, ElementType type, const HopCodecs& wanted) {
    std::vector<HopCodecs> choices{HopCodecs{CodecId::exact}};
    if (!wanted.empty()) {
        if (wanted != choices.front()) choices.push_back(wanted);
        return choices;
    }
    for (const CodecId codec : all_codecs()) {
        if (codec == CodecId::exact || !is_offered(codec, type)) continue;
        choices.push_back({codec});
        if (has_links_of_both_kinds(tree))
            choices.push_back(HopCodecs::by_link(CodecId::exact, codec));
    }
    return choices;
}

std::string place_of(const Tree& tree, int id) {
    return fmt::format("{} ({})", label_of(tree, id), path_of(tree, id));
}

std::string microseconds(double us) {
    return seconds_text(us * 1e-6);
}

std::string reason(const Tree& tree, const Way& way, const Tuning& tuning, int chunks_in_flight) {
    const Forecast& f = way.forecast;
    if (f.slowest_link < 0) return "one rank has nothing to send";
    switch (f.bound) {
        case Bound::link: {
            const auto bytes = f.bytes_on_links[static_cast<std::size_t>(f.slowest_link)];
            return fmt::format("bytes: the link of {} carries {} each way at {:.3g} GB/s, {}",
                               place_of(tree, f.slowest_link),
                               bytes_text(static_cast<std::uint64_t>(bytes)),
                               uplink_figures(tree, tuning, f.slowest_link).gbytes_per_s,
                               microseconds(f.slowest_link_us));
        }
        case Bound::core:
            return fmt::format("cores: a rank encodes, decodes, sums and handles messages for {}",
                               microseconds(f.core_total_us));
        case Bound::latency:
            return fmt::format("latency: messages wait for each other, {} together",
                               microseconds(f.latency_us));
        case Bound::in_flight:
            break;
    }
    return fmt::format(
        "chunks wait: each takes {} through all levels, and {} are under way at once",
        microseconds(f.link_us + f.core_us + f.latency_us), chunks_in_flight);
}

class Ways {
  public:
    Ways(const Subject& subject, const Options& options)
        : subject_(subject),
          tree_(subject.tree),
          call_(options.call),
          wanted_(options.policy.codecs),
          chunk_bytes_(options.policy.chunk_bytes),
          options_(options),
          tuning_(*subject.tuning) {}

    std::vector<Way> all() {
        add_auto();
        const auto codecs = codec_choices(tree_, call_.type, wanted_);
        for (const HopCodecs& choice : codecs) {
            for (const Exchange exchange : all_exchanges())
                if (is_split(exchange) || (exchange == Exchange::single && !is_lossy(choice)))
                    add_tree(exchange, choice);
            if (choice.named().size() == 1) add_flat(choice);
        }
        for (Way& way : ways_)
            way.why = reason(tree_, way, tuning_, options_.policy.chunks_in_flight);
        std::stable_sort(ways_.begin() + 1, ways_.end(), [](const Way& a, const Way& b) {
            return std::pair(a.lossy, a.forecast.total_us) <
                   std::pair(b.lossy, b.forecast.total_us);
        });
        return std::move(ways_);
    }

  private:
    /// Adds what gradcoll plan would plan without --what-if.
    void add_auto() {
        const PlanSpec& spec = subject_.decision.spec;
        const HopCodecs codecs = wanted_.empty() ? HopCodecs{CodecId::exact} : wanted_;
        ways_.push_back({"auto",
                         codecs.text(),
                         is_lossy(codecs),
                         spec.chunk_elems,
                         forecast_tree(tree_, tuning_, spec, options_.policy.chunks_in_flight),
                         {}});
    }

    /// Adds the best of the chunks: that of --chunk, or the policy's own, the whole vector and
    /// powers of two.
    void add_tree(Exchange exchange, const HopCodecs& choice) {
        PolicyOptions options;
        options.codecs = choice;
        options.level_exchanges = {exchange};
        options.chunk_bytes = chunk_bytes_;
        options.tuning = &tuning_;
        PlanSpec spec = decide(tree_, call_, options).spec;
        Way best{
            fmt::format("tree, {}", name_of(exchange)), choice.text(), is_lossy(choice), 0, {}, {}};
        bool first = true;
        const auto consider = [&](std::int64_t chunk_elems) {
            spec.chunk_elems = chunk_elems;
            Forecast forecast =
                forecast_tree(tree_, tuning_, spec, options_.policy.chunks_in_flight);
            if (!first && forecast.total_us >= best.forecast.total_us) return;
            best.chunk_elems = chunk_elems;
            best.forecast = std::move(forecast);
            first = false;
        };
        consider(spec.chunk_elems);
        if (!chunk_bytes_)
            for (const std::int64_t chunk : chunks_to_try(spec)) consider(chunk);
        ways_.push_back(std::move(best));
    }

    std::vector<std::int64_t> chunks_to_try(const PlanSpec& spec) const {
        const std::int64_t least_granules =
            std::max(least_granules_per_rank(spec) * tree_.rank_count(),
                     least_chunk_bytes / spec.elem_bytes / spec.granule_elems);
        std::vector<std::int64_t> chunks{0};
        for (std::int64_t chunk = least_granules * spec.granule_elems; chunk < call_.count_elems;
             chunk *= 2)
            chunks.push_back(chunk);
        return chunks;
    }

    void add_flat(const HopCodecs& choice) {
        if (tree_.rank_count() == 1) return;
        const CodecId codec = choice.named().front();
        const auto add = [&](const char* algorithm, Forecast forecast) {
            ways_.push_back(
                {algorithm, choice.text(), is_lossy(choice), 0, std::move(forecast), {}});
        };
        std::vector<int> order(static_cast<std::size_t>(tree_.rank_count()));
        std::iota(order.begin(), order.end(), 0);
        add("flat ring, ranks in order", forecast_flat_ring(tree_, tuning_, order, call_, codec));
        for (std::size_t i = 0; i < order.size(); ++i)
            order[i] = tree_.rank_at(static_cast<int>(i));
        add("flat ring, along the tree", forecast_flat_ring(tree_, tuning_, order, call_, codec));
        add("flat, direct", forecast_flat_direct(tree_, tuning_, call_, codec));
    }

    const Subject& subject_;
    const Tree& tree_;
    const PlanSpec& call_;
    const HopCodecs& wanted_;
    std::optional<std::int64_t> chunk_bytes_;
    const Options& options_;
    const Tuning& tuning_;
    std::vector<Way> ways_;
};

}  // namespace

std::vector<Way> ways_of(const Subject& subject, const Options& options) {
    return Ways(subject, options).all();
}

std::vector<CodecId> codecs_to_be_told(const Options& options) {
    std::vector<CodecId> codecs;
    if (!options.policy.codecs.empty()) return codecs;
    for (const CodecId codec : all_codecs())
        if (codec_supports(codec, options.call.type) && waits_for_tolerance(codec))
            codecs.push_back(codec);
    return codecs;
}

}  // namespace gradcoll::plan
