package org.sparkzorder.commit

import org.scalatest.funsuite.AnyFunSuite

class TiedNamesSuite extends AnyFunSuite {

  private val files = Set("part-00000-c000.snappy.parquet", "1.parquet", "data", "a=1")

  private def owner(entry: String): Option[String] = TiedNames.ownerOf(entry, files)

  test("a hidden entry with the whole name of a data file is tied to it") {
    val part = "part-00000-c000.snappy.parquet"
    val tied = Seq(
      s"_KEY_MATERIAL_FOR_$part.json",
      s"_TMP_KEY_MATERIAL_FOR_$part.json",
      s".$part.swp",
      s"_$part",
      s".$part.Xy12Zz",
      s"$part._COPYING_"
    )
    tied.foreach(entry => assert(owner(entry).contains(part), entry))
    assert(owner("_KEY_MATERIAL_FOR_1.parquet.json").contains("1.parquet"))
    assert(owner("_bak-of-a=1").contains("a=1"))
  }

  test("checksums, attributes of macOS, and names that only look alike are not tied") {
    val free = Seq(
      ".part-00000-c000.snappy.parquet.crc",
      "._part-00000-c000.snappy.parquet",
      "_SUCCESS",
      "_metadata",
      "_common_metadata",
      "_zorder",
      "_KEY_MATERIAL_FOR_11.parquet.json",
      "_KEY_MATERIAL_FOR_part-00001-c000.snappy.parquet.json",
      "part-00000-c000.snappy.parquet",
      "part-00000-c000.snappy.parquet.bak"
    )
    free.foreach(entry => assert(owner(entry).isEmpty, entry))
  }

  test("key material is told from other files by its name") {
    assert(TiedNames.isKeyMaterial(TiedNames.keyMaterialOf("x.parquet")) && !TiedNames.isKeyMaterial(".x.parquet.swp"))
  }
}
