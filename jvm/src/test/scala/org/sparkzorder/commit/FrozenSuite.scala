package org.sparkzorder.commit

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.TestRest
import org.sparkzorder.commit.upkeep.Uninstall

/**
 * An owner stands still right before any call, for so long that others take it for dead, recover, and go on.
 * Then it wakes up.
 */
@TestRest
class FrozenSuite extends AnyFunSuite with Explores {
  import FrozenSuite._

  for (
    statement <- Seq(Statement.optimize, Statement.restore); dirs <- Seq(Seq("p=1", "p=2"), Seq("")); others <- all
  ) {
    test(s"${statement.name}, folders ${dirs.mkString("'", "', '", "'")}: meanwhile ${others.name}") {
      val first = statement.prepared(dirs)
      for (k <- 1 to statement.calls(dirs)) {
        val table = new SmallTable(dirs)
        table.fs.copyOf(first)
        var legal = Seq(table.allRows)
        val ops = new MemoryOps(
          table.fs,
          other = { case `k` =>
            table.liveness.running.clear()
            legal = others.act(table)
          }
        )
        val end = table.attempt("op-1")(statement.run(table, ops))
        withClue(s"before call $k ${ops.trace.lift(k - 1)}, ended with $end: ")(explore {
          table.liveness.running.clear()
          assert(table.recover(new MemoryOps(table.fs)).isEmpty)
          assert(legal.contains(table.fs.visibleRows))
          table.nextStatement()
          assert(legal.contains(table.fs.visibleRows))
        })
      }
    }
  }
}

private object FrozenSuite {

  /** @param act what others do; returns the rows that are legal afterwards */
  final case class Others(name: String, act: SmallTable => Seq[Seq[Int]])

  private def recover(table: SmallTable): Unit = assert(table.recoverAndDecide().isEmpty)

  private def restore(table: SmallTable): Unit = {
    table.attempt("op-7")(table.restore(new MemoryOps(table.fs), 0, "op-7"))
    ()
  }

  val all: Seq[Others] = Seq(
    Others("others recover", t => { recover(t); Seq(t.allRows) }),
    Others("others recover and restore", t => { recover(t); restore(t); Seq(t.allRows) }),
    Others(
      "others recover, optimize, and restore",
      t => {
        recover(t)
        t.attempt(new MemoryOps(t.fs), "op-8")
        restore(t)
        Seq(t.allRows)
      }
    ),
    Others("an input is deleted, and others recover", t => { val rows = deleted(t, "part-"); recover(t); rows }),
    Others(
      "an input is deleted, others recover and restore",
      t => { val rows = deleted(t, "part-"); recover(t); restore(t); rows }
    ),
    Others(
      "others recover and uninstall, and a new file is deleted",
      t => {
        recover(t)
        new Uninstall(TableFolder(t.root, new MemoryOps(t.fs)), t.settings).run()
        deleted(t, "new-op-1")
      }
    )
  )

  /** Deletes the last file of such a name. Its rows may be in other files as well. */
  private def deleted(table: SmallTable, prefix: String): Seq[Seq[Int]] =
    table.files.filter(FileNames.name(_).startsWith(prefix)).lastOption.fold(Seq(table.allRows)) { name =>
      val gone = table.rowsOf(name)
      table.fs.nodes.remove(s"/t/$name")
      Seq(table.allRows, table.allRows.filterNot(gone))
    }
}
