package org.sparkzorder.commit

import org.scalatest.funsuite.AnyFunSuite

/**
 * The file system becomes unreachable at any call of a statement, and comes back afterwards. No row
 * and no lock is lost.
 */
class AwaySuite extends AnyFunSuite with Explores {

  for (statement <- Statement.all; dirs <- Seq(Seq("p=1", "p=2"), Seq(""))) {
    test(s"${statement.name}, folders ${dirs.mkString("'", "', '", "'")}: away from any call on") {
      val first = statement.prepared(dirs)
      for (k <- 1 to statement.calls(dirs)) {
        val table = new SmallTable(dirs)
        table.fs.copyOf(first)
        val end = table.attempt("op-1")(statement.run(table, new MemoryOps(table.fs, k, Fault.Away)))
        withClue(s"away from call $k on, ended with $end: ")(explore {
          // This process runs no operation any more, so the next statement need not wait.
          assert(table.liveness.running.isEmpty)
          table.nextStatement()
          assert(table.fs.visibleRows == table.allRows)
          assert(table.litter.isEmpty)
          table.optimize(new MemoryOps(table.fs), "op-2")
          assert(table.fs.visibleRows == table.allRows)
        })
      }
    }
  }
}
