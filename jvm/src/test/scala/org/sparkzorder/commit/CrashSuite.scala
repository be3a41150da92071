package org.sparkzorder.commit

import org.scalatest.funsuite.AnyFunSuite

/** Death and failure at every single call to the file system, in OPTIMIZE and in the recovery after it. */
class CrashSuite extends AnyFunSuite {

  private val shapes = Seq(Seq("p=1", "p=2") -> 3, Seq("") -> 3, Seq("p=1") -> 1)

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

  private def callsOf(shape: (Seq[String], Int)): Int = {
    val table = new SmallTable(shape._1, shape._2)
    val ops = new MemoryOps(table.fs)
    watch(table)
    assert(table.attempt(ops).isEmpty)
    assert(table.fs.visible.forall(_.contains("new-")))
    assert(table.litter.isEmpty)
    assert(table.liveness.running.isEmpty)
    ops.calls
  }

  private def checkEnd(table: SmallTable): Unit = {
    assert(table.fs.visibleRows == table.allRows)
    assert(!table.isPublishing)
    table.nextStatement()
    assert(table.fs.visibleRows == table.allRows)
    assert(table.litter.isEmpty)
    assert(table.liveness.running.isEmpty)
    // And the table can be optimized, unless it is.
    if (table.fs.visible.exists(_.contains("part-"))) {
      assert(table.attempt(new MemoryOps(table.fs), "op-2").isEmpty)
      assert(table.fs.visibleRows == table.allRows)
      assert(table.litter.isEmpty)
    }
  }

  for (shape <- shapes) {
    val name = s"folders ${shape._1.mkString("'", "', '", "'")} of ${shape._2} inputs"

    test(s"$name: OPTIMIZE dies at any call, the next query recovers") {
      for (k <- 1 to callsOf(shape); fault <- Seq(Fault.DieBefore, Fault.DieAfter)) {
        val table = new SmallTable(shape._1, shape._2)
        watch(table)
        val ops = new MemoryOps(table.fs, k, fault)
        withClue(s"call $k $fault ${ops.trace.lastOption}: ") {
          assert(table.attempt(ops).exists(_.isInstanceOf[Died]))
          assert(table.recover(new MemoryOps(table.fs)).isEmpty)
          checkEnd(table)
        }
      }
    }

    test(s"$name: the recovery dies too, at any call") {
      var runs = 0
      for (k <- 1 to callsOf(shape); fault <- Seq(Fault.DieBefore, Fault.DieAfter)) {
        var j = 0
        var more = true
        while (more) {
          j += 1
          val table = new SmallTable(shape._1, shape._2)
          table.attempt(new MemoryOps(table.fs, k, fault))
          // Watching takes most of the time.
          if (shape._1.length == 1 || (j + k) % 7 < 2) watch(table)
          val second = if ((j + k) % 2 == 0) Fault.DieBefore else Fault.DieAfter
          val ops = new MemoryOps(table.fs, j, second)
          more = table.recover(ops).exists(_.isInstanceOf[Died])
          withClue(s"call $k $fault, then $second at call $j ${ops.trace.lastOption}: ") {
            assert(table.recover(new MemoryOps(table.fs)).isEmpty)
            checkEnd(table)
          }
          runs += 1
        }
      }
      info(s"$runs runs")
    }

    test(s"$name: any call fails once, before or after it took effect") {
      for (k <- 1 to callsOf(shape); fault <- Seq(Fault.ThrowBefore, Fault.ThrowAfter)) {
        val table = new SmallTable(shape._1, shape._2)
        watch(table)
        val ops = new MemoryOps(table.fs, k, fault)
        withClue(s"call $k $fault: ") {
          val end = table.attempt(ops)
          withClue(s"${ops.trace(k - 1)}, ended with $end: ") {
            assert(table.recover(new MemoryOps(table.fs)).isEmpty)
            checkEnd(table)
          }
        }
      }
    }

    test(s"$name: any call fails once, then the process dies while it handles that") {
      for (k <- 1 to callsOf(shape); later <- 1 to 60 if shape._1.length == 1 || (k + later) % 5 == 0) {
        val table = new SmallTable(shape._1, shape._2)
        watch(table)
        val ops = new MemoryOps(table.fs)
        table.attempt(new FailThenDie(ops, k, k + later))
        withClue(s"call $k, death $later calls later (${ops.trace.lastOption}): ") {
          table.liveness.running.clear()
          assert(table.recover(new MemoryOps(table.fs)).isEmpty)
          checkEnd(table)
        }
      }
    }
  }
}
