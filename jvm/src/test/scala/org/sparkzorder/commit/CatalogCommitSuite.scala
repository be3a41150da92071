package org.sparkzorder.commit

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

/**
 * Runs the steps of publishing through the catalog over a file system and a catalog in memory. Each
 * call fails, takes effect and fails, or is the last one before death, with rivals beside it.
 */
class CatalogCommitSuite extends AnyFunSuite {

  private val shapes =
    Seq(Seq(CatalogPartition.Table), Seq(CatalogPartition(Seq("p" -> "1")), CatalogPartition(Seq("p" -> "2"))))
  private val faults = Seq(Fault.DieBefore, Fault.DieAfter, Fault.ThrowBefore, Fault.ThrowAfter)
  private val MostCalls = 400

  private def optimizedOnce(slots: Seq[CatalogPartition]): MemoryCatalogTable = {
    val table = new MemoryCatalogTable(slots)
    table.optimize(new MemoryOps(table.fs), "op-0")
    table
  }

  /** Calls `body` for each call of a statement until it no longer comes to that call. */
  private def atEachCall(body: Int => Int): Int = {
    val ended = Iterator.from(1).find(at => body(at) < at || at > MostCalls).get
    assert(ended <= MostCalls)
    ended
  }

  private def watched(table: MemoryCatalogTable, expected: () => Set[Seq[Int]], plain: Boolean = true): Unit =
    table.fs.changed = () => {
      val seen = table.seenRows
      assert(seen.exists(expected()), s"with the extension: $seen in place of ${expected()}")
      if (plain) assert(expected()(table.plainRows), s"without it: ${table.plainRows} in place of ${expected()}")
    }

  private type Statement = (MemoryCatalogTable, MemoryOps, String) => Unit
  private val statements: Seq[(String, Statement)] = Seq(
    "OPTIMIZE" -> ((t, ops, id) => { t.optimize(ops, id, keeps = true); () }),
    "RESTORE" -> ((t, ops, id) => t.restore(ops, id, 0)),
    "VACUUM" -> ((t, ops, id) => t.vacuum(ops, id))
  )

  for { slots <- shapes; (name, statement) <- statements; fault <- faults }
    test(s"$name of ${slots.size} slots with $fault at each call keeps each row once, for all readers at any time") {
      var states = 0
      atEachCall { at =>
        val table = optimizedOnce(slots)
        watched(table, () => Set(table.allRows))
        val ops = new MemoryOps(table.fs, at, fault)
        table.attempt("op-1")(statement(table, ops, "op-1"))
        // A recovery may fail as well.
        atEachCall { again =>
          val copy = new MemoryOps(table.fs, again, fault)
          table.attempt("op-2")(statement(table, copy, "op-2"))
          states += 1
          if (again > 12) 0 else copy.calls
        }
        table.next()
        assert(table.plainRows == table.allRows && table.seenRows.contains(table.allRows))
        assert(table.litter.isEmpty)
        ops.calls
      }
      info(s"$states states")
    }

  for { slots <- shapes; (name, statement) <- statements; kills <- Seq(false, true) }
    test(s"$name of ${slots.size} slots meets a stale appender at each call${if (kills) ", and dies there" else ""}") {
      atEachCall { at =>
        val table = optimizedOnce(slots)
        val stale = table.first.values.toSeq
        val before = table.locations.values.toSeq
        def put(): Unit = {
          table.append(stale.head, s"late-$at", Set(9000))
          table.append(before.last, s"fresh-$at", Set(9001))
        }
        val ops = new MemoryOps(table.fs, if (kills) at else 0, Fault.DieAfter, other = { case `at` => put() })
        table.attempt("op-1")(statement(table, ops, "op-1"))
        val all = (table.allRows ++ (if (ops.calls >= at) Seq(9000, 9001) else Nil)).sorted
        assert(table.seenRows.contains(all), "after the statement")
        table.next()
        assert(table.seenRows.contains(all) && table.plainRows == all, "after the next one")
        table.optimize(new MemoryOps(table.fs), "op-3")
        assert(table.plainRows == all, "after the next OPTIMIZE")
        if (name != "VACUUM") table.restore(new MemoryOps(table.fs), "op-4", 0)
        assert(table.plainRows == all && table.seenRows.contains(all), "after a RESTORE")
        table.vacuum(new MemoryOps(table.fs), "op-5")
        table.vacuum(new MemoryOps(table.fs), "op-6")
        assert(table.plainRows == all && table.seenRows.contains(all), "after a VACUUM")
        ops.calls
      }
    }

