package org.sparkzorder.commit

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.TestAll
import org.sparkzorder.commit.lock.Locking

/** Somebody else writes to the table, right before any call of a statement. */
@TestAll
class RivalSuite extends AnyFunSuite with Explorer {
  import Statement._

  /** A table before a statement. */
  private class Prepared(val table: SmallTable) {
    val fs: MemoryFs = table.fs
    val inputs: Seq[String] = table.files
    val rows: Seq[Int] = table.allRows
    val rowsOf: Map[String, Set[Int]] = inputs.map(n => n -> table.rowsOf(n)).toMap

    /** Whether the rival replaced a file that RESTORE had brought back. */
    var replaced = false
    def without(gone: Set[Int]): Seq[Int] = rows.filterNot(gone)
    def rowsOfFolder(dir: String): Seq[Int] = inputs.filter(FileNames.parent(_) == dir).flatMap(rowsOf).sorted
    def deleteVisible(dirs: Seq[String]): Unit = dirs.flatMap(table.visibleIn).foreach(fs.nodes.remove)
    def pathIn(dir: String, name: String): String = s"/t/$dir/$name".replace("//", "/")

    /** Deletes the files of an earlier listing of a folder, and writes a new one. */
    def overwrite(dir: String, listed: Seq[String]): Seq[Seq[Int]] = {
      val before = table.visibleIn(dir)
      val gone = before.filter(listed.contains)
      val left = fs.rows(before.diff(gone))
      val retired =
        fs.rows(fs.below(pathIn(dir, "_zorder/trash")).filter(p => p.contains("-op-1/") && fs.file(p).isDefined))
      gone.foreach(fs.nodes.remove)
      fs.put(pathIn(dir, "000000_1.parquet"), fresh, 10L)
      val others = rows.diff(rowsOfFolder(dir))
      // If he deleted nothing, it is an append. If his listing was older than some new files, these stay, or inputs
      // that were in the trash come back.
      (Seq(others, others ++ retired, others ++ left) ++ Seq(rows).filter(_ => gone.isEmpty)).map(and)
    }

    /** Checks the rows that a query reads around the operation. */
    def readersAreRight(legal: Seq[Seq[Int]]): Boolean =
      try legal.contains(table.viewedRows())
      catch { case e: CommitException if SmallTable.tornFolder(e).isDefined => true }
  }

  /**
   * @param takes the name of his file, if it is one that RESTORE brings back
   * @param act lets the rival act, and returns the possible results at that moment
   */
  private case class Rival(name: String, takes: Option[String] = None)(val act: Prepared => Seq[Seq[Int]])

  private val fresh = Set(900, 901)
  private def and(rows: Seq[Int]): Seq[Int] = (rows ++ fresh).sorted

  private val append = Rival("append") { table =>
    table.fs.put(s"/t/${table.inputs.head.replace(".parquet", "-added.parquet")}", fresh, 10L)
    Seq(and(table.rows))
  }

  /** An overwrite of these folders, with all that is in them. */
  private def overwrite(what: String, folder: Prepared => String): Rival = Rival(s"overwrite of $what") { table =>
    val dir = folder(table)
    val gone = table.inputs.filter(n => dir.isEmpty || FileNames.parent(n) == dir).flatMap(table.rowsOf).toSet
    table.fs.deleteAll(s"/t/$dir".stripSuffix("/"))
    table.fs.put(s"/t/${table.inputs.last.replace(".parquet", "-over.parquet")}", fresh, 10L)
    Seq(and(table.without(gone)))
  }

  /** An overwrite as by Hive and Impala: the side folder stays. */
  private def overwriteVisible(what: String, folders: Prepared => Seq[String]): Rival =
    Rival(s"overwrite of $what visible files") { table =>
      val dirs = folders(table)
      table.deleteVisible(dirs)
      dirs.foreach(dir => table.fs.put(table.pathIn(dir, "000000_1.parquet"), fresh, 10L))
      Seq((table.rows.diff(dirs.flatMap(table.rowsOfFolder)) ++ dirs.flatMap(_ => fresh)).sorted)
    }

  private val emptied = Rival("delete of all visible files of a folder") { table =>
    val dir = table.table.dirs.head
    val seen = table.fs.rows(table.table.visibleIn(dir)).toSet
    table.deleteVisible(Seq(dir))
    // All rows of the folder, or those of the files that were visible at that moment.
    Seq(table.rows.diff(table.rowsOfFolder(dir)), table.without(seen))
  }

  /** Deletes the visible files and loads the same rows again. */
  private def repair(file: String): Rival = Rival(s"a folder loaded anew as $file") { table =>
    val dir = table.table.dirs.head
    table.deleteVisible(Seq(dir))
    table.fs.put(table.pathIn(dir, file), table.rowsOfFolder(dir).toSet, 70L)
    Seq(table.rows)
  }

