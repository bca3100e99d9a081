// SPDX-License-Identifier: GPL-2.0-or-later
// The courses of jobs and job types, in the memory of snapshots, plans and the state file.
#pragma once

#include "lib/base/json_reader.h"
#include "lib/base/json_writer.h"
#include "lib/core/course.h"

namespace rubato {

/// The members behind the key of the job, into an object that is open.
void write_course(JsonWriter& json, const Course& course);
void write_type_course(JsonWriter& json, const TypeCourse& type);

/// The same members; the caller has read the key and finishes the object.
void read_course(JsonObject& object, Course& course);
[[nodiscard]] TypeCourse read_type_course(const JsonItem& item);

}  // namespace rubato
