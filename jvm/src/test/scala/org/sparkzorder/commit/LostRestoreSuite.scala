package org.sparkzorder.commit

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.TestRest
import org.sparkzorder.commit.log.{History, Reappeared, RecordJson, TableState}

/** RESTORE of a table of which somebody has deleted files that an OPTIMIZE wrote. */
@TestRest
class LostRestoreSuite extends AnyFunSuite with Explorer {
  import MemoryCatalogTable.{optimized, Shapes}
  import RestoreObstacle._

  /** Which of the four new files are deleted. */
  private val losses = Map(
    "one file" -> Seq("p=1/new-op-91-1.parquet"),
    "all files of a folder" -> Seq("p=1/new-op-91-1.parquet", "p=1/new-op-91-2.parquet"),
    "files of each folder" -> Seq("p=1/new-op-91-2.parquet", "p=2/new-op-91-1.parquet"),
    "all files" -> Scene.Two.flatMap(d => Seq(s"$d/new-op-91-1.parquet", s"$d/new-op-91-2.parquet"))
  )

  /** RESTORE of a table that lost these files of its OPTIMIZE. */
  private def scene(names: Seq[String]): Scene = {
    def prepare(t: SmallTable): Unit = {
      t.optimize(id = "op-91")
      names.foreach(n => assert(t.fs.nodes.remove(s"/t/$n").isDefined, t.files))
    }
    new Scene(Statement("RESTORE", prepare, (t, ops, id) => t.restore(ops, 0, id, lost = true)), Scene.Two)
  }

  private def lost(names: Seq[String]): SmallTable = scene(names).table()
  private def testOfOneLost(name: String)(body: SmallTable => Any): Unit = test(name)(body(lost(losses("one file"))))

  for ((loss, names) <- losses) test(s"$loss: all rows come back, and the ways back and forth stay right") {
    val t = lost(names)
    assert(t.refused(0) == (Lost -> names.sorted))
    val other = "p=2/other.parquet"
    def append(): Unit = t.fs.put(s"/t/$other", Set(900), 5L)
    append()
    val rows = (t.allRows :+ 900).sorted
    val isBeside = names.exists(_.startsWith("p=2/"))
    if (isBeside) {
      // It may have the rows of lost files.
      for (option <- Seq(false, true)) assert(t.refused(0, option) == (Beside -> Seq(other)))
      t.fs.nodes.remove(s"/t/$other")
    }
    t.restore(t.ops, 0, "op-92", lost = true)
    if (isBeside) append()
    assert(t.fs.visibleRows == rows)
    val record = t.history.head.record
    assert(record.lost.map(_.path) == names.sorted && record.folders.flatMap(_.lost) == record.lost)
    // Version 1 had files that are nowhere now.
    for (option <- Seq(false, true)) assert(t.refused(1, option) == (Gone -> names.sorted))
    t.restore(t.ops, 0, "op-93", lost = true)
    assert(t.history.size == 2, "nothing was to do")
    // From here on, the lost files are in no way.
    val restored = t.snapshot
    t.optimize(id = "op-94")
    t.restore(to = 2, id = "op-95")
    assert(t.snapshot == restored)
    t.restore(to = 3, id = "op-96")
    t.restore(to = 0, id = "op-97")
    assert(t.snapshot == restored && t.fs.visibleRows == rows)
    t.vacuum(id = "op-98")
    assert(t.fs.visibleRows == rows && t.litter.isEmpty)
    assert(t.history.map(_.record.version) == Seq(6, 5, 4, 3, 2, 1))
  }

  testOfOneLost("a file that was changed is refused, beside one that is gone, with the option and without") { t =>
    t.fs.put("/t/p=2/new-op-91-1.parquet", Set(900), 50L)
    val both = Seq("p=1/new-op-91-1.parquet", "p=2/new-op-91-1.parquet")
    for (option <- Seq(false, true)) assert(t.refused(0, option) == (Changed -> both))
  }

