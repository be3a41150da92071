package org.sparkzorder.commit

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.commit.lock.Locking
import org.sparkzorder.commit.upkeep.{Uninstall, Uninstalled}

/** An uninstall dies or fails at any call: all rows are there, and the next uninstall finishes. */
class UninstallSuite extends AnyFunSuite with Explorer {
  private val statement = Statement(
    "UNINSTALL",
    table => {
      Statement.vacuum.prepare(table)
      table.restore(to = 1, id = "op-93")
      // A partition that was copied with its side folder, and an operation that died before it had a record.
      if (table.dirs.head.nonEmpty) {
        table.fs.mkdirs("/t/p=9")
        table.fs.copy("/t/p=1/_zorder", "/t/p=9/_zorder", keepsTimes = true)
        table.fs.put("/t/p=9/_zorder/staging/_op-0/x.parquet.staged", Set(7), 50L)
      }
    },
    (table, ops, _) => { uninstall(table, ops); () }
  )

  private def tableOf(): SmallTable = new Scene(statement, Scene.Two).table()

  private def uninstall(table: SmallTable, ops: FileOps): Uninstalled =
    new Uninstall(TableFolder(table.root, ops), table.settings).run()
  private def uninstall(table: SmallTable): Uninstalled = uninstall(table, table.ops)
  private def sides(table: SmallTable): Seq[String] = table.fs.below("/t").filter(_.contains("_zorder"))
  private def leftOf(table: SmallTable): Seq[String] = uninstall(table).left.map(_.path.toUri.getPath).sorted
  private def filesIn(table: SmallTable): Seq[String] = sides(table).filter(table.fs.file(_).isDefined)

  private def assertGone(table: SmallTable): Unit = {
    assert(leftOf(table).isEmpty)
    assert(sides(table).isEmpty)
    assert(uninstall(table) == Uninstalled(0L, 0L, 0, Nil))
    assert(sides(table).isEmpty)
  }

  private def checkFinishes(table: SmallTable, before: Map[String, (Long, Long)]): Unit = {
    assert(table.snapshot == before)
    assert(table.recover().isEmpty)
    assert(table.snapshot == before)
    assertGone(table)
    assert(table.snapshot == before)
    assert(table.liveness.running.isEmpty)
    // Now it is a plain table again.
    table.optimize(id = "op-99")
    assert(table.fs.visibleRows == table.allRows)
    assert(table.history.map(_.record.version) == Seq(1L))
  }

  for (scene <- statement.onBoth) {
    val name = scene.name

    test(s"$name: it dies, fails or meets a full disk at any call", InRest) {
      val before = scene.table().snapshot
      val others = Seq(Fault.ThrowBefore, Fault.ThrowAfter, Fault.DieHalf, Fault.ThrowHalf, Fault.DiskFull)
      failing(scene, Deaths ++ others) { (table, end) =>
        if (end.exists(_.isInstanceOf[Died])) table.liveness.running.clear()
        assert(!table.indexLies)
        checkFinishes(table, before)
      }
    }

    test(s"$name: after death at any call, a RESTORE refuses or brings back whole versions, OPTIMIZE works", InRest) {
      def check(table: SmallTable): Unit = {
        table.liveness.running.clear()
        table.attempt("op-94")(table.restore(to = 0, id = "op-94"))
        assert(table.fs.visibleRows == table.allRows)
        table.attempt(table.ops, "op-95")
        assert(table.fs.visibleRows == table.allRows)
        assertGone(table)
        assert(table.fs.visibleRows == table.allRows)
      }
      failing(scene, Seq(Fault.DieAfter))((table, _) => check(table))
      val whole = scene.table()
      uninstall(whole)
      explore(check(whole))
    }
  }

  test("it refuses while an operation is unfinished, or a living owner has the lock") {
    val table = new Scene(statement, Seq("")).table()
    table.attempt(new MemoryOps(table.fs, other = { case _ if table.isPublishing => throw new Died }), "op-94")
    val before = table.fs.nodes.keySet.toSet
    assertThrows[UnfinishedOperationException](uninstall(table))
    assert(table.fs.nodes.keySet.toSet == before && table.recover().isEmpty)
    val lock = Locking.acquire(table.folder, "op-95", table.settings)
    assertThrows[ConcurrentOperationException](uninstall(table))
    lock.release()
    assert(leftOf(table).isEmpty)
  }

  test("files whose names we do not give stay, and are named") {
    val table = tableOf()
    val ofRoot = Seq("/t/_zorder/notes.txt", "/t/_zorder/v0000000001.bak")
    val names = ofRoot ++ Seq("/t/p=1/_zorder/trash/mine/x", "/t/p=9/_zorder/trash/_v0000000009-op/orders.csv")
    names.foreach(table.fs.put(_, Set.empty, 3L))
    assert(leftOf(table) == ofRoot ++ Seq("/t/p=1/_zorder/trash", "/t/p=9/_zorder/trash"))
    assert(filesIn(table).toSet == names.toSet)
  }

  test("a replaced file to which others have written since stays, is named, and is not counted") {
    val whole = uninstall(tableOf())
    val table = tableOf()
    val longer = table.fs.below("/t").find(p => p.contains("-op-91/") && p.endsWith(".retired")).get
    table.fs.put(longer, Set(1, 2, 3, 999), 999L)
    val done = uninstall(table)
    assert(done.files == whole.files - 1)
    assert(done.left.exists(_.reason.contains("others have written to replaced files")))
    assert(filesIn(table) == Seq(longer))
  }

  test("a table that begins in a partition keeps what it has") {
    val table = tableOf()
    val names =
      Seq("/t/p=2/_zorder/_index-0000000001.zidx", "/t/p=2/q=1/_zorder/trash/_v0000000007-op/x.parquet.retired")
    names.foreach(table.fs.put(_, Set.empty, 3L))
    val left = uninstall(table).left
    assert(left.map(_.path.toUri.getPath).sorted == Seq("/t/p=2/_zorder", "/t/p=2/q=1/_zorder"))
    assert(left.forall(_.reason.contains("another table begins in")))
    assert(names.forall(table.fs.file(_).isDefined))
  }

  test("a folder that a link leads to keeps what no record names") {
    val table = tableOf()
    val ops = new MemoryOps(table.fs) {
      override def realPath(path: Path): Path = new Path(path.toString.replace("/t/p=9", "/elsewhere/p=9"))
    }
    assert(uninstall(table, ops).left.map(_.path.toUri.getPath) == Seq("/t/p=9/_zorder"))
    assert(table.fs.below("/t/p=9/_zorder/trash").exists(_.endsWith(".retired")))
  }
}
