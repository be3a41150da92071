package org.sparkzorder.commit

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

/** Death and failure at every single call to the file system, in a statement and in the recovery after it. */
class CrashSuite extends AnyFunSuite {
  import CrashSuite._

  private val optimize = Scenario(
    "OPTIMIZE",
    Seq(Seq("p=1", "p=2") -> 3, Seq("") -> 3, Seq("p=1") -> 1),
    _ => (),
    (table, ops, id) => table.optimize(ops, id),
    table => assert(table.files.forall(_.contains("new-")))
  )

  // Over two operations back, the second of which left one folder alone.
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

  /** Checks at every change what may never be otherwise. */
  private def watch(table: SmallTable): Unit = table.fs.changed = () => {
    table.dirs.foreach { dir =>
      assert(
        table.fs.visible.exists(p => TableFolder.parent(p.stripPrefix("/t/")) == dir),
        s"folder '$dir' looks empty"
      )
    }
    if (!table.isPublishing)
      assert(table.fs.visibleRows == table.allRows, "a plain reader outside the publishing moment")
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
    table.nextStatement()
    assert(table.fs.visibleRows == table.allRows)
    assert(table.litter.isEmpty)
    assert(table.liveness.running.isEmpty)
    // And the statement can be run again.
    assert(scenario.attempt(table, new MemoryOps(table.fs), "op-2").isEmpty)
    assert(table.fs.visibleRows == table.allRows)
    assert(table.litter.isEmpty)
    if (thoroughly) scenario.checkDone(table)
  }

  for (scenario <- Seq(optimize, restore, vacuum); shape <- scenario.shapes) {
    val name = s"${scenario.name}, folders ${shape._1.mkString("'", "', '", "'")} of ${shape._2} files"

    test(s"$name: it dies at any call, the next query recovers") {
      for (k <- 1 to callsOf(scenario, shape); fault <- Seq(Fault.DieBefore, Fault.DieAfter)) {
        val table = tableOf(scenario, shape)
        watch(table)
        val ops = new MemoryOps(table.fs, k, fault)
        withClue(s"call $k $fault ${ops.trace.lastOption}: ") {
          assert(scenario.attempt(table, ops).exists(_.isInstanceOf[Died]))
          assert(table.recover(new MemoryOps(table.fs)).isEmpty)
          checkEnd(scenario, table)
        }
      }
    }

    test(s"$name: the recovery dies too, at any call") {
      var runs = 0
      for (k <- 1 to callsOf(scenario, shape); fault <- Seq(Fault.DieBefore, Fault.DieAfter)) {
        var j = 0
        var more = true
        while (more) {
          j += 1
          val table = tableOf(scenario, shape)
          scenario.attempt(table, new MemoryOps(table.fs, k, fault))
          // Watching takes most of the time.
          if (shape._1.length == 1 || (j + k) % 7 < 2) watch(table)
          val second = if ((j + k) % 2 == 0) Fault.DieBefore else Fault.DieAfter
          val ops = new MemoryOps(table.fs, j, second)
          more = table.recover(ops).exists(_.isInstanceOf[Died])
          withClue(s"call $k $fault, then $second at call $j ${ops.trace.lastOption}: ") {
            assert(table.recover(new MemoryOps(table.fs)).isEmpty)
            checkEnd(scenario, table, thoroughly = (j + k) % 5 == 0)
          }
          runs += 1
        }
      }
      info(s"$runs runs")
    }

    test(s"$name: any call fails once, before or after it took effect") {
      for (k <- 1 to callsOf(scenario, shape); fault <- Seq(Fault.ThrowBefore, Fault.ThrowAfter)) {
        val table = tableOf(scenario, shape)
        watch(table)
        val ops = new MemoryOps(table.fs, k, fault)
        withClue(s"call $k $fault: ") {
          val end = scenario.attempt(table, ops)
          withClue(s"${ops.trace(k - 1)}, ended with $end: ") {
            assert(table.recover(new MemoryOps(table.fs)).isEmpty)
            checkEnd(scenario, table)
          }
        }
      }
    }

    test(s"$name: any call fails once, then the process dies while it handles that") {
      val calls = callsOf(scenario, shape)
      for (k <- 1 to calls; later <- 1 to 60 if shape._1.length == 1 || (k + later) % 5 == 0) {
        val table = tableOf(scenario, shape)
        watch(table)
        val ops = new MemoryOps(table.fs)
        scenario.attempt(table, new FailThenDie(ops, k, k + later))
        withClue(s"call $k, death $later calls later (${ops.trace.lastOption}): ") {
          table.liveness.running.clear()
          assert(table.recover(new MemoryOps(table.fs)).isEmpty)
          checkEnd(scenario, table)
        }
      }
    }
  }
}

private object CrashSuite {

  /**
   * @param shapes folders, and the number of files that each begins with
   * @param prepare what comes before the statement
   * @param checkDone what is so once the statement has been run
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
