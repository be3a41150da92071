package org.sparkzorder.commit

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.commit.log.{HistorySettings, Outcome}

/**
 * The process dies or a call fails, at every single call to the file system, in a statement and in
 * the recovery after it.
 */
class CrashSuite extends AnyFunSuite with Explores {
  import CrashSuite._

  private val optimize = Scenario(
    "OPTIMIZE",
    Seq(Seq("p=1", "p=2") -> 3, Seq("") -> 3, Seq("p=1") -> 1),
    _ => (),
    (table, ops, id) => table.optimize(ops, id),
    table => assert(table.files.forall(_.contains("new-")))
  )

  // Goes back over two operations. The second one changed only one of the folders.
  private val restore = Scenario(
    "RESTORE",
    Seq(Seq("p=1", "p=2") -> 2, Seq("") -> 3, Seq("p=1") -> 1),
    table => {
      table.optimize(new MemoryOps(table.fs), "op-91")
      table.optimize(new MemoryOps(table.fs), "op-92", table.dirs.take(1))
    },
    (table, ops, id) => table.restore(ops, 0, id),
    table => {
      assert(table.files.forall(_.contains("part-")))
      val before = table.snapshot
      table.restore(new MemoryOps(table.fs), 2, "op-93")
      assert(table.files.forall(_.contains("new-op-9")))
      table.restore(new MemoryOps(table.fs), 0, "op-94")
      assert(table.snapshot == before)
    }
  )

  private val vacuum = Scenario(
    "VACUUM",
    Seq(Seq("p=1", "p=2") -> 2, Seq("") -> 3),
    restore.prepare,
    (table, ops, id) => table.vacuum(ops, id),
    table => {
      assert(!table.fs.below("/t").exists(_.endsWith(".retired")))
      assert(table.history.map(_.state) == Seq("vacuumed", "vacuumed"))
      assertThrows[NotRestorableException](table.restore(new MemoryOps(table.fs), 1))
    }
  )

  private val createIndex = Scenario(
    "CREATE SKIPPING INDEX",
    Seq(Seq("p=1", "p=2") -> 2, Seq("") -> 1),
    _ => (),
    (table, ops, id) => table.index(ops, id),
    table => assert(table.indexed.map(_.file).sorted == table.files.sorted)
  )

  // After an OPTIMIZE whose files the index does not have yet.
  private val refreshIndex = Scenario(
    "REFRESH SKIPPING INDEX",
    createIndex.shapes,
    table => {
      table.optimize(new MemoryOps(table.fs), "op-91")
      table.index(new MemoryOps(table.fs), "op-92")
    },
    (table, ops, id) => table.index(ops, id),
    table => {
      assert(table.indexed.map(_.file).sorted == table.files.sorted)
      assert(table.indexes.size <= 3)
    }
  )

  private val dropIndex = Scenario(
    "DROP SKIPPING INDEX",
    createIndex.shapes,
    refreshIndex.prepare,
    (table, ops, id) => table.dropIndex(ops, id),
    table => {
      assert(table.indexes.isEmpty)
      assert(table.history.map(_.state) == Seq("committed"))
    }
  )

  // It forgets four of six operations. One has an outcome.
  private val vacuumRecords = Scenario(
    "VACUUM that forgets operations",
    Seq(Seq("p=1") -> 1),
    table => {
      for (i <- 1 to 6) table.optimize(new MemoryOps(table.fs), s"op-9$i")
      val folder = TableFolder(table.root, new MemoryOps(table.fs))
      Outcome.note(folder, table.history(4).record, "its owner died", Some("me"))
    },
    (table, ops, id) => {
      table.historySettings = HistorySettings(maxOperations = 2, whole = 2)
      table.vacuum(ops, id)
    },
    table => {
      assert(!table.fs.below("/t").exists(_.endsWith(".retired")))
      assert(table.history.map(e => e.record.version -> e.state) == Seq(6L -> "vacuumed", 5L -> "vacuumed"))
      assertThrows[NotRestorableException](table.restore(new MemoryOps(table.fs), 1))
    }
  )

  private val scenarios =
    Seq(
      optimize,
      restore,
      vacuum,
      createIndex,
      refreshIndex,
      dropIndex,
      vacuumRecords
    )

  private val prepared = mutable.Map.empty[(String, (Seq[String], Int)), MemoryFs]

