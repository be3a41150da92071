package org.sparkzorder.commit

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.commit.storage.HadoopFileOps
import org.sparkzorder.commit.upkeep.RestorePlan

class LongNamesSuite extends AnyFunSuite {

  private def bytes(name: String): Int = name.getBytes(UTF_8).length

  test("a name with room for the suffix is kept, so that older tables find their files again") {
    Seq("a", "part-1.parquet", "x" * 247, "ä" * 123).foreach { name =>
      assert(LongNames.fit(name, ".retired") == name + ".retired")
    }
  }

  test("a longer name is cut between two characters and ends in a hash of the whole name") {
    for (character <- Seq("x", "ä", "日", "😀"); end <- Seq("a.parquet", "b.parquet")) {
      val name = character * ((255 - end.length) / bytes(character)) + end
      val fit = LongNames.fit(name, ".retired")
      assert(bytes(fit) <= 255 && bytes(fit) > 190 && fit.matches("(?s).+-[0-9a-f]{16}\\.retired"))
      assert(fit.startsWith(character * (180 / bytes(character)) + "-"))
      assert(LongNames.fit(name, ".retired") == fit)
      assert(LongNames.fit(name + "c", ".retired") != fit)
      assert(bytes(LongNames.fit(name, s".${"0" * 36}.retired")) <= 255)
    }
  }

  test("a file that has a shorter name in the trash comes back by its whole name, and counts as the same file") {
    val ops = new HadoopFileOps(FileSystem.getLocal(new Configuration()))
    val folder = TableFolder(new Path("file:/t"), ops)
    val name = "p=1/" + "x" * 255
    val optimize = Record(1, "op-1", "OPTIMIZE", 1, "me", Map(), Map(), Seq(InputFile(name, 1, 1, 0)), Nil)
    val Seq(back) = RestorePlan.of(folder, Seq(optimize)).outputs: @unchecked
    assert(back.path == name && back.pathBefore == name)
    assert(back.source.exists(s => s.length < name.length + 40 && s.endsWith(".retired")))
    assert(Record.fault(optimize.copy(operation = "RESTORE", inputs = Nil, outputs = Seq(back))).isEmpty)
    assert(back.copy(path = "p=1/other").pathBefore != "p=1/other")
  }
}
