package org.sparkzorder.commit

import java.util.concurrent.Semaphore

import org.scalatest.Tag
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.{TestAll, TestRest}
import org.sparkzorder.commit.machine.Recovery
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

  test("a query reads around an owner that stands still while it publishes, or waits until it ends") {
    var slept = 0L
    failing(new Scene(Statement.optimize, Scene.Two), Deaths) { (table, _) =>
      if (table.isPublishing) {
        // It is taken for living, and ends when somebody else ends its operation.
        table.liveness.running += "op-1"
        def query(waitMillis: Long)(sleep: Long => Unit) =
          Recovery.settled(table.folder, waitMillis, table.settings.copy(sleep = sleep))
        val beside = query(10L)(millis => { slept += millis; Thread.sleep(millis) })
        assert(beside.exchanging && table.isPublishing && table.rowsAround(beside.around) == table.allRows)
        val after = query(60000L)(_ => { table.liveness.running.clear(); assert(table.recover().isEmpty) })
        assert(after.around.isEmpty && after.exchanging && table.fs.visibleRows == table.allRows)
      }
    }
    assert(slept > 0L)
  }

  private type Act = (SmallTable, MemoryOps) => Unit

  private val optimizes: Act = (table, ops) => table.optimize(ops, "op-2")
  // Of two RESTOREs the files have the same names.
  private val restores: Act = (table, ops) => table.restore(ops, 0, "op-2")

  for {
    (statement, name, act) <- Seq(
      (Statement.optimize, "recover", optimizes),
      (Statement.restore, "recover", optimizes),
      (Statement.restore, "restore as well", restores)
    )
    scene <- statement.onBoth
  } test(s"${scene.name}: it wakes up while others $name", new Tag(classOf[TestAll].getName)) {
    // It goes on to its end, or dies some calls later.
    for (k <- Explored.some(4, 0, 1 to scene.calls); later <- Seq(0, 1, 4, 8, 16))
      Iterator.from(1, Explored.every(4)).find(j => !wakes(scene, act, k, j, later))
  }

  /** It wakes up before call j of the others. False when they make fewer calls. */
  private def wakes(scene: Scene, act: Act, k: Int, j: Int, later: Int): Boolean = {
    val table = scene.table()
    val (asleep, awake) = (new Semaphore(0), new Semaphore(0))
    val dies = if (later > 0) k + later else 0
    val ops = table.beside(k, dies, Fault.DieBefore) {
      asleep.release()
      awake.acquire()
    }
    val owner = new Thread(() => { scene.run(table, ops); asleep.release() })
    def wake(): Unit = { awake.release(); owner.join() }
    owner.start()
    asleep.acquire()
    table.liveness.running.clear()
    val others = table.beside(j)(wake())
    table.attempt("op-2")(act(table, others))
    wake()
    explored(s"it slept before call $k ${ops.trace.lift(k - 1)}, was woken before call $j, died at $dies: ") {
      table.liveness.running.clear()
      table.recover()
      assert(table.fs.visibleRows == table.allRows)
      table.nextStatement()
      assert(table.fs.visibleRows == table.allRows)
    }
    others.calls >= j
  }
}
