// SPDX-License-Identifier: GPL-2.0-or-later
#include "test/spank/fake_spank.h"

#include <array>
#include <cstdarg>

namespace rubato {
namespace {

FakeSpank fake;

void say(const char* format, va_list values) {
  std::array<char, 2048> text = {};
  vsnprintf(text.data(), text.size(), format, values);
  fake.said.emplace_back(text.data());
}

}  // namespace

int FakeSpank::give(const std::string& name, const char* value) {
  for (const spank_option& option : options) {
    if (option.name == name) return option.cb(option.val, value, 0);
  }
  return -2;
}

FakeSpank& new_fake_spank() {
  fake = {};
  return fake;
}

FakeSpank& fake_spank() { return fake; }

}  // namespace rubato

extern "C" {

spank_err_t spank_option_register(spank_t /*spank*/, struct spank_option* option) {
  rubato::fake_spank().options.push_back(*option);
  return static_cast<spank_err_t>(ESPANK_SUCCESS);
}

spank_err_t spank_job_control_setenv(spank_t /*spank*/, const char* name, const char* value,
                                     int /*overwrite*/) {
  rubato::fake_spank().control[name] = value;
  return static_cast<spank_err_t>(ESPANK_SUCCESS);
}

spank_err_t spank_job_control_unsetenv(spank_t /*spank*/, const char* name) {
  rubato::fake_spank().control.erase(name);
  return static_cast<spank_err_t>(ESPANK_SUCCESS);
}

void slurm_error(const char* format, ...) {
  va_list values;
  va_start(values, format);
  rubato::say(format, values);
  va_end(values);
}

void slurm_spank_log(const char* format, ...) {
  va_list values;
  va_start(values, format);
  rubato::say(format, values);
  va_end(values);
}

}  // extern "C"
