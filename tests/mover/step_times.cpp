// tests/mover/step_times.cpp - see published.hpp.
#include "mover/published.hpp"

#include <algorithm>
#include <cmath>
#include <variant>

#include "mover/analysis/build.hpp"
#include "mover/analysis/timeline.hpp"
#include "mover/input/any_form.hpp"
#include "mover/vtrain_times.hpp"

namespace gradcoll::mover {
namespace {

constexpr double most_mean_error = 0.08;
constexpr std::int64_t few_layers = 12, many_layers = 24;

double microseconds(const VTrainRow& row, std::size_t batch) {
    return 10.0 * static_cast<double>(row.times[batch]);
}

/// SourceRows are two rows without pipeline, with few and with many layers, and otherwise alike.
struct SourceRows {
    const VTrainRow* few = nullptr;
    const VTrainRow* many = nullptr;
};

/// Returns the rows with the fewest data-parallel ranks that were measured.
SourceRows sources_of(std::int64_t hidden, std::int64_t tensor) {
    SourceRows out;
    for (const VTrainRow& row : vtrain_times) {
        if (row.hidden != hidden || row.tensor != tensor || row.pipeline != 1) continue;
        if (row.layers == few_layers && (!out.few || row.data < out.few->data)) out.few = &row;
        if (row.layers == many_layers && (!out.many || row.data < out.many->data)) out.many = &row;
    }
    return out;
}

bool is_source(const VTrainRow& row) {
    const SourceRows sources = sources_of(row.hidden, row.tensor);
    return &row == sources.few || &row == sources.many;
}

/// OperatorTimes are microseconds of a micro-batch, forward and backward together.
struct OperatorTimes {
    double layer = 0;
    double rest = 0;  ///< embedding, head and loss
};

std::size_t batch_at(std::int64_t size, std::int64_t count) {
    std::size_t n = 0;
    while (vtrain_batches[n].micro_batch_size != size || vtrain_batches[n].micro_batches != count)
        ++n;
    return n;
}

/// Returns the time of each additional micro-batch.
double of_micro_batch(const VTrainRow& row, std::int64_t size) {
    return (microseconds(row, batch_at(size, 4)) - microseconds(row, batch_at(size, 2))) / 2;
}

/// Returns the time that does not grow with micro-batches: sums of gradients and the update.
double of_step(const VTrainRow& row) {
    return microseconds(row, batch_at(1, 2)) - 2 * of_micro_batch(row, 1);
}

/// Returns the time of a micro-batch. The largest were only measured twice in a step, so the step's
/// own time comes from the smaller ones.
double micro_batch_time(const VTrainRow& row, std::int64_t size) {
    if (size < 8) return of_micro_batch(row, size);
    return (microseconds(row, batch_at(size, 2)) - of_step(row)) / 2;
}

OperatorTimes times_of(const SourceRows& sources, std::int64_t micro_batch_size) {
    const double few = micro_batch_time(*sources.few, micro_batch_size);
    const double many = micro_batch_time(*sources.many, micro_batch_size);
    const double layer = (many - few) / static_cast<double>(many_layers - few_layers);
    return {layer, few - layer * static_cast<double>(few_layers)};
}

/// Makes a configuration as in vTrain's own files.
Document config_of(const VTrainRow& row, const VTrainBatches& batches) {
    return {"vtrain",
            {{"num_gpus", row.tensor * row.data * row.pipeline},
             {"gpu_name", "A100"},
             {"tensor_parallel_size", row.tensor},
             {"data_parallel_size", row.data},
             {"pipeline_parallel_size", row.pipeline},
             {"global_batch_size", batches.micro_batch_size * batches.micro_batches * row.data},
             {"micro_batch_size", batches.micro_batch_size},
             {"num_layers", row.layers},
             {"hidden_size", row.hidden},
             {"num_attention_heads", 16},
             {"max_length", 1024},
             {"intra_node_bandwidth", 150}}};
}

/// Sets times such that backward takes twice as long as forward, and a layer's forward is run once
/// more before it.
void set_times(const OperatorTimes& times, TransformerModel& model) {
    const double forward = times.layer / 4;
    for (Block& block : model.blocks) {
        block.parts.front().times = {0, 0};
        block.parts.back().times = {forward, 2 * forward};
    }
    model.embedding_times = {0, 0};
    model.head_times = {times.rest / 3, 2 * times.rest / 3};
}

Result<double> simulated_microseconds(const VTrainRow& row, const VTrainBatches& batches) {
    const Document config = config_of(row, batches);
    Description description;
    description.model = GRADCOLL_VALUE(model_of(config));
    description.parallel = GRADCOLL_VALUE(parallel_of(config));
    description.cluster = GRADCOLL_VALUE(cluster_of(config));
    set_times(times_of(sources_of(row.hidden, row.tensor), batches.micro_batch_size),
              std::get<TransformerModel>(description.model.body));
    const Program program = GRADCOLL_VALUE(program_of(description));
    const Starts starts = GRADCOLL_VALUE(timeline_of(program));
    return static_cast<double>(end_of(program, starts)) / 1e3;
}

void add(double error, StepTimes& to) {
    ++to.rows;
    to.mean_error += std::abs(error);
    to.worst_error = std::max(to.worst_error, std::abs(error));
}

}  // namespace

Result<std::vector<StepTimes>> published_step_times() {
    std::vector<StepTimes> groups;
    for (const std::int64_t pipeline : {1, 2, 4, 0})
        groups.push_back({.pipeline = pipeline, .allowed = most_mean_error});
    for (const VTrainRow& row : vtrain_times) {
        if (is_source(row)) continue;
        for (std::size_t batch = 0; batch < vtrain_batches.size(); ++batch) {
            const double ours = GRADCOLL_VALUE(simulated_microseconds(row, vtrain_batches[batch]));
            const double measured = microseconds(row, batch);
            for (StepTimes& group : groups)
                if (group.pipeline == row.pipeline || group.pipeline == 0)
                    add((ours - measured) / measured, group);
        }
    }
    for (StepTimes& group : groups) group.mean_error /= static_cast<double>(group.rows);
    return groups;
}

}  // namespace gradcoll::mover
