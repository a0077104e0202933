// topology/sources/host/nccl_places.cpp - see nccl.hpp.
#include "topology/sources/host/nccl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <pugixml.hpp>
#include <unordered_set>

#include "base/index.hpp"
#include "base/text.hpp"
#include "topology/pci_address.hpp"

namespace gradcoll {

namespace {

constexpr std::size_t max_nccl_xml_bytes = std::size_t{16} << 20;
constexpr int max_pci_depth = 64;  // real machines have less than ten

using Places = std::vector<NcclPlace>;

std::string attribute(const pugi::xml_node& node, const char* name) {
    constexpr std::size_t longest = 64;
    return std::string(std::string_view(node.attribute(name).value()).substr(0, longest));
}

/// Returns 16 for "16.0 GT/s PCIe"; 0 if the text does not start with a number.
double leading_number(std::string_view text) {
    double number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    return number;
}

/// Returns the class code of a PCI device or of a link's target, of six digits; 0 if it is missing.
/// NCCL writes only the first two digits for a GPU whose class it does not know.
unsigned class_of(const std::string& text) {
    unsigned value = 0;
    std::string_view digits = text;
    if (digits.starts_with("0x")) digits.remove_prefix(2);
    std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    return digits.size() <= 2 ? value << 16 : value;
}

/// Returns whether the device is a display controller or a processing accelerator.
bool is_gpu(const pugi::xml_node& pci) {
    const unsigned base = class_of(attribute(pci, "class")) >> 16;
    return base == 0x03 || base == 0x12 || pci.child("gpu");
}

Status wrong(std::string_view xml, std::ptrdiff_t offset, const std::string& what) {
    const std::size_t at =
        std::min(static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0)), xml.size());
    return {Code::invalid_argument,
            fmt::format(
                "NCCL topology: line {}: {}",
                1 + std::count(xml.begin(), xml.begin() + static_cast<std::ptrdiff_t>(at), '\n'),
                what)};
}

class NcclReader {
  public:
    NcclReader(std::string_view xml, std::vector<std::string>& notes) : xml_(xml), notes_(notes) {}

    Result<Places> read() {
        pugi::xml_document document;
        const pugi::xml_parse_result parsed = document.load_buffer(
            xml_.data(), xml_.size(), pugi::parse_default, pugi::encoding_utf8);
        if (!parsed) return wrong(xml_, parsed.offset, parsed.description());
        const pugi::xml_node system = document.child("system");
        if (!system)
            return wrong(xml_, 0, "no <system> is there, as NCCL_TOPO_DUMP_FILE writes it");
        places_.emplace_back();
        std::unordered_set<std::string> hosts;
        const std::string first_host = attribute(system.child("cpu"), "host_hash");
        for (const pugi::xml_node& cpu : system.children("cpu")) {
            const std::string host = attribute(cpu, "host_hash");
            hosts.insert(host);
            if (host != first_host) continue;
            const int numa = add(0, VertexKind::numa, "NUMANode#" + attribute(cpu, "numaid"));
            for (const pugi::xml_node& pci : cpu.children("pci"))
                GRADCOLL_TRY(read_pci(pci, {numa, numa}, 1));
        }
        if (places_.size() == 1) return wrong(xml_, system.offset_debug(), "<system> has no <cpu>");
        if (hosts.size() > 1)
            notes_.push_back(
                fmt::format("the NCCL topology shows {} hosts: the first is taken", hosts.size()));
        note_implausible_links();
        return std::move(places_);
    }

  private:
    struct Above {
        int parent;
        int numa;
    };

    int add(int parent, VertexKind kind, std::string name) {
        NcclPlace place;
        place.parent = parent;
        place.kind = kind;
        place.name = std::move(name);
        places_.push_back(std::move(place));
        return static_cast<int>(places_.size()) - 1;
    }

    /// Reads a GPU, or a device that holds further ones; others (NICs) are passed over.
    Status read_pci(const pugi::xml_node& pci, const Above& above, int depth) {
        if (depth > max_pci_depth)
            return wrong(xml_, pci.offset_debug(),
                         fmt::format("more than {} <pci> within each other", max_pci_depth));
        const bool gpu = is_gpu(pci);
        if (!gpu && !pci.child("pci")) return {};
        const int id =
            add(above.parent, gpu ? VertexKind::gpu : VertexKind::bridge, attribute(pci, "busid"));
        places_[at(id)].uplink.bandwidth_gbytes_per_s = link_of(pci);
        if (gpu) {
            read_gpu(pci, above.numa, places_[at(id)]);
            return {};
        }
        for (const pugi::xml_node& below : pci.children("pci"))
            GRADCOLL_TRY(read_pci(below, {id, above.numa}, depth + 1));
        return {};
    }

    /// Reads the <gpu> of a device; one that is partitioned has several, each with all links.
    static void read_gpu(const pugi::xml_node& pci, int numa, NcclPlace& place) {
        constexpr unsigned nvswitch = 0x068000;
        const pugi::xml_node gpu = pci.child("gpu");
        const auto parts = pci.children("gpu");
        place.part_count = static_cast<std::size_t>(
            std::max<std::ptrdiff_t>(1, std::distance(parts.begin(), parts.end())));
        place.device = gpu.attribute("dev").as_int(-1);
        for (const char* kind : {"nvlink", "xgmi"}) {
            for (const pugi::xml_node& link : gpu.children(kind)) {
                const bool to_switch = class_of(attribute(link, "tclass")) == nvswitch;
                place.links.push_back({attribute(link, "target"), to_switch});
            }
        }
        // A GPU beside a Grace CPU has a link to it that carries more than PCIe.
        const pugi::xml_node to_cpu = gpu.child("c2c");
        const double gbytes_per_s =
            to_cpu.attribute("bw").as_double() * to_cpu.attribute("count").as_double() / 1000;
        if (!(gbytes_per_s > place.uplink.bandwidth_gbytes_per_s) || gbytes_per_s > 1e6) return;
        place.parent = numa;
        place.uplink.bandwidth_gbytes_per_s = gbytes_per_s;
    }

    double link_of(const pugi::xml_node& pci) {
        const std::string speed = attribute(pci, "link_speed"),
                          width = attribute(pci, "link_width");
        const double gt_per_s = leading_number(speed), lanes = leading_number(width);
        if (!(gt_per_s > 0) || !(lanes > 0)) return 0;
        const double gbytes_per_s =
            pcie_gbytes_per_s(gt_per_s, static_cast<int>(std::min(lanes, 1e6)));
        if (gt_per_s > 2.5 && lanes > 1 && gbytes_per_s > 0) return gbytes_per_s;
        if (++implausible_ == 1)
            first_implausible_ =
                fmt::format("{} ({}, {} lanes)", printable(attribute(pci, "busid")),
                            printable(speed), printable(width));
        return 0;
    }

    void note_implausible_links() {
        if (implausible_ > 0)
            notes_.push_back(fmt::format(
                "the NCCL topology states implausible PCIe links, taken as not known: {}{}",
                first_implausible_,
                implausible_ > 1 ? fmt::format(" and {} more", implausible_ - 1) : ""));
    }

    std::string_view xml_;
    std::vector<std::string>& notes_;
    Places places_;
    int implausible_ = 0;
    std::string first_implausible_;
};

}  // namespace

Result<Places> places_from_nccl(std::string_view xml, std::vector<std::string>& notes) {
    if (xml.size() > max_nccl_xml_bytes)
        return Status(Code::invalid_argument,
                      fmt::format("NCCL topology: more than {} MiB", max_nccl_xml_bytes >> 20));
    return NcclReader(xml, notes).read();
}

}  // namespace gradcoll