  for { slots <- shapes; (name, statement) <- statements }
    test(s"$name of ${slots.size} slots meets an overwrite of the current folder at each call") {
      atEachCall { at =>
        val table = optimizedOnce(slots)
        val slot = slots.head
        val ops = new MemoryOps(
          table.fs,
          other = { case `at` => table.overwrite(table.locations(slot), s"over-$at", Set(9000)) }
        )
        table.attempt("op-1")(statement(table, ops, "op-1"))
        val others = table.allRows.filter(r => slots.size == 2 && r >= 100)
        val expected = (if (ops.calls >= at) others :+ 9000 else table.allRows).sorted
        // What was overwritten does not come back, for anybody.
        assert(table.plainRows == expected, s"at call $at: ${ops.trace.lift(at - 1)}")
        assert(table.seenRows.forall(_ == expected))
        ops.calls
      }
    }

  for (slots <- shapes)
    test(s"a call to the catalog of ${slots.size} slots hangs and lands after others have gone on") {
      for (goesOn <- Seq("nothing", "next", "optimize", "optimize and append", "restore", "vacuum")) {
        val table = optimizedOnce(slots)
        val hung = table.optimize(new MemoryOps(table.fs), "op-1", hangs = true)
        table.liveness.running -= "op-1"
        assert(hung.hanging.nonEmpty)
        var all = table.allRows
        def go(id: String): MemoryOps = new MemoryOps(table.fs)
        goesOn match {
          case "nothing"             => ()
          case "next"                => table.next()
          case "restore"             => table.restore(go("op-2"), "op-2", 0)
          case "vacuum"              => table.vacuum(go("op-2"), "op-2")
          case "optimize"            => table.optimize(go("op-2"), "op-2")
          case "optimize and append" =>
            table.optimize(go("op-2"), "op-2")
            table.append(table.locations(slots.head), "more", Set(9000))
            all = (all :+ 9000).sorted
        }
        hung.hanging.foreach(table.land)
        assert(table.seenRows.forall(_ == all), s"after $goesOn")
        table.next("op-3")
        assert(table.seenRows.contains(all) && table.plainRows == all, s"after $goesOn, and the next statement")
      }
    }

  test("somebody sets the location back, as ANALYZE does that began before") {
    val table = optimizedOnce(Seq(CatalogPartition.Table))
    val now = table.locations(CatalogPartition.Table)
    table.append(now, "more", Set(9000))
    table.locations(CatalogPartition.Table) = table.first(CatalogPartition.Table)
    val all = (table.allRows :+ 9000).sorted
    assert(table.seenRows.contains(all))
    // Nothing of a table whose location nobody of us has set is deleted.
    table.vacuum(new MemoryOps(table.fs), "op-1")
    assert(table.seenRows.contains(all))
    table.optimize(new MemoryOps(table.fs), "op-2")
    assert(table.plainRows == all && table.seenRows.contains(all))
  }

  test("a stale overwrite of the first folder is noticed, before and after a VACUUM") {
    for (vacuums <- Seq(false, true)) {
      val table = optimizedOnce(Seq(CatalogPartition(Seq("p" -> "1"))))
      if (vacuums) table.vacuum(new MemoryOps(table.fs), "op-1")
      table.overwrite(table.first.values.head, "stale", Set(9000))
      assert(table.seenRows.isEmpty)
    }
  }

  test("files of an earlier folder that somebody compacts are not doubled") {
    val table = optimizedOnce(Seq(CatalogPartition(Seq("p" -> "1"))))
    val folder = table.first.values.head
    val old = table.dataIn(folder)
    table.append(folder, "compacted", old.flatMap(p => table.fs.file(p).get.rows).toSet)
    old.take(2).foreach(table.fs.nodes.remove)
    assert(table.seenRows.isEmpty)
  }

  test("a partition that is overwritten through the catalog leaves nothing to watch") {
    val table = optimizedOnce(Seq(CatalogPartition(Seq("p" -> "1"))))
    table.overwrite(table.locations.values.head, "new", Set(9000))
    assert(table.seenRows.contains(Seq(9000)))
    table.append(table.first.values.head, "late", Set(9001))
    assert(table.seenRows.isEmpty)
  }

  test("RESTORE goes back and forth with appends between, and brings nothing back that was deleted") {
    val table = optimizedOnce(Seq(CatalogPartition.Table))
    val ops = new MemoryOps(table.fs)
    table.append(table.locations(CatalogPartition.Table), "a", Set(9000))
    table.restore(ops, "op-1", 0)
    assert(table.plainRows == (table.allRows :+ 9000).sorted)
    table.append(table.locations(CatalogPartition.Table), "b", Set(9001))
    table.restore(ops, "op-2", 1)
    assert(table.plainRows == (table.allRows ++ Seq(9000, 9001)).sorted)
    // Somebody deletes the file that was brought here. Its original is in an earlier folder.
    val brought =
      table.dataIn(table.locations(CatalogPartition.Table)).filter(p => table.fs.file(p).get.rows == Set(9001))
    brought.foreach(table.fs.nodes.remove)
    assert(table.seenRows.contains((table.allRows :+ 9000).sorted))
    table.next()
    assert(table.plainRows == (table.allRows :+ 9000).sorted)
    // Going back would bring it back.
    val e = intercept[NotRestorableException](table.restore(ops, "op-3", 0))
    assert(e.obstacle == RestoreObstacle.Changed)
    assert(table.plainRows == (table.allRows :+ 9000).sorted)
  }

