// topology/sources/host/this_machine.cpp - see this_machine.hpp.
#include "topology/sources/host/this_machine.hpp"

#include <unistd.h>

#include <map>
#include <mutex>
#include <utility>

#include "base/log.hpp"
#include "topology/pci_address.hpp"
#include "topology/sources/host/machine.hpp"
#include "topology/sources/host/nvml.hpp"

namespace gradcoll {

namespace {

/// Returns this machine, which is loaded once: that takes tens of milliseconds, and the machine
/// stays the same. A binding is read each time.
const Result<Machine>& this_machine() {
    static const Result<Machine> machine = Machine::local();
    return machine;
}

const Result<Machine>& this_machine_with_devices() {
    static const Result<Machine> machine = Machine::local(Machine::Devices::shown);
    return machine;
}

/// Asks the driver once for each GPU, since it takes long to answer, and its answer stays the same.
NvmlGpu known_to_nvml(const std::string& bus_id) {
    static std::mutex mutex;
    static std::map<std::string, NvmlGpu> known;
    const std::lock_guard lock(mutex);
    if (const auto found = known.find(bus_id); found != known.end()) return found->second;
    Result<NvmlGpu> answer = ask_nvml(bus_id);
    if (!answer.ok()) log(LogLevel::info, "{}", answer.status().message());
    return known[bus_id] = answer.ok() ? std::move(*answer) : NvmlGpu{};
}

HostPath with_host_name(HostPath path) {
    if (!path.host_name.empty()) return path;
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    path.host_name = name;
    return path;
}

}  // namespace

Result<HostPath> this_rank_path() {
    const Result<Machine>& machine = this_machine();
    if (!machine.ok()) return machine.status();
    return with_host_name(machine->path_of_this_process());
}

Result<std::vector<HostPath>> this_machine_core_paths() {
    const Result<Machine>& machine = this_machine();
    if (!machine.ok()) return machine.status();
    std::vector<HostPath> paths = machine->paths_of_cores();
    for (HostPath& path : paths) path = with_host_name(std::move(path));
    return paths;
}

Result<HostPath> this_machine_path() {
    const Result<Machine>& machine = this_machine();
    if (!machine.ok()) return machine.status();
    return with_host_name(machine->path_of_all());
}

RankGpu this_rank_gpu(std::string_view bus_id) {
    const auto address = PciAddress::from(bus_id);
    if (!address) return {};
    const Result<Machine>& machine = this_machine_with_devices();
    RankGpu unseen;
    unseen.bus_id = address->text();
    if (!machine.ok()) return unseen;
    RankGpu gpu = machine->gpu(*address).value_or(unseen);
    if (!machine->has_several_of_nvidia(*address)) return gpu;
    NvmlGpu told = known_to_nvml(gpu.bus_id);
    gpu.links = std::move(told.links);
    if (told.pcie_gbytes_per_s > 0)
        gpu.path.back().uplink.bandwidth_gbytes_per_s = told.pcie_gbytes_per_s;
    return gpu;
}

MachineFacts this_machine_facts() {
    const Result<Machine>& machine = this_machine();
    return machine.ok() ? machine->facts() : MachineFacts{};
}

}  // namespace gradcoll
