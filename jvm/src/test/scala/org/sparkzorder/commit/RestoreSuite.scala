package org.sparkzorder.commit

import org.apache.hadoop.fs.Path

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.commit.log.History
import org.sparkzorder.commit.upkeep.{RestorePlan, Trash}

class RestoreSuite extends AnyFunSuite {
  import RestoreObstacle._

  private def optimized(dirs: Seq[String] = Scene.Two): SmallTable = {
    val t = new SmallTable(dirs)
    t.optimize()
    t
  }

  private def testOf(dirs: Seq[String] = Scene.Two)(name: String)(body: SmallTable => Any): Unit =
    test(name)(body(optimized(dirs)))

  private def retired(t: SmallTable, end: String = ""): Seq[String] =
    t.fs.below("/t").filter(_.endsWith(s"$end.retired"))

  test("in random histories each version comes back as it was, with the files that others appended since", InRest) {
    for (seed <- 1 to 300) {
      val random = new Random(seed)
      val t = new SmallTable(Seq("", "p=1", "p=2"), 2)
      val versions = mutable.Buffer(t.snapshot)
      // With the version after which it was appended.
      val appended = mutable.Buffer.empty[(Int, String, (Long, Long))]
      val rows = t.allRows.toBuffer
      for (step <- 1 to 12) withClue(s"seed $seed, step $step: ") {
        random.nextInt(4) match {
          case 0 =>
            val name = Seq("", "p=1/", "p=2/")(random.nextInt(3)) + s"other-$step.parquet"
            t.fs.put(s"/t/$name", Set(1000 + step), 7L)
            appended += ((versions.size - 1, name, t.snapshot(name)))
            rows += 1000 + step
          case 1 | 2 =>
            t.optimize(t.ops, s"op-$step", random.shuffle(t.dirs).take(1 + random.nextInt(3)))
            versions += t.snapshot
          case _ =>
            val before = t.snapshot
            val to = random.nextInt(versions.size)
            t.restore(t.ops, to.toLong, s"op-$step")
            assert(t.snapshot == versions(to) ++ appended.collect { case (at, name, id) if at >= to => name -> id })
            if (t.snapshot != before) versions += t.snapshot
        }
        assert(t.fs.visibleRows == rows.sorted && t.litter.isEmpty && t.history.size == versions.size - 1)
      }
    }
  }

  test("retired files that are gone, and new ones that were changed or deleted, are named, and nothing is touched") {
    val torn = optimized()
    torn.fs.nodes.remove("/t/p=1/_zorder/trash/_v0000000001-op-1/part-2.parquet.retired")
    assert(torn.refused(0) == (Gone -> Seq("p=1/part-2.parquet")))
    val t = optimized()
    t.fs.put("/t/p=1/new-op-1-2.parquet", Set(900), 50L)
    t.fs.nodes.remove("/t/p=2/new-op-1-1.parquet")
    assert(t.refused(0) == (Changed -> Seq("p=1/new-op-1-2.parquet", "p=2/new-op-1-1.parquet")))
    t.fs.deleteAll("/t/p=1")
    assert(t.refused(0)._1 == Changed)
  }

  testOf()("rows that somebody deleted before a later operation do not come back by going further back than it") { t =>
    t.fs.nodes.remove("/t/p=2/new-op-1-1.parquet")
    val before = t.snapshot
    t.optimize(id = "op-2")
    assert(t.refused(0) == (Lost -> Seq("p=2/new-op-1-1.parquet")))
    t.restore(to = 1, id = "op-3")
    assert(t.snapshot == before)
  }

  testOf(Seq(""))("a file whose name was taken comes back by another name, and every version stays within reach") { t =>
    val first = t.snapshot
    t.fs.put("/t/part-3.parquet", Set(900), 5L)
    val appended = t.snapshot("part-3.parquet")
    t.restore(to = 0, id = "op-2")
    assert(t.fs.visibleRows == (t.allRows :+ 900).sorted && t.snapshot("part-3.parquet") == appended)
    assert(t.files.map(_.replaceFirst("-restored-op-2-\\d+", "")).sorted.distinct.size == 3)
    assert(t.files.count(RestorePlan.isRenamed) == 1)
    // The file is known by both names.
    val restored = t.snapshot
    t.restore(to = 0, id = "op-3")
    assert(t.snapshot == restored && t.history.size == 2)
    t.restore(to = 1, id = "op-4")
    assert(t.snapshot == first + ("part-3.parquet" -> appended))
    t.restore(to = 2, id = "op-5")
    assert(t.snapshot == restored)
    t.optimize(id = "op-6")
    t.restore(to = 1, id = "op-7")
    assert(t.fs.visibleRows == (t.allRows :+ 900).sorted)
    t.fs.nodes.remove("/t/part-3.parquet")
    t.restore(to = 0, id = "op-8")
    assert(t.fs.visibleRows == t.allRows && t.litter.isEmpty)
  }

