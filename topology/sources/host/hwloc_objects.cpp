// topology/sources/host/hwloc_objects.cpp - see hwloc_objects.hpp.
#include "topology/sources/host/hwloc_objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "topology/pci_address.hpp"

namespace gradcoll {

namespace {

using PciAttributes = hwloc_obj_attr_u::hwloc_pcidev_attr_s;

/// Returns whether both would have the same CPUs if nothing were hidden: ranks that see different
/// parts of the host agree on that.
bool are_same_cpus(hwloc_obj_t one, hwloc_obj_t other) {
    return one->complete_cpuset && other->complete_cpuset &&
           hwloc_bitmap_isequal(one->complete_cpuset, other->complete_cpuset) != 0;
}

/// Returns the kind, if a path shows the object; PUs, level 1 caches and others are passed over.
std::optional<VertexKind> kind_of(hwloc_obj_t object) {
    switch (object->type) {
        case HWLOC_OBJ_PACKAGE:
            return VertexKind::package;
        case HWLOC_OBJ_NUMANODE:
            return VertexKind::numa;
        case HWLOC_OBJ_L3CACHE:
        case HWLOC_OBJ_L4CACHE:
        case HWLOC_OBJ_L5CACHE:
        case HWLOC_OBJ_L2CACHE:
            return VertexKind::cache;
        case HWLOC_OBJ_CORE:
            return VertexKind::core;
        case HWLOC_OBJ_DIE:
        case HWLOC_OBJ_GROUP:
            return VertexKind::group;
        default:
            return std::nullopt;
    }
}

PciAddress address_of(const PciAttributes& pci) {
    return {static_cast<std::uint32_t>(pci.domain), pci.bus, pci.dev, pci.func};
}

/// Returns a number that ranks agree on even if cgroups show each of them other parts of the host,
/// which shifts hwloc's logical indices: the lowest PU that the object has when nothing is hidden.
std::uint32_t index_of(hwloc_obj_t object) {
    if (object->type == HWLOC_OBJ_NUMANODE) return object->os_index;
    if (object->type == HWLOC_OBJ_PCI_DEVICE) return address_of(object->attr->pcidev).index();
    if (object->type == HWLOC_OBJ_BRIDGE) {
        const auto& pci = object->attr->bridge.downstream.pci;
        return PciAddress{static_cast<std::uint32_t>(pci.domain), pci.secondary_bus, 0, 0}.index();
    }
    return static_cast<std::uint32_t>(hwloc_bitmap_first(object->complete_cpuset));
}

/// Returns the number in an object's name. Sockets have numbers of their own, which people know.
std::uint32_t number_in_name(hwloc_obj_t object) {
    const bool own = object->type == HWLOC_OBJ_PACKAGE && object->os_index != HWLOC_UNKNOWN_INDEX;
    return own ? object->os_index : index_of(object);
}

HostPath::Object path_object(VertexKind kind, hwloc_obj_t object) {
    char type[64];
    hwloc_obj_type_snprintf(type, sizeof type, object, 0);
    return {kind, index_of(object), fmt::format("{}#{}", type, number_in_name(object))};
}

/// Returns whether another object with the same CPUs stands for this one on a path: the socket
/// rather than its only NUMA node or cache, the NUMA node rather than its cache, the core rather
/// than its own cache.
bool is_told_by(hwloc_obj_t object, const std::vector<hwloc_obj_t>& above, hwloc_obj_t core) {
    const bool is_cache = hwloc_obj_type_is_cache(object->type) != 0;
    if (!is_cache && object->type != HWLOC_OBJ_NUMANODE) return false;
    if (is_cache && core && are_same_cpus(object, core)) return true;
    return std::any_of(above.begin(), above.end(), [&](hwloc_obj_t upper) {
        const bool tells = upper->type == HWLOC_OBJ_PACKAGE ||
                           (is_cache && upper->type == HWLOC_OBJ_NUMANODE) ||
                           (is_cache && hwloc_obj_type_is_cache(upper->type) != 0);
        return tells && are_same_cpus(object, upper);
    });
}

/// Returns the NUMA node that is exactly at `object`: memory hangs beside the CPU tree in hwloc 2,
/// perhaps below a memory-side cache. If an object has several (DRAM and HBM), the first stands for
/// all.
hwloc_obj_t numa_at(hwloc_obj_t object) {
    for (hwloc_obj_t memory = object->memory_first_child; memory; memory = memory->next_sibling) {
        hwloc_obj_t node = memory;
        while (node && node->type == HWLOC_OBJ_MEMCACHE) node = node->memory_first_child;
        if (node && node->cpuset && hwloc_bitmap_isequal(node->cpuset, object->cpuset)) return node;
    }
    return nullptr;
}

/// Returns whether the device is a GPU: a display device or an accelerator (PCI classes 03 and 12),
/// or another one that the system calls a GPU or a coprocessor, except the small ones that servers
/// have for their console (Matrox, ASPEED, ATI ES1000).
bool is_gpu(hwloc_obj_t pci_device) {
    const auto& pci = pci_device->attr->pcidev;
    const bool es1000 = pci.vendor_id == 0x1002 && pci.device_id == 0x515e;
    if (pci.vendor_id == 0x102b || pci.vendor_id == 0x1a03 || es1000) return false;
    if ((pci.class_id >> 8) == 0x03 || (pci.class_id >> 8) == 0x12) return true;
    for (hwloc_obj_t os = pci_device->io_first_child; os; os = os->next_sibling)
        if (os->type == HWLOC_OBJ_OS_DEVICE && (os->attr->osdev.type == HWLOC_OBJ_OSDEV_GPU ||
                                                os->attr->osdev.type == HWLOC_OBJ_OSDEV_COPROC))
            return true;
    return false;
}

void collect_gpus(hwloc_obj_t object, std::vector<hwloc_obj_t>& out) {
    for (hwloc_obj_t io = object->io_first_child; io; io = io->next_sibling) {
        if (io->type == HWLOC_OBJ_PCI_DEVICE && is_gpu(io)) out.push_back(io);
        collect_gpus(io, out);
    }
}

/// Counts the system devices below `object` by their names without the last number: "rsmi",
/// "opencl0d", "ze0.". Displays (":0.0", ":0.1") do not compute.
void count_system_devices(hwloc_obj_t object, std::map<std::string, std::size_t>& counts) {
    for (hwloc_obj_t io = object->io_first_child; io; io = io->next_sibling) {
        count_system_devices(io, counts);
        if (io->type != HWLOC_OBJ_OS_DEVICE || !io->name || io->name[0] == ':') continue;
        const auto type = io->attr->osdev.type;
        if (type != HWLOC_OBJ_OSDEV_GPU && type != HWLOC_OBJ_OSDEV_COPROC) continue;
        const std::string_view name = io->name;
        ++counts[std::string(name.substr(0, name.find_last_not_of("0123456789") + 1))];
    }
}

/// Appends the GPU that hangs at `object` and the bridge above it. If several GPUs are there, it is
/// not known which one a rank uses: then only a bridge that all of them share is near.
void append_gpus_at(hwloc_obj_t object, std::vector<HostPath::Object>& path) {
    std::vector<hwloc_obj_t> gpus;
    collect_gpus(object, gpus);
    if (gpus.empty()) return;
    hwloc_obj_t bridge = gpus.front()->parent;
    const auto above = [](hwloc_obj_t upper, hwloc_obj_t lower) {
        while (lower && lower != upper) lower = lower->parent;
        return lower == upper;
    };
    while (
        bridge->type == HWLOC_OBJ_BRIDGE &&
        !std::all_of(gpus.begin(), gpus.end(), [&](hwloc_obj_t gpu) { return above(bridge, gpu); }))
        bridge = bridge->parent;
    if (bridge->type == HWLOC_OBJ_BRIDGE) path.push_back(path_object(VertexKind::bridge, bridge));
    if (gpus.size() == 1) path.push_back(path_object(VertexKind::gpu, gpus.front()));
}

/// Returns hwloc's speed of a link in GB/s, in each direction. GPUs at rest let their links sleep
/// at 2.5 GT/s, which is 4 GB/s with 16 lanes: so low a speed is not believed.
Uplink link_of(const PciAttributes& pci) {
    constexpr double asleep_gbytes_per_s = 4.0;
    const double rounded = std::round(static_cast<double>(pci.linkspeed) * 100) / 100;
    return {rounded > asleep_gbytes_per_s && rounded < 1e6 ? rounded : 0, 0};
}

/// Makes an object of a bridge or a device on the way to a GPU, with its PCI address as name if it
/// has one.
HostPath::Object pci_object(hwloc_obj_t object) {
    const bool bridge = object->type == HWLOC_OBJ_BRIDGE;
    HostPath::Object made = path_object(bridge ? VertexKind::bridge : VertexKind::gpu, object);
    if (bridge && object->attr->bridge.upstream_type != HWLOC_OBJ_BRIDGE_PCI) return made;
    const PciAttributes& pci = bridge ? object->attr->bridge.upstream.pci : object->attr->pcidev;
    made.name = address_of(pci).text();
    made.uplink = link_of(pci);
    return made;
}

}  // namespace

std::vector<HostPath::Object> objects_down_to(hwloc_obj_t object, NearGpus near_gpus) {
    std::vector<hwloc_obj_t> line;
    for (; object; object = object->parent) line.push_back(object);
    const auto core = std::find_if(line.begin(), line.end(), [](hwloc_obj_t in_line) {
        return in_line->type == HWLOC_OBJ_CORE;
    });
    std::vector<HostPath::Object> path;
    std::vector<hwloc_obj_t> shown;
    const auto show = [&](VertexKind kind, hwloc_obj_t next) {
        if (is_told_by(next, shown, core == line.end() ? nullptr : *core)) return;
        path.push_back(path_object(kind, next));
        shown.push_back(next);
    };
    for (auto it = line.rbegin(); it != line.rend(); ++it) {
        // GPUs come before the object: the last of a chain stays, and cores belong to the socket.
        if (near_gpus == NearGpus::shown) append_gpus_at(*it, path);
        if (const auto kind = kind_of(*it)) show(*kind, *it);
        if (const hwloc_obj_t numa = numa_at(*it)) show(VertexKind::numa, numa);
    }
    return path;
}

std::vector<HostPath::Object> objects_down_to_device(hwloc_obj_t pci_device) {
    std::vector<hwloc_obj_t> line;
    hwloc_obj_t object = pci_device;
    for (; object->type == HWLOC_OBJ_PCI_DEVICE || object->type == HWLOC_OBJ_BRIDGE;
         object = object->parent)
        line.push_back(object);
    std::vector<HostPath::Object> path = objects_down_to(object, NearGpus::ignored);
    for (auto it = line.rbegin(); it != line.rend(); ++it) path.push_back(pci_object(*it));
    return path;
}

std::size_t part_count_of(hwloc_obj_t pci_device) {
    std::map<std::string, std::size_t> counts;
    count_system_devices(pci_device, counts);
    std::size_t most = 1;
    for (const auto& [name, count] : counts) most = std::max(most, count);
    return most;
}

std::vector<hwloc_obj_t> gpus_of(hwloc_topology_t topology) {
    std::vector<hwloc_obj_t> gpus;
    for (hwloc_obj_t device = hwloc_get_next_pcidev(topology, nullptr); device;
         device = hwloc_get_next_pcidev(topology, device))
        if (is_gpu(device)) gpus.push_back(device);
    std::sort(gpus.begin(), gpus.end(),
              [](hwloc_obj_t a, hwloc_obj_t b) { return index_of(a) < index_of(b); });
    return gpus;
}

}  // namespace gradcoll
