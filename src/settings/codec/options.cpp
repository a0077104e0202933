// settings/codec/options.cpp - how data is compressed: names and texts.
#include "base/option_table.hpp"

namespace gradcoll {

OptionInfo codec_option_row() {
    return {.variable = "GC_CODEC",
            .info_key = "gc_codec",
            .default_value = "exact",
            .allowed =
                "a codec name; gradcoll info lists them; any lossy one with +zstd or +lz4 behind",
            .help = "compression inside each hop; anything but exact is lossy",
            .says = Says::the_codec,
            .limits_loss = true};
}

OptionInfo level_codecs_option_row() {
    return {.variable = "GC_LEVEL_CODECS",
            .info_key = "gc_level_codecs",
            .default_value = "",
            .allowed =
                "codec names, comma separated: the first for the level nearest the ranks, the last "
                "for all above; or by kind of link: host=CODEC (inside hosts), switch=CODEC "
                "(between them), between=CODEC (the same, inside hosts exact)",
            .help = "one codec a level of the tree or a kind of link, instead of gc_codec for all",
            .says = Says::the_codec,
            .limits_loss = true};
}

OptionInfo down_codec_option_row() {
    return {
        .variable = "GC_DOWN_CODEC",
        .info_key = "gc_down_codec",
        .default_value = "same",
        .allowed = "same or a codec name",
        .help = "codec of the way down (allgather phase); same: that of the highest lossy level",
        .limits_loss = true};
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
    return {.variable = "GC_COMPRESS_IF",
            .info_key = "gc_compress_if",
            .default_value = "pays",
            .allowed = "always, pays",
            .help =
                "pays: what takes longer with the codec than without it, as far as the model can "
                "tell, stays exact: levels of the tree, and calls that the memory of one host "
                "serves; always: the codec is used wherever it can be",
            .limits_loss = true};
}

}  // namespace gradcoll
