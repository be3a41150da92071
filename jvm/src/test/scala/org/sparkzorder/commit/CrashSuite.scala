package org.sparkzorder.commit

import java.io.IOException

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.commit.log.{HistorySettings, Outcome}
import org.sparkzorder.commit.machine.Recovery

/**
 * The process dies or a call fails, at every single call to the file system, in a statement and in
 * the recovery after it.
 */
class CrashSuite extends AnyFunSuite with Explorer {
  import Scene.Two
  import Statement._

  // It forgets four of six operations. One has an outcome.
  private val vacuumRecords = vacuum.copy(
    "VACUUM that forgets operations",
    prepare = table => {
      for (i <- 1 to 6) table.optimize(id = s"op-9$i")
      Outcome.note(table.folder, table.history(4).record, "its owner died", Some("me"))
    },
    run = (table, ops, id) => {
      table.historySettings = HistorySettings(maxOperations = 2, whole = 2)
      table.vacuum(ops, id)
    }
  ).checking { table =>
    vacuum.checkDone(table)
    assert(table.history.map(_.record.version) == Seq(6L, 5L))
  }

  /** For each statement some tables, by their folders and the number of files that each has at first. */
  private val scenes: Seq[Seq[Scene]] = Seq(
    optimize -> Seq(Two -> 3, Seq("") -> 3, Seq("p=1") -> 1),
    restore -> Seq(Two -> 2, Seq("") -> 3, Seq("p=1") -> 1),
    vacuum -> Seq(Two -> 2, Seq("") -> 3),
    createIndex -> Seq(Two -> 2, Seq("") -> 1),
    refreshIndex -> Seq(Two -> 2, Seq("") -> 1),
    dropIndex -> Seq(Two -> 2, Seq("") -> 1),
    vacuumRecords -> Seq(Seq("p=1") -> 1)
  ).map { case (statement, shapes) => shapes.map { case (dirs, files) => new Scene(statement, dirs, files) } }

  /** Checks after every change what must always hold. */
  private def watch(table: SmallTable): Unit = table.fs.changed = () => {
    table.dirs.foreach(dir => assert(table.visibleIn(dir).nonEmpty, s"folder '$dir' looks empty"))
    if (!table.isPublishing)
      assert(table.fs.visibleRows == table.allRows, "a plain reader outside the publishing moment")
    else
      assert(table.allRows.toSet.subsetOf(table.fs.visibleRows.toSet), "a plain reader in the publishing moment")
    assert(table.viewedRows() == table.allRows, "a reader around it")
  }

  /** All rows are there once, and nothing else is. */
  private def assertWhole(table: SmallTable): Unit = {
    assert(table.fs.visibleRows == table.allRows)
    assert(table.litter.isEmpty)
  }

  private def checkEnd(scene: Scene, table: SmallTable, thoroughly: Boolean = true): Unit = {
    assert(table.fs.visibleRows == table.allRows)
    assert(!table.isPublishing)
    assert(!table.indexLies)
    table.nextStatement()
    assertWhole(table)
    assert(table.liveness.running.isEmpty)
    // The statement can be run again.
    assert(scene.run(table, table.ops, "op-2").isEmpty)
    assertWhole(table)
    if (thoroughly) scene.statement.checkDone(table)
  }

  private def recovers(scene: Scene, table: SmallTable): Unit = {
    assert(Recovery.settled(table.folder, 0L, table.settings).around.isEmpty)
    assert(table.recover().isEmpty)
    checkEnd(scene, table)
  }

