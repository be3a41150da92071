package org.sparkzorder.commit

import java.io.FileNotFoundException

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.commit.machine.Recovery

/** Somebody deletes many files at once, or copies a folder, while files are exchanged. */
class LostFilesSuite extends AnyFunSuite with Explorer {
  private val inputs = 6
  private val outputs = 7

  private val scene =
    new Scene(Statement.optimize.copy(run = (t, ops, id) => t.optimize(ops, id, made = outputs)), Seq(""), inputs)

  private def isNew(file: String): Boolean = file.startsWith("new-")
  private def published(t: SmallTable): Int = t.files.count(isNew)
  private def isTwice(t: SmallTable): Boolean = published(t) == outputs && t.files.size == outputs + inputs
  private def trash(t: SmallTable): Seq[String] = t.fs.below("/t/_zorder/trash").filter(t.fs.file(_).isDefined)

  /** Tables whose owner died while it published, one for each call. Returns how many of them were to be checked. */
  private def dead(isChecked: SmallTable => Boolean = _ => true)(check: SmallTable => Any): Int = {
    var checked = 0
    failing(scene, Deaths) { (t, _) =>
      if (t.isPublishing && isChecked(t)) {
        checked += 1
        check(t)
      }
    }
    checked
  }

  private def recovers(t: SmallTable, rows: Seq[Int]): Unit = assert(t.recover().isEmpty && t.fs.visibleRows == rows)

  private def isTorn(end: Option[Throwable]): Boolean = end.flatMap(SmallTable.tornFolder).isDefined

  test("retired files that vanish after a death cost no row that an output has") {
    val checked = dead(trash(_).nonEmpty) { t =>
      trash(t).foreach(t.fs.nodes.remove)
      recovers(t, t.allRows)
    }
    assert(checked >= inputs)
  }

  test("a restored backup that has all new files and none of the old ones is refused, and keeps its rows") {
    val t = diedAt(".staged")
    t.remove(t.files.filterNot(isNew))
    for (_ <- 0 to 1) assert(isTorn(t.recover()) && t.fs.visibleRows == t.allRows)
    t.fs.put("/t/other.parquet", Set(900), 5L)
    assert(t.recover().isDefined)
    // A person decides: without the new files it is a table that was overwritten.
    t.remove(t.files.filter(isNew))
    recovers(t, Seq(900))
  }

  test("a person who saw rows twice deletes an old file: nothing else goes, and he may keep the new ones") {
    var torn = 0
    dead(isTwice) { t =>
      t.remove(t.files.find(!isNew(_)).toSeq)
      val end = t.recover()
      assert(t.fs.visibleRows.toSet == t.allRows.toSet)
      if (end.isDefined) {
        torn += 1
        assert(isTorn(end) && t.recover(keep = Some(Keep.New)).isEmpty)
      }
      assert(t.fs.visibleRows == t.allRows)
    }
    assert(torn > 0)
  }

