package org.sparkzorder.commit

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest

/**
 * Somebody deletes many files at once while files are exchanged: the visible ones, or those in the
 * trash.
 */
class LostFilesSuite extends AnyFunSuite with Explorer {
  private val inputs = 6
  private val outputs = 7

  private val scene =
    new Scene(Statement.optimize.copy(run = (t, ops, id) => t.optimize(ops, id, made = outputs)), Seq(""), inputs)

  private def isNew(file: String): Boolean = file.startsWith("new-")
  private def published(t: SmallTable): Int = t.files.count(isNew)
  private def isTwice(t: SmallTable): Boolean = published(t) == outputs && t.files.size == outputs + inputs

  /** Tables whose owner died while it published, one for each call. */
  private def dead(check: SmallTable => Unit): Int = {
    var explored = 0
    failing(scene, Deaths) { (t, _) =>
      if (t.isPublishing) {
        explored += 1
        check(t)
      }
    }
    explored
  }

  private def recovers(t: SmallTable, rows: Seq[Int]): Unit = {
    assert(t.recover().isEmpty)
    assert(t.fs.visibleRows == rows)
    ()
  }

  test("retired files that vanish after a death cost no row that an output has") {
    var explored = 0
    dead { t =>
      val trash = t.fs.below("/t/_zorder/trash").filter(t.fs.file(_).isDefined)
      if (trash.nonEmpty) {
        explored += 1
        trash.foreach(t.fs.nodes.remove)
        recovers(t, t.allRows)
      }
    }
    assert(explored >= inputs)
  }

  test("a restored backup that has all new files and none of the old ones is refused, and keeps its rows") {
    val t = diedAt(".staged")
    t.files.filterNot(isNew).foreach(f => t.fs.nodes.remove(s"/t/$f"))
    for (_ <- 0 to 1) {
      assert(t.recover().flatMap(SmallTable.tornFolder).isDefined)
      assert(t.fs.visibleRows == t.allRows)
    }
    t.fs.put("/t/other.parquet", Set(900), 5L)
    assert(t.recover().isDefined)
    // A person decides: without the new files it is a table that was overwritten.
    t.files.filter(isNew).foreach(f => t.fs.nodes.remove(s"/t/$f"))
    recovers(t, Seq(900))
  }

