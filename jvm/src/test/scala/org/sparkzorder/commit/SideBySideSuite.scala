package org.sparkzorder.commit

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.TestAll

/**
 * Several threads move the files of one folder, in any order. So deaths, failures and others'
 * changes meet any of the files in any place. The order differs from run to run.
 */
@TestAll
class SideBySideSuite extends AnyFunSuite with Explores {
  import SideBySideSuite._

  private val inputs = 9
  private val outputs = 5

  private def table(): SmallTable = {
    val made = new SmallTable(Seq(""), inputs)
    made.threads = 4
    made
  }

  private def optimize(table: SmallTable, ops: MemoryOps): Option[Throwable] = {
    ops.yields = true
    table.attempt("op-1")(table.optimize(ops, "op-1", made = outputs))
  }

  private def recover(table: SmallTable, ops: MemoryOps): Option[Throwable] = {
    ops.yields = true
    table.recover(ops)
  }

  private lazy val calls = {
    val whole = table()
    val ops = whole.ops
    assert(optimize(whole, ops).isEmpty)
    ops.calls
  }

  private def checkEnd(table: SmallTable, rows: Seq[Int]): Unit = {
    table.liveness.running.clear()
    table.threads = 1
    assert(table.recoverAndDecide().isEmpty)
    assert(table.fs.visibleRows == rows)
    table.nextStatement()
    assert(table.fs.visibleRows == rows)
    assert(table.litter.isEmpty)
    assert(!table.indexLies)
    val versions = table.history.map(_.record.version)
    assert(versions == versions.distinct)
  }

  for (fault <- Seq(Fault.DieBefore, Fault.DieAfter, Fault.ThrowBefore, Fault.ThrowAfter))
    test(s"$fault at any call") {
      for (k <- 1 to calls; _ <- 1 to Rounds) {
        val t = table()
        val ops = t.faulty(k, fault)
        val end = optimize(t, ops)
        withClue(s"call $k ${ops.trace.lift(k - 1)}, ended with $end: ")(explore {
          if (t.isPublishing) assert(t.viewedRows() == t.allRows)
          checkEnd(t, t.allRows)
        })
      }
    }

  test("death at any call, and at any of the recovery by several threads") {
    for (k <- 1 to calls; j <- 1 + k % 5 to 60 by 5) {
      val t = table()
      optimize(t, t.faulty(k, Fault.DieAfter))
      t.liveness.running.clear()
      recover(t, t.faulty(j, Fault.DieAfter))
      withClue(s"death at $k, then at $j: ")(explore(checkEnd(t, t.allRows)))
    }
  }

  test("somebody appends, deletes a file or replaces one right before any call") {
    for (k <- 1 to calls; what <- 0 to 2; i <- Seq(0, 1 + k % (inputs - 1))) {
      val t = table()
      val name = t.files(i)
      val own = t.rowsOf(name)
      var legal = Seq(t.allRows)
      val ops = new MemoryOps(
        t.fs,
        other = { case `k` =>
          val seen = t.fs.file(s"/t/$name").isDefined
          val left = t.allRows.filterNot(own)
          what match {
            case 0 =>
              t.fs.put("/t/added.parquet", Set(900), 10L)
              legal = Seq(t.allRows :+ 900)
            case 1 =>
              t.fs.nodes.remove(s"/t/$name")
              if (seen) legal = Seq(left)
            case _ =>
              t.fs.put(s"/t/$name", Set(900), 77L)
              legal = if (seen) Seq(left :+ 900) else Seq(left :+ 900, t.allRows :+ 900)
          }
        }
      )
      val end = optimize(t, ops)
      withClue(s"change $what of $name before call $k ${ops.trace.lift(k - 1)}, ended with $end: ")(explore {
        t.liveness.running.clear()
        t.threads = 1
        assert(t.recover().isEmpty)
        assert(legal.contains(t.fs.visibleRows))
      })
    }
  }

  private def checkRows(table: SmallTable, legal: Seq[Seq[Int]]): Unit = {
    table.liveness.running.clear()
    table.threads = 1
    assert(table.recoverAndDecide().isEmpty)
    assert(legal.contains(table.fs.visibleRows))
    table.nextStatement()
    assert(legal.contains(table.fs.visibleRows))
  }

  private def overwrite(t: SmallTable): Unit = {
    t.fs.visible.foreach(t.fs.nodes.remove)
    t.fs.put("/t/000000_1.parquet", fresh.toSet, 10L)
  }

  for (fault <- Seq(None, Some(Fault.DieBefore), Some(Fault.DieAfter)))
    test(s"all visible files are overwritten right before any call${fault.fold("")(f => s", and $f at a later one")}") {
      for (k <- 1 to calls; _ <- 1 to Rounds) {
        val t = table()
        val dies = fault.fold(0)(_ => k + 1 + k % 7)
        // How many calls there are depends on the threads, so call k may not come.
        var legal = Seq(t.allRows)
        val rival: PartialFunction[Int, Unit] = { case `k` => overwrite(t); legal = Seq(fresh) }
        val ops = new MemoryOps(t.fs, dies, fault.getOrElse(Fault.DieAfter), rival)
        val end = optimize(t, ops)
        withClue(s"before call $k ${ops.trace.lift(k - 1)}, death at $dies, ended with $end: ")(
          explore(checkRows(t, legal))
        )
      }
    }

  test("all visible files are overwritten after death at any call, or before any call of the recovery") {
    for (k <- 1 to calls; j <- 0 to 40 by 1 + k % 8) {
      val t = table()
      optimize(t, t.faulty(k, Fault.DieAfter))
      t.liveness.running.clear()
      if (j == 0) overwrite(t) else recover(t, t.beside(j)(overwrite(t)))
      // The recovery may have ended before call j.
      if (t.fs.file("/t/000000_1.parquet").isDefined || t.fs.visibleRows == fresh)
        withClue(s"death at $k, overwritten before call $j: ")(explore(checkRows(t, Seq(fresh))))
    }
  }

  test("somebody deletes outputs right before any call, and the others stay") {
    for (k <- 1 to calls; first <- 0 until outputs; second <- first until outputs) {
      val t = table()
      var legal = Seq(t.allRows)
      val ops = new MemoryOps(
        t.fs,
        other = { case `k` =>
          val names = Seq(first, second).map(i => s"/t/new-op-1-${i + 1}.parquet").distinct
          val gone = names.flatMap(t.fs.file).flatMap(_.rows).toSet
          names.foreach(t.fs.nodes.remove)
          val others = t.fs.visible.exists(_.contains("/new-"))
          // Deleting all visible outputs may have been an overwrite, whose writer saw no inputs any
          // more.
          legal = Seq(t.allRows.filterNot(gone)) ++ (if (others || gone.isEmpty) Nil else Seq(Nil)) ++
            // Before the decision, the rows are in the inputs as well.
            (if (t.fs.visible.count(_.contains("/part-")) == inputs) Seq(t.allRows) else Nil)
        }
      )
      val end = optimize(t, ops)
      withClue(s"deletes $first and $second before call $k ${ops.trace.lift(k - 1)}, ended with $end: ")(
        explore(checkRows(t, legal))
      )
    }
  }
}

private object SideBySideSuite {

  private val fresh = Seq(900, 901)

  /** How often a state is run, as the order differs each time. */
  private val Rounds = if (Explored.all) 20 else 2
}
