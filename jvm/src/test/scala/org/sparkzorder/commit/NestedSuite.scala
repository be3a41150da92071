package org.sparkzorder.commit

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

/**
 * Two tables, one over a partition of the other: `/t` with two folders, and `/t/p=1`. Each row is
 * there exactly once.
 */
class NestedSuite extends AnyFunSuite with Explores {
  import NestedSuite._

  private val outer = Side("the outer table", _.outer, _.inner)
  private val inner = Side("the inner table", _.inner, _.outer)

  private def statements(side: Side): Seq[(String, Both => Unit, (Both, FileOps) => Unit)] = Seq(
    ("OPTIMIZE", (_: Both) => (), (b: Both, ops: FileOps) => side.own(b).optimize(ops, "op-1")),
    (
      "RESTORE",
      (b: Both) => side.own(b).optimize(new MemoryOps(b.fs), "op-91"),
      (b: Both, ops: FileOps) => side.own(b).restore(ops, 0, "op-1")
    ),
    (
      "VACUUM",
      (b: Both) => {
        side.own(b).optimize(new MemoryOps(b.fs), "op-91")
        side.other(b).optimize(new MemoryOps(b.fs), "op-92")
      },
      (b: Both, ops: FileOps) => side.own(b).vacuum(ops, "op-1")
    )
  )

  /** The next queries and statements of both tables find each row once, whichever comes first. */
  private def assertWhole(both: Both, order: Seq[SmallTable]): Unit = {
    order.foreach { table =>
      assert(table.recover(new MemoryOps(both.fs)).isEmpty)
      // Now a query of this table sees its rows, whatever is left in the other table.
      assert(both.fs.rows(both.fs.visible.filter(_.startsWith(table.root.toUri.getPath + "/"))) == both.rowsOf(table))
    }
    assert(both.fs.visibleRows == both.rows)
    order.foreach(_.nextStatement())
    assert(both.fs.visibleRows == both.rows)
    // Both tables go on.
    order.zipWithIndex.foreach { case (table, i) => table.optimize(new MemoryOps(both.fs), s"op-${50 + i}") }
    assert(both.fs.visibleRows == both.rows)
    assert(both.litter.isEmpty)
  }

  for {
    side <- Seq(outer, inner)
    (name, prepare, run) <- statements(side)
  } {
    def prepared(): Both = {
      val both = new Both
      prepare(both)
      both
    }
    def calls: Int = {
      val ops = new MemoryOps(prepared().fs)
      val both = prepared()
      val counted = new MemoryOps(both.fs)
      run(both, counted)
      counted.calls + ops.calls
    }

    test(s"$name of ${side.name}, and a whole OPTIMIZE of the other at any call") {
      for (k <- Explored.some(2, 0, 1 to calls)) {
        val both = prepared()
        var second: Option[Throwable] = None
        val ops = new MemoryOps(
          both.fs,
          other = { case `k` =>
            second = side.other(both).attempt("op-2")(side.other(both).optimize(new MemoryOps(both.fs), "op-2"))
          }
        )
        val end = side.own(both).attempt("op-1")(run(both, ops))
        withClue(s"before call $k ${ops.trace.lift(k - 1)}, ended with $end and $second: ")(explore {
          assert(both.fs.visibleRows == both.rows)
          assert(second.forall(_.isInstanceOf[ConcurrentOperationException]))
          assertWhole(both, if (k % 2 == 0) Seq(both.outer, both.inner) else Seq(both.inner, both.outer))
        })
      }
    }

    for (fault <- Seq(Fault.DieBefore, Fault.DieAfter)) {
      test(s"$name of ${side.name}, $fault at any call, then the other table comes first") {
        for (k <- Explored.some(2, 0, 1 to calls)) {
          val both = prepared()
          val ops = new MemoryOps(both.fs, k, fault)
          val end = side.own(both).attempt("op-1")(run(both, ops))
          withClue(s"at call $k ${ops.trace.lastOption}, ended with $end: ")(explore {
            assertWhole(both, Seq(side.other(both), side.own(both)))
          })
        }
      }
    }

    test(s"$name of ${side.name}, death at any call, and death of the other's recovery at any call") {
      for (k <- Explored.some(7, 0, 1 to calls); m <- Explored.some(7, k, 1 to 60)) {
        val both = prepared()
        side.own(both).attempt("op-1")(run(both, new MemoryOps(both.fs, k, Fault.DieAfter)))
        val ops = new MemoryOps(both.fs, m, Fault.DieAfter)
        side.other(both).recover(ops)
        withClue(s"death at call $k, then at $m ${ops.trace.lastOption}: ")(explore {
          assertWhole(both, if (m % 2 == 0) Seq(both.outer, both.inner) else Seq(both.inner, both.outer))
        })
      }
    }
  }

