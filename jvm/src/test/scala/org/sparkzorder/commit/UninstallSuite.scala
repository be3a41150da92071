package org.sparkzorder.commit

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.commit.lock.Locking
import org.sparkzorder.commit.upkeep.{Uninstall, Uninstalled}

/** An uninstall dies or fails at any call: all rows are there, and the next uninstall finishes. */
class UninstallSuite extends AnyFunSuite with Explores {

  private val shapes = Seq(Seq("p=1", "p=2"), Seq(""))

  private def tableOf(dirs: Seq[String]): SmallTable = {
    val table = new SmallTable(dirs)
    table.optimize(new MemoryOps(table.fs), "op-91")
    table.optimize(new MemoryOps(table.fs), "op-92", dirs.take(1))
    table.restore(new MemoryOps(table.fs), 1, "op-93")
    // A partition that was copied with its side folder, and an operation that died before it had a
    // record.
    if (dirs.head.nonEmpty) {
      table.fs.below("/t/p=1").filter(table.fs.file(_).isDefined).foreach { path =>
        val copy = path.replace("/t/p=1/", "/t/p=9/")
        table.fs.mkdirs(table.fs.parent(copy))
        if (path.contains("_zorder")) table.fs.nodes(copy) = table.fs.nodes(path)
      }
      table.fs.put("/t/p=9/_zorder/staging/_op-0/x.parquet.staged", Set(7), 50L)
    }
    table
  }

  private def uninstall(table: SmallTable, ops: FileOps): Uninstalled =
    new Uninstall(TableFolder(table.root, ops), table.settings).run()

  private def attempt(table: SmallTable, ops: FileOps): Option[Throwable] = {
    val end = table.attempt("")(uninstall(table, ops))
    if (end.exists(_.isInstanceOf[Died])) table.liveness.running.clear()
    end
  }

  private def sides(table: SmallTable): Seq[String] = table.fs.below("/t").filter(_.contains("_zorder"))

  private def checkFinishes(table: SmallTable, before: Map[String, (Long, Long)]): Unit = {
    assert(table.snapshot == before)
    assert(table.recover(new MemoryOps(table.fs)).isEmpty)
    assert(table.snapshot == before)
    val left = uninstall(table, new MemoryOps(table.fs)).left
    assert(left.isEmpty)
    assert(sides(table).isEmpty)
    assert(table.snapshot == before)
    assert(table.liveness.running.isEmpty)
    // Now it is a plain table again.
    table.optimize(new MemoryOps(table.fs), "op-99")
    assert(table.fs.visibleRows == table.allRows)
    assert(table.history.map(_.record.version) == Seq(1L))
  }

  for (dirs <- shapes) {
    val name = s"folders ${dirs.mkString("'", "', '", "'")}"

    test(s"$name: none of our files stays, and all rows do") {
      val table = tableOf(dirs)
      val before = table.snapshot
      val done = uninstall(table, new MemoryOps(table.fs))
      assert(done.left.isEmpty && done.records == 3 && done.files > 0 && done.bytes > 0)
      assert(sides(table).isEmpty)
      checkFinishes(table, before)
    }

    test(s"$name: it dies, fails or meets a full disk at any call", InRest) {
      val calls = {
        val table = tableOf(dirs)
        val ops = new MemoryOps(table.fs)
        uninstall(table, ops)
        ops.calls
      }
      val faults = Seq(
        Fault.DieBefore,
        Fault.DieAfter,
        Fault.ThrowBefore,
        Fault.ThrowAfter,
        Fault.DieHalf,
        Fault.ThrowHalf,
        Fault.DiskFull
      )
      for (k <- 1 to calls; fault <- faults) {
        val table = tableOf(dirs)
        val before = table.snapshot
        val ops = new MemoryOps(table.fs, k, fault)
        val end = attempt(table, ops)
        withClue(s"call $k $fault ${ops.trace.lift(k - 1)}, ended with $end: ")(explore {
          assert(!table.indexLies)
          checkFinishes(table, before)
        })
      }
    }

    test(
      s"$name: after it died at any call, a RESTORE refuses or brings back whole versions, and OPTIMIZE works",
      InRest
    ) {
      var k = 1
      var more = true
      while (more) {
        val table = tableOf(dirs)
        val ops = new MemoryOps(table.fs, k, Fault.DieAfter)
        more = attempt(table, ops).isDefined
        withClue(s"call $k ${ops.trace.lastOption}: ")(explore {
          table.attempt("op-94")(table.restore(new MemoryOps(table.fs), 0, "op-94"))
          assert(table.fs.visibleRows == table.allRows)
          table.attempt(new MemoryOps(table.fs), "op-95")
          assert(table.fs.visibleRows == table.allRows)
          assert(uninstall(table, new MemoryOps(table.fs)).left.isEmpty)
          assert(sides(table).isEmpty)
          assert(table.fs.visibleRows == table.allRows)
        })
        k += 1
      }
    }
  }

