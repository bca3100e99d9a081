// SPDX-License-Identifier: GPL-2.0-or-later
// Interpolation on the Delaunay triangulation: exact for linear functions, only inside the hull.
#include <gtest/gtest.h>

#include <cmath>

#include "lib/sim/engine/noise.h"
#include "lib/sim/peers/simplices.h"

namespace rubato::sim {
namespace {

using Point = Simplices::Point;

/// A grid like that of step times: many points on one sphere.
std::vector<Point> grid() {
  std::vector<Point> points;
  for (int nodes = 1; nodes <= 8; nodes *= 2) {
    for (int each = 1; each <= 4; ++each) {
      for (const double batch : {4.0, 8.0, 11.0, 16.0}) {
        points.push_back({static_cast<double>(nodes), static_cast<double>(nodes * each), batch});
      }
    }
  }
  return points;
}

double linear(const Point& at) { return 3 + 2 * at[0] - 0.5 * at[1] + 0.25 * at[2]; }

TEST(Simplices, AreExactForWhatIsLinear) {
  const std::vector<Point> points = grid();
  const Simplices simplices(points);
  ASSERT_FALSE(simplices.empty());
  int inside = 0;
  for (std::uint64_t n = 0; n < 500; ++n) {
    const Point at{1 + 7 * uniform_noise(1, 1, n), 1 + 31 * uniform_noise(1, 2, n),
                   4 + 12 * uniform_noise(1, 3, n)};
    const auto mix = simplices.at(at);
    if (!mix) continue;
    ++inside;
    double value = 0;
    double whole = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const double weight = mix->weights.at(i);
      EXPECT_GE(weight, -1e-8);
      whole += weight;
      value += weight * linear(points.at(mix->points.at(i)));
    }
    EXPECT_NEAR(whole, 1, 1e-9);
    EXPECT_NEAR(value, linear(at), 1e-8);
  }
  EXPECT_GT(inside, 100);
}

TEST(Simplices, KnowTheirPointsAndNothingOutside) {
  const std::vector<Point> points = grid();
  const Simplices simplices(points);
  for (const Point& point : points) EXPECT_TRUE(simplices.at(point));
  EXPECT_FALSE(simplices.at({9, 20, 8}));
  EXPECT_FALSE(simplices.at({4, 40, 8}));
  EXPECT_FALSE(simplices.at({4, 8, 17}));
  EXPECT_FALSE(simplices.at({std::nan(""), 8, 8}));
}

/// Coplanar points have no tetrahedra and are not an error.
TEST(Simplices, AreNoneOfFlatPoints) {
  EXPECT_TRUE(Simplices({}).empty());
  EXPECT_TRUE(Simplices({{1, 1, 1}, {2, 1, 1}, {1, 2, 1}}).empty());
  std::vector<Point> flat;
  for (int i = 0; i < 20; ++i) flat.push_back({1, static_cast<double>(i % 5), i / 5.0});
  EXPECT_FALSE(Simplices(flat).at({1, 2.5, 1.1}));
  EXPECT_FALSE(Simplices(std::vector<Point>(9, Point{1, 2, 3})).at({1, 2, 3}));
}

}  // namespace
}  // namespace rubato::sim