  test("a living operation of either refuses the other, and the error names it") {
    for (side <- Seq(outer, inner)) {
      val both = new Both
      val lock = Locking.acquire(TableFolder(side.own(both).root, new MemoryOps(both.fs)), "op-1", both.outer.settings)
      val refused = side.other(both).attempt(new MemoryOps(both.fs), "op-2")
      assert(refused.exists(_.isInstanceOf[ConcurrentOperationException]))
      assert(refused.get.getMessage.contains("op-1"))
      lock.release()
      assert(side.other(both).attempt(new MemoryOps(both.fs), "op-2").isEmpty)
      assert(both.liveness.running.isEmpty)
    }
  }

  test("two tables below a third do not hinder each other, and the third one waits for both") {
    val both = new Both
    val beside = new SmallTable(Seq(""), at = "/t/p=2", inside = Some(both.outer))
    val ops = new MemoryOps(both.fs)
    val first = Locking.acquire(TableFolder(both.inner.root, ops), "op-1", both.outer.settings)
    beside.optimize(ops, "op-2")
    assert(both.outer.attempt(ops, "op-3").exists(_.isInstanceOf[ConcurrentOperationException]))
    first.check()
    first.release()
    assert(both.outer.attempt(ops, "op-3").isEmpty)
    assert(both.fs.visibleRows == both.rows)
  }

  test("an operation that began before the table above had a side folder is found below") {
    // It is not named like a partition, so no lock is taken above it.
    val fs = new SmallTable(Seq("sub", "p=2"))
    val within = new SmallTable(Seq(""), at = "/t/sub", inside = Some(fs))
    val ops = new MemoryOps(fs.fs)
    val lock = Locking.acquire(TableFolder(within.root, ops), "op-1", fs.settings)
    assert(!fs.fs.nodes.contains("/t/_zorder"))
    assert(fs.attempt(ops, "op-2").exists(_.isInstanceOf[ConcurrentOperationException]))
    lock.release()
    within.attempt("op-3")(within.optimize(new MemoryOps(fs.fs, 40, Fault.DieAfter), "op-3"))
    assert(fs.fs.below("/t/sub/_zorder").exists(f => f.endsWith(".publishing") || f.endsWith(".pending")))
    // Its files were listed before they came back. That is a conflict, and afterwards all is well.
    fs.attempt(ops, "op-4")
    assert(fs.attempt(ops, "op-5").isEmpty)
    assert(fs.fs.visibleRows == fs.allRows)
  }

  test("a query of a table over a partition looks for tables above by its name, and of any other looks once") {
    val deep = new SmallTable(Seq("p=1/q=1", "p=1/q=2", "p=2/q=1"))
    val within = TableFolder(new Path("mem:/t/p=1"), new MemoryOps(deep.fs))
    def looked(folder: TableFolder): (Seq[Path], Int) = {
      val ops = new MemoryOps(deep.fs)
      val own = folder.copy(ops = ops)
      val found = NestedRoots.beside(Seq(own -> TableState.look(own.root, ops)), _ => Set.empty)
      (found.map(_.root), ops.calls)
    }
    assert(looked(TableFolder(deep.root, new MemoryOps(deep.fs))) == (Nil, 1))
    assert(looked(within) == (Nil, 2))
    assert(looked(TableFolder(new Path("mem:/t/p=1/q=1"), within.ops)) == (Nil, 3))
    // A user who may not look above can still read his own table.
    val denied = within.copy(ops = new MemoryOps(deep.fs, 1, Fault.ThrowBefore))
    assert(NestedRoots.beside(Seq(denied -> TableState.NoSideFolder), _ => Set.empty).isEmpty)
    // The root of the table over the partition holds nothing of the table above.
    def dieWhilePublishing(from: Int): Unit = {
      val published = (1 to 300).find { k =>
        deep.nextStatement()
        deep.attempt(s"op-${from + k}")(deep.optimize(new MemoryOps(deep.fs, k, Fault.DieAfter), s"op-${from + k}"))
        deep.isPublishing
      }
      assert(published.isDefined)
    }
    dieWhilePublishing(1000)
    assert(!deep.fs.nodes.contains("/t/p=1/_zorder"))
    assert(looked(within)._1 == Seq(deep.root))
    // The same, if the inner table has a history of its own.
    val inner = new SmallTable(Seq("q=1", "q=2"), at = "/t/p=1", inside = Some(deep))
    inner.nextStatement()
    inner.index(new MemoryOps(deep.fs), "op-2")
    dieWhilePublishing(2000)
    assert(!deep.fs.children("/t/p=1/_zorder").exists(f => f.endsWith("trash") || f.endsWith("staging")))
    assert(looked(within)._1 == Seq(deep.root))
  }

