// settings/codec/options.cpp - how data is compressed: names and texts.
#include "base/option_table.hpp"

namespace gradcoll {

OptionInfo codec_option_row() {
    return {.variable = "GC_CODEC",
            .info_key = "gc_codec",
            .default_value = "exact",
            .allowed =
                "a codec name (gradcoll info lists them; any lossy one with +zstd or +lz4 behind); "
                "names "
                "with commas: the first for the level nearest the ranks, the last for all above; "
                "by kind of link: host=CODEC (inside hosts), switch=CODEC (between them), "
                "between=CODEC (the same, inside hosts exact); or by training step: STEP:CODEC "
                "with commas, steps increasing from 0",
            .help =
                "compression inside each hop; anything but exact is lossy. Of 0:4:4,500:2:4 the "
                "step is advanced by GC_Step, persistent starts or every=",
            .limits_loss = true,
            .own_words = "host=, switch=, between=",
            .also_sought_as = "LEVEL_CODECS,SCHEDULE"};
}

OptionInfo down_codec_option_row() {
    return {
        .variable = "GC_CODEC=down",
        .info_key = "gc_codec=down",
        .default_value = "same",
        .allowed = "same or a codec name",
        .help = "codec of the way down (allgather phase); same: that of the highest lossy level",
        .limits_loss = true,
        .also_sought_as = "DOWN_CODEC"};
}

OptionInfo step_every_option_row() {
    return {.variable = "GC_CODEC=every",
            .info_key = "gc_codec=every",
            .default_value = "none",
            .allowed = "none, or calls:N with N from 1 to 1000000000",
            .help =
                "calls:N: every N calls of a communicator that may be compressed at some step "
                "advance its step by one; for programs that do not call GC_Step",
            .limits_loss = true,
            .also_sought_as = "STEP_EVERY"};
}

OptionInfo feedback_option_row() {
    return {
        .variable = "GC_FEEDBACK",
        .info_key = "gc_feedback",
        .default_value = "on",
        .allowed = "on, off",
        .help =
            "error feedback of persistent requests, and of gradients of engines, whose codec is "
            "lossy"};
}

OptionInfo tolerance_option_row() {
    return {.variable = "GC_TOLERANCE",
            .info_key = "gc_tolerance",
            .default_value = "per-hop",
            .allowed = "per-hop; abs=NUMBER; range=NUMBER",
            .help =
                "how far a sum may be off because of compression and of rounding, in every "
                "element on every rank: at most abs, or range times what lies between the "
                "smallest and the largest input; with no codec named, bound between hosts. "
                "per-hop: nothing is promised of sums, but what each codec promises of a hop",
            .limits_loss = true};
}

OptionInfo compress_if_option_row() {
    return {
        .variable = "GC_COMPRESS_IF",
        .info_key = "gc_compress_if",
        .default_value = "pays",
        .allowed = "always, pays",
        .help =
            "pays: what takes longer with the codec than without it, as far as the model can "
            "tell, stays exact: levels of the tree, and calls that the memory of one host "
            "serves; and exact sums and allgathers of floats are packed without loss where they "
            "leave a host, if that saves time; always: the codec is used wherever it can be, "
            "and what is exact is sent as it is",
        .limits_loss = true};
}

}  // namespace gradcoll
