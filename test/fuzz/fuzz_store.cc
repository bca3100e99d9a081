// SPDX-License-Identifier: GPL-2.0-or-later
// A database with arbitrary damage: it opens, whatever is left of it is kept, and it takes new
// records. Input: pairs of a position (2 bytes) and a byte to write there; a trailing odd byte cuts
// the file.
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "lib/store/session.h"

namespace {

namespace fs = std::filesystem;
using rubato::store::AnyRecord;
using rubato::store::Session;
using rubato::store::StoreOptions;

constexpr rubato::Seconds kNow = 1'767'225'600;

void require(bool holds) {
  if (!holds) std::abort();
}

std::vector<AnyRecord> records(int first, int count) {
  std::vector<AnyRecord> made;
  for (int i = first; i < first + count; ++i) {
    rubato::store::Sample sample;
    sample.type = {.account = "lab", .name = "type" + std::to_string(i % 7)};
    sample.job = {static_cast<rubato::JobId>(i + 1), kNow - 1000};
    sample.time = kNow - 900 + i;
    sample.run_start = kNow - 950;
    sample.gpu_type = "a100";
    sample.gpus = 1;
    sample.nodes = 1;
    sample.plan = "dp";
    sample.batch = 32;
    sample.samples_done = 100 * (i + 1);
    sample.throughput = 10;
    made.emplace_back(std::move(sample));
  }
  return made;
}

std::string make_folder() {
  std::string name = (fs::temp_directory_path() / "rubato-fuzz-XXXXXX").string();
  require(mkdtemp(name.data()) != nullptr);
  return name;
}

/// The bytes of an undamaged database.
const std::string& good_database() {
  static const std::string bytes = [] {
    StoreOptions options;
    options.folder = make_folder();
    options.local = false;
    std::vector<std::string> notes;
    {
      auto session = Session::open(options, kNow, notes);
      require(session && (*session)->write(records(0, 300)).has_value());
    }
    std::ifstream file(options.folder + "/rubato.db", std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), {});
    fs::remove_all(options.folder);
    require(text.size() > 8192);
    return text;
  }();
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes = good_database();
  std::size_t at = 0;
  for (; at + 3 <= size; at += 3) {
    const std::size_t position = (std::size_t{data[at]} << 8U) | data[at + 1];
    bytes[position % bytes.size()] = static_cast<char>(data[at + 2]);
  }
  if (at < size) bytes.resize(bytes.size() * data[at] / 256);
  static const std::string folder = make_folder();
  fs::remove_all(folder);
  fs::create_directory(folder);
  std::ofstream(folder + "/rubato.db", std::ios::binary) << bytes;
  StoreOptions options;
  options.folder = folder;
  options.local = false;
  std::vector<std::string> notes;
  auto session = Session::open(options, kNow, notes);
  // A changed version or application id may make it a database of another program.
  if (!session) return session.error().text.empty() ? (std::abort(), 0) : 0;
  const auto written = (*session)->write(records(1000, 5));
  // The pages that the check did not find may still be damaged: an error with a text.
  require(written || !written.error().text.empty());
  require(notes.empty() || written.has_value());
  return 0;
}