  test("files whose names we do not give stay, and are named") {
    val table = tableOf(Seq("p=1", "p=2"))
    val names = Seq(
      "/t/_zorder/notes.txt",
      "/t/_zorder/v0000000001.bak",
      "/t/p=1/_zorder/trash/mine/x",
      "/t/p=9/_zorder/trash/_v0000000009-op/orders.csv"
    )
    names.foreach(table.fs.put(_, Set.empty, 3L))
    val left = uninstall(table, new MemoryOps(table.fs)).left.map(_.path.toUri.getPath)
    assert(left.sorted ==
      Seq("/t/_zorder/notes.txt", "/t/_zorder/v0000000001.bak", "/t/p=1/_zorder", "/t/p=9/_zorder").sorted)
    assert(sides(table).filter(table.fs.file(_).isDefined).toSet == names.toSet)
  }

  test("a replaced file to which others have written since stays, is named, and is not counted") {
    val table = tableOf(Seq("p=1", "p=2"))
    val whole = uninstall(table.copy, new MemoryOps(table.fs))
    val again = tableOf(Seq("p=1", "p=2"))
    val longer = again.fs.below("/t").find(p => p.contains("-op-91/") && p.endsWith(".retired")).get
    again.fs.put(longer, Set(1, 2, 3, 999), 999L)
    val done = uninstall(again, new MemoryOps(again.fs))
    assert(done.files == whole.files - 1)
    assert(done.left.map(_.reason).exists(_.contains("others have written to replaced files")))
    assert(sides(again).filter(again.fs.file(_).isDefined) == Seq(longer))
  }

  test("a table that begins in a partition keeps what it has") {
    val table = tableOf(Seq("p=1", "p=2"))
    val names =
      Seq("/t/p=2/_zorder/_index-0000000001.zidx", "/t/p=2/q=1/_zorder/trash/_v0000000007-op/x.parquet.retired")
    names.foreach(table.fs.put(_, Set.empty, 3L))
    val left = uninstall(table, new MemoryOps(table.fs)).left
    assert(left.map(_.path.toUri.getPath).sorted == Seq("/t/p=2/_zorder", "/t/p=2/q=1/_zorder"))
    assert(left.forall(_.reason.contains("another table begins in")))
    assert(names.forall(table.fs.file(_).isDefined))
  }

  test("a folder that a link leads to keeps what no record names") {
    val table = tableOf(Seq("p=1", "p=2"))
    val ops = new MemoryOps(table.fs) {
      override def realPath(path: Path): Path = new Path(path.toString.replace("/t/p=9", "/elsewhere/p=9"))
    }
    val left = uninstall(table, ops).left
    assert(left.map(_.path.toUri.getPath) == Seq("/t/p=9/_zorder"))
    assert(table.fs.below("/t/p=9/_zorder/trash").exists(_.endsWith(".retired")))
  }

  test("it refuses while an operation is unfinished, or a living owner has the lock") {
    val table = tableOf(Seq(""))
    // Dies at the commit point.
    val ops = new MemoryOps(table.fs, other = { case _ if table.isPublishing => throw new Died })
    table.attempt(ops, "op-94")
    val before = table.fs.nodes.keySet.toSet
    assert(table.isPublishing)
    assertThrows[UnfinishedOperationException](uninstall(table, new MemoryOps(table.fs)))
    assert(table.fs.nodes.keySet.toSet == before)
    assert(table.recover(new MemoryOps(table.fs)).isEmpty)
    val lock = Locking.acquire(TableFolder(table.root, new MemoryOps(table.fs)), "op-95", table.settings)
    assertThrows[ConcurrentOperationException](uninstall(table, new MemoryOps(table.fs)))
    lock.release()
    assert(uninstall(table, new MemoryOps(table.fs)).left.isEmpty)
  }

  test("a table without a side folder") {
    val table = new SmallTable(Seq(""))
    assert(uninstall(table, new MemoryOps(table.fs)) == Uninstalled(0L, 0L, 0, Nil))
    assert(sides(table).isEmpty)
  }
}