  private val overwritesVisible = Seq(
    overwriteVisible("a folder's", t => Seq(t.table.dirs.head)),
    overwriteVisible("all", _.table.dirs),
    emptied,
    repair("again.parquet"),
    repair("part-1.parquet")
  )

  private def delete(input: Int): Rival = Rival(s"delete of input $input") { table =>
    val name = table.inputs(input)
    val beside = table.table.visibleIn(FileNames.parent(name)).map(_.stripPrefix("/t/"))
    val isDoubled = beside.exists(!table.inputs.contains(_))
    val seen = table.fs.nodes.remove(s"/t/$name").isDefined
    val rest = if (seen) table.without(table.rowsOf(name)) else table.rows
    // Its rows may be in the new files as well.
    if (isDoubled) Seq(rest, table.rows) else Seq(rest)
  }

  private def replace(input: Int, length: Long, what: String): Rival =
    Rival(s"input $input replaced by one of $what length") { table =>
      val name = table.inputs(input)
      val seen = table.fs.file(s"/t/$name").isDefined
      table.fs.put(s"/t/$name", fresh, length)
      val replaced = and(table.without(table.rowsOf(name)))
      // If the old file was retired already, the rival replaced nothing: his file is new.
      if (seen) Seq(replaced) else Seq(replaced, and(table.rows))
    }

  private def changes(inputs: Int): Seq[Rival] = (0 until inputs).flatMap { i =>
    Seq(delete(i), replace(i, 77L, "another"), replace(i, 50L + 50L * (i % 2), "the same"))
  }

  /** Takes the name of a file that RESTORE brings back, before or after it is back. */
  private def take(name: String): Rival = Rival(s"a new file of the name $name", Some(name)) { table =>
    val there = table.fs.file(s"/t/$name").map(_.rows)
    table.fs.put(s"/t/$name", fresh, 10L)
    // It comes back before the decision, so its rows are in the inputs as well.
    table.replaced = there.isDefined
    // If it was replaced just after it came back, the undo brings its rows back in the files that had them before.
    (there.map(table.without).toSeq :+ table.rows).map(and)
  }

  /** A whole OPTIMIZE of another process. It is refused, or runs before or after. */
  private val second = Rival("another OPTIMIZE") { table =>
    table.table.attempt(table.table.ops, "op-2")
    Seq(table.rows)
  }

  private val common = Seq(append, overwrite("all", _ => ""), overwrite("one folder", _.table.dirs.last), second)

  private val scenarios: Seq[(Scene, Rival)] = for {
    dirs <- Scene.Folders
    taken = (1 to 3).map(i => take((dirs.last + s"/part-$i.parquet").stripPrefix("/")))
    (statement, rivals) <- Seq(
      optimize -> (common ++ overwritesVisible ++ changes(3 * dirs.length)),
      restore -> (common ++ overwritesVisible ++ changes(2 * dirs.length) ++ taken)
    ) ++ Seq(vacuum, createIndex, refreshIndex, dropIndex).map(_ -> (common ++ changes(1)))
    scene = new Scene(statement, dirs)
    rival <- rivals
  } yield (scene, rival)

  /** After a recovery the rows are those of one order of both operations, and the next statement keeps them. */
  private def assertSettles(table: Prepared, legal: Seq[Seq[Int]]): Unit = {
    // What is left to a person has lost nothing.
    def check() = assert(legal.exists(_.diff(table.fs.visibleRows).isEmpty))
    assert(table.table.recoverAndDecide(() => check()).isEmpty && legal.contains(table.fs.visibleRows))
    table.table.nextStatement()
    assert(legal.contains(table.fs.visibleRows))
  }

