// comm/comm_settings.hpp - the settings that the ranks of one communicator have agreed on.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/agreement.hpp"
#include "settings/settings.hpp"

namespace gradcoll {

/// CommSettings has no settings before the first take().
class CommSettings {
  public:
    /// `comm` is the private communicator, `speaks` is CommIdentity::speaks_for_job(), and `tuning`
    /// is the same on all ranks.
    CommSettings(MPI_Comm comm, bool speaks, std::shared_ptr<const Tuning> tuning)
        : comm_(comm), speaks_(speaks), tuning_(std::move(tuning)) {}

    const Settings& current() const { return current_; }
    const SettingsText& text() const { return text_; }
    /// Returns the step of training, for the settings' schedule.
    std::int64_t step() const { return step_; }
    void set_step(std::int64_t step) { step_ = step; }

    /// Returns the proposed settings, if all ranks propose the same and they are allowed.
    /// `complaint` is what this rank found wrong with its arguments already (empty: nothing); then
    /// all ranks fail. `also` lists what else is to be alike. If a rank ignores something that may
    /// limit loss (SettingsText::doubt()), the settings are exact on all ranks, and one line a job
    /// says so. Changes nothing. Collective.
    Result<Settings> agree(const SettingsText& proposed, const Status& complaint,
                           const std::vector<Claim>& also = {}) const;
    /// Takes the settings that agree() made of `text`.
    void take(const SettingsText& text, Settings settings);

    /// Chooses what the settings leave to the library, for a communicator of several hosts. `tree`
    /// is null while the tree is not known yet: then calls that it may be for go and make it.
    void suit(const Tree* tree);

    /// Makes ranks that use devices use the codec that they name: no model knows how fast devices
    /// encode.
    void suit_devices() { current_.compress_if = CompressIf::always; }

    /// Compares claims with gc_check=collective, and fails on all ranks if they differ. Collective
    /// then; else it does nothing.
    Status check_alike(const std::vector<Claim>& claims) const;
    bool checks_calls() const { return current_.check == CheckLevel::collective; }

  private:
    void tell_once(const std::string& line) const;

    MPI_Comm comm_;
    bool speaks_;
    std::shared_ptr<const Tuning> tuning_;
    SettingsText text_;
    Settings current_;
    std::int64_t step_ = 0;
};

}  // namespace gradcoll
