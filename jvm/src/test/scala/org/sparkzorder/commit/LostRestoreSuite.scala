package org.sparkzorder.commit

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.TestRest
import org.sparkzorder.commit.log.{History, Reappeared, RecordJson, TableState}

/** RESTORE of a table of which somebody has deleted files that an OPTIMIZE wrote. */
@TestRest
class LostRestoreSuite extends AnyFunSuite with Explores {
  import RestoreObstacle._

  private def ops(t: SmallTable) = t.ops

  private val dirs = Seq("p=1", "p=2")

  /** Which of the four new files are deleted. */
  private val losses = Map(
    "one file" -> Seq("p=1/new-op-91-1.parquet"),
    "all files of a folder" -> Seq("p=1/new-op-91-1.parquet", "p=1/new-op-91-2.parquet"),
    "files of each folder" -> Seq("p=1/new-op-91-2.parquet", "p=2/new-op-91-1.parquet"),
    "all files" -> dirs.flatMap(d => Seq(s"$d/new-op-91-1.parquet", s"$d/new-op-91-2.parquet"))
  )

  private def lost(names: Seq[String]): SmallTable = {
    val t = new SmallTable(dirs)
    t.optimize(ops(t), "op-91")
    names.foreach(n => assert(t.fs.nodes.remove(s"/t/$n").isDefined, t.files))
    t
  }

  private def everything(t: SmallTable): Seq[String] = t.fs.below("/t").filterNot(_.contains("/_tmp-"))

  private def refused(t: SmallTable, to: Long, lost: Boolean = false): (RestoreObstacle, Seq[String]) = {
    val before = everything(t)
    val e = intercept[NotRestorableException](t.restore(ops(t), to, "op-r", lost))
    assert(everything(t) == before)
    (e.obstacle, e.paths)
  }

  for ((loss, names) <- losses) test(s"$loss: all rows come back, and the ways back and forth stay right") {
    val t = lost(names)
    assert(refused(t, 0) == (Lost -> names.sorted))
    val other = "p=2/other.parquet"
    def append(): Unit = t.fs.put(s"/t/$other", Set(900), 5L)
    append()
    val rows = (t.allRows :+ 900).sorted
    val isBeside = names.exists(_.startsWith("p=2/"))
    if (isBeside) {
      // It may have the rows of lost files.
      for (option <- Seq(false, true)) assert(refused(t, 0, option) == (Beside -> Seq(other)))
      t.fs.nodes.remove(s"/t/$other")
    }
    t.restore(ops(t), 0, "op-92", lost = true)
    if (isBeside) append()
    assert(t.fs.visibleRows == rows)
    val record = t.history.head.record
    assert(record.lost.map(_.path) == names.sorted && record.folders.flatMap(_.lost) == record.lost)
    // Version 1 had files that are nowhere now.
    for (option <- Seq(false, true)) assert(refused(t, 1, option) == (Gone -> names.sorted))
    t.restore(ops(t), 0, "op-93", lost = true)
    assert(t.history.size == 2, "nothing was to do")
    // From here on, the lost files are in no way.
    val restored = t.snapshot
    t.optimize(ops(t), "op-94")
    t.restore(ops(t), 2, "op-95")
    assert(t.snapshot == restored)
    t.restore(ops(t), 3, "op-96")
    t.restore(ops(t), 0, "op-97")
    assert(t.snapshot == restored && t.fs.visibleRows == rows)
    t.vacuum(ops(t), "op-98")
    assert(t.fs.visibleRows == rows && t.litter.isEmpty)
    assert(t.history.map(_.record.version) == Seq(6, 5, 4, 3, 2, 1))
  }

  test("a file that was changed is refused, beside one that is gone, with the option and without") {
    val t = lost(losses("one file"))
    t.fs.put("/t/p=2/new-op-91-1.parquet", Set(900), 50L)
    val both = Seq("p=1/new-op-91-1.parquet", "p=2/new-op-91-1.parquet")
    for (option <- Seq(false, true)) assert(refused(t, 0, option) == (Changed -> both))
  }

  test("the option is not named where the trash lacks files as well") {
    val t = lost(losses("one file"))
    t.fs.nodes.remove("/t/p=2/_zorder/trash/_v0000000001-op-91/part-2.parquet.retired")
    assert(refused(t, 0) == (Changed -> losses("one file")))
    assert(refused(t, 0, lost = true) == (Gone -> Seq("p=2/part-2.parquet")))
  }

  test("with nothing lost the option changes nothing") {
    val (with_, without) = (lost(Nil), lost(Nil))
    with_.restore(ops(with_), 0, "op-92", lost = true)
    without.restore(ops(without), 0, "op-92")
    assert(with_.snapshot == without.snapshot && with_.files.nonEmpty)
    val (a, b) = (with_.history.head.record, without.history.head.record)
    assert(a.copy(timestamp = 0) == b.copy(timestamp = 0))
    assert(!new String(RecordJson.write(a)).contains("lost"))
  }