  for ((scene, rival) <- scenarios) {
    val name = s"${scene.name}: ${rival.name}"

    /** Whatever the result is, all files that were there at first are in the table or in the trash. */
    def checkWayBack(table: Prepared): Unit = {
      val taken = rival.takes.map("/t/" + _).filter(table.fs.file(_).exists(_.length == 10L))
      val published = table.table.history.exists(_.record.operationId == "op-1")
      if (
        (scene.statement.keepsTrash && rival.name == "append") ||
        (rival.takes.isDefined && !published && !table.replaced)
      ) {
        taken.foreach(table.fs.nodes.remove)
        val back = table.table.attempt("op-3")(table.table.restore(to = 0, id = "op-3"))
        assert(back.isEmpty, s"the way back ended with $back, files ${table.fs.below("/t").mkString(" ")}")
        assert(table.table.files.filterNot(_.contains("added")).forall(_.matches("(p=\\d/)?part-\\d.parquet")))
        assert(table.rows.diff(table.fs.visibleRows).isEmpty)
      }
    }

    /** The rival acts right before call `k`, and the owner may die at a later one. */
    def meets(k: Int, dies: Int = 0, fault: Fault = Fault.DieAfter)(isLitter: String => Boolean): Unit = {
      val table = new Prepared(scene.table())
      var legal: Seq[Seq[Int]] = Nil
      val ops = table.table.beside(k, dies, fault) { legal = rival.act(table) }
      state(scene, table.table, ops, s"before call $k ${ops.trace.lift(k - 1)}, $fault at $dies") { (_, end) =>
        assert(dies > 0 || !end.exists(_.isInstanceOf[IncompletePublishException]))
        assert(dies == 0 || !table.table.isPublishing || table.readersAreRight(legal))
        assertSettles(table, legal)
        assertHistory(table.table)
        assert(!table.table.litter.exists(f => table.fs.file(f).isDefined && isLitter(f)))
        checkWayBack(table)
      }
    }

    test(s"$name, at any call") {
      // A call after the overwrite may have made a folder again, for which nobody looks any more.
      for (k <- 1 to scene.calls) meets(k)(_ => true)
    }

    test(s"$name, at any call, and death at any later one") {
      val some = Explored.every(if (scene.dirs.length > 1) 13 else 5)
      // Overwritten while folders were being made, then dead: an empty hidden folder stays, which nobody knows of any
      // more. Who dies while he asks for the time leaves a probe, which goes once it is old.
      for (k <- 1 to scene.calls; m <- k + k % some to scene.calls by some)
        meets(k, m, Deaths((k + m) % 2))(!_.contains("/_probe-"))
    }

    test(s"$name, after death at any call") {
      for (k <- 1 to scene.calls) {
        val table = new Prepared(scene.table())
        val ops = table.table.faulty(k, Fault.DieAfter)
        scene.run(table.table, ops)
        val legal = rival.act(table)
        explored(s"death at $k ${ops.trace.lastOption}: ") {
          assert(!table.table.isPublishing || table.readersAreRight(legal))
          assertSettles(table, legal)
          assert(table.table.litter.isEmpty)
          assertHistory(table.table)
          // Files that an undo left in the trash do no harm.
          val rows = table.fs.visibleRows
          assert(table.table.attempt(table.table.ops, "op-3").isEmpty && table.fs.visibleRows == rows)
        }
      }
    }

    test(s"$name, at any call of the recovery after death at any call") {
      val some = Explored.every(if (scene.dirs.length > 1) 29 else 11)
      for (k <- 1 to scene.calls) {
        var j = 1 + k % some
        var more = true
        while (more) {
          val table = new Prepared(scene.table())
          scene.run(table.table, table.table.faulty(k, Fault.DieAfter))
          var legal: Seq[Seq[Int]] = Nil
          val ops = table.table.beside(j) { legal = rival.act(table) }
          val end = table.table.recover(ops)
          more = ops.calls >= j
          if (more) explored(s"death at $k, before call $j of the recovery ${ops.trace(j - 1)}, ended with $end: ") {
            assertSettles(table, legal)
            assert(table.table.litter.forall(table.fs.file(_).isEmpty))
            assertHistory(table.table)
          }
          j += some
        }
      }
    }
  }

  for (scene <- Seq(optimize, restore).flatMap(_.onBoth))
    test(s"${scene.name}: an overwrite by an older listing") {
      val some = Explored.every(7)
      for (k <- 1 to scene.calls; m <- k + 1 + k % some to scene.calls by some) {
        val table = new Prepared(scene.table())
        val dir = scene.dirs.last
        var listed: Seq[String] = Nil
        var legal: Seq[Seq[Int]] = Nil
        val acts: PartialFunction[Int, Unit] = {
          case `k` => listed = table.table.visibleIn(dir)
          case `m` => legal = table.overwrite(dir, listed)
        }
        val ops = new MemoryOps(table.fs, other = acts)
        val end = scene.run(table.table, ops)
        def clue = s"listed before $k ${ops.trace(k - 1)}, overwrites before $m ${ops.trace(m - 1)}, ended with $end: "
        if (legal.nonEmpty) explored(clue)(assertSettles(table, legal))
      }
    }

  for (statement <- all)
    test(s"a second statement is refused while a first ${statement.name} lives") {
      var isMet = false
      meeting(new Scene(statement, Scene.Two)) { table =>
        val locked = table.fs.children("/t/_zorder").exists(_.contains("lock-"))
        val end = table.attempt("op-2")(Locking.acquire(table.folder, "op-2", table.settings).release())
        assert(end.isDefined == locked && end.forall(_.isInstanceOf[ConcurrentOperationException]))
        isMet = true
      } { (table, end) =>
        assert(end.isEmpty && isMet)
        isMet = false
        assert(table.fs.visibleRows == table.allRows && table.litter.isEmpty)
      }
    }
}
