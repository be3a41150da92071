package org.sparkzorder.commit

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.TestAll
import org.sparkzorder.commit.lock.Locking
import org.sparkzorder.commit.upkeep.Trash

/**
 * Somebody moves, renames, copies or removes folders of a table, at any call of an operation or
 * after its death. In the end each row is there once, also in the copy.
 */
@TestAll
class MovedFoldersSuite extends AnyFunSuite with Explores {
  private val dirs = Seq("p=1", "p=2")
  private val statements = Seq(Statement.optimize, Statement.restore)

  private def move(fs: MemoryFs, from: String, to: String): Unit =
    (from +: fs.below(from)).filter(fs.nodes.contains).foreach { path =>
      val node = fs.nodes.remove(path).get
      fs.nodes(to + path.stripPrefix(from)) = node
    }

  private def copy(fs: MemoryFs, from: String, to: String, keepsTimes: Boolean): Unit =
    (from +: fs.below(from)).foreach { path =>
      fs.tick()
      fs.nodes(to + path.stripPrefix(from)) = fs.nodes(path) match {
        case f: File if !keepsTimes => f.copy(time = fs.clock)
        case node                   => node
      }
    }

  private def remove(fs: MemoryFs, path: String): Unit = (path +: fs.below(path)).foreach(fs.nodes.remove)

  private def load(file: String, length: Long): MemoryFs => Unit = _.put(s"/t/p=1/$file", Set(900, 901), length)

  /**
   * What somebody does with folders, in steps.
   *
   * @param places rows of some folders afterwards
   * @param loaded rows that come
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
    names.map { case (from, to) => (fs: MemoryFs) => move(fs, s"/t/$from", s"/t/$to") }

  private def reload(file: String, length: Long) = Change(
    s"a folder is renamed and loaded again with $length bytes in $file",
    moves("p=1" -> "p=9") :+ load(file, length),
    Map("p=9" -> firstRows, "p=1" -> Seq(900, 901)),
    Seq(900, 901),
    mayBeUnclear = file == "part-1.parquet" && length == 100
  )

  private val changes = Seq(
    reload("other.parquet", 100),
    reload("part-1.parquet", 99),
    reload("part-2.parquet", 99),
    reload("part-3.parquet", 99),
    reload("part-1.parquet", 100),
    Change(
      "two folders are swapped",
      moves("p=1" -> "p=0", "p=2" -> "p=1", "p=0" -> "p=2"),
      Map("p=1" -> secondRows, "p=2" -> firstRows)
    ),
    Change(
      "names are shifted by one",
      moves("p=2" -> "p=3", "p=1" -> "p=2"),
      Map("p=3" -> secondRows, "p=2" -> firstRows)
    ),
    Change(
      "names are shifted back",
      moves("p=1" -> "p=0", "p=2" -> "p=1"),
      Map("p=0" -> firstRows, "p=1" -> secondRows)
    ),
    Change(
      "names are shifted, and the last is loaded again",
      moves("p=2" -> "p=3", "p=1" -> "p=2") :+ load("part-1.parquet", 99),
      Map("p=3" -> secondRows, "p=2" -> firstRows, "p=1" -> Seq(900, 901)),
      Seq(900, 901)
    )
  )

  /** Copies the data files of a folder with their times. */
  private def copyFiles(fs: MemoryFs, from: String, to: String): Unit = {
    fs.mkdirs(to)
    fs.children(from).foreach(path => fs.file(path).foreach(fs.nodes(to + path.stripPrefix(from)) = _))
  }

  private def removeEmpty(fs: MemoryFs): Unit = {
    val empty = fs.below("/t").filter(p => fs.nodes.get(p).contains(Dir) && fs.below(p).isEmpty)
    if (empty.nonEmpty) {
      empty.foreach(fs.nodes.remove)
      removeEmpty(fs)
    }
  }

  private def rowsIn(table: SmallTable, dir: String): Seq[Int] =
    table.fs.rows(table.fs.visible.filter(_.startsWith(s"/t/$dir/")))

  private def settle(table: SmallTable): Unit = {
    val end = table.recover(new MemoryOps(table.fs))
    assert(end.isEmpty)
    table.nextStatement()
  }

