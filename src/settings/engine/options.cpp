// settings/engine/options.cpp - engines (gradcoll/engine.h): names and texts.
#include "base/option_table.hpp"

namespace gradcoll {

OptionInfo engine_strategy_option_row() {
    return {
        .variable = "GC_ENGINE",
        .info_key = "gc_engine",
        .default_value = "tree",
        .allowed = "tree, ring, ps, auto",
        .help =
            "how engines sum a gradient: tree: over the tree of the machine; ring: from rank to "
            "rank in the order of the tree; ps: every rank is the parameter server of its "
            "share, and all send theirs to it; auto: for each gradient the one that is predicted "
            "to "
            "keep links and cores busy for the shortest time"};
}

OptionInfo engine_plan_option_row() {
    return {.variable = "GC_ENGINE_PLAN",
            .info_key = "gc_engine_plan",
            .default_value = "",
            .allowed = "a file",
            .help =
                "how gradients are summed whose names match: strategy, codec, parts "
                "(docs/engine.md); rank 0 reads it; empty: no file",
            .limits_loss = true};
}

OptionInfo engine_plan_to_option_row() {
    return {.variable = "GC_ENGINE_PLAN_TO",
            .info_key = "gc_engine_plan_to",
            .default_value = "",
            .allowed = "a file",
            .help =
                "where rank 0 writes, when an engine is freed, how its gradients were summed, "
                "with predicted and measured times; GC_ENGINE_PLAN reads it; empty: nowhere"};
}

OptionInfo engine_threads_option_row() {
    return {.variable = "GC_ENGINE=threads",
            .info_key = "gc_engine=threads",
            .default_value = "auto",
            .allowed = "auto, or 0 to 64",
            .help =
                "threads of an engine that encode, decode and add; 0: the one that moves messages "
                "does; auto: 0 if ranks outnumber cores, else 1 to 4 by the cores a rank has"};
}

OptionInfo engine_bytes_option_row() {
    return {.variable = "GC_ENGINE=bytes",
            .info_key = "gc_engine=bytes",
            .default_value = "1M",
            .allowed = "bytes with K, M or G",
            .help =
                "what the sums that an engine has under way beside the largest may send together; "
                "others wait, but two are always under way"};
}

OptionInfo engine_pack_bytes_option_row() {
    return {.variable = "GC_ENGINE=pack",
            .info_key = "gc_engine=pack",
            .default_value = "auto",
            .allowed = "auto, or bytes with K, M or G",
            .help =
                "short gradients that wait at the same time are summed as one vector of at most so "
                "many bytes on the wire, unless gc_reproducible is on: exact ones of up to a "
                "sixteenth of it, compressed ones that encode to up to a fourth of it; 0: each by "
                "itself; auto: what the slowest link between hosts carries in 8 ms, 128K to 1M; "
                "from 512K "
                "on a fourth of it for each of more than 4 hosts, up to 16",
            .also_sought_as = "ENGINE_PACK_BYTES"};
}

OptionInfo engine_coordinator_option_row() {
    return {.variable = "GC_ENGINE=coordinator",
            .info_key = "gc_engine=coordinator",
            .default_value = "on",
            .allowed = "on, flat, hosts, off",
            .help =
                "who lets the sums of an engine begin: rank 0, which every rank tells what it has "
                "(flat), or one rank of each host for all (hosts); on: hosts from 8 ranks on; "
                "off: once all ranks have summed a gradient, each begins its next sums by itself, "
                "without a word with others: no packs, no bound on what is under way, no check "
                "that counts are alike"};
}

OptionInfo engine_replan_option_row() {
    return {.variable = "GC_ENGINE=replan",
            .info_key = "gc_engine=replan",
            .default_value = "on",
            .allowed = "on, off",
            .help =
                "gradients are planned anew while an engine runs, where links between hosts carry "
                "something else than was said of them; only with gc_tune=online, and where rank 0 "
                "coordinates"};
}

OptionInfo engine_stall_seconds_option_row() {
    return {.variable = "GC_ENGINE=stall",
            .info_key = "gc_engine=stall",
            .default_value = "60",
            .allowed = "1 to 1000000",
            .help = "after this rank 0 warns of a gradient that some ranks have not handed in"};
}

}  // namespace gradcoll
