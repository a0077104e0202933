// settings/schedule/options.cpp - what changes while a program trains: names and texts.
#include "base/option_table.hpp"

namespace gradcoll {

OptionInfo schedule_option_row() {
    return {.variable = "GC_SCHEDULE",
            .info_key = "gc_schedule",
            .default_value = "",
            .allowed = "step:codec, comma separated, steps increasing from 0",
            .help =
                "codec by training step, such as 0:4:4,500:2:4,5000:1:4; GC_Step, persistent "
                "starts or GC_STEP_EVERY advance it",
            .says = Says::the_codec,
            .limits_loss = true};
}

OptionInfo step_every_option_row() {
    return {.variable = "GC_STEP_EVERY",
            .info_key = "gc_step_every",
            .default_value = "none",
            .allowed = "none, or calls:N with N from 1 to 1000000000",
            .help =
                "calls:N: every N calls of a communicator that the schedule may compress advance "
                "its step by one; for programs that do not call GC_Step",
            .limits_loss = true};
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

}  // namespace gradcoll
