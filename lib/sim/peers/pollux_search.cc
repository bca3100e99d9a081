// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/pollux_search.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string_view>
#include <unordered_set>

namespace rubato::sim {
namespace {

constexpr std::size_t kPopulation = 100;
constexpr int kGenerations = 100;  ///< including the first one
constexpr int kMaxMatings = 100;   ///< attempts to find new offspring
constexpr double kCrossed = .9;
constexpr double kReset = .1;
constexpr double kThinned = .1;

bool dominates(const std::pair<double, double>& a, const std::pair<double, double>& b) {
  return a.first <= b.first && a.second <= b.second && a != b;
}

}  // namespace

bool GeneticSearch::happens(double probability) {
  return static_cast<double>(random_() >> 11) * 0x1p-53 < probability;
}

void GeneticSearch::shuffle(std::vector<std::size_t>& list) {
  for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[below(i)]);
}

/// Computes fronts by dominance, and in each the distance between neighbours; sorts by both.
void GeneticSearch::rank(std::vector<Member>& members) const {
  std::ranges::stable_sort(members, {}, &Member::value);
  std::vector<std::vector<std::size_t>> fronts;
  for (std::size_t i = 0; i < members.size(); ++i) {
    // Members are sorted by the first objective, so the last one of a front has its smallest second
    // one.
    std::size_t f = 0;
    while (f < fronts.size() && dominates(members[fronts[f].back()].value, members[i].value)) ++f;
    if (f == fronts.size()) fronts.emplace_back();
    fronts[f].push_back(i);
    members[i].front = f;
  }
  for (const std::vector<std::size_t>& front : fronts) {
    const auto& low = members[front.front()].value;
    const auto& high = members[front.back()].value;
    const double first = std::max(high.first - low.first, 1e-300);
    const double second = std::max(low.second - high.second, 1e-300);
    for (std::size_t k = 0; k < front.size(); ++k) {
      Member& member = members[front[k]];
      if (k == 0 || k + 1 == front.size()) {
        member.crowding = std::numeric_limits<double>::infinity();
        continue;
      }
      const auto& before = members[front[k - 1]].value;
      const auto& after = members[front[k + 1]].value;
      member.crowding =
          (after.first - before.first) / first + (before.second - after.second) / second;
    }
  }
  std::ranges::stable_sort(members, [](const Member& a, const Member& b) {
    return a.front != b.front ? a.front < b.front : a.crowding > b.crowding;
  });
}

std::size_t GeneticSearch::tournament(const std::vector<Member>& members, std::size_t a,
                                      std::size_t b) {
  if (dominates(members[a].value, members[b].value)) return a;
  if (dominates(members[b].value, members[a].value)) return b;
  if (members[a].crowding != members[b].crowding) {
    return members[a].crowding > members[b].crowding ? a : b;
  }
  return happens(.5) ? a : b;
}

std::vector<std::size_t> GeneticSearch::parents(const std::vector<Member>& members,
                                                std::size_t count) {
  std::vector<std::size_t> drawn;
  while (drawn.size() < 2 * count) {
    std::vector<std::size_t> all(members.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    shuffle(all);
    drawn.insert(drawn.end(), all.begin(), all.end());
  }
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < count; ++i) {
    out.push_back(tournament(members, drawn[2 * i], drawn[2 * i + 1]));
  }
  return out;
}

/// Swaps the jobs before a cut.
void GeneticSearch::cross(const SearchProblem& problem, Genome& a, Genome& b) {
  if (!happens(kCrossed)) return;
  const auto cut = static_cast<std::ptrdiff_t>(below(problem.jobs) * problem.nodes);
  std::swap_ranges(a.begin(), a.begin() + cut, b.begin());
}