  for (ofStatement <- scenes; scene <- ofStatement) {
    val name = s"${scene.name} of ${scene.filesEach} files"
    // `make test` has one death at each call of each statement.
    val inRest = Seq(InRest).filter(_ => scene != ofStatement.last)

    test(s"$name: it dies at any call, the next query recovers", inRest: _*) {
      val whole = scene.table()
      watch(whole)
      assert(scene.run(whole, whole.ops).isEmpty)
      scene.statement.checkDone(whole)
      assert(whole.litter.isEmpty && whole.liveness.running.isEmpty)
      failing(scene, Deaths, watch) { (table, end) =>
        assert(end.exists(_.isInstanceOf[Died]))
        assert(!table.indexLies)
        recovers(scene, table)
      }
    }

    test(s"$name: it dies at any call, and the table is copied with other time stamps", InRest) {
      for (k <- 1 to scene.calls; whole <- Seq(false, true)) explored(s"call $k, whole seconds: $whole: ") {
        val table = scene.table()
        scene.run(table, table.faulty(k, Deaths(k % 2)))
        table.fs.nodes.toSeq.foreach {
          case (path, f: File) =>
            table.fs.tick()
            table.fs.nodes(path) = f.copy(time = if (whole) f.time - f.time % 1000 else table.fs.clock)
          case _ => ()
        }
        val end = table.recover()
        if (end.isDefined) {
          // Where all files have other times, a person decides.
          assert(end.exists(_.isInstanceOf[FoldersUnclearException]))
          intercept[FoldersUnclearException](table.viewedRows())
          assert(table.recover(keep = Some(if (whole) Keep.Old else Keep.New)).isEmpty)
        }
        assert(table.fs.visibleRows == table.allRows)
        assert(!table.isPublishing && !table.indexLies)
        assert(table.attempt(table.ops, "op-2").isEmpty)
        assertWhole(table)
      }
    }

    test(s"$name: the recovery dies too, at any call", InRest) {
      val some = Explored.every(4)
      for (k <- 1 to scene.calls; fault <- Deaths) {
        def dies(j: Int): Boolean = {
          val table = scene.table()
          scene.run(table, table.faulty(k, fault))
          // Watching takes most of the time, so not every state is watched.
          if ((j + k) % Explored.every(7) < 2) watch(table)
          val second = Deaths((j + k) % 2)
          val ops = table.faulty(j, second)
          val died = table.recover(ops).exists(_.isInstanceOf[Died])
          explored(s"call $k $fault, then $second at call $j ${ops.trace.lastOption}: ") {
            assert(table.recover().isEmpty)
            checkEnd(scene, table, thoroughly = (j + k) % Explored.every(5) == 0)
          }
          died
        }
        Iterator.from(1 + k % some, some).find(!dies(_))
      }
    }

    test(s"$name: any call fails before, after or halfway, or the process dies halfway", InRest) {
      val faults = Seq(Fault.ThrowBefore, Fault.ThrowAfter, Fault.DieHalf, Fault.ThrowHalf)
      failing(scene, faults, watch)((table, _) => recovers(scene, table))
    }

    test(s"$name: the disk is full from any call on", InRest) {
      val before = scene.table().snapshot
      failing(scene, Seq(Fault.DiskFull), watch) { (table, end) =>
        assert(!table.isPublishing)
        // Without another statement between.
        assertWhole(table)
        if (end.isDefined) assert(table.snapshot == before)
        checkEnd(scene, table)
      }
    }

    test(s"$name: any call fails once, then the process dies while it handles that", InRest) {
      val some = Explored.every(6)
      for (k <- 1 to scene.calls; later <- 1 + k % some to 60 by some) {
        val table = scene.table()
        watch(table)
        val ops = new MemoryOps(table.fs, k, Fault.ThrowBefore, { case n if n >= k + later => throw new Died })
        scene.run(table, ops)
        explored(s"call $k, death $later calls later (${ops.trace.lastOption}): ") {
          table.liveness.running.clear()
          recovers(scene, table)
        }
      }
    }
  }

  // This process runs no operation any more, so the next statement need not wait.
  for (statement <- all; scene <- statement.onBoth)
    test(s"${scene.name}: the file system is away from any call on, and comes back afterwards") {
      failing(scene, Seq(Fault.Away)) { (table, _) =>
        assert(table.liveness.running.isEmpty)
        table.nextStatement()
        assertWhole(table)
        table.optimize(id = "op-2")
        assert(table.fs.visibleRows == table.allRows)
      }
    }

  test("an output that a rename has changed after it was written is not published") {
    val table = new SmallTable(Two)
    var spoiled = false
    table.fs.changed = () => {
      val staged = table.fs.below("/t/p=1/_zorder/staging").find(table.fs.file(_).isDefined)
      staged.filterNot(_ => spoiled).foreach { path =>
        spoiled = true
        val file = table.fs.file(path).get
        table.fs.nodes(path) = file.copy(length = file.length - 1, rows = file.rows.drop(1))
      }
    }
    val end = table.attempt(table.ops)
    assert(spoiled && end.exists(_.isInstanceOf[IOException]), end)
    assertWhole(table)
  }
}
