package org.sparkzorder.commit

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.TestAll
import org.sparkzorder.commit.lock.Locking
import org.sparkzorder.commit.upkeep.Trash

/** Folders are moved, renamed, copied or removed, at any call or after a death. Each row stays once, also in a copy. */
@TestAll
class MovedFoldersSuite extends AnyFunSuite with Explorer {
  private val dirs = Scene.Two
  private def load(file: String, length: Long): MemoryFs => Unit = _.put(s"/t/p=1/$file", Set(900, 901), length)

  /**
   * What somebody does with folders, in steps, the rows of some folders afterwards, and rows that come.
   *
   * @param mayBeUnclear whether nobody can tell the loaded file from one of the operation
   */
  private case class Change(
      name: String,
      steps: Seq[MemoryFs => Unit],
      places: Map[String, Seq[Int]],
      loaded: Seq[Int] = Nil,
      mayBeUnclear: Boolean = false
  )

  private val (firstRows, secondRows) = new SmallTable(dirs).allRows.partition(_ < 30)

  private def moves(names: (String, String)*): Seq[MemoryFs => Unit] =
    names.map { case (from, to) => (fs: MemoryFs) => fs.move(s"/t/$from", s"/t/$to") }

  private val reloads =
    for ((name, length) <- Seq("other" -> 100L, "part-1" -> 99L, "part-2" -> 99L, "part-3" -> 99L, "part-1" -> 100L))
      yield Change(
        s"a folder is renamed and loaded again with $length bytes in $name.parquet",
        moves("p=1" -> "p=9") :+ load(s"$name.parquet", length),
        Map("p=9" -> firstRows, "p=1" -> Seq(900, 901)),
        Seq(900, 901),
        mayBeUnclear = name == "part-1" && length == 100
      )

  /** Where the rows of the first and of the second folder are. */
  private def rowsIn(first: String, second: String) = Map(first -> firstRows, second -> secondRows)

  private val changes = reloads ++ Seq(
    Change("two folders are swapped", moves("p=1" -> "p=0", "p=2" -> "p=1", "p=0" -> "p=2"), rowsIn("p=2", "p=1")),
    Change("names are shifted by one", moves("p=2" -> "p=3", "p=1" -> "p=2"), rowsIn("p=2", "p=3")),
    Change("names are shifted back", moves("p=1" -> "p=0", "p=2" -> "p=1"), rowsIn("p=0", "p=1")),
    Change(
      "names are shifted, and the last is loaded again",
      moves("p=2" -> "p=3", "p=1" -> "p=2") :+ load("part-1.parquet", 99),
      rowsIn("p=2", "p=3") + ("p=1" -> Seq(900, 901)),
      Seq(900, 901)
    )
  )

  private def settles(table: SmallTable, rows: Seq[Int]): Unit = {
    assert(table.recover().isEmpty)
    table.nextStatement()
    assert(table.fs.visibleRows == rows)
  }

  /** A person decides, if files have other times than the record says. */
  private def settlesCopy(table: SmallTable, rows: Seq[Int]): Unit = {
    val before = table.files
    table.recover().foreach { e =>
      assert(e.isInstanceOf[FoldersUnclearException] && table.files == before)
      val keep = if (table.fs.clock % 2 == 0) Keep.Old else Keep.New
      assert(table.recover(keep = Some(keep)).isEmpty)
    }
    settles(table, rows)
  }

  /** What is left in the trash is nobody's only copy. */
  private def keepsRows(table: SmallTable, rows: Seq[Int]): Unit = {
    table.vacuum(id = "op-8")
    assert(table.fs.visibleRows == rows)
  }

  /** Whether nobody can tell which folders are away, and a person must decide. */
  private def isUnclear(table: SmallTable): Boolean = table.recover().exists(_.isInstanceOf[FoldersUnclearException])