  testOf()("RESTORE to a version that never was is refused") { t =>
    for (version <- Seq(2L, -1L, Long.MaxValue))
      assert(intercept[VersionNotFoundException](t.restore(to = version)).current == 1)
    t.restore(to = 1)
    assert(t.history.size == 1, "nothing was to do")
  }

  testOf()("operations that a RESTORE undid are restored, until the RESTORE itself is undone") { t =>
    def states: Seq[String] = t.history.map(_.state).reverse
    t.optimize(id = "op-2")
    assert(states == Seq("committed", "committed"))
    t.restore(to = 0, id = "op-3")
    assert(states == Seq("restored", "restored", "committed"))
    t.restore(to = 2, id = "op-4")
    assert(states == Seq("committed", "committed", "restored", "committed"))
    t.restore(to = 1, id = "op-5")
    assert(states == Seq("committed", "restored", "restored", "restored", "committed"))
    t.vacuum(id = "op-6")
    // All files that the first three operations retired have come back once. The fourth retired
    // those of the first again.
    assert(states == Seq("committed", "restored", "restored", "vacuumed", "vacuumed"))
    assert(t.refused(0)._1 == Gone)
  }

  testOf()("VACUUM deletes old retired files, and RESTORE still goes back over the younger ones") { t =>
    val first = t.snapshot
    val time = t.history.head.record.timestamp
    t.optimize(id = "op-2")
    val old = (record: Record) => record.timestamp <= time
    val named = Trash.expired(t.folder, old).files.map(_.path.toUri.getPath)
    assert(named.sorted == retired(t).filter(_.contains("/_v0000000001-op-1/")))
    t.vacuum(t.ops, "op-3", old)
    assert(t.history.map(_.state) == Seq("committed", "vacuumed") && !named.exists(t.fs.nodes.contains))
    assert(t.refused(0)._1 == Gone)
    t.restore(to = 1, id = "op-4")
    assert(t.snapshot == first)
    t.vacuum(t.ops, "op-5", _ => false)
    assert(t.history.map(_.state) == Seq("committed", "restored", "vacuumed"))
  }

  test("VACUUM judges a retired file by its own path, and keeps one that grows after it has listed the trash") {
    // Two partitions have files of the same name and of other lengths.
    val t = new SmallTable(Scene.Two)
    t.fs.put("/t/p=2/part-1.parquet", t.rowsOf("p=2/part-1.parquet"), 77L)
    t.optimize()
    val Seq(first, second) = retired(t, "/part-1.parquet"): @unchecked
    t.fs.put(first, Set(1, 2, 900), 77L)
    t.vacuum(id = "op-2")
    assert(t.fs.nodes.contains(first) && !t.fs.nodes.contains(second))

    val whole = optimized()
    val counted = whole.ops
    whole.vacuum(counted, "op-2")
    var kept = 0
    for (k <- 1 to counted.calls) {
      val grown = optimized()
      val file = retired(grown, "/part-1.parquet").head
      grown.vacuum(grown.beside(k)(if (grown.fs.nodes.contains(file)) grown.fs.put(file, Set(1, 2, 900), 200L)), "op-2")
      if (grown.fs.nodes.contains(file)) {
        kept += 1
        // The record stays whole, since it says what length the file had.
        grown.vacuum(id = "op-3")
        assert(grown.fs.nodes.contains(file))
      }
    }
    // One look is left before the folder goes.
    assert(kept > counted.calls / 3)
  }

