#include "base/config_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/files.hpp"
#include "base/option_parts.hpp"
#include "base/text.hpp"

namespace gradcoll {
namespace {

constexpr std::size_t most_complaints = 20;

/// A Reader reads one file line by line.
class Reader {
  public:
    explicit Reader(std::string_view name) { file_.name = printable(name); }

    ConfigFile read(std::string_view text) {
        constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
        if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
        while (!text.empty()) {
            const std::size_t end = text.find('\n');
            ++line_;
            read_line(text.substr(0, end));
            text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        }
        if (left_out_ > 0)
            file_.complaints.push_back(
                fmt::format("{}: {} more complaints", file_.name, left_out_));
        return std::move(file_);
    }

  private:
    void complain(std::string_view what, bool may_limit_loss) {
        file_.may_limit_loss = file_.may_limit_loss || may_limit_loss;
        if (file_.complaints.size() >= most_complaints)
            ++left_out_;
        else
            file_.complaints.push_back(fmt::format("{}:{}: {}", file_.name, line_, what));
    }

    void read_line(std::string_view line) {
        if (line.size() > longest_config_line)
            return complain(fmt::format("a line of {} bytes is ignored; allowed are {}",
                                        line.size(), longest_config_line),
                            true);
        line = trimmed(line);
        if (line.empty() || line.front() == '#') return;
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos || equals == 0)
            return complain(
                fmt::format("'{}' is ignored; allowed is NAME = VALUE", printable(line)), true);
        const std::string_view name = trimmed(line.substr(0, equals));
        const auto id = known_setting(name);
        if (!id) return;
        const auto text = value_of(trimmed(line.substr(equals + 1)), name, info_of(*id));
        if (text) take_value(info_of(*id), *text);
    }

    std::optional<OptionId> known_setting(std::string_view name) {
        const auto id = option_of_name(name);
        if (!id) {
            const OptionInfo* const meant = meant_option_of_name(name);
            complain(id.status().message(), meant != nullptr && meant->limits_loss);
        } else if (*id == OptionId::config_file) {
            complain(fmt::format("{} cannot be set in the file itself and is ignored",
                                 info_of(*id).variable),
                     true);
        } else {
            return *id;
        }
        return std::nullopt;
    }

    std::optional<std::string_view> value_of(std::string_view text, std::string_view name,
                                             const OptionInfo& row) {
        if (!text.starts_with('"') && !text.starts_with('\'')) return without_comment(text);
        const std::size_t end = text.find(text.front(), 1);
        const bool closed = end != std::string_view::npos;
        const std::string_view rest = closed ? trimmed(text.substr(end + 1)) : std::string_view();
        if (!closed)
            complain(fmt::format("the quote of {} is not closed; ignored", printable(name)),
                     row.limits_loss);
        else if (!rest.empty() && !rest.starts_with('#'))
            complain(fmt::format("'{}' follows the quotes of {}; ignored", printable(rest),
                                 printable(name)),
                     row.limits_loss);
        else
            return text.substr(1, end - 1);
        return std::nullopt;
    }

    static std::string_view without_comment(std::string_view text) {
        for (std::size_t i = 0; i < text.size(); ++i)
            if (text[i] == '#' && (i == 0 || text[i - 1] == ' ' || text[i - 1] == '\t'))
                return trimmed(text.substr(0, i));
        return text;
    }

    void take_value(const OptionInfo& row, std::string_view text) {
        const auto parts = parts_in(row.id, text);
        if (!parts)
            return complain(fmt::format("{}={}: {}; ignored", row.variable, printable(text),
                                        parts.status().message()),
                            row.limits_loss);
        for (const PartText& part : *parts) take({part.id, part.text, line_});
    }

    void take(ConfigEntry entry) {
        const auto old = std::find_if(file_.entries.begin(), file_.entries.end(),
                                      [&](const auto& e) { return e.option == entry.option; });
        if (old == file_.entries.end()) {
            file_.entries.push_back(std::move(entry));
            return;
        }
        complain(fmt::format("{} is set again and replaces line {}", info_of(entry.option).variable,
                             old->line),
                 false);
        *old = std::move(entry);
    }

    ConfigFile file_;
    int line_ = 0;
    std::size_t left_out_ = 0;
};

ConfigFile unread(std::string_view name, std::string_view why) {
    ConfigFile file{printable(name), {}, {}, true};
    file.complaints.push_back(fmt::format("{} is ignored: {}", file.name, why));
    return file;
}

}  // namespace

ConfigFile parse_config(std::string_view text, std::string_view name) {
    if (text.size() > largest_config_bytes)
        return unread(name, fmt::format("it is larger than {} bytes", largest_config_bytes));
    if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
        return unread(name, fmt::format("line {} holds a NUL byte, so it is no text",
                                        1 + std::ranges::count(text.substr(0, nul), '\n')));
    return Reader(name).read(text);
}

ConfigFile read_config_file(const std::string& path) {
    const Result<std::string> text = bytes_of_file(path, largest_config_bytes);
    return text.ok() ? parse_config(*text, path) : unread(path, text.status().message());
}

}  // namespace gradcoll