  for (statement <- Seq(Statement.optimize, Statement.restore)) {
    val scene = new Scene(statement, dirs)
    val name = statement.name

    /** Tables whose statement died, one for each call, before somebody changes folders. */
    def dead(title: String)(judge: SmallTable => Unit): Unit =
      test(s"$name: $title after death at any call")(failing(scene, Deaths)((table, _) => judge(table)))

    dead("a folder is moved") { table =>
      table.fs.move("/t/p=1", "/t/p=9")
      settles(table, table.allRows)
      assert(table.rowsIn("p=9") == firstRows)
    }

    test(s"$name: a folder is moved at any call of a living owner") {
      meeting(scene)(_.fs.move("/t/p=1", "/t/p=9"))((table, _) => settles(table, table.allRows))
    }

    for (keepsTimes <- Seq(true, false)) dead(s"a folder is copied, times kept: $keepsTimes,") { table =>
      table.fs.copy("/t/p=1", "/t/p=3", keepsTimes)
      val rows = (table.allRows ++ firstRows).sorted
      if (keepsTimes) settles(table, rows) else settlesCopy(table, rows)
      assert(table.rowsIn("p=3") == table.rowsIn("p=1"))
    }

    dead("a folder is replaced by a copy of itself without times") { table =>
      table.fs.copy("/t/p=1", "/x", keepsTimes = false)
      table.fs.deleteAll("/t/p=1")
      table.fs.move("/x", "/t/p=1")
      settlesCopy(table, table.allRows)
    }

    dead("empty folders are removed") { table =>
      table.fs.removeEmpty()
      settles(table, table.allRows)
      if (statement.keepsTrash) table.restore(to = 0, id = "op-9")
      assert(table.fs.visibleRows == table.allRows)
    }

    dead("a folder is away while others recover") { table =>
      table.fs.move("/t/p=1", "/aside")
      assert(table.recover().forall(_.isInstanceOf[FoldersUnclearException]))
      table.fs.move("/aside", "/t/p=1")
      settles(table, table.allRows)
    }

    dead("a folder that is gone for good") { table =>
      table.fs.deleteAll("/t/p=1")
      if (table.recover().nonEmpty) assert(table.recover(keep = Some(Keep.New)).isEmpty)
      settles(table, secondRows)
      table.optimize(id = "op-7", only = Seq("p=2"))
      assert(table.fs.visibleRows == secondRows)
    }

    dead("a folder is replaced by another one") { table =>
      table.fs.deleteAll("/t/p=1")
      table.fs.move("/t/p=2", "/t/p=1")
      // Nobody can tell whether the folder was deleted, or is to come back.
      if (table.recover().nonEmpty) {
        assert(isUnclear(table) && table.viewedRows() == secondRows)
        assert(table.recover(keep = Some(Keep.New)).isEmpty)
      }
      settles(table, secondRows)
    }

    dead("a folder is replaced by another one and comes back") { table =>
      table.fs.move("/t/p=1", "/aside")
      table.fs.move("/t/p=2", "/t/p=1")
      table.recover()
      table.fs.move("/aside", "/t/p=5")
      settles(table, table.allRows)
    }

    /** Somebody acts in steps, each right before a call. Those that are left at the end are done if `atEnd`. */
    def inSteps(table: SmallTable, steps: Seq[(Int, () => Any)], atEnd: Boolean)(judge: => Any): Unit = {
      var left = steps
      def actUntil(call: Int): Unit = while (left.headOption.exists(_._1 <= call)) {
        val act = left.head._2
        left = left.tail
        act()
      }
      val ops = new MemoryOps(table.fs, other = { case call => actUntil(call) })
      state(scene, table, ops, s"before calls ${steps.map(_._1).mkString(", ")}") { (_, _) =>
        if (atEnd) actUntil(Int.MaxValue)
        judge
      }
    }

    /** A backup is beside the table, and no two outputs have one name. */
    def withBackup(table: SmallTable): Unit = {
      table.namesAreUnique = true
      table.fs.copyFiles("/t/p=1", "/backup/p=1")
    }

    for (change <- changes) {
      def check(table: SmallTable): Unit = {
        if (change.mayBeUnclear && isUnclear(table)) table.recover(keep = Some(Keep.New))
        val expected = (table.allRows ++ change.loaded).sorted
        settles(table, expected)
        keepsRows(table, expected)
        change.places.foreach { case (dir, rows) => assert(table.rowsIn(dir) == rows) }
      }

      test(s"$name: ${change.name} after death at any call") {
        failing(scene, Deaths, withBackup) { (dead, _) =>
          change.steps.foreach(_(dead.fs))
          // A reader that cannot write.
          if (change.name.startsWith("two")) assert(dead.viewedRows() == dead.allRows)
          check(dead)
        }
      }

      for (pause <- Seq(0, 1, 2, 5))
        test(s"$name: ${change.name} at any call of a living owner, $pause calls apart") {
          for (k <- 1 to scene.calls) {
            val living = scene.table()
            withBackup(living)
            val steps = change.steps.zipWithIndex.map { case (step, i) => (k + i * pause, () => step(living.fs)) }
            inSteps(living, steps, atEnd = true)(check(living))
          }
        }
    }

    /** Somebody acts right before a call, and again some calls later. The judge learns whether a person must decide. */
    def twice(laters: Seq[Int], atEnd: Boolean)(judge: (SmallTable, Boolean) => Any)(
        acts: SmallTable => (() => Any, () => Any)
    ): Unit =
      for (k <- 1 to scene.calls; later <- laters) {
        val table = scene.table()
        table.namesAreUnique = true
        val (first, second) = acts(table)
        inSteps(table, Seq(k -> first, (k + later) -> second), atEnd)(judge(table, isUnclear(table)))
      }

    /** Touches a file of the second folder. If it was an input, all goes back. */
    def touchSecond(table: SmallTable, among: Set[String]): Unit =
      table.touch(table.files.filter(f => among(f) && f.startsWith("p=2/")).takeRight(1))

    /** A new file of the first folder, unless it is the only one: its folder would count as overwritten without it. */
    def newOfFirst(table: SmallTable, before: Set[String]): Option[String] =
      table.files.filterNot(before).filter(_.startsWith("p=1/")).drop(1).lastOption

    for (change <- changes if change.loaded.isEmpty)
      test(s"$name: ${change.name} at any call of an owner that undoes its work") {
        twice(Seq(0, 1, 2, 3, 5, 8, 12, 17, 23, 30), atEnd = true) { (table, isUnclear) =>
          if (isUnclear) assert(table.allRows.forall(table.rowsAnywhere))
          else {
            table.nextStatement()
            assert(table.fs.visibleRows == table.allRows)
            keepsRows(table, table.allRows)
          }
        } { table =>
          // With markers, new files that are there before the decision are nobody's only rows.
          val before = table.files.toSet
          (() => touchSecond(table, before), () => change.steps.foreach(_(table.fs)))
        }
      }

    test(s"$name: a folder is renamed, and a backup with times gets its name, at any call of an owner") {
      meeting(scene, _.fs.copyFiles("/t/p=1", "/backup/p=1")) { table =>
        table.fs.move("/t/p=1", "/t/p=9")
        table.fs.copyFiles("/backup/p=1", "/t/p=1")
      } { (table, _) =>
        if (!isUnclear(table)) {
          table.nextStatement()
          table.vacuum(id = "op-8")
          assert(table.rowsIn("p=9") == firstRows && table.rowsIn("p=2") == secondRows)
          // A file of the backup that was moved just before is taken for the file that it is a copy of.
          assert(table.rowsIn("p=1").forall(firstRows.contains))
        }
      }
    }

    for (undone <- Seq(false, true))
      test(s"$name: VACUUM keeps what waits in a folder that was away at the end, undone: $undone") {
        meeting(scene) { table =>
          table.fs.move("/t/p=1", "/aside")
          if (undone) touchSecond(table, table.files.toSet)
        } { (table, _) =>
          if (table.recover().isEmpty) {
            table.fs.move("/aside", "/t/p=1")
            val found = Trash.expired(table.folder, _ => true, Seq("p=1")).retired
            val lock = Locking.acquire(table.folder, "vacuum", table.settings)
            try Trash.vacuum(table.folder, lock, found)
            finally lock.release()
            assert(table.allRows.forall(table.rowsAnywhere))
          }
        }
      }

    test(s"$name: one of the new files is deleted while the owner undoes its work") {
      var deleted = Set.empty[Int]
      twice(Seq(1, 3, 6, 10, 14, 18, 22, 26, 30), atEnd = false) { (table, isUnclear) =>
        if (!isUnclear) {
          val seen = table.fs.visibleRows
          assert(seen.distinct == seen && table.allRows.filterNot(seen.toSet).forall(deleted))
        }
      } { table =>
        val before = table.files.toSet
        deleted = Set.empty
        def delete(): Unit = newOfFirst(table, before).foreach { n =>
          deleted = table.rowsOf(n)
          table.fs.nodes.remove(s"/t/$n")
        }
        (() => touchSecond(table, before), () => delete())
      }
    }

    test(s"$name: a new file is moved to another folder before the owner undoes its work") {
      twice(Seq(1, 2, 3, 5, 8), atEnd = false) { (table, isUnclear) =>
        assert(table.allRows.forall(table.rowsAnywhere))
        // With markers, its rows are in the inputs as well, which stay.
        val moved = table.fs.file("/t/p=8/x.parquet").fold(Set.empty[Int])(_.rows)
        def rows(of: Seq[Int]) = of.diff(moved.filter(r => of.count(_ == r) == 2).toSeq)
        if (!isUnclear) assert(rows(table.fs.visibleRows) == table.allRows)
      } { table =>
        val before = table.files.toSet
        def move(): Unit = newOfFirst(table, before).foreach(n => table.fs.move(s"/t/$n", s"/t/p=8/x.parquet"))
        (() => move(), () => table.touch(table.files.filter(before).takeRight(1)))
      }
    }

    test(s"$name: folders get any names at any calls of an owner and of a recovery") {
      val three = new Scene(statement, dirs :+ "p=3")
      for (seed <- 1 to (if (Explored.all) 20000 else 1000)) {
        val random = new Random(seed)
        val table = three.table()
        table.namesAreUnique = true
        val loaded = mutable.ArrayBuffer.empty[Int]
        def change(): Unit = {
          val (taken, free) = (1 to 5).map(i => s"/t/p=$i").partition(table.fs.nodes.contains)
          def any(of: Seq[String]) = of(random.nextInt(of.size))
          if (free.size > 1 && random.nextInt(4) == 0) {
            loaded += 900 + loaded.size
            table.fs.put(s"${any(free)}/${any(Seq("x.parquet", "part-1.parquet"))}", Set(loaded.last), 99L)
          } else if (free.nonEmpty) table.fs.move(any(taken), any(free))
        }
        def changing(calls: Int) = {
          val moments = Seq.fill(1 + random.nextInt(5))(1 + random.nextInt(calls)).toSet
          val at = if (random.nextBoolean()) random.nextInt(calls) else 0
          new MemoryOps(table.fs, at, Fault.DieAfter, { case call if moments(call) => change() })
        }
        val end = three.run(table, changing(scene.calls))
        val recovered = table.recover(changing(60))
        withClue(s"seed $seed, ended with $end, then $recovered: ")(explore {
          val expected = (table.allRows ++ loaded).sorted
          settles(table, expected)
          keepsRows(table, expected)
        })
      }
    }
  }
}
