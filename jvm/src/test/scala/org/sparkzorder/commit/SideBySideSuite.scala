package org.sparkzorder.commit

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.TestAll

/**
 * Several threads move the files of one folder, in any order. So deaths, failures and others'
 * changes meet any of the files in any place. The order differs from run to run.
 */
@TestAll
class SideBySideSuite extends AnyFunSuite with Explorer {
  private val inputs = 9
  private val outputs = 5
  private val fresh = Seq(900, 901)

  /** How often a state is run, as the order differs each time. */
  private val rounds = if (Explored.all) 20 else 2

  private val scene = new Scene(
    Statement("OPTIMIZE", table => table.fs.threads = 4, (table, ops, id) => table.optimize(ops, id, made = outputs)),
    Seq(""),
    inputs
  )

  private def checkRows(table: SmallTable, legal: Seq[Int]*): Unit = {
    table.liveness.running.clear()
    table.fs.threads = 1
    assert(table.recoverAndDecide().isEmpty)
    assert(legal.contains(table.fs.visibleRows))
    table.nextStatement()
    assert(legal.contains(table.fs.visibleRows))
  }

  private def checkEnd(table: SmallTable): Unit = {
    checkRows(table, table.allRows)
    assert(table.litter.isEmpty)
    assertHistory(table)
  }

  /** A table whose owner has died at a call. */
  private def dead(k: Int): SmallTable = {
    val table = scene.table()
    scene.run(table, table.faulty(k, Fault.DieAfter))
    table.liveness.running.clear()
    table
  }

  /** Somebody acts right before call `k`, and tells which rows are legal then. How many calls there are may differ. */
  private def beside(k: Int, what: String, dies: Int = 0, fault: Fault = Fault.DieAfter)(
      act: SmallTable => Seq[Seq[Int]]
  )(judge: (SmallTable, Seq[Seq[Int]]) => Any): Unit = {
    val table = scene.table()
    var legal = Seq(table.allRows)
    val ops = table.beside(k, dies, fault) { legal = act(table) }
    def clue = s"$what before call $k ${ops.trace.lift(k - 1)}, $fault at $dies"
    state(scene, table, ops, clue)((_, _) => judge(table, legal))
  }

  /** A plain reader misses no row at any moment. */
  private def watch(table: SmallTable): Unit =
    table.fs.changed = () => assert(table.allRows.toSet.subsetOf(table.fs.visibleRows.toSet))

  for (fault <- Seq(Fault.DieBefore, Fault.DieAfter, Fault.ThrowBefore, Fault.ThrowAfter))
    test(s"$fault at any call") {
      for (_ <- 1 to rounds) failing(scene, Seq(fault), watch) { (table, _) =>
        if (table.isPublishing) assert(table.viewedRows() == table.allRows)
        checkEnd(table)
      }
    }

  test("death at any call, and at any of the recovery by several threads") {
    for (k <- 1 to scene.calls; j <- 1 + k % 5 to 60 by 5) {
      val table = dead(k)
      table.recover(table.faulty(j, Fault.DieAfter))
      explored(s"death at $k, then at $j: ")(checkEnd(table))
    }
  }

  test("somebody appends, deletes a file or replaces one right before any call") {
    for (k <- 1 to scene.calls; what <- Seq("append", "delete", "replacement"); i <- Seq(0, 1 + k % (inputs - 1)))
      beside(k, s"$what of file $i") { t =>
        val name = s"/t/part-${i + 1}.parquet"
        val seen = t.fs.file(name).isDefined
        val left = t.allRows.diff(10 * i to 10 * i + 3)
        what match {
          case "append" =>
            t.fs.put("/t/added.parquet", fresh.take(1).toSet, 10L)
            Seq(t.allRows ++ fresh.take(1))
          case "delete" =>
            t.fs.nodes.remove(name)
            Seq(if (seen) left else t.allRows)
          case _ =>
            t.fs.put(name, fresh.take(1).toSet, 77L)
            (if (seen) Seq(left) else Seq(left, t.allRows)).map(_ ++ fresh.take(1))
        }
      } { (table, legal) =>
        table.liveness.running.clear()
        table.fs.threads = 1
        assertSettles(table, legal: _*)
      }
  }

  private def overwrite(table: SmallTable): Seq[Seq[Int]] = {
    table.fs.visible.foreach(table.fs.nodes.remove)
    table.fs.put("/t/000000_1.parquet", fresh.toSet, 10L)
    Seq(fresh)
  }

  for (fault <- Seq(None, Some(Fault.DieBefore), Some(Fault.DieAfter)))
    test(s"all visible files are overwritten right before any call${fault.fold("")(f => s", and $f at a later one")}") {
      for (k <- 1 to scene.calls; _ <- 1 to rounds) {
        val dies = fault.fold(0)(_ => k + 1 + k % 7)
        beside(k, "overwrite", dies, fault.getOrElse(Fault.DieAfter))(overwrite)((t, legal) => checkRows(t, legal: _*))
      }
    }

  test("all visible files are overwritten after death at any call, or before any call of the recovery") {
    for (k <- 1 to scene.calls; j <- 0 to 40 by 1 + k % 8) {
      val table = dead(k)
      if (j == 0) overwrite(table) else table.recover(table.beside(j)(overwrite(table)))
      // The recovery may have ended before call j.
      if (table.fs.file("/t/000000_1.parquet").isDefined || table.fs.visibleRows == fresh)
        explored(s"death at $k, overwritten before call $j: ")(checkRows(table, fresh))
    }
  }

  test("somebody deletes outputs right before any call, and the others stay") {
    for (k <- 1 to scene.calls; first <- 0 until outputs; second <- first until outputs)
      beside(k, s"delete of $first and $second") { t =>
        val names = Seq(first, second).map(i => s"/t/new-op-1-${i + 1}.parquet").distinct
        val gone = names.flatMap(t.fs.file).flatMap(_.rows).toSet
        names.foreach(t.fs.nodes.remove)
        val others = t.fs.visible.exists(_.contains("/new-"))
        // Deleting all visible outputs may have been an overwrite, whose writer saw no inputs any more.
        Seq(t.allRows.filterNot(gone)) ++ (if (others || gone.isEmpty) Nil else Seq(Nil)) ++
          // Before the decision, the rows are in the inputs as well.
          (if (t.fs.visible.count(_.contains("/part-")) == inputs) Seq(t.allRows) else Nil)
      }((table, legal) => checkRows(table, legal: _*))
  }
}