  private def tableOf(scenario: Scenario, shape: (Seq[String], Int)): SmallTable = {
    val table = new SmallTable(shape._1, shape._2)
    table.fs.copyOf(prepared.getOrElseUpdate(
      (scenario.name, shape), {
        val first = new SmallTable(shape._1, shape._2)
        scenario.prepare(first)
        first.fs
      }
    ))
    table
  }

  /** Checks after every change what must always hold. */
  private def watch(table: SmallTable): Unit = table.fs.changed = () => {
    table.dirs.foreach { dir =>
      assert(
        table.fs.visible.exists(p => FileNames.parent(p.stripPrefix("/t/")) == dir),
        s"folder '$dir' looks empty"
      )
    }
    if (!table.isPublishing)
      assert(table.fs.visibleRows == table.allRows, "a plain reader outside the publishing moment")
    else
      assert(table.allRows.toSet.subsetOf(table.fs.visibleRows.toSet), "a plain reader in the publishing moment")
    assert(table.viewedRows() == table.allRows, "a reader around it")
  }

  private def callsOf(scenario: Scenario, shape: (Seq[String], Int)): Int = {
    val table = tableOf(scenario, shape)
    val ops = new MemoryOps(table.fs)
    watch(table)
    assert(scenario.attempt(table, ops).isEmpty)
    scenario.checkDone(table)
    assert(table.litter.isEmpty)
    assert(table.liveness.running.isEmpty)
    ops.calls
  }

  private def checkEnd(scenario: Scenario, table: SmallTable, thoroughly: Boolean = true): Unit = {
    assert(table.fs.visibleRows == table.allRows)
    assert(!table.isPublishing)
    assert(!table.indexLies)
    table.nextStatement()
    assert(table.fs.visibleRows == table.allRows)
    assert(table.litter.isEmpty)
    assert(table.liveness.running.isEmpty)
    // The statement can be run again.
    assert(scenario.attempt(table, new MemoryOps(table.fs), "op-2").isEmpty)
    assert(table.fs.visibleRows == table.allRows)
    assert(table.litter.isEmpty)
    if (thoroughly) scenario.checkDone(table)
  }

