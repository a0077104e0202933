// topology/probe/branches.cpp - walks through the tree of hosts, and regroups it.
#include "topology/probe/branches.hpp"

#include <algorithm>
#include <numeric>

namespace gradcoll {

Branches::Branches(int host_count)
    : host_count_(host_count), nodes_(static_cast<std::size_t>(host_count)) {}

int Branches::above(std::vector<int> children) {
    if (children.size() == 1) return children.front();
    nodes_.push_back(std::move(children));
    return static_cast<int>(nodes_.size()) - 1;
}

int Branches::placeholder() {
    nodes_.emplace_back();
    return static_cast<int>(nodes_.size()) - 1;
}

void Branches::set_children(int node, std::vector<int> children) {
    nodes_[static_cast<std::size_t>(node)] = std::move(children);
}

std::vector<int> Branches::parts(int node) const {
    return is_host(node) ? std::vector<int>{node} : at(node);
}

int Branches::host_below(int node) const {
    while (!is_host(node)) node = at(node).front();
    return node;
}

std::vector<int> Branches::host_of_each(std::span<const int> nodes) const {
    std::vector<int> hosts;
    for (const int node : nodes) hosts.push_back(host_below(node));
    return hosts;
}

std::vector<int> Branches::hosts_below(int node) const {
    std::vector<int> hosts;
    std::vector<int> open{node};
    while (!open.empty()) {
        const int next = open.back();
        open.pop_back();
        if (is_host(next)) hosts.push_back(next);
        open.insert(open.end(), at(next).rbegin(), at(next).rend());
    }
    return hosts;
}

std::vector<std::vector<int>> Branches::levels(int root) const {
    std::vector<std::vector<int>> levels;
    std::vector<int> level{root};
    while (true) {
        std::erase_if(level, [&](int node) { return is_host(node); });
        if (level.empty()) return levels;
        std::vector<int> below;
        for (const int node : level) below.insert(below.end(), at(node).begin(), at(node).end());
        levels.push_back(std::move(level));
        level = std::move(below);
    }
}

void Branches::group_children(int node, const std::vector<std::vector<int>>& sets) {
    std::vector<int> top = at(node);
    const auto without_repeats = [](std::vector<int> nodes) {
        std::vector<int> kept;
        for (const int n : nodes)
            if (std::find(kept.begin(), kept.end(), n) == kept.end()) kept.push_back(n);
        return kept;
    };
    for (const auto& set : sets) {
        std::vector<int> members;
        for (const int i : set) members.push_back(top[static_cast<std::size_t>(i)]);
        const int group = above(without_repeats(std::move(members)));
        for (const int i : set) top[static_cast<std::size_t>(i)] = group;
    }
    set_children(node, without_repeats(std::move(top)));
}

}  // namespace gradcoll
