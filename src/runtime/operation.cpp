#include "runtime/operation.hpp"

#include "runtime/program.hpp"

namespace gradcoll {

Result<CodecTable> codecs_for(const Plan& plan) {
    CodecTable codecs;
    for (const Schedule* schedule : {&plan.body, &plan.tail})
        for (const Step& step : schedule->steps) {
            Codec& codec = codecs[static_cast<std::size_t>(step.codec)];
            if (!uses_codec(step.kind) || codec.encode) continue;
            GRADCOLL_TRY(take(codec, codec_for(step.codec, plan.spec.type)));
        }
    return codecs;
}

}  // namespace gradcoll
