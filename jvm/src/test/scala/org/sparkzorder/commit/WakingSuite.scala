package org.sparkzorder.commit

import java.util.concurrent.Semaphore

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.TestAll

/**
 * An owner stands still before any call, others take it for dead and recover, and it wakes up before any call of theirs.
 * Then the others go on with a statement of their own.
 */
@TestAll
class WakingSuite extends AnyFunSuite with Explorer {
  private type Act = (SmallTable, MemoryOps) => Unit

  private val optimizes: Act = (table, ops) => table.optimize(ops, "op-2")
  // Of two RESTOREs the files have the same names.
  private val restores: Act = (table, ops) => table.restore(ops, 0, "op-2")

  for {
    (statement, others, act) <- Seq(
      (Statement.optimize, "recover", optimizes),
      (Statement.restore, "recover", optimizes),
      (Statement.restore, "restore as well", restores)
    )
    scene <- statement.onBoth
  } test(s"${scene.name}: it wakes up while others $others") {
    // It goes on to its end, or dies some calls later.
    for (k <- Explored.some(4, 0, 1 to scene.calls); later <- Seq(0, 1, 4, 8, 16))
      Iterator.from(1, Explored.every(4)).find(j => !wakes(scene, act, k, j, later))
  }

  /** False when the others make fewer calls than j. */
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
