// warp/batch.cpp - filling and launching batches.
#include "warp/batch.hpp"

#include <algorithm>
#include <string>

namespace gradcoll {

Status BatchLauncher::add(const WarpJob& cut) {
    if (cut.items == 0) return {};
    if (batch_.jobs == batch_jobs) GRADCOLL_TRY(flush());
    const std::size_t wanted = cut.items / warps_per_cta + (cut.items % warps_per_cta != 0 ? 1 : 0);
    const auto ctas = static_cast<std::uint32_t>(std::min(wanted, most_ctas));
    batch_.job[batch_.jobs] = cut;
    batch_.first_cta[batch_.jobs + 1] = batch_.first_cta[batch_.jobs] + ctas;
    ++batch_.jobs;
    return {};
}

Status BatchLauncher::flush() {
    if (batch_.jobs == 0) return {};
    const char* error = kernel_.launch(batch_, batch_.first_cta[batch_.jobs], stream_);
    batch_.jobs = 0;
    if (error == nullptr) return {};
    return {Code::transport, std::string("launch of a kernel: ") + error};
}

}  // namespace gradcoll
