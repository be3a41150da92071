package org.sparkzorder.commit

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.commit.upkeep.Uninstall

/** Two tables, one over a folder of the other: `/t` with two folders, and `/t/p=1`. */
class NestedSuite extends AnyFunSuite with Explores {
  import NestedSuite._

  private val sides = Seq(Side("the outer table", _.outer, _.inner), Side("the inner table", _.inner, _.outer))

  private val statements: Seq[(String, (SmallTable, FileOps, String) => Unit)] = Seq(
    ("OPTIMIZE", (table, ops, id) => table.optimize(ops, id)),
    ("CREATE SKIPPING INDEX", (table, ops, id) => table.index(ops, id))
  )

  for (side <- sides; (name, run) <- statements) {
    test(s"after $name of ${side.name} the other one is refused and leaves nothing, until the first is uninstalled") {
      val both = new Both
      run(side.own(both), both.ops, "op-1")
      val before = both.fs.nodes.keySet.toSet
      val refused = side.other(both).attempt(both.ops, "op-2")
      assert(refused.exists {
        case e: NestedTableException => e.outer == both.outer.root && e.inner == both.inner.root
        case _                       => false
      })
      assert(both.fs.nodes.keySet.toSet == before && both.liveness.running.isEmpty)
      val own = side.own(both)
      new Uninstall(own.folder, own.settings).run()
      assert(side.other(both).attempt(both.ops, "op-3").isEmpty)
      assert(both.fs.visibleRows == both.rows)
    }
  }

  for (side <- sides) {
    def calls: Int = {
      val both = new Both
      val ops = both.ops
      side.own(both).optimize(ops, "op-1")
      ops.calls
    }

    test(s"OPTIMIZE of ${side.name}, and one of the other at any call: one of them is refused") {
      for (k <- 1 to calls) {
        val both = new Both
        var second: Option[Throwable] = None
        val ops = both.beside(k) { second = side.other(both).attempt(both.ops, "op-2") }
        val first = side.own(both).attempt(ops, "op-1")
        withClue(s"before call $k ${ops.trace.lift(k - 1)}, ended with $first and $second: ")(explore {
          assert(Seq(first, second).count(_.exists(_.isInstanceOf[NestedTableException])) >= 1)
          assert(both.fs.visibleRows == both.rows)
          assert(both.litter.isEmpty)
        })
      }
    }

    for (fault <- Seq(Fault.DieBefore, Fault.DieAfter)) {
      test(s"OPTIMIZE of ${side.name}, $fault at any call: the other one is refused, or all is well") {
        for (k <- 1 to calls) {
          val both = new Both
          val ops = both.faulty(k, fault)
          val end = side.own(both).attempt(ops, "op-1")
          withClue(s"at call $k ${ops.trace.lastOption}, ended with $end: ")(explore {
            val refused = side.other(both).attempt(both.ops, "op-2")
            assert(refused.forall(_.isInstanceOf[NestedTableException]))
            assert(side.own(both).recover(both.ops).isEmpty)
            assert(both.fs.visibleRows == both.rows)
          })
        }
      }
    }
  }

  test("tables beside each other do not hinder each other") {
    val both = new Both
    val beside = new SmallTable(Seq(""), at = "/t/p=2", inside = Some(both.outer))
    both.inner.optimize(id = "op-1")
    beside.optimize(id = "op-2")
    assert(both.fs.visibleRows == both.rows)
  }
}

private object NestedSuite {

  final class Both extends MemoryTable {
    val outer = new SmallTable(Seq("p=1", "p=2"))
    val inner = new SmallTable(Seq(""), at = "/t/p=1", inside = Some(outer))
    val fs: MemoryFs = outer.fs
    val liveness: FakeLiveness = outer.liveness
    val rows: Seq[Int] = outer.allRows

    /** A table does not see the side folder of the other one. */
    def litter: Seq[String] = outer.litter.filterNot(_.startsWith("/t/p=1/_zorder/")) ++ inner.litter
  }

  final case class Side(name: String, own: Both => SmallTable, other: Both => SmallTable)
}
