// topology/sources/host/machine.cpp - reads host paths out of hwloc 2.
#include "topology/sources/host/machine.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/files.hpp"
#include "base/options.hpp"
#include "base/text.hpp"
#include "topology/sources/host/hwloc_objects.hpp"
#include "topology/sources/host/hwloc_xml.hpp"

namespace gradcoll {

namespace {

/// Returns the largest number of objects in a level that a synthetic description asks for;
/// attributes in () do not count.
double widest_level(const std::string& description) {
    double product = 1;
    int parentheses = 0;
    for (std::size_t i = 0; i < description.size(); ++i) {
        if (description[i] == '(') ++parentheses;
        if (description[i] == ')') --parentheses;
        const bool starts_number =
            is_digit(description[i]) &&
            (i == 0 || description[i - 1] == ':' || description[i - 1] == ' ');
        if (parentheses <= 0 && starts_number)
            product *= std::max(1.0, std::strtod(description.c_str() + i, nullptr));
    }
    return product;
}

/// Returns the part of the machine that the calling process is bound to; all of it if it has no
/// binding.
Bitmap bound_part(hwloc_topology_t topology) {
    Bitmap bound = new_bitmap();
    const hwloc_const_cpuset_t all = hwloc_get_root_obj(topology)->cpuset;
    if (hwloc_get_cpubind(topology, bound.get(), HWLOC_CPUBIND_PROCESS) == 0)
        hwloc_bitmap_and(bound.get(), bound.get(), all);
    if (hwloc_bitmap_iszero(bound.get())) hwloc_bitmap_copy(bound.get(), all);
    return bound;
}

/// Returns the smallest object that holds the CPUs.
hwloc_obj_t holder_of(hwloc_topology_t topology, hwloc_const_cpuset_t cpus) {
    const hwloc_obj_t covering = hwloc_get_obj_covering_cpuset(topology, cpus);
    return covering ? covering : hwloc_get_root_obj(topology);
}

/// Counts objects that hold some of the machine's CPUs and not all: neither memory without CPUs nor
/// the only package counts.
int count_parts(hwloc_topology_t topology, hwloc_obj_type_t type) {
    const hwloc_const_cpuset_t all = hwloc_get_root_obj(topology)->cpuset;
    int count = 0;
    for (hwloc_obj_t object = hwloc_get_next_obj_by_type(topology, type, nullptr); object;
         object = hwloc_get_next_obj_by_type(topology, type, object))
        count += !hwloc_bitmap_iszero(object->cpuset) && !hwloc_bitmap_isequal(object->cpuset, all);
    return count;
}

/// Returns the largest parts that the machine has several of, in words; empty if it has only cores.
std::string parts_of(hwloc_topology_t topology) {
    static constexpr std::pair<hwloc_obj_type_t, const char*> kinds[] = {
        {HWLOC_OBJ_PACKAGE, "packages"},
        {HWLOC_OBJ_NUMANODE, "NUMA nodes"},
        {HWLOC_OBJ_L3CACHE, "level 3 caches"}};
    for (const auto& [type, name] : kinds)
        if (const int count = count_parts(topology, type); count > 1)
            return fmt::format("{} {}", count, name);
    return {};
}

/// Returns whether no package or cache is known. Real machines report at least one, be it the only
/// one.
bool has_no_shape(hwloc_topology_t topology) {
    for (const hwloc_obj_type_t type :
         {HWLOC_OBJ_PACKAGE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L1CACHE})
        if (hwloc_get_nbobjs_by_type(topology, type) > 0) return false;
    return count_parts(topology, HWLOC_OBJ_NUMANODE) == 0;
}

std::string reason_of(int error) {
    return error ? std::strerror(error) : "no reason given";
}

/// Returns the file that hwloc would take for this machine: other variables come first. Empty if
/// there is none.
std::string file_of_environment() {
    for (const char* name : {"HWLOC_FSROOT", "HWLOC_CPUID_PATH", "HWLOC_SYNTHETIC"})
        if (!foreign_variable(name).empty()) return {};
    return foreign_variable("HWLOC_XMLFILE");
}

/// CPUs that the recording process was not allowed to use are there for others.
constexpr unsigned long described_flags = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED;

}  // namespace

void Machine::Deleter::operator()(hwloc_topology* topology) const {
    hwloc_topology_destroy(topology);
}

Result<Machine::Handle> Machine::prepared(Devices devices) {
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0)
        return Status(Code::out_of_memory, "hwloc_topology_init failed: " + reason_of(errno));
    Handle topology(raw);
    hwloc_topology_set_io_types_filter(raw, devices == Devices::shown
                                                ? HWLOC_TYPE_FILTER_KEEP_IMPORTANT
                                                : HWLOC_TYPE_FILTER_KEEP_NONE);
    // These components would start GPU drivers or connect to a display only to find devices that
    // PCI already shows.
    for (const char* component : {"cuda", "nvml", "opencl", "rsmi", "levelzero", "gl"})
        hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
    return topology;
}