  testOfOneLost("the option is not named where the trash lacks files as well") { t =>
    t.fs.nodes.remove("/t/p=2/_zorder/trash/_v0000000001-op-91/part-2.parquet.retired")
    assert(t.refused(0) == (Changed -> losses("one file")))
    assert(t.refused(0, lost = true) == (Gone -> Seq("p=2/part-2.parquet")))
  }

  test("with nothing lost the option changes nothing") {
    val both = Seq(true, false).map { option =>
      val t = lost(Nil)
      t.restore(t.ops, 0, "op-92", lost = option)
      assert(t.files.nonEmpty)
      val record = t.history.head.record
      assert(!new String(RecordJson.write(record)).contains("lost"))
      (t.snapshot, record.copy(timestamp = 0))
    }
    assert(both.distinct.size == 1)
  }

  testOfOneLost("a record with lost files is read as it was written, and rows must still match") { t =>
    t.restore(t.ops, 0, "op-92", lost = true)
    val record = t.history.head.record
    assert(RecordJson.parse(RecordJson.write(record), t.root) == record && Record.fault(record).isEmpty)
    assert(Record.fault(record.copy(lost = Nil)).contains("rows come or go"))
    assert(Record.fault(record.copy(lost = record.lost.map(_.copy(path = "../x")))).isDefined)
    assert(Record.fault(record.copy(lost = record.lost ++ record.lost)).contains("a file is named twice"))
  }

