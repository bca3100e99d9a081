// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

namespace rubato::test {

/// Makes GoogleTest also write its results in CUnit's XML format (CUnit-Run.dtd of CUnit 2.1), for
/// sites that collect it. The argument `--cunit_xml=FILE` names the file. Without it, the file is
/// PROGRAM-Results.xml in the folder of the environment variable RUBATO_CUNIT_DIR. Without either,
/// nothing is written. A file that cannot be written ends the program with an error.
///
/// A skipped test is a CUNIT_RUN_TEST_SKIPPED record, which CUnit 2.1's own reports never contain.
/// A report without skips is valid for CUnit 2.1 too. The reason of a skip also becomes the
/// property `skip_reason` of the test in GoogleTest's JSON, which has no other member for it.
void add_listeners(int argc, char** argv);

}  // namespace rubato::test