  test("a person who saw rows twice deletes an old file: nothing else goes, and he may keep the new ones") {
    var torn = 0
    val explored = dead { t =>
      t.files.find(f => isTwice(t) && !isNew(f)).foreach { file =>
        t.fs.nodes.remove(s"/t/$file")
        val end = t.recover()
        assert(t.fs.visibleRows.toSet == t.allRows.toSet)
        if (end.isDefined) {
          torn += 1
          assert(end.flatMap(SmallTable.tornFolder).isDefined)
          assert(t.recover(keep = Some(Keep.New)).isEmpty)
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
      t.files.find(f => isDecided && !isNew(f)).foreach { file =>
        t.fs.nodes.remove(s"/t/$file")
        assert(t.recover().isEmpty)
        t.history.headOption.filter(_.record.operationId == "op-1").foreach { entry =>
          // If all other old files are there and no new one is, the old ones are the rows.
          if (t.files.exists(isNew)) {
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
      t.recover()
      assert(t.history.forall(!_.record.metrics.contains(Record.Gone)))
    }
  }

  test("the same while the owner undoes its work, and dies: the new files are the rows, or the old ones are", InRest) {
    var torn = 0
    for (k <- 1 to scene.calls; later <- 1 to 30) {
      val t = scene.table()
      var gone = Set.empty[Int]
      def delete(): Unit = t.files.find(f => isTwice(t) && !isNew(f)).foreach { f =>
        gone = t.rowsOf(f)
        t.fs.nodes.remove(s"/t/$f")
      }
      scene.run(t, t.beside(k, k + later, Fault.DieBefore)(delete()))
      if (gone.nonEmpty && t.isPublishing) withClue(s"deleted before call $k, died $later later: ") {
        val end = t.recover()
        if (end.isDefined) {
          torn += 1
          assert(end.flatMap(SmallTable.tornFolder).isDefined)
          assert(t.recover(keep = Some(Keep.New)).isEmpty)
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
        recovers(t, t.allRows.filterNot(gone))
      }
    }
    assert(checked > 0)
  }

  test("an old file that was replaced after a death takes its new files back") {
    var checked = 0
    dead { t =>
      val file = t.files.find(!isNew(_))
      if (published(t) > 0 && file.isDefined && t.files.count(!isNew(_)) == inputs) {
        checked += 1
        val rows = t.rowsOf(file.get) + 900
        t.fs.put(s"/t/${file.get}", rows, 101L)
        recovers(t, (t.allRows :+ 900).sorted)
      }
    }
    assert(checked > outputs)
  }

  test("a new file that a program rewrote after a death is a new file, whatever its length") {
    for (length <- Seq(50L, 51L)) {
      var checked = 0
      dead { t =>
        t.files.find(isNew).filter(_ => published(t) == outputs).foreach { file =>
          checked += 1
          t.fs.put(s"/t/$file", t.rowsOf(file) + 900, length)
          assert(t.viewedRows() == (t.allRows :+ 900).sorted)
          recovers(t, (t.allRows :+ 900).sorted)
          assert(t.files.filter(isNew).flatMap(t.rowsOf).toSet == t.files.flatMap(t.rowsOf).toSet)
        }
      }
      assert(checked > inputs)
    }
  }

  test("a table that somebody empties after its owner has died stays empty") {
    val explored = dead { t =>
      t.fs.visible.foreach(t.fs.nodes.remove)
      recovers(t, Nil)
    }
    assert(explored >= inputs + outputs)
  }

  test("a restored backup that has all old files and lacks new ones keeps its rows, whatever was decided") {
    val old = scene.table().fs.nodes.filter(_._2.isInstanceOf[File])
    for (lost <- Seq(1, outputs)) dead { t =>
      if (published(t) == outputs) {
        t.files.filter(isNew).take(lost).foreach(f => t.fs.nodes.remove(s"/t/$f"))
        t.fs.below("/t/_zorder/trash").filter(t.fs.file(_).isDefined).foreach(t.fs.nodes.remove)
        t.fs.nodes ++= old
        assert(t.viewedRows() == t.allRows)
        recovers(t, t.allRows)
      }
    }
  }

  /** A table that died with this marker and all new files visible. */
  private def diedAt(marker: String): SmallTable = {
    val t = scene.table()
    def isThere = published(t) == outputs && t.fs.below("/t").exists(_.endsWith(marker))
    val ops = new MemoryOps(t.fs, other = { case _ if isThere => throw new Died })
    assert(scene.run(t, ops).isDefined && isThere)
    t
  }

  /** It is under another root, as a copy may be. */
  private def copied(marker: String)(change: SmallTable => Unit): SmallTable = {
    val t = diedAt(marker)
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
      val rows = scene.table().allRows
      def refused(t: SmallTable) = {
        val visible = t.files
        val thrown = intercept[FoldersUnclearException](t.viewedRows())
        assert(t.recover().map(_.getMessage).contains(thrown.getMessage))
        assert(t.files == visible)
        thrown.folders.map(_.sentence)
      }
      def settles(t: SmallTable) = assert(t.recover(keep = Some(keep)).isEmpty && t.fs.visibleRows == rows)
      def remove(t: SmallTable, starts: String*): Unit =
        starts.foreach(p => t.fs.nodes.remove(s"/t/copy/${t.files.find(_.startsWith(p)).get}"))
      for (marker <- Seq(".staged", ".exchanged")) {
        val whole = copied(marker)(_ => ())
        assert(refused(whole) == Seq(s"$Copied: the folder `.` has 6 of 6 old files and 7 of 7 new ones."))
        settles(whole)
        assert(whole.files.forall(isNew(_) == (keep == Keep.New)))
        // A folder that has only one side whole keeps that side.
        val lacking = copied(marker)(remove(_, "new-"))
        assert(refused(lacking) == Seq(s"$Copied: the folder `.` has 6 of 6 old files and 6 of 7 new ones."))
        settles(lacking)
        val torn = copied(marker)(remove(_, "part-1"))
        refused(torn)
        settles(torn)
        val neither = copied(marker)(remove(_, "new-", "part-"))
        val (visible, end) = (neither.files, neither.recover(keep = Some(keep)))
        assert(end.exists(_.getMessage.contains("Copy the table again")) && neither.files == visible)
        assert(refused(neither).nonEmpty)
      }
    }

  test("a folder that somebody empties while outputs are published stays empty, although he has written nothing yet") {
    var (explored, seen) = (0, 0)
    meeting(scene) { t =>
      seen = published(t)
      t.fs.visible.foreach(t.fs.nodes.remove)
    } { (t, _) =>
      if (seen > 1) {
        explored += 1
        t.liveness.running.clear()
        recovers(t, Nil)
      }
    }
    assert(explored > 2 * outputs)
  }
}