  test("of very many tables below, a query finds those in the folders that it reads, and those with an owner at work") {
    val many = new SmallTable(Seq("p=1", "p=2", "p=3"))
    val ops = new MemoryOps(many.fs)
    for (i <- 1 to 3) many.fs.mkdirs(s"/t/p=$i")
    val folder = TableFolder(many.root, ops, threads = 1)
    ops.mkdirs(folder.side)
    def register(name: String): Unit = ops.writeNew(folder.innerRoot(name), name.getBytes("UTF-8"))
    Seq("p=1", "p=2", "p=3").foreach(register)
    def below(listed: String*): Seq[String] = {
      val state = TableState.look(folder.root, ops).asInstanceOf[TableState.SideFolder]
      NestedRoots.below(state, listed.toSet).map(_.root.getName)
    }
    assert(below().toSet == Set("p=1", "p=2", "p=3"))
    (1 to NestedRoots.MostRead).foreach(i => register(s"gone=$i"))
    val calls = ops.calls
    assert(below("p=1", "p=2/q=5", "p=7") == Seq("p=1", "p=2"))
    // Other files cost nothing: it is one listing.
    assert(ops.calls == calls + 1)
    val lock = Locking.acquire(TableFolder(new Path("mem:/t/p=3"), ops), "op-1", many.settings)
    assert(below("p=1") == Seq("p=1", "p=3"))
    lock.release()
  }

  test("an uninstalled table is forgotten in the tables above it") {
    val both = new Both
    val ops = new MemoryOps(both.fs)
    both.inner.optimize(ops)
    assert(both.fs.below("/t/_zorder").exists(_.contains("/_inner-")))
    new Uninstall(TableFolder(both.inner.root, ops), both.inner.settings, _.toUri.getPath).run()
    assert(!both.fs.below("/t").exists(_.contains("_zorder")))
    assert(both.fs.visibleRows == both.rows)
  }

  test("a lock whose root is outside of the table, or is gone, leads nowhere and blocks nobody") {
    for (root <- Seq("p=9", "../x", "/etc", "_zorder", "p=1/../..")) {
      val both = new Both
      val folder = TableFolder(both.outer.root, new MemoryOps(both.fs))
      folder.ops.mkdirs(folder.side)
      val owner = Owner(both.liveness.self, "dead", "OPTIMIZE", root)
      folder.ops.writeNew(folder.newLock(), Owner.write(owner))
      both.outer.outwait()
      assert(both.outer.recover(new MemoryOps(both.fs)).isEmpty, root)
      assert(both.fs.visibleRows == both.rows && both.litter.isEmpty)
    }
  }
}

private object NestedSuite {

  final class Both {
    val outer = new SmallTable(Seq("p=1", "p=2"))
    val inner = new SmallTable(Seq(""), at = "/t/p=1", inside = Some(outer))
    val fs: MemoryFs = outer.fs
    val liveness: FakeLiveness = outer.liveness
    val rows: Seq[Int] = outer.allRows
    private val innerRows: Seq[Int] = fs.rows(fs.visible.filter(_.startsWith("/t/p=1/")))

    def rowsOf(table: SmallTable): Seq[Int] = if (table eq outer) rows else innerRows

    /**
     * A table does not see the side folder of the other one, except for the file that names the
     * inner table.
     */
    def litter: Seq[String] =
      outer.litter.filterNot(p => p.startsWith("/t/p=1/_zorder/") || p.matches("/t/_zorder/_inner-[0-9a-f]{16}")) ++
        inner.litter
  }

  final case class Side(name: String, own: Both => SmallTable, other: Both => SmallTable)
}
