// settings/filters/options.cpp - which calls are compressed: names and texts.
#include "base/option_table.hpp"

namespace gradcoll {

OptionInfo compress_bytes_option_row() {
    return {.variable = "GC_COMPRESS_BYTES",
            .info_key = "gc_compress_bytes",
            .default_value = "64K",
            .allowed = "MIN or MIN-MAX: bytes, with K, M or G",
            .help = "smaller and larger calls are never compressed; 64K has no MAX, 64K-1M has",
            .limits_loss = true,
            .also_sought_as = "MIN_BYTES,MAX_BYTES"};
}

OptionInfo compress_comms_option_row() {
    return {.variable = "GC_COMPRESS_COMMS",
            .default_value = "*",
            .allowed =
                "comma separated patterns with *, ? and [...]; a leading ! excludes; the last "
                "match decides",
            .help =
                "names of the communicators whose calls may be compressed (MPI_Comm_set_name "
                "before the first large call)",
            .limits_loss = true};
}

OptionInfo compress_calls_option_row() {
    return {.variable = "GC_COMPRESS_CALLS",
            .info_key = "gc_compress_calls",
            .default_value = "all",
            .allowed =
                "all, or comma separated A, A-B, A-, each with an optional /PERIOD; a leading ! "
                "excludes; the last match decides",
            .help =
                "which of a communicator's compressible calls, numbered from 0, may be compressed: "
                "100-,!3/7 leaves the first 100 and the fourth of every 7 exact",
            .limits_loss = true};
}

}  // namespace gradcoll
