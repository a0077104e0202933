// tests/topology/stand_in_nvml.cpp - a library with those calls of NVML that are used: three GPUs,
// 3b and d8 with two NVLinks to each other and one up to a switch each (with a name that is no
// address at d8), and 5e without. A fourth GPU, e0, only reports that it exists.
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string>

#include "topology/sources/host/nvml_interface.hpp"

namespace nvml = gradcoll::nvml;

namespace {

struct Link {
    const char* target;
    unsigned type;
    unsigned up;
};
struct Gpu {
    const char* bus_id;
    Link links[4];
    unsigned link_count;
    unsigned pcie_generation;
};

Gpu gpus[] = {{"0000:3b:00.0",
               {{"00000000:D8:00.0", nvml::type_gpu, 1},
                {"00000000:D8:00.0", nvml::type_gpu, 1},
                {"00000000:C4:00.0", nvml::type_switch, 1},
                {"00000000:D8:00.0", nvml::type_gpu, 0}},
               4,
               4},
              {"0000:d8:00.0",
               {{"00000000:3B:00.0", nvml::type_gpu, 1},
                {"00000000:3B:00.0", nvml::type_gpu, 1},
                {"ffffffff:ffff:ff", nvml::type_switch, 1}},
               3,
               9},
              {"0000:5e:00.0", {}, 0, 3},
              {"0000:e0:00.0", {}, 0, 0}};
int sessions = 0;

const Gpu& gpu_of(nvml::Device device) {
    return *static_cast<const Gpu*>(device);
}

}  // namespace

#define STAND_IN extern "C" __attribute__((visibility("default")))

STAND_IN int nvmlInit_v2() {
    ++sessions;
    return nvml::success;
}
STAND_IN int nvmlShutdown() {
    --sessions;
    return nvml::success;
}
STAND_IN const char* nvmlErrorString(int code) {
    return code == nvml::not_found ? "Not Found" : "Unknown";
}
STAND_IN int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, nvml::Device* device) {
    if (sessions != 1) return nvml::invalid_argument;
    for (Gpu& gpu : gpus)
        if (std::strcmp(gpu.bus_id, bus_id) == 0) {
            *device = &gpu;
            return nvml::success;
        }
    return nvml::not_found;
}
STAND_IN int nvmlDeviceGetNvLinkState(nvml::Device device, unsigned link, unsigned* up) {
    if (link >= gpu_of(device).link_count) return nvml::not_supported;
    *up = gpu_of(device).links[link].up;
    return nvml::success;
}
STAND_IN int nvmlDeviceGetNvLinkRemoteDeviceType(nvml::Device device, unsigned link,
                                                 unsigned* type) {
    *type = gpu_of(device).links[link].type;
    return nvml::success;
}
STAND_IN int nvmlDeviceGetNvLinkRemotePciInfo_v2(nvml::Device device, unsigned link,
                                                 nvml::PciInfo* pci) {
    std::snprintf(pci->bus_id, sizeof pci->bus_id, "%s", gpu_of(device).links[link].target);
    return nvml::success;
}
STAND_IN int nvmlDeviceGetFieldValues(nvml::Device device, int count, nvml::FieldValue* fields) {
    for (int i = 0; i < count; ++i) {
        const bool known =
            fields[i].field == nvml::field_link_mbytes_per_s && gpu_of(device).link_count > 0;
        fields[i].code = known ? nvml::success : nvml::not_supported;
        fields[i].type = nvml::type_unsigned_int;
        fields[i].value.unsigned_int = 26562;
    }
    return nvml::success;
}
STAND_IN int nvmlDeviceGetMaxPcieLinkGeneration(nvml::Device device, unsigned* generation) {
    *generation = gpu_of(device).pcie_generation;
    return *generation > 0 ? nvml::success : nvml::not_supported;
}
STAND_IN int nvmlDeviceGetMaxPcieLinkWidth(nvml::Device, unsigned* lanes) {
    *lanes = 16;
    return nvml::success;
}
