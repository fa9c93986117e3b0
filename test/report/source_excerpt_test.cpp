// Part of WaveSan, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "temporary_file.h"

#include "wavesan/report/source_excerpt.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

using wavesan::report::sourceExcerpt;
using wavesan::test::TemporaryFile;

TEST(SourceExcerpt, LineAndCaret) {
  TemporaryFile file("first\n  second = 2;\nlast without newline");
  EXPECT_EQ(sourceExcerpt(file.path(), 2, 3, 2), "       2 |   second = 2;\n         |   ^\n");
  EXPECT_EQ(sourceExcerpt(file.path(), 3, 1, 0), "     3 | last without newline\n       | ^\n");
  EXPECT_EQ(sourceExcerpt(file.path(), 1, 0, 0), "     1 | first\n");
}

TEST(SourceExcerpt, CaretBeyondTheLineIsLeftOut) {
  TemporaryFile file("ab\n");
  EXPECT_EQ(sourceExcerpt(file.path(), 1, 9, 0), "     1 | ab\n");
}

TEST(SourceExcerpt, NoSuchLineOrFile) {
  TemporaryFile file("one\n");
  EXPECT_EQ(sourceExcerpt(file.path(), 0, 1, 0), "");
  EXPECT_EQ(sourceExcerpt(file.path(), 5, 1, 0), "");
  EXPECT_EQ(sourceExcerpt(file.path() + ".missing", 1, 1, 0), "");
  EXPECT_EQ(sourceExcerpt("", 1, 1, 0), "");
  EXPECT_EQ(sourceExcerpt("/", 1, 1, 0), "");
}

TEST(SourceExcerpt, TabsBecomeSpacesAndTheCaretFollows) {
  TemporaryFile file("\tx\ty;\n");
  EXPECT_EQ(sourceExcerpt(file.path(), 1, 2, 0), "     1 |         x       y;\n       |         ^\n");
  EXPECT_EQ(sourceExcerpt(file.path(), 1, 4, 0), "     1 |         x       y;\n       |                 ^\n");
}

TEST(SourceExcerpt, LongLinesAreCutAroundTheColumn) {
  std::string line(5000, 'a');
  line[300] = 'X';
  TemporaryFile file(line + "\n");
  std::string text = sourceExcerpt(file.path(), 1, 301, 0);
  std::string first = text.substr(0, text.find('\n')), second = text.substr(text.find('\n') + 1);
  EXPECT_LT(first.size(), 130u);
  ASSERT_NE(first.find('X'), std::string::npos);
  EXPECT_EQ(first.find('X'), second.find('^'));
  // A column beyond what is kept of a monstrous line.
  EXPECT_EQ(sourceExcerpt(file.path(), 1, 4999, 0).find('^'), std::string::npos);
}

TEST(SourceExcerpt, MultiByteCharactersCountOnce) {
  TemporaryFile file("/* \xc3\xa4\xc3\xb6 */ x;\n");
  std::string text = sourceExcerpt(file.path(), 1, 12, 0);
  EXPECT_EQ(text, "     1 | /* \xc3\xa4\xc3\xb6 */ x;\n       |          ^\n");
}

TEST(SourceExcerpt, BinaryAndSpecialFilesAreRefused) {
  TemporaryFile binary(std::string("ab\0cd\nline\n", 11));
  EXPECT_EQ(sourceExcerpt(binary.path(), 1, 1, 0), "");
  EXPECT_EQ(sourceExcerpt(binary.path(), 2, 1, 0), "");
  EXPECT_EQ(sourceExcerpt("/dev/zero", 1, 1, 0), "");
  std::string fifo = binary.path() + ".fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(sourceExcerpt(fifo, 1, 1, 0), ""); // must not block
  unlink(fifo.c_str());
}

TEST(SourceExcerpt, EscapeSequencesAreDefused) {
  TemporaryFile file("a\x1b[31mb\r\n");
  EXPECT_EQ(sourceExcerpt(file.path(), 1, 0, 0), "     1 | a?[31mb\n");
}

TEST(SourceExcerpt, HugeFilesAreReadOnlyAtTheirBeginning) {
  std::string big(20u << 20, '\n');
  TemporaryFile file(big + "end\n");
  EXPECT_EQ(sourceExcerpt(file.path(), uint32_t(big.size() + 1), 1, 0), "");
}
