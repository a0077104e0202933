// attach/roll_sheet.hpp - memory of a host in which each rank of a job leaves a note on itself,
// without waiting for any other.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "comm/job_on_host.hpp"

namespace gradcoll {

/// A file in /dev/shm that only this user can open. Its name is gone as soon as all ranks have
/// written or one has closed the sheet; a job that is killed before leaves it behind.
class RollSheet {
  public:
    struct Note {
        int rank = 0;  ///< in MPI_COMM_WORLD
        std::uint64_t hash = 0;
        std::string_view text;  ///< its beginning, what there is room for
    };

    /// The one of the job, made by whoever comes first. Errors: io.
    static Result<std::unique_ptr<RollSheet>> open(const JobOnHost& job);
    ~RollSheet();
    RollSheet(const RollSheet&) = delete;
    RollSheet& operator=(const RollSheet&) = delete;

    /// Once for a process. The note counts if it is here before the sheet is closed.
    void write(int rank, std::uint64_t hash, std::string_view text);
    /// Closes it, at once if all ranks have written, else after `patience_ns`; returns how many
    /// notes it has, which from then on is the same for all ranks. Thread safe.
    int close(std::uint64_t patience_ns);
    /// Below what close() returned.
    Note note(int index) const;

    const JobOnHost& job() const { return job_; }
    /// From now on no other process finds it.
    void unlink() const;

  private:
    struct Page;
    RollSheet(const JobOnHost& job, std::string path, Page* page);
    int written() const;

    JobOnHost job_;
    std::string path_;
    Page* page_;
};

}  // namespace gradcoll
