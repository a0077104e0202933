// settings/tree/options.cpp - how calls go over the tree, and with how much memory: names and
// texts.
#include "base/option_table.hpp"

namespace gradcoll {

OptionInfo tree_min_bytes_option_row() {
    return {
        .variable = "GC_TREE_MIN_BYTES",
        .info_key = "gc_tree_min_bytes",
        .default_value = "auto",
        .allowed = "auto, or bytes with K, M or G",
        .help =
            "smaller exact calls pass to the MPI library, unless all ranks share a host, or some "
            "do and it is a blocking allreduce; auto: 64K where switches and links between hosts "
            "are known and slower than 1 GB/s, else 256K"};
}

OptionInfo exchange_option_row() {
    return {.variable = "GC_EXCHANGE",
            .info_key = "gc_exchange",
            .default_value = "auto",
            .allowed =
                "auto, the name of an exchange (gradcoll info lists them), or a comma separated "
                "list a level "
                "as in gc_codec; above single only single",
            .help = "how the branches of one vertex talk to each other"};
}

OptionInfo builder_option_row() {
    return {.variable = "GC_BUILDER",
            .info_key = "gc_builder",
            .default_value = "flexreduce",
            .allowed = "the name of a builder (gradcoll info lists them)",
            .help =
                "who makes plans from the tree; calls that this builder does not make plans of "
                "(their kind, codec, feedback or tree) are planned by flexreduce, on all ranks "
                "alike, and gradcoll info --explain says so and why"};
}

OptionInfo chunk_bytes_option_row() {
    return {.variable = "GC_CHUNK_BYTES",
            .info_key = "gc_chunk_bytes",
            .default_value = "auto",
            .allowed = "auto, or bytes with K, M or G; 0: no pipelining",
            .help = "size of a pipelined chunk"};
}

OptionInfo tuning_file_option_row() {
    return {.variable = "GC_TUNING_FILE",
            .default_value = "",
            .allowed = "a JSON file, as scripts/tune writes it",
            .help =
                "measured speeds to choose and predict with, instead of the shipped ones; rank 0's "
                "file holds on all ranks"};
}

OptionInfo chunks_in_flight_option_row() {
    return {.variable = "GC_CHUNKS_IN_FLIGHT",
            .info_key = "gc_chunks_in_flight",
            .default_value = "4",
            .allowed = "1 to 16",
            .help = "chunks of one call that are under way at once"};
}

OptionInfo tune_option_row() {
    return {.variable = "GC_TUNE",
            .info_key = "gc_tune",
            .default_value = "online",
            .allowed = "online, cache, off",
            .help =
                "with GC_TOPOLOGY=auto: online: the first long calls between hosts are "
                "timed, the network is measured beside calls where no switches are known, "
                "the MPI library's own way is tried beside ours, and all is kept for later "
                "jobs; cache: what an earlier job kept is used; off: neither"};
}

OptionInfo reproducible_option_row() {
    return {
        .variable = "GC_REPRODUCIBLE",
        .info_key = "gc_reproducible",
        .default_value = "off",
        .allowed = "on, off, anywhere",
        .help =
            "anywhere: sums, minima and maxima of floats have the same bits on any number of "
            "hosts, on every tree and placement of ranks (docs/reproducible.md), and calls that "
            "cannot keep that are refused; on: calls of one shape add in one order, within a run "
            "and between runs on the "
            "same hosts: nothing is learnt or tried, communicators are attached at their first "
            "call, and nonblocking calls pass to the MPI library"};
}

OptionInfo inside_hosts_option_row() {
    return {.variable = "GC_INSIDE_HOSTS",
            .info_key = "gc_inside_hosts",
            .default_value = "memory",
            .allowed = "memory, messages",
            .help =
                "how the ranks of one host combine theirs where a communicator has several hosts: "
                "memory: exactly, through shared memory, and one rank talks to the other hosts; "
                "messages: along the tree"};
}

OptionInfo shm_bytes_option_row() {
    return {.variable = "GC_SHM_BYTES",
            .info_key = "gc_shm_bytes",
            .default_value = "2M",
            .allowed = "0, or 128K to 1G, in bytes with K, M or G",
            .help =
                "shared memory of a rank for exact calls of ranks that are all on one host, and as "
                "much again for messages inside hosts; 0: none"};
}

OptionInfo device_min_bytes_option_row() {
    return {.variable = "GC_DEVICE_MIN_BYTES",
            .info_key = "gc_device_min_bytes",
            .default_value = "auto",
            .allowed = "auto, or bytes with K, M or G",
            .help =
                "shorter vectors in device memory are reduced in host memory, by a copy there; "
                "auto: those that the host reduces sooner, as devices take to begin"};
}

OptionInfo transports_option_row() {
    return {
        .variable = "GC_TRANSPORTS",
        .default_value = "auto",
        .allowed =
            "auto, or names of transports, comma separated (gradcoll info lists them); all ranks "
            "must reach each other by them",
        .help =
            "what carries messages; each peer is reached by the first transport in gradcoll info's "
            "order that reaches it, whatever the order here; if shared memory is left out, "
            "exact calls inside a host are messages, too"};
}

OptionInfo nic_option_row() {
    return {
        .variable = "GC_NIC",
        .default_value = "off",
        .allowed = "off, on, auto, on+sum, auto+sum",
        .help =
            "messages that leave a host go by the agents gc_nicd of both hosts; on: those that "
            "run already; auto: a host without one starts one; +sum: they also add long vectors "
            "of blocking allreduces. Where a host has none, messages go as with off, and a "
            "warning says so"};
}

OptionInfo nic_dir_option_row() {
    return {.variable = "GC_NIC=dir",
            .default_value = "",
            .allowed = "a folder of one's own, with mode 0700",
            .help =
                "where gc_nicd of this host has its socket; empty: gradcoll in $XDG_RUNTIME_DIR, "
                "else /tmp/gradcoll-UID",
            .takes_rest = true};
}

}  // namespace gradcoll
