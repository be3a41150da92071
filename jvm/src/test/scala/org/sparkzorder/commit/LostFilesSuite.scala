package org.sparkzorder.commit

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest

/**
 * Somebody deletes many files at once while files are exchanged: the visible ones, or those in the
 * trash.
 */
class LostFilesSuite extends AnyFunSuite {
  private val inputs = 6
  private val outputs = 7

  private def table(): SmallTable = new SmallTable(Seq(""), inputs)

  private def optimize(table: SmallTable, ops: FileOps): Option[Throwable] =
    table.attempt("op-1")(table.optimize(ops, "op-1", made = outputs))

  private lazy val calls = {
    val whole = table()
    val ops = new MemoryOps(whole.fs)
    assert(optimize(whole, ops).isEmpty)
    ops.calls
  }

  private def published(t: SmallTable): Int = t.files.count(_.startsWith("new-"))

  test("retired files that vanish after a death cost no row that an output has") {
    var explored = 0
    for (k <- 1 to calls) {
      val t = table()
      optimize(t, new MemoryOps(t.fs, k, Fault.DieAfter))
      t.liveness.running.clear()
      val trash = t.fs.below("/t/_zorder/trash").filter(t.fs.file(_).isDefined)
      if (t.isPublishing && trash.nonEmpty) withClue(s"death at call $k: ") {
        explored += 1
        trash.foreach(t.fs.nodes.remove)
        assert(t.recover(new MemoryOps(t.fs)).isEmpty)
        assert(t.fs.visibleRows == t.allRows)
      }
    }
    assert(explored >= inputs)
  }

  test("a restored backup that has all new files and none of the old ones is refused, and keeps its rows") {
    val t = table()
    def isThere = published(t) == outputs && t.fs.below("/t").exists(_.endsWith(".staged"))
    assert(optimize(t, new MemoryOps(t.fs, other = { case _ if isThere => throw new Died })).isDefined && isThere)
    t.liveness.running.clear()
    t.files.filterNot(_.startsWith("new-")).foreach(f => t.fs.nodes.remove(s"/t/$f"))
    for (_ <- 0 to 1) {
      assert(t.recover(new MemoryOps(t.fs)).flatMap(SmallTable.tornFolder).isDefined)
      assert(t.fs.visibleRows == t.allRows)
    }
    t.fs.put("/t/other.parquet", Set(900), 5L)
    assert(t.recover(new MemoryOps(t.fs)).isDefined)
    // A person decides: without the new files it is a table that was overwritten.
    t.files.filter(_.startsWith("new-")).foreach(f => t.fs.nodes.remove(s"/t/$f"))
    assert(t.recover(new MemoryOps(t.fs)).isEmpty)
    assert(t.fs.visibleRows == Seq(900))
  }

  /** Tables whose owner died while it published, one for each call. */
  private def dead(check: SmallTable => Unit): Int = {
    var explored = 0
    for (k <- 1 to calls; fault <- Seq(Fault.DieBefore, Fault.DieAfter)) {
      val t = table()
      optimize(t, new MemoryOps(t.fs, k, fault))
      t.liveness.running.clear()
      if (t.isPublishing) withClue(s"$fault at call $k: ") {
        explored += 1
        check(t)
      }
    }
    explored
  }

  private def rowsOf(t: SmallTable, names: Seq[String]): Set[Int] = names.flatMap(t.rowsOf).toSet

  test("a person who saw rows twice deletes an old file: nothing else goes, and he may keep the new ones") {
    var torn = 0
    val explored = dead { t =>
      val isTwice = published(t) == outputs && t.files.size == outputs + inputs
      t.files.find(f => isTwice && !f.startsWith("new-")).foreach { file =>
        t.fs.nodes.remove(s"/t/$file")
        val end = t.recover(new MemoryOps(t.fs))
        assert(t.fs.visibleRows.toSet == t.allRows.toSet)
        if (end.isDefined) {
          torn += 1
          assert(end.flatMap(SmallTable.tornFolder).isDefined)
          assert(t.recover(new MemoryOps(t.fs), Some(Keep.New)).isEmpty)
        }
        assert(t.fs.visibleRows == t.allRows)
      }
    }
    assert(torn > 0 && explored > inputs + outputs)
  }