  test("a copied side folder names no folder of the other table") {
    val table = optimizedOnce(Seq(CatalogPartition.Table))
    val state = CatalogStateFile.read(table.folder(new MemoryOps(table.fs)))
    assert(state.of(new Path("mem:/copy")).folders.isEmpty && state.of(table.home) == state)
  }

  test("a partition that is dropped and loaded again in its first folder does not get rows of the other one") {
    val slot = CatalogPartition(Seq("p" -> "1"))
    val table = optimizedOnce(Seq(slot))
    table.append(table.locations(slot), "more", Set(9000))
    table.locations(slot) = table.first(slot)
    table.overwrite(table.first(slot), "new", Set(9001))
    assert(table.seenRows.isEmpty)
  }

  test("an earlier folder becomes the location of another partition, whose rows stay its own") {
    def slot(value: String) = CatalogPartition(Seq("p" -> value))
    val (one, two, other) = (slot("1"), slot("2"), slot("7"))
    val table = optimizedOnce(Seq(one, two))
    table.locations(other) = table.first(one)
    table.append(table.first(one), "new", Set(9000))
    table.append(table.locations(one), "own", Set(9001))
    def check(when: String) = assert(table.seenRows.contains(table.plainRows), when)
    check("at once")
    table.overwrite(table.first(one), "newer", Set(9002))
    check("after an overwrite")
    table.next()
    check("after a statement")
    table.optimize(new MemoryOps(table.fs), "op-1")
    // The other partition leaves the folder as well, and others still write there.
    table.locations(other) = new Path("mem:/elsewhere")
    table.append(table.first(one), "stray", Set(9003))
    check("after it left")
    table.vacuum(new MemoryOps(table.fs), "op-2")
    check("after VACUUM")
  }

  test("a partition with a new name has late files of its old one") {
    val (old, renamed) = (CatalogPartition(Seq("p" -> "1")), CatalogPartition(Seq("p" -> "9")))
    val table = optimizedOnce(Seq(old))
    table.locations(renamed) = table.locations(old)
    table.locations.remove(old)
    assert(table.seenRows.contains(table.allRows))
    table.append(table.first(old), "late", Set(9000))
    assert(table.seenRows.isEmpty)
  }

  test("the catalog names a folder that VACUUM has emptied") {
    val table = optimizedOnce(Seq(CatalogPartition.Table))
    table.vacuum(new MemoryOps(table.fs), "op-1")
    table.locations(CatalogPartition.Table) = table.first(CatalogPartition.Table)
    assert(table.seenRows.isEmpty)
  }

  test("an emptied folder begins anew once no file is left in any folder to which its rows had moved") {
    val table = optimizedOnce(Seq(CatalogPartition.Table))
    val second = table.locations(CatalogPartition.Table)
    table.optimize(new MemoryOps(table.fs), "op-1")
    val third = table.locations(CatalogPartition.Table)
    table.vacuum(new MemoryOps(table.fs), "op-2")
    table.locations(CatalogPartition.Table) = table.first(CatalogPartition.Table)
    table.append(table.first(CatalogPartition.Table), "new", Set(9000))
    table.append(second, "late", Set(9001))
    def empty(folder: Path) =
      table.fs.below(folder.toUri.getPath).filter(_.endsWith(".parquet")).foreach(table.fs.nodes.remove)
    assert(table.seenRows.isEmpty)
    empty(third)
    assert(table.seenRows.isEmpty, "a late file is in the folder between")
    empty(second)
    assert(table.seenRows.contains(Seq(9000)))
    table.optimize(new MemoryOps(table.fs), "op-3")
    assert(table.seenRows.contains(Seq(9000)) && table.plainRows == Seq(9000))
  }

  test("the state survives writing and reading") {
    val watch =
      Watch("mem:/t", "op", 5L, Seq(KnownFile("a b%.parquet", 3L, 4L, Some("\"e\""))))
    val state = CatalogState(
      Seq(CatalogFolder(
        "mem:/t__zorder/v1",
        CatalogPartition(Seq("p" -> "ü/=", "q" -> "")),
        "op",
        Seq("x"),
        Seq(watch),
        abandoned = true,
        has = Seq("zorder-carried-1-ü")
      ))
    )
    assert(CatalogStateFile.parse(CatalogStateFile.bytes(state), new Path("mem:/s")) == state)
  }
}
