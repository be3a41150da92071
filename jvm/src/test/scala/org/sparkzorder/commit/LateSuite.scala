package org.sparkzorder.commit

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.TestRest

/**
 * A file system whose listings are late, while a lookup by name is up to date. Statements may
 * refuse, and leave something over. Once listings are on time again, each row is there once.
 */
@TestRest
class LateSuite extends AnyFunSuite with Explorer {
  import Lateness._

  private val delays = Seq(1, 2, 3, 5, 8, 13, 21, 34, 55, 1000)
  private val kinds = Seq(Past, Missing, Ghosts, Torn(0), Torn(1))

  /** Checks what must always hold, by listings that are on time. */
  private def watched(scene: Scene): SmallTable = {
    val table = scene.table()
    table.fs.changed = () => {
      if (!table.isPublishing) assert(table.fs.visibleRows == table.allRows)
      assert(!table.indexLies)
    }
    table
  }

  private def checkEnd(scene: Scene, table: SmallTable, rows: Seq[Int], deletes: Boolean = false): Unit = {
    // The lock of a dead owner may be left.
    if (table.recover().nonEmpty) table.outwait()
    assertSettles(table, rows)
    assert(table.litter.isEmpty)
    assertHistory(table)
    if (scene.statement.keepsTrash && !deletes) {
      table.restore(to = 0, id = "op-9")
      assert(table.files.filterNot(_.contains("added")) == new SmallTable(scene.dirs).files)
      assert(table.fs.visibleRows == rows)
    }
  }

  for (statement <- Statement.all; dirs <- Scene.Folders) {
    val scene = new Scene(statement, dirs, remembers = true)
    val name = scene.name

    /** One state of a table that is watched, in which calls go wrong or are late. */
    def late(clue: => String)(ops: SmallTable => MemoryOps): Unit = {
      val table = watched(scene)
      state(scene, table, ops(table), clue)((_, _) => checkEnd(scene, table, table.allRows))
    }

    test(s"$name: any one listing is late") {
      val ways = for (by <- delays; kind <- kinds) yield (by, kind)
      for (k <- 1 to scene.calls if scene.trace(k - 1).startsWith("list"); (by, kind) <- Explored.some(7, k - 1, ways))
        late(s"${scene.trace(k - 1)}, call $k, $kind by $by") { table =>
          new MemoryOps(table.fs, late = Some(Late(kind, by, _ == k)))
        }
    }

    test(s"$name: all listings are late") {
      for (by <- 1 to 60; kind <- Explored.some(3, by, kinds))
        late(s"$kind by $by")(table => new MemoryOps(table.fs, late = Some(Late(kind, by))))
    }

    test(s"$name: all listings are late, it dies at any call, and so may its recovery, with late listings as well") {
      val ways = for (by <- Seq(2, 7, 30); kind <- kinds; j <- 1 to 90 by 7) yield (by, kind, j)
      for (k <- 1 to scene.calls; (by, kind, j) <- Explored.some(61, k - 1, ways)) {
        val table = watched(scene)
        def dying(at: Int) = new MemoryOps(table.fs, at, Fault.DieAfter, late = Some(Late(kind, by)))
        scene.run(table, dying(k))
        val end = table.recover(dying(j))
        explored(s"$kind by $by, death at $k ${scene.trace(k - 1)}, then at $j, ended with $end: ") {
          checkEnd(scene, table, table.allRows)
        }
      }
    }

    test(s"$name: all see the folder as it was, and another OPTIMIZE comes at any call") {
      for (k <- 1 to scene.calls; by <- Explored.some(4, k - 1, Seq(1, 2, 3, 5, 9, 20)))
        late(s"by $by, before call $k") { table =>
          val seen = Some(Late(Past, by))
          def second(): Unit = table.attempt(new MemoryOps(table.fs, late = seen), "op-2")
          new MemoryOps(table.fs, other = { case `k` => second() }, late = seen)
        }
    }

    test(s"$name: all see the folder as it was, and somebody appends or deletes at any call") {
      val ways = for (by <- Seq(2, 5, 20); deletes <- Seq(false, true)) yield (by, deletes)
      for (k <- 1 to scene.calls; (by, deletes) <- Explored.some(5, k - 1, ways)) {
        val table = scene.table()
        val inputs = table.files
        val rowsOf = inputs.map(n => n -> table.rowsOf(n)).toMap
        var rows = table.allRows
        def act(): Unit =
          if (!deletes) {
            table.fs.put(s"/t/${inputs.head.replace(".parquet", "-added.parquet")}", Set(900), 10L)
            rows = (rows :+ 900).sorted
          } else if (table.fs.nodes.remove(s"/t/${inputs.last}").isDefined) rows = rows.filterNot(rowsOf(inputs.last))
        val ops = new MemoryOps(table.fs, other = { case `k` => act() }, late = Some(Late(Past, by)))
        state(scene, table, ops, s"by $by, before call $k, deletes: $deletes") { (_, _) =>
          checkEnd(scene, table, rows, deletes)
        }
      }
    }
  }
}