  /** A person decides, if files have other times than the record says. */
  private def settleCopy(table: SmallTable): Unit = {
    val before = table.files
    table.recover(new MemoryOps(table.fs)).foreach { e =>
      assert(e.isInstanceOf[FoldersUnclearException] && table.files == before)
      val keep = if (table.fs.clock % 2 == 0) Keep.Old else Keep.New
      assert(table.recover(new MemoryOps(table.fs), Some(keep)).isEmpty)
    }
    settle(table)
  }

  for (statement <- statements) {
    lazy val first = statement.prepared(dirs)
    lazy val calls = {
      val table = new SmallTable(dirs)
      table.fs.copyOf(first)
      val ops = new MemoryOps(table.fs)
      statement.run(table, ops)
      ops.calls
    }

    /** Tables whose statement died, one for each call. */
    def dead(state: SmallTable => Unit): Unit =
      for (k <- 1 to calls; fault <- Seq(Fault.DieBefore, Fault.DieAfter)) {
        val table = new SmallTable(dirs)
        table.fs.copyOf(first)
        table.attempt("op-1")(statement.run(table, new MemoryOps(table.fs, k, fault)))
        withClue(s"$fault at $k: ")(explore(state(table)))
      }

    test(s"${statement.name}: a folder is moved after death at any call") {
      dead { table =>
        move(table.fs, "/t/p=1", "/t/p=9")
        settle(table)
        assert(table.fs.visibleRows == table.allRows)
        assert(rowsIn(table, "p=9") == table.allRows.filter(_ < 30))
      }
    }

    for (keepsTimes <- Seq(true, false))
      test(s"${statement.name}: a folder is copied after death at any call, times kept: $keepsTimes") {
        dead { table =>
          copy(table.fs, "/t/p=1", "/t/p=3", keepsTimes)
          if (keepsTimes) settle(table) else settleCopy(table)
          assert(rowsIn(table, "p=3") == rowsIn(table, "p=1"))
          assert(table.fs.visibleRows == (table.allRows ++ table.allRows.filter(_ < 30)).sorted)
        }
      }

    test(s"${statement.name}: a folder is replaced by a copy of itself without times after death at any call") {
      dead { table =>
        copy(table.fs, "/t/p=1", "/x", keepsTimes = false)
        (("/t/p=1") +: table.fs.below("/t/p=1")).foreach(table.fs.nodes.remove)
        move(table.fs, "/x", "/t/p=1")
        settleCopy(table)
        assert(table.fs.visibleRows == table.allRows)
      }
    }

    test(s"${statement.name}: empty folders are removed after death at any call") {
      dead { table =>
        removeEmpty(table.fs)
        settle(table)
        assert(table.fs.visibleRows == table.allRows)
        if (statement.keepsTrash) {
          table.restore(new MemoryOps(table.fs), 0, "op-9")
          assert(table.fs.visibleRows == table.allRows)
        }
      }
    }

    test(s"${statement.name}: a folder is away while others recover after death at any call") {
      dead { table =>
        move(table.fs, "/t/p=1", "/aside")
        val end = table.recover(new MemoryOps(table.fs))
        assert(end.forall(_.isInstanceOf[FoldersUnclearException]))
        move(table.fs, "/aside", "/t/p=1")
        settle(table)
        assert(table.fs.visibleRows == table.allRows)
      }
    }

    test(s"${statement.name}: a folder that is gone for good after death at any call") {
      dead { table =>
        val rows = table.allRows.filter(_ >= 30)
        (("/t/p=1") +: table.fs.below("/t/p=1")).foreach(table.fs.nodes.remove)
        if (table.recover(new MemoryOps(table.fs)).nonEmpty)
          assert(table.recover(new MemoryOps(table.fs), Some(Keep.New)).isEmpty)
        settle(table)
        assert(table.fs.visibleRows == rows)
        table.optimize(new MemoryOps(table.fs), "op-7", Seq("p=2"))
        assert(table.fs.visibleRows == rows)
      }
    }

    test(s"${statement.name}: a folder is moved at any call of a living owner") {
      for (k <- 1 to calls) {
        val table = new SmallTable(dirs)
        table.fs.copyOf(first)
        val ops = new MemoryOps(table.fs, other = { case c if c == k => move(table.fs, "/t/p=1", "/t/p=9") })
        val end = table.attempt("op-1")(statement.run(table, ops))
        withClue(s"before call $k, ended with $end: ")(explore {
          settle(table)
          assert(table.fs.visibleRows == table.allRows)
        })
      }
    }

    for (change <- changes) {
      def table() = {
        val made = new SmallTable(dirs)
        made.fs.copyOf(first)
        made.namesAreUnique = true
        copyFiles(made.fs, "/t/p=1", "/backup/p=1")
        made
      }

      def check(table: SmallTable): Unit = {
        def isUnclear = table.recover(new MemoryOps(table.fs)).exists(_.isInstanceOf[FoldersUnclearException])
        if (change.mayBeUnclear && isUnclear) table.recover(new MemoryOps(table.fs), Some(Keep.New))
        settle(table)
        val expected = (table.allRows ++ change.loaded).sorted
        assert(table.fs.visibleRows == expected)
        // What is left in the trash is nobody's only copy.
        table.vacuum(new MemoryOps(table.fs), "op-8")
        assert(table.fs.visibleRows == expected)
        change.places.foreach { case (dir, rows) => assert(rowsIn(table, dir) == rows) }
      }

      test(s"${statement.name}: ${change.name} after death at any call") {
        for (k <- 1 to calls; fault <- Seq(Fault.DieBefore, Fault.DieAfter)) {
          val dead = table()
          dead.attempt("op-1")(statement.run(dead, new MemoryOps(dead.fs, k, fault)))
          change.steps.foreach(_(dead.fs))
          withClue(s"$fault at $k: ")(explore(check(dead)))
        }
      }

      for (pause <- Seq(0, 1, 2, 5))
        test(s"${statement.name}: ${change.name} at any call of a living owner, $pause calls apart") {
          for (k <- 1 to calls) {
            val living = table()
            val todo = change.steps.zipWithIndex.map { case (step, i) => (k + i * pause) -> step }
            var done = 0
            def catchUp(call: Int): Unit = while (done < todo.size && todo(done)._1 <= call) {
              val step = todo(done)._2
              done += 1
              step(living.fs)
            }
            val end =
              living.attempt("op-1")(statement.run(living, new MemoryOps(living.fs, other = { case c => catchUp(c) })))
            catchUp(Int.MaxValue)
            withClue(s"before call $k, ended with $end: ")(explore(check(living)))
          }
        }

      if (change.steps.size == 1 || change.name.startsWith("two"))
        test(s"${statement.name}: ${change.name}, and a reader that cannot write, after death at any call") {
          for (k <- 1 to calls) {
            val dead = table()
            dead.attempt("op-1")(statement.run(dead, new MemoryOps(dead.fs, k, Fault.DieBefore)))
            change.steps.foreach(_(dead.fs))
            withClue(s"at $k: ")(explore(assert(dead.viewedRows() == dead.allRows)))
          }
        }
    }

    for (change <- changes if change.loaded.isEmpty)
      test(s"${statement.name}: ${change.name} at any call of an owner that undoes its work") {
        for (k <- 1 to calls; later <- Seq(0, 1, 2, 3, 5, 8, 12, 17, 23, 30)) {
          val table = new SmallTable(dirs)
          table.fs.copyOf(first)
          table.namesAreUnique = true
          // Another touches a file of the second folder. If it was an input, all goes back.
          // With markers, new files that are there before the decision are nobody's only rows.
          val before = table.fs.visible.toSet
          def touch(): Unit =
            table.fs.children("/t/p=2").filter(before).flatMap(p =>
              table.fs.file(p).map(p -> _)
            ).lastOption.foreach {
              case (path, file) => table.fs.put(path, file.rows, file.length)
            }
          var moved = false
          def move(): Unit = if (!moved) {
            moved = true
            change.steps.foreach(_(table.fs))
          }
          val ops = new MemoryOps(
            table.fs,
            other = {
              case c if c == k         => touch(); if (later == 0) move()
              case c if c == k + later => move()
            }
          )
          val end = table.attempt("op-1")(statement.run(table, ops))
          move()
          withClue(s"touched before call $k, moved $later later, ended with $end: ")(explore {
            def isUnclear = table.recover(new MemoryOps(table.fs)).exists(_.isInstanceOf[FoldersUnclearException])
            if (isUnclear) assert(table.allRows.forall(table.rowsAnywhere))
            else {
              table.nextStatement()
              assert(table.fs.visibleRows == table.allRows)
              table.vacuum(new MemoryOps(table.fs), "op-8")
              assert(table.fs.visibleRows == table.allRows)
            }
          })
        }
      }

    test(s"${statement.name}: a folder is renamed, and a backup with times gets its name, at any call of an owner") {
      for (k <- 1 to calls) {
        val table = new SmallTable(dirs)
        table.fs.copyOf(first)
        copyFiles(table.fs, "/t/p=1", "/backup/p=1")
        val ops = new MemoryOps(
          table.fs,
          other = {
            case c if c == k =>
              move(table.fs, "/t/p=1", "/t/p=9")
              copyFiles(table.fs, "/backup/p=1", "/t/p=1")
          }
        )
        val end = table.attempt("op-1")(statement.run(table, ops))
        withClue(s"before call $k, ended with $end: ")(explore {
          val isUnclear = table.recover(new MemoryOps(table.fs)).exists(_.isInstanceOf[FoldersUnclearException])
          if (!isUnclear) {
            table.nextStatement()
            table.vacuum(new MemoryOps(table.fs), "op-8")
            assert(rowsIn(table, "p=9") == firstRows)
            assert(rowsIn(table, "p=2") == secondRows)
            // A file of the backup that was moved just before is taken for the file that it is a copy of.
            assert(rowsIn(table, "p=1").forall(firstRows.contains))
          }
        })
      }
    }

    for (undone <- Seq(false, true)) test(
      s"${statement.name}: VACUUM keeps what waits in a folder that was away at the end, undone: $undone"
    ) {
      for (k <- 1 to calls) {
        val table = new SmallTable(dirs)
        table.fs.copyOf(first)
        def away(): Unit = {
          move(table.fs, "/t/p=1", "/aside")
          if (undone) table.fs.children("/t/p=2").flatMap(p => table.fs.file(p).map(p -> _)).lastOption.foreach {
            case (path, file) => table.fs.put(path, file.rows, file.length)
          }
        }
        val ops = new MemoryOps(table.fs, other = { case c if c == k => away() })
        table.attempt("op-1")(statement.run(table, ops))
        explore {
          if (table.recover(new MemoryOps(table.fs)).isEmpty) {
            move(table.fs, "/aside", "/t/p=1")
            val folder = TableFolder(table.root, new MemoryOps(table.fs), threads = 1)
            val found = Trash.expired(folder, _ => true, Seq("p=1")).retired
            val lock = Locking.acquire(folder, "vacuum", table.settings)
            try Trash.vacuum(folder, lock, found)
            finally lock.release()
            withClue(s"before call $k: ")(assert(table.allRows.forall(table.rowsAnywhere)))
          }
        }
      }
    }

    test(s"${statement.name}: one of the new files is deleted while the owner undoes its work") {
      for (k <- 1 to calls; later <- Seq(1, 3, 6, 10, 14, 18, 22, 26, 30)) {
        val table = new SmallTable(dirs)
        table.fs.copyOf(first)
        table.namesAreUnique = true
        val before = table.files.toSet
        var deleted = Set.empty[Int]
        def delete(): Unit = {
          val fresh = table.files.filterNot(before).filter(_.startsWith("p=1/"))
          fresh.drop(1).lastOption.foreach { n =>
            deleted = table.rowsOf(n)
            table.fs.nodes.remove(s"/t/$n")
          }
        }
        val ops = new MemoryOps(
          table.fs,
          other = {
            case c if c == k =>
              table.files.filter(before).filter(_.startsWith("p=2/")).lastOption.foreach { n =>
                table.fs.put(s"/t/$n", table.rowsOf(n), table.fs.file(s"/t/$n").get.length)
              }
            case c if c == k + later => delete()
          }
        )
        val end = table.attempt("op-1")(statement.run(table, ops))
        withClue(s"touched before call $k, deleted $later later, ended with $end: ")(explore {
          val isUnclear = table.recover(new MemoryOps(table.fs)).exists(_.isInstanceOf[FoldersUnclearException])
          if (!isUnclear) {
            val seen = table.fs.visibleRows
            assert(seen.distinct == seen)
            assert(table.allRows.filterNot(seen.toSet).forall(deleted))
          }
        })
      }
    }

    test(s"${statement.name}: a new file is moved to another folder before the owner undoes its work") {
      for (k <- 1 to calls; later <- Seq(1, 2, 3, 5, 8)) {
        val table = new SmallTable(dirs)
        table.fs.copyOf(first)
        table.namesAreUnique = true
        val before = table.files.toSet
        val ops = new MemoryOps(
          table.fs,
          other = {
            case c if c == k =>
              // If it is the only file, its folder counts as overwritten.
              table.files.filterNot(before).filter(_.startsWith("p=1/")).drop(1).lastOption
                .foreach(n => move(table.fs, s"/t/$n", s"/t/p=8/x.parquet"))
            case c if c == k + later =>
              table.files.filter(before).lastOption.foreach { n =>
                val file = table.fs.file(s"/t/$n").get
                table.fs.put(s"/t/$n", file.rows, file.length)
              }
          }
        )
        val end = table.attempt("op-1")(statement.run(table, ops))
        withClue(s"moved before call $k, touched $later later, ended with $end: ")(explore {
          val isUnclear = table.recover(new MemoryOps(table.fs)).exists(_.isInstanceOf[FoldersUnclearException])
          assert(table.allRows.forall(table.rowsAnywhere))
          // With markers, its rows are in the inputs as well, which stay.
          val twice =
            table.fs.file("/t/p=8/x.parquet").fold(Set.empty[Int])(_.rows)
          def rows(of: Seq[Int]) = of.diff(twice.filter(r => of.count(_ == r) == 2).toSeq)
          if (!isUnclear) assert(rows(table.fs.visibleRows) == table.allRows)
        })
      }
    }

    test(s"${statement.name}: folders get any names at any calls of an owner and of a recovery") {
      val three = dirs :+ "p=3"
      lazy val origin = statement.prepared(three)
      for (seed <- 1 to (if (Explored.all) 20000 else 1000)) {
        val random = new Random(seed)
        val table = new SmallTable(three)
        table.fs.copyOf(origin)
        table.namesAreUnique = true
        val loaded = mutable.ArrayBuffer.empty[Int]
        def change(): Unit = {
          val (taken, free) = (1 to 5).map(i => s"/t/p=$i").partition(table.fs.nodes.contains)
          def any(of: Seq[String]) = of(random.nextInt(of.size))
          if (free.size > 1 && random.nextInt(4) == 0) {
            loaded += 900 + loaded.size
            table.fs.put(s"${any(free)}/${any(Seq("x.parquet", "part-1.parquet"))}", Set(loaded.last), 99L)
          } else if (free.nonEmpty) move(table.fs, any(taken), any(free))
        }
        def changing(calls: Int) = {
          val moments = Seq.fill(1 + random.nextInt(5))(1 + random.nextInt(calls)).toSet
          new MemoryOps(
            table.fs,
            at = if (random.nextBoolean()) random.nextInt(calls) else 0,
            fault = Fault.DieAfter,
            other = { case call if moments(call) => change() }
          )
        }
        val end = table.attempt("op-1")(statement.run(table, changing(calls)))
        val recovered = table.recover(changing(60))
        withClue(s"seed $seed, ended with $end, then $recovered: ")(explore {
          settle(table)
          val expected = (table.allRows ++ loaded).sorted
          assert(table.fs.visibleRows == expected)
          table.vacuum(new MemoryOps(table.fs), "op-8")
          assert(table.fs.visibleRows == expected)
        })
      }
    }

    test(s"${statement.name}: a folder is replaced by another one after death at any call") {
      dead { table =>
        remove(table.fs, "/t/p=1")
        move(table.fs, "/t/p=2", "/t/p=1")
        val rows = table.allRows.filter(_ >= 30)
        // Nobody can tell whether the folder was deleted, or is to come back.
        if (table.recover(new MemoryOps(table.fs)).nonEmpty) {
          assert(table.recover(new MemoryOps(table.fs)).exists(_.isInstanceOf[FoldersUnclearException]))
          assert(table.viewedRows() == rows)
          assert(table.recover(new MemoryOps(table.fs), Some(Keep.New)).isEmpty)
        }
        settle(table)
        assert(table.fs.visibleRows == rows)
      }
    }

    test(s"${statement.name}: a folder is replaced by another one and comes back after death at any call") {
      dead { table =>
        move(table.fs, "/t/p=1", "/aside")
        move(table.fs, "/t/p=2", "/t/p=1")
        table.recover(new MemoryOps(table.fs))
        move(table.fs, "/aside", "/t/p=5")
        settle(table)
        assert(table.fs.visibleRows == table.allRows)
      }
    }
  }
}
