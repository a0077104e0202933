// topology/sources/probed/probed.cpp - switches that were measured for this job, or kept.
#include <fmt/format.h>

#include <utility>

#include "base/files.hpp"
#include "base/text.hpp"
#include "topology/probe/cache.hpp"
#include "topology/sources/cluster/switches_source.hpp"
#include "topology/sources/job/source_table.hpp"

namespace gradcoll {

namespace {

Result<Switches> switches_from_cache(const std::string& path) {
    const std::string text = GRADCOLL_VALUE(read_file(path));
    Result<SwitchTree> tree = switches_from_probe_cache(text);
    if (!tree.ok())
        return Status(tree.status().code(),
                      fmt::format("probe cache \"{}\": {}", path, tree.status().message()));
    return Switches{std::move(*tree), fmt::format("measurements in {}", path)};
}

/// Returns what was measured for this job, or, if the job does not exist, what was kept.
Result<Switches> measured_or_kept(const Job& job, const std::string& cache_file) {
    if (job.can_be_measured)
        return job.measured ? Switches{job.measured, "measurements", false} : Switches{};
    if (!cache_file.empty()) return switches_from_cache(cache_file);
    return Status(Code::invalid_argument,
                  "a cluster that is not there cannot be measured; expected file:FILE, "
                  "probe:CACHE-FILE, slurm or none between hosts");
}

/// Makes the source. `cache_file` is the path of a cache file, which replaces the measurement if
/// the job does not exist, or empty. One host alone is not measured.
std::unique_ptr<TreeSource> make_probe(std::string cache_file) {
    return std::make_unique<SwitchesSource>(
        [cache_file](const Job& job, SourceNotes&) { return measured_or_kept(job, cache_file); },
        Needs{Reports::host_names, true, cache_file});
}

std::unique_ptr<TreeSource> make_cache(std::string path) {
    return std::make_unique<SwitchesSource>(
        [path = std::move(path)](const Job&, SourceNotes&) { return switches_from_cache(path); });
}

}  // namespace

SourceRow probe_source_row() {
    return {.part = Part::between,
            .word = "probe",
            .takes = Takes::perhaps_a_file,
            .forms = "probe, probe:CACHE-FILE",
            .make = make_probe,
            .example = "probe",
            .help = "between: measured; probe:CACHE-FILE keeps it for the next run"};
}

SourceRow cache_source_row() {
    return {
        .part = Part::between,
        .word = "cache",
        .takes = Takes::no_word,
        .make = make_cache,
        .holds = [](const PathContent& content) { return is_probe_cache(trimmed(content.text)); },
        .found = "holds what a probe measured"};
}

}  // namespace gradcoll