  test("a record with lost files is read as it was written, and rows must still match") {
    val t = lost(losses("one file"))
    t.restore(ops(t), 0, "op-92", lost = true)
    val record = t.history.head.record
    assert(RecordJson.parse(RecordJson.write(record), t.root) == record)
    assert(Record.fault(record).isEmpty)
    assert(Record.fault(record.copy(lost = Nil)).contains("rows come or go"))
    assert(Record.fault(record.copy(lost = record.lost.map(_.copy(path = "../x")))).isDefined)
    assert(Record.fault(record.copy(lost = record.lost ++ record.lost)).contains("a file is named twice"))
  }

  test("a lost file that somebody puts back later is an append, and is reported") {
    val t = lost(losses("one file"))
    t.restore(ops(t), 0, "op-92", lost = true)
    t.fs.put("/t/p=1/new-op-91-1.parquet", Set(900), 50L)
    assert(t.fs.visibleRows == (t.allRows :+ 900).sorted)
    val folder = TableFolder(t.root, ops(t))
    val side = new TableState.SideFolder(folder, folder.ops.list(folder.side))
    assert(Reappeared.find(side, t.files) == Seq(Reappeared("p=1/new-op-91-1.parquet", 2)))
    t.optimize(ops(t), "op-93")
    t.restore(ops(t), 0, "op-94")
    assert(t.fs.visibleRows == (t.allRows :+ 900).sorted)
  }

  test("in random histories with deletes, each version that may come back has its rows once") {
    var (restored, lossy) = (0, 0)
    for (seed <- 1 to 100) {
      val random = new Random(seed)
      val t = new SmallTable(Seq("", "p=1", "p=2"), 2)
      for (step <- 1 to 12) withClue(s"seed $seed, step $step: ") {
        random.nextInt(4) match {
          case 0 =>
            val files = t.files.filter(_.contains("new-"))
            random.shuffle(files).take(1 + random.nextInt(2)).foreach(f => t.fs.nodes.remove(s"/t/$f"))
          case 1 => t.optimize(ops(t), s"op-$step", random.shuffle(t.dirs).take(1 + random.nextInt(3)))
          case _ =>
            val to = random.nextInt(t.history.size + 1)
            val before = t.fs.visibleRows
            val failure = t.attempt(s"op-$step")(t.restore(ops(t), to.toLong, s"op-$step", lost = true))
            if (failure.isDefined) assert(failure.get.isInstanceOf[NotRestorableException])
            else {
              restored += 1
              assert(before.diff(t.fs.visibleRows).isEmpty, "a row went")
              if (t.history.headOption.exists(e => e.record.lost.nonEmpty)) lossy += 1
              if (to == 0) assert(t.fs.visibleRows == t.allRows)
            }
        }
        assert(t.fs.visibleRows.distinct == t.fs.visibleRows, "a row is there twice")
        assert(t.litter.isEmpty)
      }
    }
    assert(restored > 100 && lossy > 30)
  }

  /** A table before the RESTORE, and the rows that are there. */
  private def watched(names: Seq[String]): (SmallTable, Seq[Int]) = {
    val t = lost(names)
    val before = t.fs.visibleRows
    t.fs.changed = () => {
      assert(before.diff(t.fs.visibleRows).isEmpty, "a plain reader lacks rows")
      val seen = t.viewedRows()
      assert(seen.distinct == seen && before.diff(seen).isEmpty && seen.diff(t.allRows).isEmpty, "our reader")
    }
    (t, before)
  }

  private def checkEnd(t: SmallTable, before: Seq[Int]): Unit = {
    def isWhole(dir: String) = t.rowsIn(dir) == t.allRows.filter(r => if (dir == "p=1") r < 30 else r >= 30)
    val ofFolder = dirs.map(d => d -> before.filter(r => if (d == "p=1") r < 30 else r >= 30))
    ofFolder.foreach { case (dir, rows) => assert(isWhole(dir) || t.rowsIn(dir) == rows) }
    assert(!t.isPublishing)
    t.nextStatement()
    assert(t.litter.isEmpty && t.liveness.running.isEmpty)
    t.restore(ops(t), 0, "op-2", lost = true)
    assert(t.fs.visibleRows == t.allRows && t.litter.isEmpty)
    t.optimize(ops(t), "op-3")
    t.restore(ops(t), 0, "op-4")
    assert(t.fs.visibleRows == t.allRows && t.litter.isEmpty)
  }

  private def restore(t: SmallTable, ops: FileOps): Option[Throwable] =
    t.attempt("op-1")(t.restore(ops, 0, "op-1", lost = true))