  for (scenario <- scenarios; shape <- scenario.shapes) {
    val name = s"${scenario.name}, folders ${shape._1.mkString("'", "', '", "'")} of ${shape._2} files"

    // `make test` has one death at each call of each statement.
    val isLast = shape == scenario.shapes.last

    test(s"$name: it dies at any call, the next query recovers", (if (isLast) Nil else Seq(InRest)): _*) {
      for (k <- 1 to callsOf(scenario, shape); fault <- Seq(Fault.DieBefore, Fault.DieAfter)) {
        val table = tableOf(scenario, shape)
        watch(table)
        val ops = new MemoryOps(table.fs, k, fault)
        withClue(s"call $k $fault ${ops.trace.lastOption}: ")(explore {
          assert(scenario.attempt(table, ops).exists(_.isInstanceOf[Died]))
          assert(!table.indexLies)
          assert(table.recover(new MemoryOps(table.fs)).isEmpty)
          checkEnd(scenario, table)
        })
      }
    }

    test(s"$name: it dies at any call, and the table is copied with other time stamps", InRest) {
      val calls = callsOf(scenario, shape)
      for (k <- 1 to calls; whole <- Seq(false, true)) {
        val table = tableOf(scenario, shape)
        scenario.attempt(table, new MemoryOps(table.fs, k, if (k % 2 == 0) Fault.DieBefore else Fault.DieAfter))
        table.fs.nodes.toSeq.foreach {
          case (path, f: File) =>
            table.fs.tick()
            table.fs.nodes(path) = f.copy(time = if (whole) f.time - f.time % 1000 else table.fs.clock)
          case _ => ()
        }
        withClue(s"call $k, whole seconds: $whole: ")(explore {
          val end = table.recover(new MemoryOps(table.fs))
          if (end.isDefined) {
            // Where all files have other times, a person decides.
            assert(end.exists(_.isInstanceOf[FoldersUnclearException]))
            intercept[FoldersUnclearException](table.viewedRows())
            assert(table.recover(new MemoryOps(table.fs), Some(if (whole) Keep.Old else Keep.New)).isEmpty)
          }
          assert(table.fs.visibleRows == table.allRows)
          assert(!table.isPublishing && !table.indexLies)
          assert(table.attempt(new MemoryOps(table.fs), "op-2").isEmpty)
          assert(table.fs.visibleRows == table.allRows)
          assert(table.litter.isEmpty)
        })
      }
    }

    test(s"$name: the recovery dies too, at any call", InRest) {
      for (k <- 1 to callsOf(scenario, shape); fault <- Seq(Fault.DieBefore, Fault.DieAfter)) {
        val some = Explored.every(4)
        var j = k % some - some + 1
        var more = true
        while (more) {
          j += some
          val table = tableOf(scenario, shape)
          scenario.attempt(table, new MemoryOps(table.fs, k, fault))
          // Watching takes most of the time, so not every state is watched.
          if ((j + k) % Explored.every(7) < 2) watch(table)
          val second = if ((j + k) % 2 == 0) Fault.DieBefore else Fault.DieAfter
          val ops = new MemoryOps(table.fs, j, second)
          more = table.recover(ops).exists(_.isInstanceOf[Died])
          withClue(s"call $k $fault, then $second at call $j ${ops.trace.lastOption}: ")(explore {
            assert(table.recover(new MemoryOps(table.fs)).isEmpty)
            checkEnd(scenario, table, thoroughly = (j + k) % Explored.every(5) == 0)
          })
        }
      }
    }

    test(s"$name: any call fails once, before or after it took effect", InRest) {
      for (k <- 1 to callsOf(scenario, shape); fault <- Seq(Fault.ThrowBefore, Fault.ThrowAfter)) {
        val table = tableOf(scenario, shape)
        watch(table)
        val ops = new MemoryOps(table.fs, k, fault)
        withClue(s"call $k $fault: ")(explore {
          val end = scenario.attempt(table, ops)
          withClue(s"${ops.trace(k - 1)}, ended with $end: ") {
            assert(table.recover(new MemoryOps(table.fs)).isEmpty)
            checkEnd(scenario, table)
          }
        })
      }
    }

    test(s"$name: any call is half done, and then it fails, or the process dies", InRest) {
      for (k <- 1 to callsOf(scenario, shape); fault <- Seq(Fault.DieHalf, Fault.ThrowHalf)) {
        val table = tableOf(scenario, shape)
        watch(table)
        val ops = new MemoryOps(table.fs, k, fault)
        val end = scenario.attempt(table, ops)
        if (ops.isHalved) withClue(s"call $k ${ops.trace(k - 1)} $fault, ended with $end: ")(explore {
          assert(table.recover(new MemoryOps(table.fs)).isEmpty)
          checkEnd(scenario, table)
        })
      }
    }

    test(s"$name: the disk is full from any call on", InRest) {
      for (k <- 1 to callsOf(scenario, shape)) {
        val table = tableOf(scenario, shape)
        watch(table)
        val before = table.snapshot
        val ops = new MemoryOps(table.fs, k, Fault.DiskFull)
        val end = scenario.attempt(table, ops)
        withClue(s"call $k ${ops.trace(k - 1)}, ended with $end: ")(explore {
          assert(!table.isPublishing)
          assert(table.fs.visibleRows == table.allRows)
          // Without another statement between.
          assert(table.litter.isEmpty)
          if (end.isDefined) assert(table.snapshot == before)
          checkEnd(scenario, table)
        })
      }
    }

    test(s"$name: any call fails once, then the process dies while it handles that", InRest) {
      val some = Explored.every(6)
      for (k <- 1 to callsOf(scenario, shape); later <- 1 + k % some to 60 by some) {
        val table = tableOf(scenario, shape)
        watch(table)
        val ops = new MemoryOps(table.fs)
        scenario.attempt(table, new FailThenDie(ops, k, k + later))
        withClue(s"call $k, death $later calls later (${ops.trace.lastOption}): ")(explore {
          table.liveness.running.clear()
          assert(table.recover(new MemoryOps(table.fs)).isEmpty)
          checkEnd(scenario, table)
        })
      }
    }
  }
}

private object CrashSuite {

  /**
   * @param shapes folders, and the number of files that each has at first
   * @param prepare runs before the statement
   * @param checkDone checks the table after the statement
   */
  final case class Scenario(
      name: String,
      shapes: Seq[(Seq[String], Int)],
      prepare: SmallTable => Unit,
      statement: (SmallTable, FileOps, String) => Unit,
      checkDone: SmallTable => Unit
  ) {
    def attempt(table: SmallTable, ops: FileOps, id: String = "op-1"): Option[Throwable] =
      table.attempt(id)(statement(table, ops, id))
  }
}
