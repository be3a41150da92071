package org.sparkzorder.optimize.options

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class TargetFileSizeSuite extends AnyFunSuite {
  private def mib(n: Long): Long = n << 20

  test("tables of some sizes") {
    val sizes = Seq(0L -> 8L, mib(1) -> 8L, mib(100) -> 8L, mib(512) -> 8L, mib(1024) -> 16L, mib(10 * 1024) -> 128L) ++
      Seq(mib(16 * 1024) -> 256L, mib(1024 * 1024) -> 256L, Long.MaxValue -> 256L)
    sizes.foreach { case (table, file) =>
      assert(TargetFileSize.ofTable(Seq(table)).bytes == mib(file), s"$table bytes")
    }
  }

  test("there are 45 to 91 files of any table between the limits, and the size grows with the table") {
    val random = new Random(1)
    val tables = Seq.fill(2000)((math.pow(2, 20 + 25 * random.nextDouble())).toLong).sorted
    val targets = tables.map(t => TargetFileSize.ofTable(Seq(t)).bytes)
    assert(targets == targets.sorted && targets.forall(t => t >= mib(8) && t <= mib(256)))
    tables.zip(targets).filter { case (_, t) => t > mib(8) && t < mib(256) }.foreach { case (table, t) =>
      assert((table / t) >= 45 && (table / t) <= 91, s"$table bytes in files of $t")
    }
  }

  test("the reason names the table's size, and a limit where it holds") {
    assert(
      TargetFileSize.ofTable(Seq(mib(1024))).reason == "the table has 1.0 GiB, of which about 64 files should come"
    )
    assert(TargetFileSize.ofTable(Nil).reason.endsWith("and files are not made smaller"))
    assert(TargetFileSize.ofTable(Seq(mib(1 << 20))).reason.endsWith("and files are not made larger"))
  }

  test("at least eight files come of a partition, if they are not too small") {
    def size(folders: Seq[Long]) = TargetFileSize.ofTable(folders)
    assert(size(Seq.fill(30)(mib(1600))).bytes == mib(128))
    assert(size(Seq.fill(30)(mib(57))).bytes == mib(8))
    assert(size(Seq.fill(1024)(mib(1024))).bytes == mib(128))
    assert(size(Seq.fill(1024)(mib(1024))).reason == "a partition has 1.0 GiB, of which at least 8 files should come")
    // Small partitions beside large ones do not make all files small.
    assert(size(Seq.fill(20)(mib(20 * 1024)) ++ Seq.fill(500)(mib(1))).bytes == mib(256))
    val random = new Random(2)
    (1 to 2000).foreach { _ =>
      val partition = (math.pow(2, 26 + 10 * random.nextDouble())).toLong
      val target = size(Seq.fill(1 + random.nextInt(500))(partition)).bytes
      assert(target >= mib(8) && target <= mib(256) && (target == mib(8) || partition / target >= 8))
    }
  }

  test("sizes that packing is told move the target, so that they never cross it") {
    assert(TargetFileSize.ofTable(Nil, least = Some(mib(75)), most = None).bytes == mib(100))
    assert(TargetFileSize.ofTable(Seq(mib(1 << 20)), least = None, most = Some(mib(180))).bytes == mib(100))
    assert(TargetFileSize.ofTable(Seq(mib(1024)), least = Some(mib(4)), most = Some(mib(90))).bytes == mib(16))
  }
}
