#include "settings/process_tuning.hpp"

#include <string>
#include <utility>

#include "base/log.hpp"
#include "base/options.hpp"
#include "collectives/predict/tuning_file/tuning_file.hpp"

namespace gradcoll {
namespace {

using SharedTuning = std::shared_ptr<const Tuning>;

/// ProcessTuning is the file as it was read; without text the shipped figures hold.
struct ProcessTuning {
    std::string text;
    SharedTuning tuning = std::make_shared<const Tuning>();
};

ProcessTuning read_process_tuning() {
    ProcessTuning read;
    const std::string& path = option_text(OptionId::tuning_file);
    if (path.empty()) return read;
    Result<std::string> text = read_tuning_text(path);
    Result<Tuning> tuning = text.ok() ? tuning_from(*text, path) : text.status();
    if (!tuning.ok()) {
        log(warn_once_a_job(), "GC_TUNING_FILE: {}; ignored, the shipped figures hold",
            tuning.status().message());
        return read;
    }
    read.text = std::move(*text);
    read.tuning = std::make_shared<const Tuning>(std::move(*tuning));
    return read;
}

/// Returns the file of this process. It is never destroyed, as calls may still come while the
/// process leaves.
const ProcessTuning& process_tuning() {
    static const ProcessTuning& tuning = *new ProcessTuning(read_process_tuning());
    return tuning;
}

}  // namespace

SharedTuning tuning_of_process() {
    return process_tuning().tuning;
}

bool tuning_file_holds() {
    return !process_tuning().text.empty();
}

Result<SharedTuning> tuning_of_rank_0(MPI_Comm comm) {
    const int rank = comm_rank(comm);
    const Result<std::string> text = text_of_rank_0(
        comm, rank == 0 ? process_tuning().text : std::string(), largest_tuning_bytes);
    if (!text.ok()) return text.status();
    if (rank == 0) return tuning_of_process();
    if (text->empty()) return std::make_shared<const Tuning>();
    Result<Tuning> tuning = tuning_from(*text, "rank 0's GC_TUNING_FILE");
    if (!tuning.ok()) return tuning.status();
    return std::make_shared<const Tuning>(std::move(*tuning));
}

}  // namespace gradcoll
