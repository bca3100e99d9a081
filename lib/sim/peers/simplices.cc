// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/sim/peers/simplices.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <eigen3/Eigen/LU>
#include <span>

extern "C" {
#include <libqhull_r/qhull_ra.h>
}

namespace rubato::sim {
namespace {

/// A weight this far below 0 counts as 0: the point is on a face between two tetrahedra.
constexpr double kOutside = 1e-9;
/// A tetrahedron with a determinant of its edges up to this is flat.
constexpr double kFlat = 1e-12;

/// The options of scipy.spatial.Delaunay in three dimensions.
constexpr char kOptions[] = "qhull d Qt Qbb Qc Qz Q12";

std::vector<Simplices::Corners> tetrahedra(const std::vector<Simplices::Point>& points) {
  std::vector<double> numbers;
  for (const Simplices::Point& point : points) {
    numbers.insert(numbers.end(), point.begin(), point.end());
  }
  std::vector<char> options(std::begin(kOptions), std::end(kOptions));
  // Discards Qhull's messages about degenerate points.
  char* text = nullptr;
  std::size_t length = 0;
  FILE* errors = open_memstream(&text, &length);
  if (errors == nullptr) return {};
  qhT state;
  qhT* qh = &state;
  qh_zero(qh, errors);
  std::vector<Simplices::Corners> found;
  const int code = qh_new_qhull(qh, 3, static_cast<int>(points.size()), numbers.data(), False,
                                options.data(), nullptr, errors);
  facetT* facet = nullptr;
  if (code == 0) {
    FORALLfacets {
      if (facet->upperdelaunay) continue;
      Simplices::Corners corners{};
      std::size_t count = 0;
      vertexT* vertex = nullptr;
      vertexT** vertexp = nullptr;
      FOREACHvertex_(facet->vertices) {
        if (count < corners.size()) {
          corners.at(count) = Simplices::PointIndex{qh_pointid(qh, vertex->point)};
        }
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

Eigen::Vector3d vector_of(const Simplices::Point& point) { return {point[0], point[1], point[2]}; }

}  // namespace

Simplices::Simplices(const std::vector<Point>& points) {
  if (points.size() < 5) return;  // Qhull needs more than a tetrahedron
  for (const auto& corners : tetrahedra(points)) add(points, corners);
}

void Simplices::add(const std::vector<Point>& points, const Corners& corners) {
  Map map;
  map.origin = vector_of(points.at(corners[3]));
  map.box.extend(map.origin);
  Eigen::Matrix3d edges;
  int column = 0;
  for (const PointIndex corner : std::span(corners).first<3>()) {
    const Eigen::Vector3d at = vector_of(points.at(corner));
    map.box.extend(at);
    edges.col(column++) = at - map.origin;
  }
  bool full = false;
  double volume = 0;
  edges.computeInverseAndDetWithCheck(map.inverse, volume, full, kFlat);
  if (!full) return;
  corners_.push_back(corners);
  maps_.push_back(map);
}

std::optional<Simplices::Mix> Simplices::at(const Point& point) const {
  const Eigen::Vector3d at = vector_of(point);
  for (std::size_t s = 0; s < maps_.size(); ++s) {
    if (!maps_[s].box.contains(at)) continue;
    const Eigen::Vector3d weights = maps_[s].inverse * (at - maps_[s].origin);
    const double last = 1 - weights.sum();
    if (std::min(weights.minCoeff(), last) < -kOutside) continue;
    return Mix{corners_[s], {weights[0], weights[1], weights[2], last}};
  }
  return std::nullopt;
}

}  // namespace rubato::sim
