// SPDX-License-Identifier: GPL-2.0-or-later
// Cache of forecasts: a round needs the same few configurations thousands of times.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/base/hash.h"
#include "lib/model/throughput/throughput.h"

namespace rubato {

/// Thread-safe. A lookup copies no text.
class ForecastCache {
 public:
  /// Maximum number of forecasts; further ones are not cached.
  static constexpr std::size_t kMaxKept = 100'000;

  /// A query; `configuration` null means the usual one.
  struct View {
    const ProfileName& profile;
    const std::string& gpu_type;
    int gpus;
    const JobConfiguration* configuration;
  };

  [[nodiscard]] std::optional<Forecast> find(const View& view) const {
    const std::shared_lock lock(mutex_);
    const auto at = kept_.find(view);
    return at != kept_.end() ? std::optional(at->second) : std::nullopt;
  }

  void keep(const View& view, const Forecast& forecast) {
    const std::unique_lock lock(mutex_);
    if (kept_.size() >= kMaxKept) return;
    kept_.try_emplace(
        {view.profile, view.gpu_type, view.gpus,
         view.configuration != nullptr ? std::optional(*view.configuration) : std::nullopt},
        forecast);
  }

  /// Calls `what` for at most `most` of the queries, in any order.
  void each(std::size_t most, const std::function<void(const View&)>& what) const {
    std::vector<Key> keys;
    {
      const std::shared_lock lock(mutex_);
      for (const auto& [key, unused] : kept_) {
        if (keys.size() >= most) break;
        keys.push_back(key);
      }
    }
    for (const Key& key : keys) what(key.view());
  }

 private:
  struct Key {
    ProfileName profile;
    std::string gpu_type;
    int gpus = 1;
    std::optional<JobConfiguration> configuration;

    [[nodiscard]] View view() const {
      return {profile, gpu_type, gpus, configuration ? &*configuration : nullptr};
    }
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const View& view) const {
      Hasher hash;
      hash.add(view.profile.job_type).add(view.profile.account).add(view.gpu_type).add(view.gpus);
      if (view.configuration != nullptr) {
        const JobConfiguration& at = *view.configuration;
        hash.add(at.nodes).add(at.batch).add(at.plan);
      }
      return hash.value();
    }
    std::size_t operator()(const Key& key) const { return (*this)(key.view()); }
  };
  struct Equal {
    using is_transparent = void;
    static bool same(const View& a, const View& b) {
      if (a.gpus != b.gpus || (a.configuration == nullptr) != (b.configuration == nullptr))
        return false;
      if (a.gpu_type != b.gpu_type || a.profile.job_type != b.profile.job_type ||
          a.profile.account != b.profile.account) {
        return false;
      }
      return a.configuration == nullptr || (a.configuration->nodes == b.configuration->nodes &&
                                            a.configuration->batch == b.configuration->batch &&
                                            a.configuration->plan == b.configuration->plan);
    }
    bool operator()(const Key& a, const Key& b) const { return same(a.view(), b.view()); }
    bool operator()(const View& a, const Key& b) const { return same(a, b.view()); }
    bool operator()(const Key& a, const View& b) const { return same(a.view(), b); }
  };

  mutable std::shared_mutex mutex_;
  std::unordered_map<Key, Forecast, Hash, Equal> kept_;
};

}  // namespace rubato
