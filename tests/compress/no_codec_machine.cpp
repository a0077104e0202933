// Builds in which no kernels can be emulated (ThreadSanitizer knows no fibers).
#include "compress/codec_machine.hpp"

namespace gradcoll::test {

CodecMachine* codec_machine() {
    return nullptr;
}

}  // namespace gradcoll::test
