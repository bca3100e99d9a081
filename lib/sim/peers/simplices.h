// SPDX-License-Identifier: GPL-2.0-or-later
// Linear interpolation between points in three dimensions, on the Delaunay triangulation that scipy
// makes of them with Qhull (Barber, Dobkin and Huhdanpaa, ACM TOMS 22(4), 1996).
#pragma once

#include <array>
#include <eigen3/Eigen/Geometry>
#include <optional>
#include <vector>

namespace rubato::sim {

/// Tetrahedra between points. Where several points lie on one sphere there are many triangulations;
/// this one is that of scipy.spatial.Delaunay, with its options and in the order of the points.
class Simplices {
 public:
  using Point = std::array<double, 3>;

  /// Points, as their place in the list, and how much each counts; the weights sum up to 1.
  struct Mix {
    std::array<int, 4> points;
    std::array<double, 4> weights;
  };

  /// Points without volume give no tetrahedra.
  explicit Simplices(const std::vector<Point>& points);

  [[nodiscard]] bool empty() const { return corners_.empty(); }
  /// Weights in the tetrahedron that holds `point`; nullopt outside all of them.
  [[nodiscard]] std::optional<Mix> at(const Point& point) const;

 private:
  /// Adds a tetrahedron unless it is flat.
  void add(const std::vector<Point>& points, const std::array<int, 4>& corners);

  /// What turns a point less the last corner into the weights of the other corners.
  struct Map {
    Eigen::Vector3d origin;
    Eigen::Matrix3d inverse;
    Eigen::AlignedBox3d box;  ///< around it
  };
  std::vector<std::array<int, 4>> corners_;
  std::vector<Map> maps_;
};

}  // namespace rubato::sim
