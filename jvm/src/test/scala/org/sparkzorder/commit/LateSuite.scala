package org.sparkzorder.commit

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.TestRest

/**
 * A file system whose listings are late, while a lookup by name is up to date. Statements may
 * refuse, and leave something over. Once listings are on time again, each row is there once.
 */
@TestRest
class LateSuite extends AnyFunSuite with Explores {
  import Lateness._
  import Statement._

  private val delays = Seq(1, 2, 3, 5, 8, 13, 21, 34, 55, 1000)
  private val kinds = Seq(Past, Missing, Ghosts, Torn(0), Torn(1))
  private val folders = Seq(Seq("p=1", "p=2"), Seq(""))

  private def tableOf(first: MemoryFs, dirs: Seq[String]): SmallTable = {
    val table = new SmallTable(dirs)
    table.fs.copyOf(first)
    table
  }

  /** Checks what must always hold, by listings that are on time. */
  private def watch(table: SmallTable): Unit = table.fs.changed = () => {
    if (!table.isPublishing) assert(table.fs.visibleRows == table.allRows)
    assert(!table.indexLies)
  }

  private def checkEnd(statement: Statement, table: SmallTable, rows: Seq[Int], original: Seq[String]): Unit = {
    // The lock of a dead owner may be left.
    if (table.recover(new MemoryOps(table.fs)).nonEmpty) {
      table.outwait()
      assert(table.recover(new MemoryOps(table.fs)).isEmpty)
    }
    assert(table.fs.visibleRows == rows)
    table.nextStatement()
    assert(table.fs.visibleRows == rows)
    assert(table.litter.isEmpty)
    assert(!table.indexLies)
    val versions = table.history.map(_.record.version)
    assert(versions == versions.distinct)
    if (statement.keepsTrash) {
      table.restore(new MemoryOps(table.fs), 0, "op-9")
      assert(table.files.filterNot(_.contains("added")) == original)
      assert(table.fs.visibleRows == rows)
    }
  }

  for (statement <- all; dirs <- folders) {
    val name = s"${statement.name}, folders ${dirs.mkString("'", "', '", "'")}"
    lazy val first = statement.prepared(dirs, remembers = true)
    lazy val original = new SmallTable(dirs).files
    lazy val trace = {
      val table = tableOf(first, dirs)
      val ops = new MemoryOps(table.fs)
      statement.run(table, ops)
      ops.trace.toIndexedSeq
    }

    test(s"$name: any one listing is late") {
      val ways = for (by <- delays; kind <- kinds) yield (by, kind)
      for (k <- trace.indices if trace(k).startsWith("list"); (by, kind) <- Explored.some(7, k, ways)) {
        val table = tableOf(first, dirs)
        val rows = table.allRows
        watch(table)
        val ops = new MemoryOps(table.fs, late = Some(Late(kind, by, _ == k + 1)))
        val end = table.attempt("op-1")(statement.run(table, ops))
        withClue(s"${trace(k)}, call ${k + 1}, $kind by $by, ended with $end: ") {
          explore(checkEnd(statement, table, rows, original))
        }
      }
    }

    test(s"$name: all listings are late") {
      for (by <- 1 to 60; kind <- Explored.some(3, by, kinds)) {
        val table = tableOf(first, dirs)
        val rows = table.allRows
        watch(table)
        val end = table.attempt("op-1")(statement.run(table, new MemoryOps(table.fs, late = Some(Late(kind, by)))))
        withClue(s"$kind by $by, ended with $end: ")(explore(checkEnd(statement, table, rows, original)))
      }
    }

    test(
      s"$name: all listings are late, it dies at any call, and so may its recovery, whose listings are late as well"
    ) {
      val ways = for (by <- Seq(2, 7, 30); kind <- kinds; j <- 1 to 90 by 7) yield (by, kind, j)
      for (k <- trace.indices; (by, kind, j) <- Explored.some(61, k, ways)) {
        val table = tableOf(first, dirs)
        val rows = table.allRows
        watch(table)
        table.attempt("op-1")(statement.run(
          table,
          new MemoryOps(table.fs, k + 1, Fault.DieAfter, late = Some(Late(kind, by)))
        ))
        val ops = new MemoryOps(table.fs, j, Fault.DieAfter, late = Some(Late(kind, by)))
        val end = table.recover(ops)
        withClue(s"$kind by $by, death at ${k + 1} ${trace(k)}, then at $j, ended with $end: ") {
          explore(checkEnd(statement, table, rows, original))
        }
      }
    }

    test(s"$name: all see the folder as it was, and another OPTIMIZE comes at any call") {
      for (k <- trace.indices; by <- Explored.some(4, k, Seq(1, 2, 3, 5, 9, 20))) {
        val table = tableOf(first, dirs)
        val rows = table.allRows
        watch(table)
        def late = Some(Late(Past, by))
        val ops = new MemoryOps(
          table.fs,
          other = {
            case c if c == k + 1 => table.attempt("op-2")(table.optimize(new MemoryOps(table.fs, late = late), "op-2"))
          },
          late = late
        )
        val end = table.attempt("op-1")(statement.run(table, ops))
        withClue(s"by $by, before call ${k + 1}, ended with $end: ")(explore(checkEnd(
          statement,
          table,
          rows,
          original
        )))
      }
    }

    test(s"$name: all see the folder as it was, and somebody appends or deletes at any call") {
      val ways = for (by <- Seq(2, 5, 20); deletes <- Seq(false, true)) yield (by, deletes)
      for (k <- trace.indices; (by, deletes) <- Explored.some(5, k, ways)) {
        val table = tableOf(first, dirs)
        val inputs = table.files
        val rowsOf = inputs.map(n => n -> table.rowsOf(n)).toMap
        var rows = table.allRows
        val ops = new MemoryOps(
          table.fs,
          other = {
            case c if c == k + 1 && deletes =>
              if (table.fs.nodes.remove(s"/t/${inputs.last}").isDefined) rows = rows.filterNot(rowsOf(inputs.last))
            case c if c == k + 1 =>
              table.fs.put(s"/t/${inputs.head.replace(".parquet", "-added.parquet")}", Set(900), 10L)
              rows = (rows :+ 900).sorted
          },
          late = Some(Late(Past, by))
        )
        val end = table.attempt("op-1")(statement.run(table, ops))
        withClue(s"by $by, before call ${k + 1}, deletes: $deletes, ended with $end: ")(explore {
          checkEnd(statement.copy(keepsTrash = statement.keepsTrash && !deletes), table, rows, original)
        })
      }
    }
  }
}
