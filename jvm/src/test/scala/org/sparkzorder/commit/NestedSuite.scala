package org.sparkzorder.commit

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.commit.upkeep.Uninstall

/** Two tables, one over a folder of the other: `/t` with two folders, and `/t/p=1`. */
class NestedSuite extends AnyFunSuite with Explores {

  /** One of the tables, and the other one. */
  private final class Both(isOuter: Boolean) {
    val outer = new SmallTable(Scene.Two)
    val inner = new SmallTable(Seq(""), at = "/t/p=1", inside = Some(outer))
    val (own, other) = if (isOuter) (outer, inner) else (inner, outer)
    def paths: Set[String] = outer.fs.nodes.keySet.toSet
    def assertRows(): Unit = assert(outer.fs.visibleRows == outer.allRows)

    /** A table does not see the side folder of the other one. */
    def litter: Seq[String] = outer.litter.filterNot(_.startsWith("/t/p=1/_zorder/")) ++ inner.litter
  }

  for ((name, isOuter) <- Seq("the outer table" -> true, "the inner table" -> false)) {
    for (statement <- Seq(Statement.optimize, Statement.createIndex))
      test(s"after ${statement.name} of $name the other is refused, leaves nothing, until the first is uninstalled") {
        val both = new Both(isOuter)
        statement.run(both.own, both.own.ops, "op-1")
        val before = both.paths
        val Some(refused: NestedTableException) = both.other.attempt(both.other.ops, "op-2"): @unchecked
        assert(refused.outer == both.outer.root && refused.inner == both.inner.root)
        assert(both.paths == before && both.own.liveness.running.isEmpty)
        new Uninstall(both.own.folder, both.own.settings).run()
        assert(both.other.attempt(both.other.ops, "op-3").isEmpty)
        both.assertRows()
      }

    def calls: Int = {
      val table = new Both(isOuter).own
      val ops = table.ops
      table.optimize(ops, "op-1")
      ops.calls
    }

    test(s"OPTIMIZE of $name, and one of the other at any call: one of them is refused") {
      for (k <- 1 to calls) {
        val both = new Both(isOuter)
        var second: Option[Throwable] = None
        val ops = both.own.beside(k) { second = both.other.attempt(both.other.ops, "op-2") }
        val first = both.own.attempt(ops, "op-1")
        explored(s"before call $k ${ops.trace.lift(k - 1)}, ended with $first and $second: ") {
          assert(Seq(first, second).count(_.exists(_.isInstanceOf[NestedTableException])) >= 1)
          both.assertRows()
          assert(both.litter.isEmpty)
        }
      }
    }

    test(s"OPTIMIZE of $name, death at any call: the other one is refused, or all is well") {
      for (k <- 1 to calls; fault <- Seq(Fault.DieBefore, Fault.DieAfter)) {
        val both = new Both(isOuter)
        val ops = both.own.faulty(k, fault)
        val end = both.own.attempt(ops, "op-1")
        explored(s"$fault at call $k ${ops.trace.lastOption}, ended with $end: ") {
          val refused = both.other.attempt(both.other.ops, "op-2")
          assert(refused.forall(_.isInstanceOf[NestedTableException]))
          assert(both.own.recover().isEmpty)
          both.assertRows()
        }
      }
    }
  }

  test("tables beside each other do not hinder each other") {
    val both = new Both(isOuter = true)
    val beside = new SmallTable(Seq(""), at = "/t/p=2", inside = Some(both.outer))
    both.inner.optimize(id = "op-1")
    beside.optimize(id = "op-2")
    both.assertRows()
  }
}
