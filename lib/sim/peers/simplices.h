// SPDX-License-Identifier: GPL-2.0-or-later
// Linear interpolation between points in three dimensions, on the Delaunay triangulation that scipy
// computes with Qhull (Barber, Dobkin and Huhdanpaa, ACM TOMS 22(4), 1996).
#pragma once

#include <array>
#include <eigen3/Eigen/Geometry>
#include <optional>
#include <vector>

#include "lib/base/index.h"

namespace rubato::sim {

/// Tetrahedra between points. If several points lie on one sphere, the triangulation is not unique.
/// This one equals that of scipy.spatial.Delaunay: same options, same order of points.
class Simplices {
 public:
  using Point = std::array<double, 3>;
  using PointIndex = Index<struct PointTag>;
  using Corners = std::array<PointIndex, 4>;

  /// Points, and their weights, which sum to 1.
  struct Mix {
    Corners points;
    std::array<double, 4> weights;
  };

  /// Coplanar points give no tetrahedra.
  explicit Simplices(const std::vector<Point>& points);

  [[nodiscard]] bool empty() const { return corners_.empty(); }
  /// Weights in the tetrahedron that holds `point`; nullopt outside all of them.
  [[nodiscard]] std::optional<Mix> at(const Point& point) const;

 private:
  /// Adds a tetrahedron unless it is flat.
  void add(const std::vector<Point>& points, const Corners& corners);

  /// Maps a point, minus the last corner, to the weights of the other corners.
  struct Map {
    Eigen::Vector3d origin;
    Eigen::Matrix3d inverse;
    Eigen::AlignedBox3d box;  ///< bounding box
  };
  std::vector<Corners> corners_;
  std::vector<Map> maps_;
};

}  // namespace rubato::sim
