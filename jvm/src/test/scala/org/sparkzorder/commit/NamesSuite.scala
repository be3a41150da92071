package org.sparkzorder.commit

import java.nio.file.{Files, Paths}
import java.util.UUID

import scala.util.Random

import org.apache.hadoop.fs.{GlobFilter, Path}
import org.apache.spark.sql.execution.datasources.BucketingUtils
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.commit.upkeep.RestorePlan

/** The names that we give to files, as others see them, and names of others that are tied to files. */
class NamesSuite extends AnyFunSuite {
  private val random = new Random(7)
  private def some[T](of: Seq[T]): T = of(random.nextInt(of.size))
  private val endings = Seq(".snappy.parquet", ".parquet", ".zstd.parquet", ".orc", ".zlib.orc")

  private def ours(): String = WrittenNames.of(
    some(Seq(0, 7, 99999, 100000, 1234567)),
    some(Seq(0, 1, 2000)),
    WrittenNames.newId(),
    random.nextInt(100000).toLong,
    some(endings)
  )

  private def ofSpark(): String = {
    val (number, id) = (f"${some(Seq(0, 7, 99999, 100000))}%05d", UUID.randomUUID())
    s"part-$number-$id${some(Seq("-c000", ".c000", "_00003.c000", "-c012"))}${some(endings)}"
  }

  /** Names of pyarrow, dask, DuckDB, Polars, Hive, MapReduce, Spark and Trino, and some that are almost ours. */
  private def ofOthers(): Seq[String] = {
    val (id, n) = (UUID.randomUUID(), random.nextInt(1000))
    val parts = Map("{id}" -> s"$id", "{n}" -> s"$n", "{n3}" -> f"$n%03d", "{n5}" -> f"$n%05d", "{n6}" -> f"$n%06d")
    Seq(
      "part-{n}.parquet", "{id}-{n}.parquet", "part.{n}.parquet", "data_{n}.parquet", "data_{id}.parquet",
      "00000{n}.parquet", "{n6}_0", "{n6}_0_copy_1", "part-{n5}", "part-{n5}.orc", "part-r-{n5}.gz.parquet",
      "part-m-{n5}.orc", "part-00000-tid-8123456789-{id}-{n}-1-c000.snappy.parquet", "part-00000-c{n3}.orc",
      "part-{n5}-20260101-0001.parquet", "part-{n5}-20260101-0001-{id}.orc", "part-{n5}-20260101.orc",
      "20260101_{n}_{id}", "zebra.{n}.parquet", "pz-{n}.orc", "z", "p", "part-"
    ).map(name => parts.foldLeft(name) { case (text, (part, by)) => text.replace(part, by) })
  }

  private def glob(pattern: String)(name: String): Boolean = new GlobFilter(pattern).accept(new Path("/d", "./" + name))

  private lazy val ofDocs: String = {
    val root =
      Iterator.iterate(Paths.get("").toAbsolutePath)(_.getParent).find(p => Files.exists(p.resolve("docs"))).get
    val page = new String(Files.readAllBytes(root.resolve("docs/readers.md")), "UTF-8")
    val pattern = """(?s)ALL_BUT_OURS = \((.+?)\n\)""".r.findFirstMatchIn(page).get.group(1)
    pattern.split('\n').map(_.trim.stripPrefix("\"").stripSuffix("\"")).mkString
  }

  test("patterns that find Spark's files find ours") {
    val patterns = Seq("part-*", "part-?????-*", "part-[0-9]*", "part-*.c000*", "part-*-*-*-*-*", "{part,data}*")
    for (_ <- 1 to 500; number = random.nextInt(99999); ending <- endings) {
      val name = WrittenNames.of(number, 0, WrittenNames.newId(), random.nextInt(999).toLong, ending)
      for (p <- patterns ++ Seq(s"part-*$ending", f"part-$number%05d-*")) assert(glob(p)(name), p)
      assert(name.matches("part-\\d{5}-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\\S*\\.c000\\S+"), name)
    }
  }

  test("our names are told from all others, and have no bucket") {
    for (_ <- 1 to 500; name = ours())
      assert(WrittenNames.isOurs(name) && BucketingUtils.getBucketId(name).isEmpty, name)
    for (_ <- 1 to 500; name <- ofOthers() ++ Seq(ofSpark(), ours().replace("-zorder-", "-")))
      assert(!WrittenNames.isOurs(name), name)
    assert(WrittenNames.isOurs("zorder-00012.part1-11111111-2222-4333-8444-555555555555-a7.snappy.parquet"))
    assert(WrittenNames.isOurs("zorder-00012-11111111-2222-4333-8444-555555555555-a7.zlib.orc"))
    assert(Seq.fill(1000)(WrittenNames.newId()).distinct.size == 1000)
  }

  test("the pattern of the docs takes all names but ours", InRest) {
    val takes = glob(ofDocs)(_)
    for (_ <- 1 to 500) {
      val name = ours()
      val marked = LongNames.marked(name, s"-restored-${UUID.randomUUID()}-1")
      Seq(name, marked, FileNames.otherName(name, "op-1")).foreach(n => assert(!takes(n), n))
      (ofSpark() +: ofOthers()).foreach(n => assert(takes(n), n))
    }
    // Each name that differs from ours in one character before the mark, or ends there.
    for (name <- Seq.fill(50)(ours()); i <- 0 to "part-00012-11111111-2222-8".length - 1) {
      val isDigit = i >= 5 && i < 10
      val isHex = i > 10 && name(i) != '-' && i != 25
      val other = some("_.Zqx-".filter(_ != name(i)))
      if (!(isDigit || isHex)) assert(takes(name.updated(i, other)), name.updated(i, other))
      for (ending <- endings) assert(takes(name.take(i) + ending), name.take(i) + ending)
    }
  }

