// SPDX-License-Identifier: GPL-2.0-or-later
// The genetic search for allocations of Pollux (Qiao et al., OSDI 2021, section 4.2): NSGA-II (Deb
// et al. 2002) with the operators of its artifact.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace rubato::sim {

/// GPUs of each job on each node, row by row, one byte per number.
using Genome = std::string;

struct SearchProblem {
  std::size_t jobs = 0;
  std::size_t nodes = 0;
  int node_gpus = 0;
  std::vector<int> most;  ///< maximum GPUs of each job
  Genome now;             ///< the current allocation
  /// Two objectives; both are minimised.
  std::function<std::pair<double, double>(const Genome&)> value;
};

class GeneticSearch {
 public:
  explicit GeneticSearch(std::uint64_t seed) : random_(seed) {}

  /// The first front of the last generation, sorted by the first objective; never empty if the
  /// problem has jobs. `begin` must not be empty; infeasible members are repaired.
  [[nodiscard]] std::vector<Genome> run(const SearchProblem& problem, std::vector<Genome> begin);

 private:
  struct Member {
    Genome genome;
    std::pair<double, double> value;
    std::size_t front = 0;
    double crowding = 0;
  };

  [[nodiscard]] bool happens(double probability);
  /// A random number from 0 to below `count`.
  template <typename Number>
  [[nodiscard]] Number below(Number count) {
    return static_cast<Number>((random_() >> 32) * static_cast<std::uint64_t>(count) >> 32);
  }
  void shuffle(std::vector<std::size_t>& list);
  void rank(std::vector<Member>& members) const;
  [[nodiscard]] std::size_t tournament(const std::vector<Member>& members, std::size_t a,
                                       std::size_t b);
  [[nodiscard]] std::vector<std::size_t> parents(const std::vector<Member>& members,
                                                 std::size_t count);
  void cross(const SearchProblem& problem, Genome& a, Genome& b);
  void mutate(const SearchProblem& problem, Genome& genome);
  void repair(const SearchProblem& problem, Genome& genome);
  void breed(const SearchProblem& problem, std::vector<Member>& members);

  std::mt19937_64 random_;
};

}  // namespace rubato::sim
