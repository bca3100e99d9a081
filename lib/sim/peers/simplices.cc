// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/simplices.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "rubato_config.h"

#ifdef HAVE_QHULL
extern "C" {
#include <libqhull_r/qhull_ra.h>
}
#endif

namespace rubato::sim {
namespace {

/// So far below 0 a weight is 0: a point on the face between two.
constexpr double kOutside = 1e-9;

using Corners = std::vector<std::array<int, 4>>;

#ifdef HAVE_QHULL
/// As scipy.spatial.Delaunay asks for it in three dimensions.
constexpr char kOptions[] = "qhull d Qt Qbb Qc Qz Q12";

Corners tetrahedra(const std::vector<Simplices::Point>& points) {
  std::vector<double> numbers;
  for (const Simplices::Point& point : points) {
    numbers.insert(numbers.end(), point.begin(), point.end());
  }
  std::vector<char> options(std::begin(kOptions), std::end(kOptions));
  // What it says of points without volume is for nobody.
  char* text = nullptr;
  std::size_t length = 0;
  FILE* errors = open_memstream(&text, &length);
  if (errors == nullptr) return {};
  qhT state;
  qhT* qh = &state;
  qh_zero(qh, errors);
  Corners found;
  const int code = qh_new_qhull(qh, 3, static_cast<int>(points.size()), numbers.data(), False,
                                options.data(), nullptr, errors);
  facetT* facet = nullptr;
  if (code == 0) {
    FORALLfacets {
      if (facet->upperdelaunay) continue;
      std::array<int, 4> corners{};
      std::size_t count = 0;
      vertexT* vertex = nullptr;
      vertexT** vertexp = nullptr;
      FOREACHvertex_(facet->vertices) {
        if (count < corners.size()) corners.at(count) = qh_pointid(qh, vertex->point);
        ++count;
      }
      if (count == corners.size()) found.push_back(corners);
    }
  }
  qh_freeqhull(qh, !qh_ALL);
  int long_memory = 0;
  int total = 0;
  qh_memfreeshort(qh, &long_memory, &total);
  std::fclose(errors);
  std::free(text);
  return found;
}
#else
Corners tetrahedra(const std::vector<Simplices::Point>& /*points*/) { return {}; }
#endif

using Point = Simplices::Point;

Point minus(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
double dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

}  // namespace

Simplices::Simplices(const std::vector<Point>& points) {
  if (points.size() < 5) return;  // Qhull wants more than a tetrahedron
  for (const auto& corners : tetrahedra(points)) add(points, corners);
}

void Simplices::add(const std::vector<Point>& points, const std::array<int, 4>& corners) {
  std::array<Point, 4> at;
  for (std::size_t i = 0; i < 4; ++i) at.at(i) = points.at(static_cast<std::size_t>(corners.at(i)));
  Map map;
  map.origin = map.low = map.high = at[3];
  for (const Point& corner : at) {
    for (std::size_t d = 0; d < 3; ++d) {
      map.low.at(d) = std::min(map.low.at(d), corner.at(d));
      map.high.at(d) = std::max(map.high.at(d), corner.at(d));
    }
  }
  const Point a = minus(at[0], at[3]);
  const Point b = minus(at[1], at[3]);
  const Point c = minus(at[2], at[3]);
  const double volume = dot(a, cross(b, c));
  if (!(std::abs(volume) > 1e-12)) return;
  map.rows = {cross(b, c), cross(c, a), cross(a, b)};
  for (Point& row : map.rows) {
    for (double& one : row) one /= volume;
  }
  corners_.push_back(corners);
  maps_.push_back(map);
}

std::optional<Simplices::Mix> Simplices::at(const Point& point) const {
  for (std::size_t s = 0; s < maps_.size(); ++s) {
    const Map& map = maps_[s];
    bool near = true;
    for (std::size_t d = 0; d < 3; ++d) {
      near = near && point.at(d) >= map.low.at(d) && point.at(d) <= map.high.at(d);
    }
    if (!near) continue;
    const Point from = minus(point, map.origin);
    Mix mix{corners_[s], {}};
    mix.weights[3] = 1;
    double least = 1;
    for (std::size_t i = 0; i < 3; ++i) {
      mix.weights.at(i) = dot(map.rows.at(i), from);
      mix.weights[3] -= mix.weights.at(i);
      least = std::min(least, mix.weights.at(i));
    }
    if (std::min(least, mix.weights[3]) >= -kOutside) return mix;
  }
  return std::nullopt;
}

}  // namespace rubato::sim