  testOfOneLost("a lost file that somebody puts back later is an append, and is reported") { t =>
    t.restore(t.ops, 0, "op-92", lost = true)
    t.fs.put("/t/p=1/new-op-91-1.parquet", Set(900), 50L)
    assert(t.fs.visibleRows == (t.allRows :+ 900).sorted)
    val side = new TableState.SideFolder(t.folder, t.ops.list(t.folder.side))
    assert(Reappeared.find(side, t.files) == Seq(Reappeared("p=1/new-op-91-1.parquet", 2)))
    t.optimize(id = "op-93")
    t.restore(to = 0, id = "op-94")
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
          case 1 => t.optimize(t.ops, s"op-$step", random.shuffle(t.dirs).take(1 + random.nextInt(3)))
          case _ =>
            val to = random.nextInt(t.history.size + 1)
            val before = t.fs.visibleRows
            val failure = t.attempt(s"op-$step")(t.restore(t.ops, to.toLong, s"op-$step", lost = true))
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
  private def watched(scene: Scene): (SmallTable, Seq[Int]) = {
    val t = scene.table()
    val before = t.fs.visibleRows
    t.fs.changed = () => {
      assert(before.diff(t.fs.visibleRows).isEmpty, "a plain reader lacks rows")
      val seen = t.viewedRows()
      assert(seen.distinct == seen && before.diff(seen).isEmpty && seen.diff(t.allRows).isEmpty, "our reader")
    }
    (t, before)
  }

  /** Each folder has the rows of one of two states. */
  private def assertPerFolder(rows: Seq[Int], states: Seq[Int]*): Unit =
    for (first <- Seq(true, false)) {
      def of(all: Seq[Int]) = all.filter(_ < 100 == first)
      assert(states.exists(of(_) == of(rows)), rows)
    }

  private def checkEnd(t: SmallTable, before: Seq[Int]): Unit = {
    for (dir <- Scene.Two) {
      def of(all: Seq[Int]) = all.filter(_ < 30 == (dir == "p=1"))
      assert(Seq(before, t.allRows).exists(of(_) == t.rowsIn(dir)))
    }
    assert(!t.isPublishing)
    t.nextStatement()
    assert(t.litter.isEmpty && t.liveness.running.isEmpty)
    t.restore(t.ops, 0, "op-2", lost = true)
    assert(t.fs.visibleRows == t.allRows && t.litter.isEmpty)
    t.optimize(id = "op-3")
    t.restore(to = 0, id = "op-4")
    assert(t.fs.visibleRows == t.allRows && t.litter.isEmpty)
  }

  private val faults = Seq(Fault.DieBefore, Fault.DieAfter, Fault.ThrowBefore, Fault.ThrowAfter, Fault.DiskFull)

  for ((loss, names) <- losses) test(s"$loss: it dies or fails at any call, and so does the recovery") {
    val restores = scene(names)
    // At call 0 nothing happens.
    for {
      (fault, i) <- faults.zipWithIndex
      k <- Explored.some(8, i, 1 to restores.calls)
      j <- Seq(0) ++ Explored.some(50, k, 1 to 100)
    } explore {
      val (t, before) = watched(restores)
      val first = t.faulty(k, fault)
      restores.run(t, first)
      val second = t.faulty(j, if ((j + k) % 2 == 0) Fault.DieBefore else Fault.DieAfter)
      t.recover(second)
      t.liveness.running.clear()
      withClue(s"call $k $fault ${first.trace.lastOption}, recovery dies at $j ${second.trace.lastOption}: ") {
        assert(t.recover().isEmpty)
        checkEnd(t, before)
      }
    }
  }

  test("a lost file that is put back while the RESTORE runs costs no row, and doubles none before the decision") {
    for (name <- Seq("one file", "all files of a folder"); dies <- Seq(false, true)) {
      val restores = scene(losses(name))
      var late = 0
      for (k <- 1 to restores.calls) explore {
        val t = lost(Nil)
        val file = s"/t/${losses(name).head}"
        val (node, back) = (t.fs.nodes(file), t.fs.rows(Seq(file)))
        t.remove(losses(name))
        var isOpen = false
        val rival = t.beside(k, if (dies) k + 1 else 0, Fault.DieBefore) {
          isOpen = !t.fs.below("/t/p=1").exists(_.endsWith(".exchanged")) && t.history.size == 1
          t.fs.nodes(file) = node
        }
        val end = restores.run(t, rival)
        t.liveness.running.clear()
        assert(t.recover().isEmpty)
        withClue(s"put back before call $k ${rival.trace.lift(k - 1)}, ended with $end: ") {
          val rows = t.fs.visibleRows
          val twice = rows.diff(rows.distinct)
          assert(twice.isEmpty || twice == back)
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
      val t = new StoreTable(Scene.Two)
      assert(t.optimize(id = "a"))
      t.shared.remove(names.map(n => s"/t/$n"))
      val before = t.rows
      t.shared.changed = () => assert(before.diff(t.rows).isEmpty)
      (t, before)
    }
    def dying(work: => Unit): Unit =
      try work
      catch { case _: Died | _: java.io.IOException => () }
    val two = Seq("p=1/part-a-0.parquet", "p=1/part-a-1.parquet")
    for (names <- Seq(two.take(1), two)) {
      val (whole, _) = prepared(names)
      val counted = whole.client
      assert(whole.restoreLost(counted, "b", 0) && whole.rows == whole.allRows)
      assert(History.read(whole.folder()).head.record.lost.map(_.path) == names)
      for (k <- 1 to counted.calls; fault <- Fault.ofStores; j <- Seq(0) ++ Explored.some(15, k, 1 to 30)) explore {
        val (t, before) = prepared(names)
        val first = t.faulty(k, fault)
        dying(t.restoreLost(first, "b", 0): Unit)
        val second = t.faulty(j, Fault.DieBefore)
        dying(t.recover(second))
        (first.onItsWay.toSeq ++ second.onItsWay).foreach(_())
        t.recover()
        withClue(s"$names, $fault at $k, recovery dies at $j: ") {
          assertPerFolder(t.rows, before, t.allRows)
          assert(t.seen() == t.rows && t.restoreLost(id = "c", to = 0) && t.rows == t.allRows)
        }
      }
    }
  }

  test("on an object store a lost file that is put back before the decision keeps the folder as it was") {
    val t = new StoreTable(Seq(""))
    assert(t.optimize(id = "a"))
    val name = "/t/part-a-0.parquet"
    t.shared.copy(name, "/elsewhere")
    t.shared.remove(Seq(name))
    var done = false
    def isReady = t.shared.below("/t").exists(_.endsWith(".publishing"))
    def putBack(): Unit = {
      done = true
      t.shared.copy("/elsewhere", name)
    }
    val client = new MemoryClient(t.shared, other = { case _ if isReady && !done => putBack() })
    assert(!t.restoreLost(client, "b", 0) && done)
    assert(t.rows == t.allRows && t.shared.uploads.isEmpty)
  }

  private def moved(partitions: Seq[CatalogPartition], lost: Int): (MemoryCatalogTable, Seq[String]) = {
    val t = optimized(partitions)
    val gone = t.dataIn(t.locations(partitions.head)).take(lost)
    gone.foreach(t.fs.nodes.remove)
    (t, gone)
  }

  for (partitions <- Shapes; lost <- 1 to 2)
    test(s"a catalog's table of ${partitions.size} places goes back without $lost files, also if it dies at any call") {
      val (whole, gone) = moved(partitions, lost)
      val e = intercept[NotRestorableException](whole.restore(id = "op-1", to = 0))
      assert(e.obstacle == Lost && e.paths == gone.map(p => s"mem:$p").sorted)
      val counted = whole.ops
      whole.restore(counted, "op-1", 0, restoresLost = true)
      assert(whole.plainRows == whole.allRows)
      val back = intercept[NotRestorableException](whole.restore(id = "op-2", to = 1, restoresLost = true))
      assert(back.obstacle == Gone && back.paths == e.paths)
      whole.optimize(id = "op-3")
      whole.restore(id = "op-4", to = 0)
      assert(whole.plainRows == whole.allRows)
      for (k <- 1 to counted.calls; fault <- faults.take(4)) explore {
        val (t, _) = moved(partitions, lost)
        val before = t.plainRows
        t.fs.changed = () => assert(Seq(before, t.allRows).exists(r => t.plainRows.diff(r).isEmpty))
        t.attempt("op-1")(t.restore(t.faulty(k, fault), "op-1", 0, restoresLost = true))
        t.next()
        withClue(s"call $k $fault: ") {
          assertPerFolder(t.plainRows, before, t.allRows)
          assert(t.litter.isEmpty)
          t.restore(id = "op-2", to = 0, restoresLost = true)
          assert(t.plainRows == t.allRows)
        }
      }
    }

  test("a lost file of a catalog's table that is put back, during the RESTORE or later, doubles no row") {
    for (partitions <- Shapes) {
      val (whole, _) = moved(partitions, 1)
      val counted = whole.ops
      whole.restore(counted, "op-1", 0, restoresLost = true)
      for (k <- 1 to counted.calls + 1) explore {
        val t = optimized(partitions)
        val file = t.dataIn(t.locations(partitions.head)).head
        val node = t.fs.nodes.remove(file).get
        def back(): Unit = t.fs.nodes(file) = node
        val end = t.attempt("op-1")(t.restore(t.beside(k)(back()), "op-1", 0, restoresLost = true))
        if (k > counted.calls) back()
        t.next()
        withClue(s"put back at call $k of ${counted.calls}, ended with $end: ")(assert(t.plainRows == t.allRows))
        t.optimize(id = "op-2")
        assert(t.plainRows == t.allRows)
      }
    }
  }

  test("a changed file of a catalog's table is refused, beside one that is gone") {
    val (t, gone) = moved(Shapes.last, 1)
    val other = t.dataIn(t.locations(Shapes.last.last)).head
    t.fs.put(other, Set(900), 51L)
    for (option <- Seq(false, true)) {
      val e = intercept[NotRestorableException](t.restore(id = "op-1", to = 0, restoresLost = option))
      assert(e.obstacle == Changed && e.paths.contains(s"mem:$other") && gone.nonEmpty)
    }
  }
}
