// comm/comm_settings.hpp - the settings that the ranks of one communicator have agreed on.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/agreement.hpp"
#include "settings/settings.hpp"

namespace gradcoll {

/// Before the first take() there are none.
class CommSettings {
  public:
    /// `comm`: private. `speaks`: as at CommIdentity::speaks_for_job(). `tuning`: the same on all
    /// ranks.
    CommSettings(MPI_Comm comm, bool speaks, std::shared_ptr<const Tuning> tuning)
        : comm_(comm), speaks_(speaks), tuning_(std::move(tuning)) {}

    const Settings& current() const { return current_; }
    const SettingsText& text() const { return text_; }
    /// Of training, for the settings' schedule.
    std::int64_t step() const { return step_; }
    void set_step(std::int64_t step) { step_ = step; }

    /// Collective: the proposed settings, if all ranks propose the same and they are allowed.
    /// `complaint`: what this rank found wrong with its arguments already (empty: nothing); then
    /// all ranks fail. `also`: what else is to be alike. Where a rank ignores something that may
    /// limit loss (SettingsText::doubt()), they are exact on all, and one line a job says so.
    /// Changes nothing.
    Result<Settings> agree(const SettingsText& proposed, const Status& complaint,
                           const std::vector<Claim>& also = {}) const;
    /// What agree() has said of `text` holds from now on.
    void take(const SettingsText& text, Settings settings);

    /// What the settings leave to the library, for a communicator of several hosts; null: its tree
    /// is not known yet, so calls that it may be for go and make it.
    void suit(const Tree* tree);

    /// No model knows how fast devices encode: whoever uses some and names a codec gets it.
    void suit_devices() { current_.compress_if = CompressIf::always; }

    /// With gc_check=collective: fails on all ranks if their claims differ. Collective then, else
    /// nothing.
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
