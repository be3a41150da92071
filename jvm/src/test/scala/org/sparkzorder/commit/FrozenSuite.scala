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

  /** Rows of a file that was deleted. They may be in other files as well. */
  private var gone = Set.empty[Int]

  private def recover(table: SmallTable): Unit = assert(table.recoverAndDecide().isEmpty)
  private def optimize(table: SmallTable): Unit = table.attempt(table.ops, "op-8")
  private def restore(table: SmallTable): Unit = table.attempt("op-7")(table.restore(to = 0, id = "op-7"))
  private def uninstall(table: SmallTable): Unit = new Uninstall(table.folder, table.settings).run()

  /** Deletes the last file of such a name. */
  private def delete(prefix: String)(table: SmallTable): Unit =
    table.files.filter(FileNames.name(_).startsWith(prefix)).lastOption.foreach { name =>
      gone = table.rowsOf(name)
      table.fs.nodes.remove(s"/t/$name")
    }

  private val others: Seq[(String, Seq[SmallTable => Unit])] = Seq(
    ("others recover", Seq(recover _)),
    ("others recover and restore", Seq(recover _, restore _)),
    ("others recover, optimize, and restore", Seq(recover _, optimize _, restore _)),
    ("an input is deleted, and others recover", Seq(delete("part-") _, recover _)),
    ("an input is deleted, others recover and restore", Seq(delete("part-") _, recover _, restore _)),
    ("others recover and uninstall, and a new file is deleted", Seq(recover _, uninstall _, delete("new-op-1") _))
  )

  for (scene <- Seq(Statement.optimize, Statement.restore).flatMap(_.onBoth); (name, acts) <- others)
    test(s"${scene.name}: meanwhile $name") {
      meeting(scene) { table =>
        table.liveness.running.clear()
        gone = Set.empty
        acts.foreach(_(table))
      } { (table, _) =>
        table.liveness.running.clear()
        assertSettles(table, table.allRows, table.allRows.filterNot(gone))
      }
    }
}