  test("an old file that goes after the decision, while the new ones are the rows, is named in the history") {
    var named = 0
    dead { t =>
      val isDecided = t.fs.below("/t").exists(_.endsWith(".exchanged"))
      t.files.find(f => isDecided && !f.startsWith("new-")).foreach { file =>
        t.fs.nodes.remove(s"/t/$file")
        assert(t.recover(new MemoryOps(t.fs)).isEmpty)
        t.history.headOption.filter(_.record.operationId == "op-1").foreach { entry =>
          // If all other old files are there and no new one is, the old ones are the rows.
          if (t.files.exists(_.startsWith("new-"))) {
            named += 1
            assert(entry.record.metrics.get(Record.Gone).contains(file))
            assert(entry.outcome.exists(_.reason.endsWith(s"gone by then, and their rows are in the new files: $file")))
          }
        }
        assert(t.fs.visibleRows == t.allRows)
      }
    }
    assert(named >= inputs)
    dead { t =>
      t.recover(new MemoryOps(t.fs))
      assert(t.history.forall(!_.record.metrics.contains(Record.Gone)))
    }
  }

  test("the same while the owner undoes its work, and dies: the new files are the rows, or the old ones are", InRest) {
    var torn = 0
    for (k <- 1 to calls; later <- 1 to 30) {
      val t = table()
      var gone = Set.empty[Int]
      def delete(): Unit =
        t.files.find(!_.startsWith("new-")).filter(_ => published(t) == outputs && t.files.size == outputs + inputs)
          .foreach { f =>
            gone = t.rowsOf(f)
            t.fs.nodes.remove(s"/t/$f")
          }
      optimize(t, new MemoryOps(t.fs, k + later, Fault.DieBefore, { case `k` => delete() }))
      t.liveness.running.clear()
      if (gone.nonEmpty && t.isPublishing) withClue(s"deleted before call $k, died $later later: ") {
        val end = t.recover(new MemoryOps(t.fs))
        if (end.isDefined) {
          torn += 1
          assert(end.flatMap(SmallTable.tornFolder).isDefined)
          assert(t.recover(new MemoryOps(t.fs), Some(Keep.New)).isEmpty)
          assert(t.fs.visibleRows == t.allRows)
        } else assert(Set(t.allRows, t.allRows.filterNot(gone))(t.fs.visibleRows))
      }
    }
    assert(torn > outputs)
  }

  test("rows of an old file that was deleted before any new file was visible are seen at no moment") {
    var checked = 0
    dead { t =>
      if (published(t) == 0) {
        checked += 1
        val file = t.files.head
        val gone = t.rowsOf(file)
        t.fs.nodes.remove(s"/t/$file")
        t.fs.changed = () => assert(!t.fs.visibleRows.exists(gone), "deleted rows are back")
        assert(t.recover(new MemoryOps(t.fs)).isEmpty)
        assert(t.fs.visibleRows == t.allRows.filterNot(gone))
      }
    }
    assert(checked > 0)
  }

  test("an old file that was replaced after a death takes its new files back") {
    var checked = 0
    dead { t =>
      val file = t.files.find(!_.startsWith("new-"))
      if (published(t) > 0 && file.isDefined && t.files.count(!_.startsWith("new-")) == inputs) {
        checked += 1
        val rows = t.rowsOf(file.get) + 900
        t.fs.put(s"/t/${file.get}", rows, 101L)
        assert(t.recover(new MemoryOps(t.fs)).isEmpty)
        assert(t.fs.visibleRows == (t.allRows :+ 900).sorted)
      }
    }
    assert(checked > outputs)
  }

  test("a new file that a program rewrote after a death is a new file, whatever its length") {
    for (length <- Seq(50L, 51L)) {
      var checked = 0
      dead { t =>
        t.files.find(_.startsWith("new-")).filter(_ => published(t) == outputs).foreach { file =>
          checked += 1
          t.fs.put(s"/t/$file", t.rowsOf(file) + 900, length)
          assert(t.viewedRows() == (t.allRows :+ 900).sorted)
          assert(t.recover(new MemoryOps(t.fs)).isEmpty)
          assert(t.fs.visibleRows == (t.allRows :+ 900).sorted)
          assert(rowsOf(t, t.files.filter(_.startsWith("new-"))) == rowsOf(t, t.files))
        }
      }
      assert(checked > inputs)
    }
  }

  test("a table that somebody empties after its owner has died stays empty") {
    var explored = 0
    for (k <- 1 to calls) {
      val t = table()
      optimize(t, new MemoryOps(t.fs, k, Fault.DieAfter))
      t.liveness.running.clear()
      if (t.isPublishing) withClue(s"death at call $k: ") {
        explored += 1
        t.fs.visible.foreach(t.fs.nodes.remove)
        assert(t.recover(new MemoryOps(t.fs)).isEmpty)
        assert(t.fs.visibleRows.isEmpty)
      }
    }
    assert(explored >= inputs + outputs)
  }

