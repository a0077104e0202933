// topology/sources/host/nvml.cpp - see nvml.hpp.
#include "topology/sources/host/nvml.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "base/text.hpp"
#include "topology/pci_address.hpp"
#include "topology/sources/host/nvml_interface.hpp"

namespace gradcoll {

namespace {

struct Closer {
    void operator()(void* library) const { dlclose(library); }
};
using Library = std::unique_ptr<void, Closer>;

struct Calls {
    nvml::Init* init = nullptr;
    nvml::Shutdown* shutdown = nullptr;
    nvml::GetHandle* handle = nullptr;
    nvml::ErrorText* error_text = nullptr;
    // A library may lack these; what they would tell is then not known.
    nvml::GetLinkNumber* link_state = nullptr;
    nvml::GetLinkNumber* remote_type = nullptr;
    nvml::GetRemotePci* remote_pci = nullptr;
    nvml::GetFields* fields = nullptr;
    nvml::GetNumber* pcie_generation = nullptr;
    nvml::GetNumber* pcie_lanes = nullptr;

    explicit Calls(void* library) {
        find(library, "nvmlInit_v2", init);
        find(library, "nvmlShutdown", shutdown);
        find(library, "nvmlDeviceGetHandleByPciBusId_v2", handle);
        find(library, "nvmlErrorString", error_text);
        find(library, "nvmlDeviceGetNvLinkState", link_state);
        find(library, "nvmlDeviceGetNvLinkRemoteDeviceType", remote_type);
        find(library, "nvmlDeviceGetNvLinkRemotePciInfo_v2", remote_pci);
        find(library, "nvmlDeviceGetFieldValues", fields);
        find(library, "nvmlDeviceGetMaxPcieLinkGeneration", pcie_generation);
        find(library, "nvmlDeviceGetMaxPcieLinkWidth", pcie_lanes);
    }
    bool complete() const { return init && shutdown && handle && error_text; }

  private:
    template <class Call>
    static void find(void* library, const char* name, Call*& call) {
        call = reinterpret_cast<Call*>(dlsym(library, name));
    }
};

Status no_answer(const std::string& what, const std::string& reason) {
    return {Code::unsupported, fmt::format("{}: {}", what, reason)};
}

/// A Session is the started library, which it shuts down.
class Session {
  public:
    explicit Session(const Calls& calls) : calls_(calls), code_(calls.init()) {}
    ~Session() {
        if (code_ == nvml::success) calls_.shutdown();
    }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    Result<NvmlGpu> ask(const std::string& bus_id) const {
        if (code_ != nvml::success) return no_answer("NVML", calls_.error_text(code_));
        nvml::Device device = nullptr;
        if (const int code = calls_.handle(bus_id.c_str(), &device); code != nvml::success)
            return no_answer("NVML on GPU " + bus_id, calls_.error_text(code));
        return NvmlGpu{links_of(device), pcie_of(device)};
    }

  private:
    double pcie_of(nvml::Device device) const {
        // PCIe 1, 2, ... have these GT/s for each lane.
        constexpr double speeds[] = {2.5, 5, 8, 16, 32, 64, 128};
        unsigned generation = 0, lanes = 0;
        if (!calls_.pcie_generation || !calls_.pcie_lanes ||
            calls_.pcie_generation(device, &generation) != nvml::success ||
            calls_.pcie_lanes(device, &lanes) != nvml::success || generation < 1 ||
            generation > std::size(speeds) || lanes > 32)
            return 0;
        return pcie_gbytes_per_s(speeds[generation - 1], static_cast<int>(lanes));
    }

    std::vector<GpuLink> links_of(nvml::Device device) const {
        std::vector<GpuLink> links;
        if (!calls_.link_state || !calls_.remote_pci) return links;
        const double gbytes_per_s = speed_of_link(device);
        for (unsigned link = 0; link < nvml::most_links; ++link) {
            unsigned up = 0;
            nvml::PciInfo remote{};
            if (calls_.link_state(device, link, &up) != nvml::success || up == 0 ||
                calls_.remote_pci(device, link, &remote) != nvml::success)
                continue;
            add(name_of(remote), leads_to_switch(device, link), gbytes_per_s, links);
        }
        return links;
    }

    /// Returns the speed of one link: all of a GPU's links are alike.
    double speed_of_link(nvml::Device device) const {
        nvml::FieldValue field{};
        field.field = nvml::field_link_mbytes_per_s;
        if (!calls_.fields || calls_.fields(device, 1, &field) != nvml::success ||
            field.code != nvml::success || field.type != nvml::type_unsigned_int)
            return 0;
        return field.value.unsigned_int / 1e3;
    }

    bool leads_to_switch(nvml::Device device, unsigned link) const {
        unsigned type = 0;
        return calls_.remote_type && calls_.remote_type(device, link, &type) == nvml::success &&
               type == nvml::type_switch;
    }

    /// Returns the name of the other end. Virtual machines give switches names that are no
    /// addresses.
    static std::string name_of(const nvml::PciInfo& remote) {
        const std::string_view text(remote.bus_id, std::size(remote.bus_id));
        const std::string_view name = text.substr(0, std::min(text.find('\0'), text.size()));
        const auto address = PciAddress::from(name);
        return address ? address->text() : printable(name);
    }

    static void add(const std::string& target, bool to_switch, double gbytes_per_s,
                    std::vector<GpuLink>& links) {
        const auto known = std::find_if(links.begin(), links.end(), [&](const GpuLink& link) {
            return link.target == target && link.to_switch == to_switch;
        });
        if (known != links.end())
            known->gbytes_per_s += gbytes_per_s;
        else
            links.push_back({target, to_switch, gbytes_per_s});
    }

    const Calls& calls_;
    int code_;
};

}  // namespace

Result<NvmlGpu> ask_nvml(const std::string& bus_id, const std::string& library) {
    const Library handle(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL));
    if (!handle) return no_answer("NVML", dlerror());
    const Calls calls(handle.get());
    if (!calls.complete()) return no_answer("NVML", library + " lacks functions");
    return Session(calls).ask(bus_id);
}

}  // namespace gradcoll
