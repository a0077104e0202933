// topology/sources/host/hwloc_links.cpp - links between GPUs in the format.
#include "topology/sources/host/hwloc_xml.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <pugixml.hpp>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/text.hpp"
#include "topology/pci_address.hpp"

namespace gradcoll {

namespace {

using Links = std::map<std::string, std::vector<GpuLink>>;

constexpr std::size_t most_objects = 1024;

struct Device {
    std::string address;
    bool is_switch = false;
};
/// Devices are indexed by hwloc's number of the object.
using Devices = std::unordered_map<std::string, Device>;

/// Returns hwloc's number of the object, which hwloc 3 also writes as id="obj12".
std::string number_of(const pugi::xml_node& object) {
    if (const pugi::xml_attribute number = object.attribute("gp_index")) return number.value();
    const std::string_view id = object.attribute("id").value();
    return std::string(id.starts_with("obj") ? id.substr(3) : "");
}

/// Returns the PCI device that the object is or belongs to; null if there is none. A tile of a GPU
/// (ze0.1) is below the GPU's system device (ze0).
pugi::xml_node pci_device_of(pugi::xml_node object) {
    while (std::string_view(object.attribute("type").value()) == "OSDev") object = object.parent();
    return std::string_view(object.attribute("type").value()) == "PCIDev" ? object
                                                                          : pugi::xml_node();
}

/// DeviceCollector collects PCI devices, and system devices (cuda0, nvml0) under the address of
/// theirs: the parts of a partitioned GPU share one. An NVSwitch says so, and is a bridge (class
/// 06) if it gives its PCI class.
class DeviceCollector : public pugi::xml_tree_walker {
  public:
    Devices take() { return std::move(devices_); }

  private:
    bool for_each(pugi::xml_node& object) override {
        const pugi::xml_node pci = pci_device_of(object);
        const auto address = PciAddress::from(pci.attribute("pci_busid").value());
        const bool is_switch =
            std::string_view(pci.attribute("subtype").value()) == "NVSwitch" ||
            std::string_view(pci.attribute("pci_type").value()).starts_with("06");
        if (address) devices_.try_emplace(number_of(object), Device{address->text(), is_switch});
        return true;
    }

    Devices devices_;
};

/// Returns the words of all children of that name.
std::vector<std::string_view> words_of(const pugi::xml_node& matrix, const char* name,
                                       std::size_t most) {
    std::vector<std::string_view> words;
    for (const pugi::xml_node& part : matrix.children(name)) {
        std::string_view text = part.child_value();
        while (words.size() <= most) {
            const std::size_t begin = text.find_first_not_of(" \t\r\n");
            if (begin == text.npos) break;
            text.remove_prefix(begin);
            const std::size_t end = std::min(text.find_first_of(" \t\r\n"), text.size());
            words.push_back(text.substr(0, end));
            text.remove_prefix(end);
        }
    }
    return words;
}

/// Returns the objects of a matrix; null for one that is no PCI device ("OSDev:332", "Package:3",
/// "332").
std::vector<const Device*> objects_of(const pugi::xml_node& matrix, const Devices& devices) {
    std::vector<const Device*> objects;
    for (const std::string_view word : words_of(matrix, "indexes", most_objects)) {
        const auto found = devices.find(std::string(word.substr(word.rfind(':') + 1)));
        objects.push_back(found == devices.end() ? nullptr : &found->second);
    }
    return objects;
}

/// Returns the values in MB/s, in each direction.
std::optional<std::vector<double>> values_of(const pugi::xml_node& matrix, std::size_t count) {
    std::vector<double> values;
    for (const std::string_view word : words_of(matrix, "u64values", count)) {
        const auto value = number_from<std::uint32_t>(word);
        if (!value) return std::nullopt;
        values.push_back(*value);
    }
    if (values.size() != count) return std::nullopt;
    return values;
}

struct ByAddress {
    using Ends = std::pair<const Device*, const Device*>;
    bool operator()(const Ends& a, const Ends& b) const {
        return std::tie(a.first->address, a.second->address) <
               std::tie(b.first->address, b.second->address);
    }
};
/// Each two addresses have one entry: every part of a partitioned GPU reports the links that all of
/// them share.
using LinksBetween = std::map<ByAddress::Ends, double, ByAddress>;

void add_matrix(const pugi::xml_node& matrix, const Devices& devices, Links& links) {
    const std::vector<const Device*> objects = objects_of(matrix, devices);
    const std::size_t count = objects.size();
    if (count < 2 || count > most_objects) return;
    const auto values = values_of(matrix, count * count);
    if (!values) return;
    LinksBetween between;
    for (std::size_t i = 0; i < count; ++i) {
        if (!objects[i] || objects[i]->is_switch) continue;
        for (std::size_t j = 0; j < count; ++j) {
            if (!objects[j] || objects[i]->address == objects[j]->address) continue;
            double& most = between[{objects[i], objects[j]}];
            most = std::max(most, (*values)[i * count + j]);
        }
    }
    for (const auto& [ends, mbytes_per_s] : between)
        if (mbytes_per_s > 0)
            links[ends.first->address].push_back(
                {ends.second->address, ends.second->is_switch, mbytes_per_s / 1000});
}

bool is_of_gpu_links(std::string_view name) {
    return name == "NVLinkBandwidth" || name == "XGMIBandwidth" || name == "XeLinkBandwidth";
}

}  // namespace

Links gpu_links_in_hwloc_xml(std::string_view xml) {
    Links links;
    if (xml.find("LinkBandwidth") == xml.npos && xml.find("XGMIBandwidth") == xml.npos)
        return links;
    pugi::xml_document document;
    if (!document.load_buffer(xml.data(), xml.size(), pugi::parse_default, pugi::encoding_utf8))
        return links;
    pugi::xml_node topology = document.child("topology");
    DeviceCollector collector;
    topology.traverse(collector);
    const Devices devices = collector.take();
    for (const pugi::xml_node& matrix : topology.children())
        if (std::string_view(matrix.name()).starts_with("distances2") &&
            is_of_gpu_links(matrix.attribute("name").value()))
            add_matrix(matrix, devices, links);
    return links;
}

}  // namespace gradcoll