Result<Machine> Machine::loaded(Handle topology, const std::string& what, Code code) {
    errno = 0;
    if (hwloc_topology_load(topology.get()) != 0)
        return Status(code, fmt::format("{}: hwloc does not load it: {}", what, reason_of(errno)));
    return Machine(std::move(topology));
}

Result<Machine> Machine::local(Devices devices) {
    if (const std::string path = file_of_environment(); !path.empty())
        return from_file(path, fmt::format("HWLOC_XMLFILE \"{}\"", path), devices, 0);
    Handle topology = GRADCOLL_VALUE(prepared(devices));
    return loaded(std::move(topology), "this machine", Code::io);
}

Result<Machine> Machine::synthetic(const std::string& description) {
    const std::string what = fmt::format("synthetic topology \"{}\"", description.substr(0, 200));
    if (widest_level(description) > max_tree_ranks)
        return Status(Code::invalid_argument,
                      fmt::format("{}: more than {} objects in a level", what, max_tree_ranks));
    Handle topology = GRADCOLL_VALUE(prepared(Devices::shown));
    errno = 0;
    if (hwloc_topology_set_synthetic(topology.get(), description.c_str()) != 0)
        return Status(Code::invalid_argument,
                      fmt::format("{}: hwloc does not take it: {}; expected levels such as "
                                  "\"pack:2 numa:1 core:4 pu:1\"",
                                  what, reason_of(errno)));
    return loaded(std::move(topology), what, Code::invalid_argument);
}

Result<Machine> Machine::xml(const std::string& path) {
    return from_file(path, fmt::format("hwloc XML file \"{}\"", path), Devices::shown,
                     described_flags);
}

Result<Machine> Machine::xml_text(std::string_view xml, const std::string& what) {
    return from_text(xml, what, Devices::shown, described_flags);
}

Result<Machine> Machine::from_file(const std::string& path, const std::string& what,
                                   Devices devices, unsigned long flags) {
    const Result<std::string> text = bytes_of_file(path, largest_file_bytes);
    const std::string why = !text.ok()      ? text.status().message()
                            : text->empty() ? "it is empty"
                                            : "";
    if (!why.empty()) return Status(Code::io, fmt::format("{}: it cannot be read: {}", what, why));
    return from_text(*text, what, devices, flags);
}

Result<Machine> Machine::from_text(std::string_view xml, const std::string& what, Devices devices,
                                   unsigned long flags) {
    const Result<std::string> checked = checked_hwloc_xml(xml);
    if (!checked.ok())
        return Status(Code::invalid_argument, fmt::format("{}: hwloc does not see it: {}", what,
                                                          checked.status().message()));
    Handle topology = GRADCOLL_VALUE(prepared(devices));
    hwloc_topology_set_flags(topology.get(), flags);
    errno = 0;
    // The size counts the final 0.
    if (hwloc_topology_set_xmlbuffer(topology.get(), checked->c_str(),
                                     static_cast<int>(checked->size()) + 1) != 0)
        return Status(Code::invalid_argument,
                      fmt::format("{}: hwloc does not take it: {}; expected the output of lstopo "
                                  "in XML version 1, 2 or 3",
                                  what, reason_of(errno)));
    Result<Machine> machine = loaded(std::move(topology), what, Code::invalid_argument);
    if (machine.ok()) machine->links_ = gpu_links_in_hwloc_xml(xml);
    return machine;
}