void GeneticSearch::mutate(const SearchProblem& problem, Genome& genome) {
  const std::size_t nodes = problem.nodes;
  const std::size_t jobs = problem.jobs;
  for (std::size_t j = 0; j < jobs; ++j) {
    if (happens(kReset)) genome.replace(j * nodes, nodes, problem.now, j * nodes, nodes);
  }
  for (std::size_t j = 0; j < jobs; ++j) {
    if (!happens(kThinned)) continue;
    for (std::size_t n = 0; n < nodes; ++n) {
      if (happens(kThinned)) genome[j * nodes + n] = 0;
    }
  }
  for (std::size_t n = 0; n < nodes; ++n) {
    int used = 0;
    int holders = 0;
    for (std::size_t j = 0; j < jobs; ++j) {
      used += genome[j * nodes + n];
      holders += genome[j * nodes + n] > 0 ? 1 : 0;
    }
    if (used >= problem.node_gpus) continue;
    for (std::size_t j = 0; j < jobs; ++j) {
      char& cell = genome[j * nodes + n];
      const double any = 1.0 / static_cast<double>(jobs);
      const double holder = cell > 0 ? 1.0 / holders : 0;
      if (!happens(any + holder - any * holder)) continue;
      cell = static_cast<char>(cell + below(problem.node_gpus - cell + 1));
    }
  }
}

void GeneticSearch::repair(const SearchProblem& problem, Genome& genome) {
  const std::size_t nodes = problem.nodes;
  const std::size_t jobs = problem.jobs;
  std::vector<bool> spans(jobs);
  for (std::size_t j = 0; j < jobs; ++j) {
    const auto row = std::string_view(genome).substr(j * nodes, nodes);
    spans[j] = std::ranges::count_if(row, [](char c) { return c > 0; }) > 1;
  }
  // At most one job that spans several nodes may use a node.
  for (std::size_t n = 0; n < nodes; ++n) {
    bool taken = false;
    for (std::size_t j = 0; j < jobs; ++j) {
      char& cell = genome[j * nodes + n];
      if (!spans[j] || cell == 0) continue;
      if (taken) cell = 0;
      taken = true;
    }
  }
  // Limits each job to its maximum GPUs; removes GPUs from random nodes.
  std::vector<std::size_t> order(nodes);
  for (std::size_t j = 0; j < jobs; ++j) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    shuffle(order);
    int left = problem.most[j];
    for (const std::size_t n : order) {
      char& cell = genome[j * nodes + n];
      cell = static_cast<char>(std::min<int>(cell, left));
      left -= cell;
    }
  }
  for (std::size_t n = 0; n < nodes; ++n) {
    int left = problem.node_gpus;
    for (std::size_t j = 0; j < jobs; ++j) {
      char& cell = genome[j * nodes + n];
      cell = static_cast<char>(std::min<int>(cell, left));
      left -= cell;
    }
  }
}

/// Adds offspring that are not members yet.
void GeneticSearch::breed(const SearchProblem& problem, std::vector<Member>& members) {
  std::unordered_set<Genome> known;
  for (const Member& member : members) known.insert(member.genome);
  std::vector<Member> offspring;
  for (int mating = 0; mating < kMaxMatings && offspring.size() < kPopulation; ++mating) {
    const std::size_t wanted = kPopulation - offspring.size();
    const std::vector<std::size_t> chosen = parents(members, wanted + wanted % 2);
    for (std::size_t i = 0; i + 1 < chosen.size(); i += 2) {
      Genome pair[2] = {members[chosen[i]].genome, members[chosen[i + 1]].genome};
      cross(problem, pair[0], pair[1]);
      for (Genome& child : pair) {
        mutate(problem, child);
        repair(problem, child);
        if (offspring.size() == kPopulation || !known.insert(child).second) continue;
        const auto value = problem.value(child);
        offspring.push_back({std::move(child), value});
      }
    }
  }
  for (Member& child : offspring) members.push_back(std::move(child));
}

std::vector<Genome> GeneticSearch::run(const SearchProblem& problem, std::vector<Genome> begin) {
  std::vector<Member> members;
  std::unordered_set<Genome> known;
  for (Genome& genome : begin) {
    repair(problem, genome);
    if (!known.insert(genome).second) continue;
    const auto value = problem.value(genome);
    members.push_back({std::move(genome), value});
  }
  rank(members);
  for (int generation = 1; generation < kGenerations; ++generation) {
    breed(problem, members);
    rank(members);
    if (members.size() > kPopulation) members.resize(kPopulation);
  }
  std::vector<Member> front;
  for (Member& member : members) {
    if (member.front == 0) front.push_back(std::move(member));
  }
  std::ranges::stable_sort(front, {}, &Member::value);
  std::vector<Genome> out;
  out.reserve(front.size());
  for (Member& member : front) out.push_back(std::move(member.genome));
  return out;
}

}  // namespace rubato::sim
