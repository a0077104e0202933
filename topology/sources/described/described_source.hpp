// topology/sources/described/described_source.hpp - hosts that hwloc's strings and files describe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/sources/tree_source.hpp"

namespace gradcoll {

/// A DescribedSource has one description for all hosts; subclasses may have one for each. Each is
/// read once.
class DescribedSource : public TreeSource {
  public:
    /// Reads the cores or GPUs of a description, with notes on them.
    using ReadPlaces = Result<std::vector<HostPath>>(std::string_view description,
                                                     SourceNotes& notes);

    DescribedSource(std::string value, ReadPlaces* read, const char* place_name = "core")
        : value_(std::move(value)), read_(read), place_name_(place_name) {}

    Needs needs() const override { return {Reports::host_names, false, {}}; }
    Status learn(const Job& job, TreeDraft& draft) override;
    Result<std::size_t> places_on(const std::string& host_name) override;
    const char* place_name() const override { return place_name_; }

  protected:
    const std::string& value() const { return value_; }

  private:
    /// Places are what ranks are dealt to on hosts of one description.
    struct Places {
        std::vector<HostPath> paths;  ///< empty: the description cannot be read, as the notes say
        SourceNotes notes;
    };

    /// Prepares; called before the next two.
    virtual Status open() { return {}; }
    virtual std::optional<std::string> description_of(const std::string&) const { return value_; }
    /// Returns whether a description that cannot be read gives a note instead of an error.
    virtual bool does_without_damaged() const { return false; }
    /// Returns null if nothing describes that host. Errors name the host.
    Result<const Places*> places_of(const std::string& host_name);

    std::string value_;
    ReadPlaces* read_;
    const char* place_name_;
    std::map<std::string, Places> places_of_description_;
};

}  // namespace gradcoll
