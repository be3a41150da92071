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

  private def ops(t: SmallTable) = t.ops

  private def optimized(dirs: Seq[String] = Seq("p=1", "p=2")): SmallTable = {
    val t = new SmallTable(dirs)
    t.optimize(ops(t), "op-1")
    t
  }

  private def everything(t: SmallTable): Seq[String] = t.fs.below("/t").filterNot(_.contains("/_tmp-"))

  private def retired(t: SmallTable, dir: String): String =
    t.fs.below(s"/t/$dir").find(_.endsWith("/part-1.parquet.retired")).get

  private def refused(t: SmallTable, to: Long): (RestoreObstacle, Seq[String]) = {
    val before = everything(t)
    val e = intercept[NotRestorableException](t.restore(ops(t), to, "op-r"))
    assert(everything(t) == before)
    assert(e.version == to)
    (e.obstacle, e.paths)
  }

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
            t.optimize(ops(t), s"op-$step", random.shuffle(t.dirs).take(1 + random.nextInt(3)))
            versions += t.snapshot
          case _ =>
            val before = t.snapshot
            val to = random.nextInt(versions.size)
            t.restore(ops(t), to.toLong, s"op-$step")
            assert(t.snapshot == versions(to) ++ appended.collect { case (at, name, id) if at >= to => name -> id })
            if (t.snapshot != before) versions += t.snapshot
        }
        assert(t.fs.visibleRows == rows.sorted)
        assert(t.litter.isEmpty)
        assert(t.history.size == versions.size - 1)
      }
    }
  }

  test("a file that RESTORE would retire and that was changed or deleted is named, and nothing is touched") {
    val t = optimized()
    t.fs.put("/t/p=1/new-op-1-2.parquet", Set(900), 50L)
    t.fs.nodes.remove("/t/p=2/new-op-1-1.parquet")
    assert(refused(t, 0) == (Changed -> Seq("p=1/new-op-1-2.parquet", "p=2/new-op-1-1.parquet")))
    t.fs.deleteAll("/t/p=1")
    assert(refused(t, 0)._1 == Changed)
  }

  test("rows that somebody deleted before a later operation do not come back by going further back than it") {
    val t = optimized()
    t.fs.nodes.remove("/t/p=2/new-op-1-1.parquet")
    val before = t.snapshot
    t.optimize(ops(t), "op-2")
    assert(refused(t, 0) == (Lost -> Seq("p=2/new-op-1-1.parquet")))
    t.restore(ops(t), 1, "op-3")
    assert(t.snapshot == before)
  }

  test("a retired file that is gone is named") {
    val t = optimized()
    t.fs.nodes.remove("/t/p=1/_zorder/trash/_v0000000001-op-1/part-2.parquet.retired")
    assert(refused(t, 0) == (Gone -> Seq("p=1/part-2.parquet")))
  }

  test("a file whose name was taken comes back by another name, and every version stays within reach") {
    val t = optimized(Seq(""))
    val first = t.snapshot
    t.fs.put("/t/part-3.parquet", Set(900), 5L)
    val appended = t.snapshot("part-3.parquet")
    t.restore(ops(t), 0, "op-2")
    assert(t.fs.visibleRows == (t.allRows :+ 900).sorted)
    assert(t.snapshot("part-3.parquet") == appended)
    assert(t.files.map(_.replaceFirst("-restored-op-2-\\d+", "")).sorted.distinct.size == 3)
    // The file is known by both names.
    val restored = t.snapshot
    t.restore(ops(t), 0, "op-3")
    assert(t.snapshot == restored && t.history.size == 2)
    t.restore(ops(t), 1, "op-4")
    assert(t.snapshot == first + ("part-3.parquet" -> appended))
    t.restore(ops(t), 2, "op-5")
    assert(t.snapshot == restored)
    t.optimize(ops(t), "op-6")
    t.restore(ops(t), 1, "op-7")
    assert(t.fs.visibleRows == (t.allRows :+ 900).sorted)
    t.fs.nodes.remove("/t/part-3.parquet")
    t.restore(ops(t), 0, "op-8")
    assert(t.fs.visibleRows == t.allRows)
    assert(t.litter.isEmpty)
  }

  test("RESTORE to a version that never was is refused, and to the current one has nothing to do") {
    val t = optimized()
    val before = everything(t)
    for (version <- Seq(2L, -1L, Long.MaxValue)) {
      val e = intercept[VersionNotFoundException](t.restore(ops(t), version))
      assert(e.current == 1)
    }
    t.restore(ops(t), 1)
    t.restore(ops(t), 0, "op-2")
    t.restore(ops(t), 0, "op-3")
    assert(t.history.map(_.record.operationId) == Seq("op-2", "op-1"))
    assert(before.filter(_.contains("part-")).map(FileNames.name) == t.files.map(FileNames.name(_) + ".retired"))
  }

  test("operations that a RESTORE undid are restored, until the RESTORE itself is undone") {
    val t = optimized()
    def states: Seq[String] = t.history.map(_.state).reverse
    t.optimize(ops(t), "op-2")
    assert(states == Seq("committed", "committed"))
    t.restore(ops(t), 0, "op-3")
    assert(states == Seq("restored", "restored", "committed"))
    t.restore(ops(t), 2, "op-4")
    assert(states == Seq("committed", "committed", "restored", "committed"))
    t.restore(ops(t), 1, "op-5")
    assert(states == Seq("committed", "restored", "restored", "restored", "committed"))
    t.vacuum(ops(t), "op-6")
    // All files that the first three operations retired have come back once. The fourth retired
    // those of the first again.
    assert(states == Seq("committed", "restored", "restored", "vacuumed", "vacuumed"))
    assert(refused(t, 0)._1 == Gone)
  }

  test("VACUUM deletes old retired files, and RESTORE still goes back over the younger ones") {
    val t = optimized()
    val first = t.snapshot
    val time = t.history.head.record.timestamp
    t.optimize(ops(t), "op-2")
    val old = (record: Record) => record.timestamp <= time
    val named = Trash.expired(TableFolder(t.root, ops(t)), old).files.map(_.path.toUri.getPath)
    assert(named.sorted == t.fs.below("/t").filter(p => p.contains("/_v0000000001-op-1/") && p.endsWith(".retired")))
    t.vacuum(ops(t), "op-3", old)
    assert(t.history.map(_.state) == Seq("committed", "vacuumed"))
    assert(!named.exists(t.fs.nodes.contains))
    assert(refused(t, 0)._1 == Gone)
    t.restore(ops(t), 1, "op-4")
    assert(t.snapshot == first)
    t.vacuum(ops(t), "op-5", _ => false)
    assert(t.history.map(_.state) == Seq("committed", "restored", "vacuumed"))
  }

  test("VACUUM keeps a retired file to which another program has appended rows since") {
    val t = optimized()
    val (longer, others) = t.fs.below("/t").filter(_.endsWith(".retired")).splitAt(1)
    t.fs.put(longer.head, Set(1, 2, 3), 999L)
    t.vacuum(ops(t), "op-2")
    assert(t.fs.nodes.contains(longer.head) && others.nonEmpty && !others.exists(t.fs.nodes.contains))
    assert(t.history.map(_.state) == Seq("vacuumed"))
    t.optimize(ops(t), "op-3")
    t.vacuum(ops(t), "op-4")
    assert(t.fs.nodes.contains(longer.head))
  }

  test("VACUUM judges a retired file by its own path, and keeps one that grows after it has listed the trash") {
    // Two partitions have files of the same name and of other lengths.
    val t = new SmallTable(Seq("p=1", "p=2"))
    t.fs.put("/t/p=2/part-1.parquet", t.rowsOf("p=2/part-1.parquet"), 77L)
    t.optimize(ops(t), "op-1")
    val (first, second) = (retired(t, "p=1"), retired(t, "p=2"))
    t.fs.put(first, Set(1, 2, 900), 77L)
    t.vacuum(ops(t), "op-2")
    assert(t.fs.nodes.contains(first) && !t.fs.nodes.contains(second))

    val calls = {
      val whole = optimized()
      val counted = ops(whole)
      whole.vacuum(counted, "op-2")
      counted.calls
    }
    var kept = 0
    for (k <- 1 to calls) {
      val grown = optimized()
      val file = retired(grown, "p=1")
      val isFirst = new MemoryOps(
        grown.fs,
        other = { case `k` if grown.fs.nodes.contains(file) => grown.fs.put(file, Set(1, 2, 900), 200L) }
      )
      grown.vacuum(isFirst, "op-2")
      if (grown.fs.nodes.contains(file)) {
        kept += 1
        // The record stays whole, since it says what length the file had.
        grown.vacuum(ops(grown), "op-3")
        assert(grown.fs.nodes.contains(file))
      }
    }
    // One look is left before the folder goes.
    assert(kept > calls / 3)
  }

  test("VACUUM marks a version before its first retired file is gone") {
    val t = optimized()
    t.optimize(ops(t), "op-2")
    def retired(version: Long): Int =
      t.fs.below("/t").count(p => p.contains(f"/_v$version%010d-") && p.endsWith(".retired"))
    val before = t.history.map(e => e.record.version -> retired(e.record.version)).toMap
    assert(before.size == 2 && before.values.forall(_ > 0))
    t.fs.changed = () =>
      t.history.filter(_.state != History.Vacuumed).map(_.record.version).foreach { version =>
        assert(retired(version) == before(version), s"version $version, as the history says, leads back")
      }
    t.vacuum(ops(t), "op-3")
    assert(t.history.forall(_.state == History.Vacuumed))
    assert(before.keys.forall(retired(_) == 0))
  }

  test(
    "a version that is half vacuumed is not restored, though all its files are there, and the next VACUUM deletes them"
  ) {
    val t = optimized()
    for (k <- 1 to 200 if t.history.forall(_.state != History.Vacuumed)) {
      t.attempt("op-2")(t.vacuum(t.faulty(k, Fault.DieAfter), "op-2"))
      assert(t.recover(ops(t)).isEmpty)
    }
    assert(t.fs.below("/t").exists(_.endsWith(".retired")))
    assert(refused(t, 0)._1 == Gone)
    t.vacuum(ops(t), "op-3", _ => false)
    assert(!t.fs.below("/t").exists(p => p.endsWith(".retired") || p.contains("/trash")))
  }

  test("an input whose name others take while it is in the trash comes back by another name") {
    val t = new SmallTable(Seq(""))
    def isRetired(name: String) = t.fs.below("/t").exists(_.endsWith(s"$name.retired"))
    val gone = t.rowsOf("part-3.parquet")
    var (deleted, taken) = (false, false)
    val rival = new MemoryOps(
      t.fs,
      other = {
        case _ if !deleted && isRetired("part-2.parquet") =>
          deleted = true
          t.fs.nodes.remove("/t/part-3.parquet")
        case _ if !taken && isRetired("part-2.parquet") && t.fs.below("/t").exists(_.endsWith(".rolled-back")) =>
          taken = true
          t.fs.put("/t/part-2.parquet", Set(900), 5L)
      }
    )
    assert(t.attempt(rival).exists(_.isInstanceOf[CommitConflictException]) && taken)
    assert(t.files == Seq("part-1.parquet", "part-2-op-1.parquet", "part-2.parquet"))
    assert(t.fs.visibleRows == t.allRows.filterNot(gone) :+ 900)
    assert(!t.fs.below("/t").exists(_.endsWith(".retired")))
  }

  test("a file that is put in place of a retired one costs no row when another one is deleted") {
    val t = new SmallTable(Seq(""))
    var done = false
    val rival = new MemoryOps(
      t.fs,
      other = {
        case _ if !done && t.fs.below("/t").exists(_.endsWith("part-2.parquet.retired")) =>
          done = true
          t.fs.put("/t/part-2.parquet", Set(900), 5L)
          t.fs.nodes.remove("/t/part-3.parquet")
      }
    )
    assert(t.attempt(rival).exists(_.isInstanceOf[CommitConflictException]) && done)
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