std::string Machine::host_name() const {
    const char* name = hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology_.get()), "HostName");
    return name ? std::string(name).substr(0, max_name_bytes) : "";
}

MachineFacts Machine::facts() const {
    const hwloc_topology_t topology = topology_.get();
    MachineFacts facts;
    if (!hwloc_topology_is_thissystem(topology)) return facts;
    const hwloc_obj_t root = hwloc_get_root_obj(topology);
    const int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    const int pus = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    facts.cores = static_cast<std::uint32_t>(cores > 0 ? cores : pus);
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const long shown = hwloc_bitmap_weight(root->complete_cpuset);
    if (shown > 0 && online > shown) facts.hidden_cpus = static_cast<std::uint32_t>(online - shown);
    facts.shapeless = facts.cores > 2 && has_no_shape(topology);
    const Bitmap bound = bound_part(topology);
    if (hwloc_bitmap_isequal(bound.get(), root->cpuset)) facts.unbound_over = parts_of(topology);
    return facts;
}

std::string Machine::hidden_note() const {
    const hwloc_obj_t root = hwloc_get_root_obj(topology_.get());
    const int shown = hwloc_bitmap_weight(root->cpuset);
    const int all = hwloc_bitmap_weight(root->complete_cpuset);
    // Half of the CPUs are shown on machines that were started without their second threads.
    if (shown <= 0 || 2 * shown >= all) return {};
    return fmt::format(
        "it shows {} of {} CPUs: the others are offline, or the job that recorded it may not use "
        "them (lstopo --disallowed shows these)",
        shown, all);
}

HostPath Machine::path_of_this_process() const {
    const Bitmap bound = bound_part(topology_.get());
    return {host_name(), objects_down_to(holder_of(topology_.get(), bound.get()), NearGpus::shown)};
}

HostPath Machine::path_of_all() const {
    const hwloc_const_cpuset_t all = hwloc_get_root_obj(topology_.get())->cpuset;
    return {host_name(), objects_down_to(holder_of(topology_.get(), all), NearGpus::shown)};
}

std::vector<HostPath> Machine::paths_of_cores() const {
    const int cores = hwloc_get_nbobjs_by_type(topology_.get(), HWLOC_OBJ_CORE);
    const hwloc_obj_type_t type = cores > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    std::vector<HostPath> paths;
    for (hwloc_obj_t object = hwloc_get_next_obj_by_type(topology_.get(), type, nullptr); object;
         object = hwloc_get_next_obj_by_type(topology_.get(), type, object))
        paths.push_back({host_name(), objects_down_to(object, NearGpus::shown)});
    return paths;
}

std::vector<RankGpu> Machine::gpus() const {
    std::vector<RankGpu> gpus;
    for (const hwloc_obj_t device : gpus_of(topology_.get())) gpus.push_back(seen(device));
    return gpus;
}

RankGpu Machine::seen(hwloc_obj* device) const {
    RankGpu gpu;
    gpu.path = objects_down_to_device(device);
    gpu.bus_id = gpu.path.back().name;
    gpu.part_count = part_count_of(device);
    if (const auto links = links_.find(gpu.bus_id); links != links_.end())
        gpu.links = links->second;
    return gpu;
}

std::optional<RankGpu> Machine::gpu(const PciAddress& address) const {
    const hwloc_obj_t device = hwloc_get_pcidev_by_busid(
        topology_.get(), address.domain, address.bus, address.device, address.function);
    return device ? std::optional(seen(device)) : std::nullopt;
}

bool Machine::has_several_of_nvidia(const PciAddress& address) const {
    constexpr unsigned nvidia = 0x10de;
    const auto is_nvidias = [](hwloc_obj_t device) {
        return device->attr->pcidev.vendor_id == nvidia;
    };
    const std::vector<hwloc_obj_t> gpus = gpus_of(topology_.get());
    const hwloc_obj_t own = hwloc_get_pcidev_by_busid(topology_.get(), address.domain, address.bus,
                                                      address.device, address.function);
    return own && is_nvidias(own) && std::count_if(gpus.begin(), gpus.end(), is_nvidias) > 1;
}

}  // namespace gradcoll
