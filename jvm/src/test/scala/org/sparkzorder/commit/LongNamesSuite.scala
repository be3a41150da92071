package org.sparkzorder.commit

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.scalatest.funsuite.AnyFunSuite

class LongNamesSuite extends AnyFunSuite {

  private def bytes(name: String): Int = name.getBytes(UTF_8).length

  test("a name with room for the suffix is kept, so that older tables find their files again") {
    Seq("a", "part-1.parquet", "x" * 247, "ä" * 123).foreach { name =>
      assert(LongNames.fit(name, ".retired") == name + ".retired")
    }
  }

  test("a longer one ends in a hash of the whole name, at the border of a character") {
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

  test("a record may bring a file back from the trash that has a shorter name there, and no other") {
    val ops = new HadoopFileOps(FileSystem.getLocal(new Configuration()))
    val folder = TableFolder(new Path("file:/t"), ops)
    val name = "p=1/" + "x" * 255
    def fault(source: String): Option[String] =
      Record.fault(
        Record(1, "op", "RESTORE", 1, "me", Map(), Map(), Nil, Seq(OutputFile(name, 1, 1, 0, Some(source))))
      )
    val source = folder.relative(folder.retired(name, 7)).get
    assert(fault(source).isEmpty)
    assert(fault(source.dropRight(9) + "0.retired").isDefined)
    assert(fault(folder.relative(folder.retired("p=1/" + "x" * 254, 7)).get).isDefined)
  }
}