  test("a restored backup that has all old files and lacks new ones keeps its rows, whatever was decided") {
    for (lost <- Seq(1, outputs); k <- 1 to calls) {
      val t = table()
      val old = t.fs.visible.map(path => path -> t.fs.nodes(path))
      optimize(t, new MemoryOps(t.fs, k, Fault.DieAfter))
      t.liveness.running.clear()
      if (t.isPublishing && published(t) == outputs) withClue(s"$lost new files are lost after call $k: ") {
        t.files.filter(_.startsWith("new-")).take(lost).foreach(f => t.fs.nodes.remove(s"/t/$f"))
        t.fs.below("/t/_zorder/trash").filter(t.fs.file(_).isDefined).foreach(t.fs.nodes.remove)
        old.foreach { case (path, node) => t.fs.nodes(path) = node }
        assert(t.viewedRows() == t.allRows)
        assert(t.recover(new MemoryOps(t.fs)).isEmpty)
        assert(t.fs.visibleRows == t.allRows)
      }
    }
  }

  /** A table that died with this marker and all new files visible, under another root, as a copy may be. */
  private def copied(marker: String)(change: SmallTable => Unit): SmallTable = {
    val t = table()
    def isThere = published(t) == outputs && t.fs.below("/t").exists(_.endsWith(marker))
    assert(optimize(t, new MemoryOps(t.fs, other = { case _ if isThere => throw new Died })).isDefined && isThere)
    t.liveness.running.clear()
    t.fs.nodes.toSeq.filter(_._1.startsWith("/t/")).foreach { case (path, node) =>
      t.fs.nodes.remove(path)
      t.fs.nodes(path.replaceFirst("/t/", "/t/copy/")) = node
    }
    t.fs.mkdirs("/t/copy")
    val copy = new SmallTable(Seq(""), inputs, at = "/t/copy", inside = Some(t))
    change(copy)
    copy
  }

  for (keep <- Seq(Keep.Old, Keep.New))
    test(s"a table that was copied or moved while files were exchanged is refused until a person decides: $keep") {
      val Copied = "The table was copied or moved from mem:/t"
      val rows = table().allRows
      def refused(t: SmallTable) = {
        val visible = t.files
        val thrown = intercept[FoldersUnclearException](t.viewedRows())
        assert(t.recover(new MemoryOps(t.fs)).map(_.getMessage).contains(thrown.getMessage))
        assert(t.files == visible)
        thrown.folders.map(_.sentence)
      }
      for (marker <- Seq(".staged", ".exchanged")) {
        val whole = copied(marker)(_ => ())
        assert(refused(whole) == Seq(s"$Copied: the folder `.` has 6 of 6 old files and 7 of 7 new ones."))
        assert(whole.recover(new MemoryOps(whole.fs), Some(keep)).isEmpty && whole.fs.visibleRows == rows)
        assert(whole.files.forall(_.startsWith(if (keep == Keep.New) "new-" else "part-")))
        // A folder that has only one side whole keeps that side.
        val lacking = copied(marker)(c => c.fs.nodes.remove(s"/t/copy/${c.files.find(_.startsWith("new-")).get}"))
        assert(refused(lacking) == Seq(s"$Copied: the folder `.` has 6 of 6 old files and 6 of 7 new ones."))
        assert(lacking.recover(new MemoryOps(lacking.fs), Some(keep)).isEmpty && lacking.fs.visibleRows == rows)
        val torn = copied(marker)(_.fs.nodes.remove("/t/copy/part-1.parquet"))
        refused(torn)
        assert(torn.recover(new MemoryOps(torn.fs), Some(keep)).isEmpty && torn.fs.visibleRows == rows)
        val neither = copied(marker) { c =>
          Seq("new-", "part-").foreach(p => c.fs.nodes.remove(s"/t/copy/${c.files.find(_.startsWith(p)).get}"))
        }
        val (visible, end) = (neither.files, neither.recover(new MemoryOps(neither.fs), Some(keep)))
        assert(end.exists(_.getMessage.contains("Copy the table again")) && neither.files == visible)
        assert(refused(neither).nonEmpty)
      }
    }

  test("a folder that somebody empties while outputs are published stays empty, although he has written nothing yet") {
    var explored = 0
    for (k <- 1 to calls) {
      val t = table()
      var seen = 0
      val ops = new MemoryOps(
        t.fs,
        other = { case `k` =>
          seen = published(t)
          t.fs.visible.foreach(t.fs.nodes.remove)
        }
      )
      val end = optimize(t, ops)
      if (seen > 1) withClue(s"emptied before call $k ${ops.trace(k - 1)}, ended with $end: ") {
        explored += 1
        t.liveness.running.clear()
        assert(t.recover(new MemoryOps(t.fs)).isEmpty)
        assert(t.fs.visibleRows.isEmpty)
      }
    }
    assert(explored > 2 * outputs)
  }
}
