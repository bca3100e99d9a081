// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

namespace rubato::test {

/// Makes GoogleTest write its results in CUnit's XML format too (CUnit-Run.dtd of CUnit 2.1), for
/// sites that collect that. The file is FILE of the argument `--cunit_xml=FILE`; without it
/// PROGRAM-Results.xml in the folder that the environment variable RUBATO_CUNIT_DIR names; without
/// either nothing is written. A file that cannot be written ends the program with an error.
///
/// A skipped test is a CUNIT_RUN_TEST_SKIPPED record, which CUnit 2.1's own reports never hold; a
/// report without skips is valid for CUnit 2.1 too. The reason of a skip also becomes the property
/// `skip_reason` of the test in GoogleTest's JSON, which has no other place for it.
void add_listeners(int argc, char** argv);

}  // namespace rubato::test
