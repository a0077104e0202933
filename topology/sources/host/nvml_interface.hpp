// topology/sources/host/nvml_interface.hpp - the part of NVML's binary interface that nvml.cpp
// calls; the tests' stand-in for the library implements it. Layouts and numbers are those of the
// NVML API reference; they have not changed since driver 418.
#pragma once

#include <cstdint>

namespace gradcoll::nvml {

using Device = void*;

// Calls return these codes.
inline constexpr int success = 0;
inline constexpr int invalid_argument = 2;
inline constexpr int not_supported = 3;
inline constexpr int not_found = 6;

inline constexpr unsigned most_links = 64;  ///< more than any GPU has
inline constexpr unsigned type_gpu = 0;     ///< nvmlIntNvLinkDeviceType_t
inline constexpr unsigned type_switch = 2;
inline constexpr unsigned field_link_mbytes_per_s = 90;  ///< NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON:
                                                         ///< of one link, each direction
inline constexpr unsigned type_unsigned_int = 1;         ///< nvmlValueType_t

/// PciInfo has the layout of nvmlPciInfo_t.
struct PciInfo {
    char short_bus_id[16];
    unsigned domain;
    unsigned bus;
    unsigned device;
    unsigned device_and_vendor;
    unsigned subsystem;
    char bus_id[32];  ///< "00000000:3B:00.0"
};

/// FieldValue has the layout of nvmlFieldValue_t.
struct FieldValue {
    unsigned field;
    unsigned scope;
    long long timestamp;
    long long latency_us;
    unsigned type;
    int code;
    union {
        double real;
        unsigned unsigned_int;
        unsigned long long unsigned_long_long;
    } value;
};
static_assert(sizeof(PciInfo) == 68 && sizeof(FieldValue) == 40);

using Init = int();                                  ///< nvmlInit_v2
using Shutdown = int();                              ///< nvmlShutdown
using GetHandle = int(const char* bus_id, Device*);  ///< nvmlDeviceGetHandleByPciBusId_v2
using ErrorText = const char*(int code);             ///< nvmlErrorString
using GetNumber = int(Device, unsigned*);            ///< nvmlDeviceGetMaxPcieLinkGeneration, ...
using GetLinkNumber = int(Device, unsigned link, unsigned*);  ///< nvmlDeviceGetNvLinkState, ...
using GetRemotePci = int(Device, unsigned link, PciInfo*);  ///< nvmlDeviceGetNvLinkRemotePciInfo_v2
using GetFields = int(Device, int count, FieldValue*);      ///< nvmlDeviceGetFieldValues

}  // namespace gradcoll::nvml