  test("an old file that goes after the decision, while the new ones are the rows, is named in the history") {
    var named = 0
    def isDecided(t: SmallTable) = t.fs.below("/t").exists(_.endsWith(".exchanged"))
    dead(t => isDecided(t) && !t.files.forall(isNew)) { t =>
      val file = t.files.find(!isNew(_)).get
      t.remove(Seq(file))
      assert(t.recover().isEmpty)
      // If all other old files are there and no new one is, the old ones are the rows.
      for (entry <- t.history.headOption if entry.record.operationId == "op-1" && t.files.exists(isNew)) {
        named += 1
        assert(entry.record.metrics.get(Record.Gone).contains(file))
        assert(entry.outcome.exists(_.reason.endsWith(s"gone by then, and their rows are in the new files: $file")))
      }
      assert(t.fs.visibleRows == t.allRows)
    }
    assert(named >= inputs)
    dead() { t =>
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
        t.remove(Seq(f))
      }
      scene.run(t, t.beside(k, k + later, Fault.DieBefore)(delete()))
      if (gone.nonEmpty && t.isPublishing) withClue(s"deleted before call $k, died $later later: ") {
        val end = t.recover()
        if (end.isDefined) {
          torn += 1
          assert(isTorn(end) && t.recover(keep = Some(Keep.New)).isEmpty && t.fs.visibleRows == t.allRows)
        } else assert(Set(t.allRows, t.allRows.filterNot(gone))(t.fs.visibleRows))
      }
    }
    assert(torn > outputs)
  }

  test("rows of an old file that was deleted before any new file was visible are seen at no moment") {
    val checked = dead(published(_) == 0) { t =>
      val file = t.files.head
      val gone = t.rowsOf(file)
      t.remove(Seq(file))
      t.fs.changed = () => assert(!t.fs.visibleRows.exists(gone), "deleted rows are back")
      recovers(t, t.allRows.filterNot(gone))
    }
    assert(checked > 0)
  }

  test("after a death, an old file that was replaced takes its new files back, and an emptied table stays empty") {
    val checked = dead(t => published(t) > 0 && t.files.count(!isNew(_)) == inputs) { t =>
      val file = t.files.find(!isNew(_)).get
      t.fs.put(s"/t/$file", t.rowsOf(file) + 900, 101L)
      recovers(t, (t.allRows :+ 900).sorted)
    }
    val emptied = dead() { t =>
      t.remove(t.files)
      recovers(t, Nil)
    }
    assert(checked > outputs && emptied > inputs + outputs)
  }

  test("a folder that somebody empties while outputs are published stays empty, although he has written nothing yet") {
    var (emptied, seen) = (0, 0)
    meeting(scene) { t =>
      seen = published(t)
      t.remove(t.files)
    } { (t, _) =>
      if (seen > 1) {
        emptied += 1
        t.liveness.running.clear()
        recovers(t, Nil)
      }
    }
    assert(emptied > 2 * outputs)
  }

  test("a new file that a program rewrote after a death is a new file, whatever its length") {
    for (length <- Seq(50L, 51L)) {
      val checked = dead(published(_) == outputs) { t =>
        val file = t.files.find(isNew).get
        t.fs.put(s"/t/$file", t.rowsOf(file) + 900, length)
        assert(t.viewedRows() == (t.allRows :+ 900).sorted)
        recovers(t, (t.allRows :+ 900).sorted)
        assert(t.files.filter(isNew).flatMap(t.rowsOf).toSet == t.files.flatMap(t.rowsOf).toSet)
      }
      assert(checked > inputs)
    }
  }

  test("a restored backup that has all old files and lacks new ones keeps its rows, whatever was decided") {
    val old = scene.table().fs.nodes.filter(_._2.isInstanceOf[File])
    for (lost <- Seq(1, outputs)) dead(published(_) == outputs) { t =>
      t.remove(t.files.filter(isNew).take(lost))
      trash(t).foreach(t.fs.nodes.remove)
      t.fs.nodes ++= old
      assert(t.viewedRows() == t.allRows)
      recovers(t, t.allRows)
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

  test("a query that may not read the record of an exchange fails in the end") {
    val t = diedAt(".staged")
    val ops = new MemoryOps(t.fs) {
      override def read(path: Path, limit: Long): Array[Byte] =
        if (path.getName.endsWith(".publishing")) throw new FileNotFoundException("Permission denied")
        else super.read(path, limit)
    }
    intercept[HalfPublishedException](Recovery.settled(TableFolder(t.root, ops, threads = 1), 0L, t.settings))
  }

  /** It is under another root, as a copy may be, and lacks a file of each of these beginnings. */
  private def copied(marker: String, lost: String*): SmallTable = {
    val t = diedAt(marker)
    t.fs.nodes.toSeq.filter(_._1.startsWith("/t/")).foreach { case (path, node) =>
      t.fs.nodes.remove(path)
      t.fs.nodes(path.replaceFirst("/t/", "/t/copy/")) = node
    }
    t.fs.mkdirs("/t/copy")
    val copy = new SmallTable(Seq(""), inputs, at = "/t/copy", inside = Some(t))
    t.remove(lost.map(start => s"copy/${copy.files.find(_.startsWith(start)).get}"))
    copy
  }

  for (keep <- Seq(Keep.Old, Keep.New))
    test(s"a table that was copied or moved while files were exchanged is refused until a person decides: $keep") {
      val Copied = "The table was copied or moved from mem:/t"
      val rows = scene.table().allRows
      def refused(t: SmallTable) = {
        val visible = t.files
        val thrown = intercept[FoldersUnclearException](t.viewedRows())
        assert(t.recover().map(_.getMessage).contains(thrown.getMessage) && t.files == visible)
        thrown.folders.map(_.sentence)
      }
      def settles(t: SmallTable) = assert(t.recover(keep = Some(keep)).isEmpty && t.fs.visibleRows == rows)
      for (marker <- Seq(".staged", ".exchanged")) {
        val whole = copied(marker)
        assert(refused(whole) == Seq(s"$Copied: the folder `.` has 6 of 6 old files and 7 of 7 new ones."))
        settles(whole)
        assert(whole.files.forall(isNew(_) == (keep == Keep.New)))
        // A folder that has only one side whole keeps that side.
        val lacking = copied(marker, "new-")
        assert(refused(lacking) == Seq(s"$Copied: the folder `.` has 6 of 6 old files and 6 of 7 new ones."))
        settles(lacking)
        val torn = copied(marker, "part-1")
        refused(torn)
        settles(torn)
        val neither = copied(marker, "new-", "part-")
        val (visible, end) = (neither.files, neither.recover(keep = Some(keep)))
        assert(end.exists(_.getMessage.contains("Copy the table again")) && neither.files == visible)
        assert(refused(neither).nonEmpty)
      }
    }

  private def marks(table: SmallTable, dir: String = "p=3"): Seq[String] =
    table.fs.children(s"/t/$dir/_zorder").filter(_.contains("/_exchange-"))

  test("of two operations that have one folder by a link, and begin at once, one sees the other") {
    var sees = false
    meeting(new Scene(Statement.optimize, Scene.Two)) { t =>
      sees = marks(t, "p=1").exists(_.contains("op-1-")) || t.files.exists(!_.contains("part-"))
      val marker = s"_exchange-op-9-${LongNames.hash("p=1")}.staged"
      Seq("staging/_op-9/x.staged", marker).foreach(n => t.fs.put(s"/t/p=1/_zorder/$n", Set.empty, 5L))
    }((_, end) => assert(sees || end.exists(_.isInstanceOf[StrayMarkException]), end))
  }

  /**
   * Tables with a copy of p=1, with all that is hidden in it, made while its owner exchanged files, which has ended.
   * Nothing settles the copy, so it keeps the rows of that moment and a marker.
   */
  private def withCopy(statement: Statement, keepsTimes: Boolean)(check: SmallTable => Any): Unit =
    meeting(new Scene(statement, Scene.Two))(_.fs.copy("/t/p=1", "/t/p=3", keepsTimes)) { (table, end) =>
      assert(end.isEmpty)
      check(table)
    }

  private def sides(table: SmallTable): (Seq[String], Seq[String]) =
    table.files.filter(_.startsWith("p=3/")).partition(_.contains("part-"))

  private val operations = Seq(Statement.optimize -> true, Statement.optimize -> false, Statement.restore -> true)

  for ((statement, keepsTimes) <- operations)
    test(s"a copy during ${statement.name} is taken if it has one side and none of the other, times: $keepsTimes") {
      var (taken, refused) = (0, 0)
      withCopy(statement, keepsTimes) { table =>
        val (before, hasMark) = (table.fs.visibleRows, marks(table).nonEmpty)
        val (old, come) = sides(table)
        val isClear = old.size == 3 && come.isEmpty || old.isEmpty && come.size == 2
        val end = table.attempt("op-2")(table.optimize(id = "op-2", only = Seq("p=2", "p=3")))
        if (statement == Statement.optimize) assert(end.isEmpty == isClear)
        end match {
          case None =>
            if (hasMark) taken += 1
            assert(marks(table).isEmpty)
          case Some(e: StrayMarkException) =>
            refused += 1
            assert(hasMark && e.marks.map(_.toUri.getPath) == marks(table))
            // Other folders are free.
            table.optimize(id = "op-3", only = Seq("p=2"))
          case Some(e) => throw e
        }
        assert(table.fs.visibleRows == before)
      }
      val least = if (statement == Statement.optimize) 3 else 1
      assert(taken >= least && refused >= least)
    }

  test("a marker is known as long as the history knows its files") {
    var checked = 0
    withCopy(Statement.optimize, keepsTimes = true) { table =>
      if (marks(table).nonEmpty && sides(table)._2.isEmpty) {
        checked += 1
        table.fs.children("/t/_zorder").filter(_.endsWith(".json")).foreach(table.fs.nodes.remove)
        val end = table.attempt("op-2")(table.optimize(id = "op-2", only = Seq("p=3")))
        assert(end.exists(_.isInstanceOf[StrayMarkException]), end)
        // A person has looked at the files.
        marks(table).foreach(table.fs.nodes.remove)
        table.optimize(id = "op-3", only = Seq("p=3"))
      }
    }
    assert(checked > 0)
  }

  test("a folder is settled to its end beside a copy of it, while another folder is renamed") {
    var checked = 0
    failing(new Scene(Statement.optimize, Scene.Two), Seq(Fault.DieBefore)) { (table, _) =>
      if (table.isPublishing) {
        table.fs.copy("/t/p=1", "/t/p=3", keepsTimes = true)
        table.fs.move("/t/p=2", "/t/p=5")
        if (table.recover().isEmpty) {
          checked += 1
          assert(table.fs.below("/t").filter(_.contains("/_exchange-")).isEmpty)
          val before = table.fs.visibleRows
          table.optimize(id = "op-2", only = Seq("p=1", "p=3", "p=5"))
          assert(table.fs.visibleRows == before)
        }
      }
    }
    assert(checked > 2)
  }
}
