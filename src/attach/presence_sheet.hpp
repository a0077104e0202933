// attach/presence_sheet.hpp - memory of a host in which each rank of a job leaves a note on itself,
// without waiting for any other.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "comm/job_on_host.hpp"

namespace gradcoll {

/// A PresenceSheet is a file in /dev/shm that only this user can open. Its name is gone as soon as
/// all ranks have written or one has closed the sheet; a job that is killed before leaves it
/// behind.
class PresenceSheet {
  public:
    struct Note {
        int rank = 0;  ///< number in MPI_COMM_WORLD
        std::uint64_t hash = 0;
        std::string_view text;  ///< its beginning, as far as there is room
    };

    /// Opens the sheet of the job, which whoever comes first makes. Errors: io.
    static Result<std::unique_ptr<PresenceSheet>> open(const JobOnHost& job);
    ~PresenceSheet();
    PresenceSheet(const PresenceSheet&) = delete;
    PresenceSheet& operator=(const PresenceSheet&) = delete;

    /// Writes the note of this process, once. The note counts if it is here before the sheet is
    /// closed.
    void write(int rank, std::uint64_t hash, std::string_view text);
    /// Closes the sheet, at once if all ranks have written, else after `patience_ns`; returns how
    /// many notes it has, which from then on is the same for all ranks. Thread safe.
    int close(std::uint64_t patience_ns);
    /// Returns a note; `index` is below what close() returned.
    Note note(int index) const;

    /// Returns true on all processes at these places if each calls this with the same key before
    /// another gives up, which it does after `patience_ns`; then returns false. The first place
    /// decides; `own` is where in `places` this process is. One thread of a process calls this at a
    /// time.
    bool meet(const std::vector<int>& places, std::size_t own, std::uint64_t key,
              std::uint64_t patience_ns);

    const JobOnHost& job() const { return job_; }
    /// Makes the sheet one that no other process finds from now on.
    void unlink() const;

  private:
    struct Page;
    PresenceSheet(const JobOnHost& job, std::string path, Page* page);
    int written() const;
    bool hold_all(const std::vector<int>& places, std::uint64_t key);

    JobOnHost job_;
    std::string path_;
    Page* page_;
};

}  // namespace gradcoll