  private def calls(names: Seq[String]): Int = {
    val counted = ops(lost(names))
    val (t, _) = watched(names)
    val all = t.ops
    assert(restore(t, all).isEmpty && t.fs.visibleRows == t.allRows && counted.calls == 0)
    all.calls
  }

  private val faults = Seq(Fault.DieBefore, Fault.DieAfter, Fault.ThrowBefore, Fault.ThrowAfter, Fault.DiskFull)

  for ((loss, names) <- losses) test(s"$loss: it dies or fails at any call, and so does the recovery") {
    // At call 0 nothing happens.
    for {
      (fault, i) <- faults.zipWithIndex
      k <- Explored.some(8, i, 1 to calls(names))
      j <- Seq(0) ++ Explored.some(50, k, 1 to 100)
    } explore {
      val (t, before) = watched(names)
      val first = t.faulty(k, fault)
      restore(t, first)
      val second = new MemoryOps(t.fs, j, if ((j + k) % 2 == 0) Fault.DieBefore else Fault.DieAfter)
      t.recover(second)
      t.liveness.running.clear()
      withClue(s"call $k $fault ${first.trace.lastOption}, recovery dies at $j ${second.trace.lastOption}: ") {
        assert(t.recover(ops(t)).isEmpty)
        checkEnd(t, before)
      }
    }
  }

  test("a lost file that is put back while the RESTORE runs costs no row, and doubles none before the decision") {
    for (name <- Seq("one file", "all files of a folder"); dies <- Seq(false, true)) {
      var late = 0
      for (k <- 1 to calls(losses(name))) explore {
        val t = new SmallTable(dirs)
        t.optimize(ops(t), "op-91")
        val file = s"/t/${losses(name).head}"
        val node = t.fs.nodes(file)
        losses(name).foreach(n => t.fs.nodes.remove(s"/t/$n"))
        val back = t.fs.rows(Nil) ++ node.asInstanceOf[File].rows
        var isOpen = false
        val rival = new MemoryOps(
          t.fs,
          if (dies) k + 1 else 0,
          Fault.DieBefore,
          other = { case `k` =>
            val decided = t.fs.below("/t/p=1").exists(_.endsWith(".exchanged"))
            isOpen = !decided && t.history.size == 1
            t.fs.nodes(file) = node
          }
        )
        val end = restore(t, rival)
        t.liveness.running.clear()
        assert(t.recover(ops(t)).isEmpty)
        withClue(s"put back before call $k ${rival.trace.lift(k - 1)}, ended with $end: ") {
          val rows = t.fs.visibleRows
          val twice = rows.diff(rows.distinct)
          assert(twice.isEmpty || twice == back.sorted)
          if (twice.nonEmpty && isOpen) late += 1
          assert(t.litter.isEmpty)
        }
      }
      // As with any append: between the last look at each of them and the decision.
      assert(late <= losses(name).size, name)
    }
  }

  test("on an object store: it dies or fails at any request, and so does the recovery") {
    def prepared(names: Seq[String]): (StoreTable, Seq[Int]) = {
      val t = new StoreTable(dirs)
      assert(t.optimize(new MemoryClient(t.shared), "a"))
      t.shared.remove(names.map(n => s"/t/$n"))
      val before = t.shared.rows(t.shared.visible)
      t.shared.changed = () => assert(before.diff(t.shared.rows(t.shared.visible)).isEmpty)
      (t, before)
    }
    val ofStore = Seq(Seq("p=1/part-a-0.parquet"), Seq("p=1/part-a-0.parquet", "p=1/part-a-1.parquet"))
    for (names <- ofStore) {
      val (whole, _) = prepared(names)
      val counted = new MemoryClient(whole.shared)
      assert(whole.restoreLost(counted, "b", 0) && whole.shared.rows(whole.shared.visible) == whole.allRows)
      assert(History.read(whole.folder(new MemoryClient(whole.shared))).head.record.lost.map(_.path) == names)
      for (k <- 1 to counted.calls; fault <- StoreFault.all; j <- Seq(0) ++ Explored.some(15, k, 1 to 30)) explore {
        val (t, before) = prepared(names)
        val first = new MemoryClient(t.shared, k, fault)
        def dying(work: => Unit): Unit =
          try work
          catch { case _: Died | _: java.io.IOException => () }
        dying(t.restoreLost(first, "b", 0): Unit)
        val second = new MemoryClient(t.shared, j, StoreFault.DieBefore)
        dying(t.recover(second))
        (first.onItsWay.toSeq ++ second.onItsWay).foreach(_())
        t.recover(new MemoryClient(t.shared))
        withClue(s"$names, $fault at $k, recovery dies at $j: ") {
          val rows = t.shared.rows(t.shared.visible)
          def of(all: Seq[Int], first: Boolean) = all.filter(_ < 100 == first)
          for (first <- Seq(true, false))
            assert(Seq(before, t.allRows).exists(of(_, first) == of(rows, first)), rows)
          assert(t.seen() == rows)
          assert(t.restoreLost(new MemoryClient(t.shared), "c", 0))
          assert(t.shared.rows(t.shared.visible) == t.allRows)
        }
      }
    }
  }

