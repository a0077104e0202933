// Memory spaces of a build with CUDA. The driver is looked up at run time, so that nothing of CUDA
// is linked and the library runs where there is no driver. The driver is asked rather than the
// runtime: a process has one driver, but may hold several runtimes, linked statically.
#include <cuda.h>
#include <dlfcn.h>
#include <link.h>

#include <cstring>

#include "memory/space.hpp"

namespace gradcoll {
namespace {

using GetAttributes = decltype(&cuPointerGetAttributes);

constexpr const char* driver_library = "libcuda.so.1";

/// Returns null where there is no driver. Loading it initialises nothing; it stays loaded, as other
/// libraries may use it.
GetAttributes find_get_attributes() {
    void* driver = dlopen(driver_library, RTLD_LAZY | RTLD_LOCAL);
    if (driver == nullptr) return nullptr;
    return reinterpret_cast<GetAttributes>(dlsym(driver, "cuPointerGetAttributes"));
}

/// Returns 1 for the driver. To ask dlopen() for a library that is not there takes a look into
/// every folder of libraries.
int is_driver(dl_phdr_info* loaded, std::size_t, void*) {
    return std::strstr(loaded->dlpi_name, driver_library) != nullptr ? 1 : 0;
}

GetAttributes known_get_attributes() {
    static const GetAttributes get_attributes = find_get_attributes();
    return get_attributes;
}

}  // namespace

bool device_driver_is_there() {
    return known_get_attributes() != nullptr;
}

MemorySpace space_of(const void* pointer) {
    const GetAttributes get_attributes = known_get_attributes();
    if (get_attributes == nullptr || pointer == nullptr) return MemorySpace::host;
    unsigned memory_type = 0;
    unsigned is_managed = 0;
    CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   CU_POINTER_ATTRIBUTE_IS_MANAGED};
    void* values[] = {&memory_type, &is_managed};
    // Leaves zeros for a pointer that the driver does not know; fails if the program has not
    // initialised CUDA.
    const CUresult result =
        get_attributes(2, names, values, reinterpret_cast<CUdeviceptr>(pointer));
    const bool on_device =
        result == CUDA_SUCCESS && memory_type == CU_MEMORYTYPE_DEVICE && is_managed == 0;
    return on_device ? MemorySpace::device : MemorySpace::host;
}

bool device_driver_in_use() {
    if (dl_iterate_phdr(is_driver, nullptr) == 0) return false;
    // No count of uses is given back: libraries of drivers are not made to be unloaded.
    void* driver = dlopen(driver_library, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    if (driver == nullptr) return false;
    const auto count =
        reinterpret_cast<decltype(&cuDeviceGetCount)>(dlsym(driver, "cuDeviceGetCount"));
    int devices = 0;
    return count != nullptr && count(&devices) == CUDA_SUCCESS;  // else: not initialised
}

}  // namespace gradcoll