  test("a mark comes behind the beginning of a name and before its endings, whatever its length") {
    for (stem <- Seq("part-0", "x" * 240, "ä" * 118, "😀" * 60); ending <- Seq("", ".orc", ".c000.parquet")) {
      val marked = LongNames.marked(stem + ending, s"-restored-${UUID.randomUUID()}-12345")
      assert(marked.getBytes("UTF-8").length <= 255 && RestorePlan.isRenamed(marked), marked)
      assert(marked.startsWith(stem.take(60)) && marked.endsWith(ending.drop(ending.lastIndexOf('.'))), marked)
    }
    assert(LongNames.marked("a." + "b" * 250, "-x").getBytes("UTF-8").length <= 255)
    assert(LongNames.marked("part-0.c000.parquet", "-x") == "part-0-x.c000.parquet")
    assert(!Seq("part-0.parquet", "restored.parquet").exists(RestorePlan.isRenamed))
    assert(LongNames.marked("x" * 250 + "a.orc", "-x") != LongNames.marked("x" * 250 + "b.orc", "-x"))
  }

  test("copies of stale appends begin and end as their originals, and those of earlier versions are known") {
    def meta(name: String) = FileMeta(new Path("/t", name), 10, 7, isDirectory = false)
    for (name <- Seq("part-00000-c000.snappy.parquet", "data_0.parquet", "000000_0")) {
      val copy = ForwardCopyName.of(meta(name))
      assert(ForwardCopyName.isOne(copy) && !ForwardCopyName.isOne(name))
      val dot = if (name.contains('.')) name.indexOf('.') else name.length
      assert(copy.startsWith(name.take(dot)) && copy.endsWith(name.drop(dot)))
      val key = ForwardCopyName.key(meta(name))
      assert(ForwardCopyName.of(meta(copy)) == copy && ForwardCopyName.key(meta(copy)) == key)
      val old = s"zorder-carried-$key-$name"
      assert(ForwardCopyName.isOne(old) && ForwardCopyName.key(meta(old)) == key)
    }
  }

  private def bytes(name: String): Int = name.getBytes("UTF-8").length

  test("a name with room for the suffix is kept, so that older tables find their files again") {
    for (name <- Seq("a", "part-1.parquet", "x" * 247, "ä" * 123))
      assert(LongNames.fit(name, ".retired") == name + ".retired")
  }

  test("a longer name is cut between two characters and ends in a hash of the whole name") {
    for (character <- Seq("x", "ä", "日", "😀"); end <- Seq("a.parquet", "b.parquet")) {
      val name = character * ((255 - end.length) / bytes(character)) + end
      val fit = LongNames.fit(name, ".retired")
      assert(bytes(fit) <= 255 && bytes(fit) > 190 && fit.matches("(?s).+-[0-9a-f]{16}\\.retired"))
      assert(fit.startsWith(character * (180 / bytes(character)) + "-"))
      assert(LongNames.fit(name, ".retired") == fit && LongNames.fit(name + "c", ".retired") != fit)
      assert(bytes(LongNames.fit(name, s".${"0" * 36}.retired")) <= 255)
    }
  }

  private val files = Set("part-00000-c000.snappy.parquet", "1.parquet", "data", "a=1")
  private def owner(entry: String): Option[String] = CompanionNames.ownerOf(entry, files)

  test("a hidden entry with the whole name of a data file is tied to it") {
    val part = "part-00000-c000.snappy.parquet"
    val tied = Seq(
      "_KEY_MATERIAL_FOR_{}.json", "_TMP_KEY_MATERIAL_FOR_{}.json", ".{}.swp", "_{}", ".{}.Xy12Zz", "{}._COPYING_"
    ).map(_.replace("{}", part))
    tied.foreach(entry => assert(owner(entry).contains(part), entry))
    assert(owner("_KEY_MATERIAL_FOR_1.parquet.json").contains("1.parquet"))
    assert(owner("_bak-of-a=1").contains("a=1"))
    val isKeys = CompanionNames.isKeyMaterial _
    assert(isKeys(CompanionNames.keyMaterialOf("x.parquet")) && !isKeys(".x.parquet.swp"))
  }

  test("checksums, attributes of macOS, and names that only look alike are not tied") {
    val free = Seq(
      ".part-00000-c000.snappy.parquet.crc", "._part-00000-c000.snappy.parquet", "_SUCCESS", "_metadata",
      "_common_metadata", "_zorder", "_KEY_MATERIAL_FOR_11.parquet.json",
      "_KEY_MATERIAL_FOR_part-00001-c000.snappy.parquet.json", "part-00000-c000.snappy.parquet",
      "part-00000-c000.snappy.parquet.bak"
    )
    free.foreach(entry => assert(owner(entry).isEmpty, entry))
  }
}
