// command_line/option_parser.hpp - what a program can be told, and how that is read. CLI11
// does the work; its headers take seconds to compile, so they are seen by option_parser.cpp alone.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command_line/command_line.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace gradcoll {

class OptionParser {
  public:
    /// One of the parser's, which owns it. Each function returns the option again.
    class Option {
      public:
        explicit Option(CLI::Option& option) : option_(option) {}

        /// What the help calls its value.
        Option* type_name(const std::string& name);
        /// The help tells the value that the variable has now.
        Option* capture_default_str();

        Option* required();
        Option* needs(const Option* other);
        Option* needs(const char* name);
        Option* excludes(const Option* other);
        Option* excludes(const char* name);

        /// So many values; by default one, of a vector any number.
        Option* expected(int count);
        Option* expected(int least, int most);
        /// Between the values of a list.
        Option* delimiter(char between);
        /// Whether a vector takes all words that follow, or one.
        Option* allow_extra_args(bool allowed);

        /// Of a value or of each of a list. Of int, std::int64_t, std::uint64_t or double, as the
        /// variable.
        template <class Number>
        Option* in_range(Number least, Number most);
        Option* positive();
        Option* not_negative();
        Option* one_of(const std::vector<std::string>& allowed);
        Option* existing_file();
        /// Numbers may end in K, M, ..., by 1024.
        Option* size_in_bytes();
        /// Returns what is wrong with a text, or an empty one.
        Option* check(const std::function<std::string(const std::string&)>& problem_of);

      private:
        CLI::Option& option_;
    };

    OptionParser(const std::string& description, const std::string& name);
    ~OptionParser();

    /// `names` such as "-o,--out". The variable keeps its value where nothing is said. Of the types
    /// that option_parser.cpp lists: std::string, integers, double, and vectors of some of these.
    template <class Value>
    Option* add_option(const std::string& names, Value& value, const std::string& help = "");
    Option* add_flag(const std::string& names, bool& value, const std::string& help);
    /// At the end of the help.
    void footer(const std::string& text);

    /// After reading: how often the option was said.
    std::size_t count(const std::string& name) const;

    /// Reads the words into the variables, then looks at all with `look`. `line` says whether to go
    /// on. Adds --help and --version. Local and the same on every rank: the caller prints the text
    /// on one of them.
    void parse_into(
        Ending& line, int argc, const char* const* argv,
        const std::function<Problem()>& look = [] { return Problem(); });
    /// The same, and prints what there is to say, each process for itself. The exit status to leave
    /// with; nothing if the program is to run.
    std::optional<int> exit_status(
        int argc, const char* const* argv,
        const std::function<Problem()>& look = [] { return Problem(); });

  private:
    Option* own(CLI::Option* option);
    Ending ending_of(int argc, const char* const* argv, const std::function<Problem()>& look);

    std::unique_ptr<CLI::App> app_;
    std::deque<Option> options_;
};

}  // namespace gradcoll
