// topology/sources/host/described_host.cpp - see described_host.hpp.
#include "topology/sources/host/described_host.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "topology/sources/host/machine.hpp"

namespace gradcoll {

namespace {

Result<std::vector<HostPath>> cores_of(const Result<Machine>& machine,
                                       std::vector<std::string>& notes) {
    if (!machine.ok()) return machine.status();
    std::vector<HostPath> cores = machine->paths_of_cores();
    if (cores.empty()) return Status(Code::invalid_argument, "the described host has no cores");
    if (std::string note = machine->hidden_note(); !note.empty()) notes.push_back(std::move(note));
    return cores;
}

Result<Machine> described_machine(std::string_view description) {
    std::error_code ignored;
    const bool is_path = description.ends_with(".xml") ||
                         description.find('/') != description.npos ||
                         std::filesystem::exists(description, ignored);
    return is_path ? Machine::xml(std::string(description))
                   : Machine::synthetic(std::string(description));
}

}  // namespace

Result<std::vector<HostPath>> cores_from_synthetic(std::string_view description,
                                                   std::vector<std::string>& notes) {
    return cores_of(Machine::synthetic(std::string(description)), notes);
}

Result<std::vector<HostPath>> cores_from_xml(std::string_view path,
                                             std::vector<std::string>& notes) {
    return cores_of(Machine::xml(std::string(path)), notes);
}

Result<std::vector<HostPath>> described_cores(std::string_view description,
                                              std::vector<std::string>& notes) {
    return cores_of(described_machine(description), notes);
}

Result<std::vector<HostPath>> described_gpus(std::string_view description,
                                             std::vector<std::string>& notes) {
    const Result<Machine> machine = described_machine(description);
    if (!machine.ok()) return machine.status();
    const std::vector<RankGpu> gpus = machine->gpus();
    const std::vector<std::vector<HostPath::Object>> places = gpu_places(gpus, notes);
    std::vector<HostPath> devices;
    for (std::size_t i = 0; i < gpus.size(); ++i)
        devices.insert(devices.end(), gpus[i].part_count, {machine->host_name(), places[i]});
    if (devices.size() > gpus.size())
        notes.push_back(fmt::format("{} devices are parts of {} GPUs, whose links they share",
                                    devices.size(), gpus.size()));
    if (!devices.empty()) return devices;
    notes.emplace_back("no GPU is described: ranks are dealt to cores");
    return cores_of(machine, notes);
}

}  // namespace gradcoll
