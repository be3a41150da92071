package org.sparkzorder.commit

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.TestRest
import org.sparkzorder.commit.upkeep.Uninstall

/**
 * An owner stands still right before any call, for so long that others take it for dead, recover, and go on.
 * Then it wakes up.
 */
@TestRest
class FrozenSuite extends AnyFunSuite with Explorer {
  import FrozenSuite._

  for (scene <- Seq(Statement.optimize, Statement.restore).flatMap(_.onBoth); others <- all)
    test(s"${scene.name}: meanwhile ${others.name}") {
      var legal: Seq[Seq[Int]] = Nil
      meeting(scene) { table =>
        table.liveness.running.clear()
        legal = others.act(table)
      } { (table, _) =>
        table.liveness.running.clear()
        assertSettles(table, legal: _*)
      }
    }
}

private object FrozenSuite {

  /** @param act what others do; returns the rows that are legal afterwards */
  final case class Others(name: String, act: SmallTable => Seq[Seq[Int]])

  private def recover(table: SmallTable): Unit = assert(table.recoverAndDecide().isEmpty)

  private def restore(table: SmallTable): Unit = {
    table.attempt("op-7")(table.restore(to = 0, id = "op-7"))
    ()
  }

  val all: Seq[Others] = Seq(
    Others("others recover", t => { recover(t); Seq(t.allRows) }),
    Others("others recover and restore", t => { recover(t); restore(t); Seq(t.allRows) }),
    Others(
      "others recover, optimize, and restore",
      t => {
        recover(t)
        t.attempt(t.ops, "op-8")
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
        new Uninstall(t.folder, t.settings).run()
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