  test("on an object store a lost file that is put back before the decision keeps the folder as it was") {
    val t = new StoreTable(Seq(""))
    assert(t.optimize(new MemoryClient(t.shared), "a"))
    val name = "/t/part-a-0.parquet"
    t.shared.copy(name, "/elsewhere")
    t.shared.remove(Seq(name))
    var done = false
    def isReady = t.shared.below("/t").exists(_.endsWith(".publishing"))
    val client = new MemoryClient(
      t.shared,
      other = {
        case _ if isReady && !done =>
          done = true
          t.shared.copy("/elsewhere", name)
      }
    )
    assert(!t.restoreLost(client, "b", 0) && done)
    assert(t.shared.rows(t.shared.visible) == t.allRows && t.shared.uploads.isEmpty)
  }

  private val shapes = Seq(Seq(CatalogPartition.Table), Seq("1", "2").map(v => CatalogPartition(Seq("p" -> v))))

  private def moved(partitions: Seq[CatalogPartition], lost: Int): (MemoryCatalogTable, Seq[String]) = {
    val t = new MemoryCatalogTable(partitions)
    t.optimize(id = "op-0")
    val gone = t.dataIn(t.locations(partitions.head)).take(lost)
    gone.foreach(t.fs.nodes.remove)
    (t, gone)
  }

  for (partitions <- shapes; lost <- 1 to 2)
    test(s"a catalog's table of ${partitions.size} places goes back without $lost files, also if it dies at any call") {
      val (whole, gone) = moved(partitions, lost)
      val e = intercept[NotRestorableException](whole.restore(whole.ops, "op-1", 0))
      assert(e.obstacle == Lost && e.paths == gone.map(p => s"mem:$p").sorted)
      val counted = whole.ops
      whole.restore(counted, "op-1", 0, restoresLost = true)
      assert(whole.plainRows == whole.allRows)
      val back =
        intercept[NotRestorableException](whole.restore(whole.ops, "op-2", 1, restoresLost = true))
      assert(back.obstacle == Gone && back.paths == e.paths)
      whole.optimize(id = "op-3")
      whole.restore(whole.ops, "op-4", 0)
      assert(whole.plainRows == whole.allRows)
      for (k <- 1 to counted.calls; fault <- faults.take(4)) explore {
        val (t, _) = moved(partitions, lost)
        val before = t.plainRows
        t.fs.changed = () => assert(Seq(before, t.allRows).exists(r => t.plainRows.diff(r).isEmpty))
        t.attempt("op-1")(t.restore(t.faulty(k, fault), "op-1", 0, restoresLost = true))
        t.next()
        withClue(s"call $k $fault: ") {
          def of(all: Seq[Int], first: Boolean) = all.filter(_ < 100 == first)
          for (first <- Seq(true, false))
            assert(Seq(before, t.allRows).exists(of(_, first) == of(t.plainRows, first)))
          assert(t.litter.isEmpty)
          t.restore(t.ops, "op-2", 0, restoresLost = true)
          assert(t.plainRows == t.allRows)
        }
      }
    }

  test("a lost file of a catalog's table that is put back, during the RESTORE or later, doubles no row") {
    for (partitions <- shapes) {
      val calls = {
        val (t, _) = moved(partitions, 1)
        val counted = t.ops
        t.restore(counted, "op-1", 0, restoresLost = true)
        counted.calls
      }
      for (k <- 1 to calls + 1) explore {
        val t = new MemoryCatalogTable(partitions)
        t.optimize(id = "op-0")
        val file = t.dataIn(t.locations(partitions.head)).head
        val node = t.fs.nodes.remove(file).get
        def back(): Unit = t.fs.nodes(file) = node
        val end = t.attempt("op-1")(t.restore(t.beside(k)(back()), "op-1", 0, restoresLost = true))
        if (k > calls) back()
        t.next()
        withClue(s"put back at call $k of $calls, ended with $end: ")(assert(t.plainRows == t.allRows))
        t.optimize(id = "op-2")
        assert(t.plainRows == t.allRows)
      }
    }
  }

  test("a changed file of a catalog's table is refused, beside one that is gone") {
    val (t, gone) = moved(shapes.last, 1)
    val other = t.dataIn(t.locations(shapes.last.last)).head
    t.fs.put(other, Set(900), 51L)
    for (option <- Seq(false, true)) {
      val e = intercept[NotRestorableException](t.restore(t.ops, "op-1", 0, restoresLost = option))
      assert(e.obstacle == Changed && e.paths.contains(s"mem:$other") && gone.nonEmpty)
    }
  }
}