  testOf()("VACUUM marks a version before its first retired file is gone") { t =>
    t.optimize(id = "op-2")
    def trash(version: Long): Int = retired(t).count(_.contains(f"/_v$version%010d-"))
    val before = t.history.map(e => e.record.version -> trash(e.record.version)).toMap
    assert(before.size == 2 && before.values.forall(_ > 0))
    t.fs.changed = () =>
      t.history.filter(_.state != History.Vacuumed).map(_.record.version).foreach { version =>
        assert(trash(version) == before(version), s"version $version, as the history says, leads back")
      }
    t.vacuum(id = "op-3")
    assert(t.history.forall(_.state == History.Vacuumed) && before.keys.forall(trash(_) == 0))
  }

  testOf()("a half vacuumed version is not restored, though all its files are there, and VACUUM deletes them") { t =>
    for (k <- 1 to 200 if t.history.forall(_.state != History.Vacuumed)) {
      t.attempt("op-2")(t.vacuum(t.faulty(k, Fault.DieAfter), "op-2"))
      assert(t.recover().isEmpty)
    }
    assert(retired(t).nonEmpty && t.refused(0)._1 == Gone)
    t.vacuum(t.ops, "op-3", _ => false)
    assert(!t.fs.below("/t").exists(p => p.endsWith(".retired") || p.contains("/trash")))
  }

  /** An OPTIMIZE meets others right before calls, and gives up. */
  private def conflicts(t: SmallTable)(other: PartialFunction[Int, Unit]): Unit =
    assert(t.attempt(new MemoryOps(t.fs, other = other)).exists(_.isInstanceOf[CommitConflictException]))

  test("an input whose name others take while it is in the trash comes back by another name") {
    val t = new SmallTable(Seq(""))
    def isRetired = retired(t, "/part-2.parquet").nonEmpty
    def isUndone = !t.files.contains("part-2.parquet") && t.fs.below("/t").exists(_.endsWith(".rolled-back"))
    val gone = t.rowsOf("part-3.parquet")
    conflicts(t) {
      case _ if isRetired && t.files.contains("part-3.parquet") => t.fs.nodes.remove("/t/part-3.parquet")
      case _ if isRetired && isUndone                           => t.fs.put("/t/part-2.parquet", Set(900), 5L)
    }
    assert(t.files == Seq("part-1.parquet", "part-2-op-1.parquet", "part-2.parquet"))
    assert(t.fs.visibleRows == t.allRows.filterNot(gone) :+ 900 && retired(t).isEmpty)
  }

  test("a file that is put in place of a retired one costs no row when another one is deleted") {
    val t = new SmallTable(Seq(""))
    conflicts(t) {
      case _ if retired(t, "/part-2.parquet").nonEmpty && t.files.contains("part-3.parquet") =>
        t.fs.put("/t/part-2.parquet", Set(900), 5L)
        t.fs.nodes.remove("/t/part-3.parquet")
    }
    assert(t.fs.visibleRows == t.allRows :+ 900)
  }

  test("a file that came back by another name is known by it when a RESTORE goes further back") {
    val folder = TableFolder(new Path("mem:/t"), new MemoryOps(new MemoryFs))
    def record(version: Long, operation: String, in: InputFile, out: OutputFile) =
      Record(version, s"op$version", operation, 1L, "me", Map.empty, Map.empty, Seq(in), Seq(out))
    for (etags <- Seq(false, true)) {
      def tag(name: String) = Option.when(etags)(name)
      val first = record(1, "OPTIMIZE", InputFile("a", 1, 1, 5, tag("A")), OutputFile("b", 2, 2, 5, etag = tag("B")))
      val second = record(2, "OPTIMIZE", InputFile("b", 2, 2, 5, tag("B")), OutputFile("c", 3, 3, 5, etag = tag("C")))
      val source = folder.relative(folder.retired("b", second))
      val renamed = OutputFile("b-restored", 2, if (etags) 9 else 2, 5, source, tag("D"), tag("B"))
      val third = record(3, "RESTORE", InputFile("c", 3, 3, 5, tag("C")), renamed)
      val plan = RestorePlan.of(folder, Seq(third, second, first))
      assert(plan.inputs.map(_.path) == Seq("b-restored"))
      assert(plan.outputs.map(o => o.path -> o.source) == Seq("a" -> folder.relative(folder.retired("a", first))))
    }
  }
}
