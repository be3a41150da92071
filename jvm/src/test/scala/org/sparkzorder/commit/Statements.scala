package org.sparkzorder.commit

import org.scalatest.Assertions._

/**
 * A statement on a table of the tests.
 *
 * @param keepsTrash whether RESTORE can bring back the first files afterwards
 * @param checkDone checks the table after the statement
 */
final case class Statement(
    name: String,
    prepare: SmallTable => Unit,
    run: (SmallTable, FileOps, String) => Unit,
    keepsTrash: Boolean = true,
    checkDone: SmallTable => Unit = _ => ()
) {

  /** The statement with a check of the table after it. */
  def checking(check: SmallTable => Unit): Statement = copy(checkDone = check)

  /** The statement on a table of two folders, and on one without partitions. */
  def onBoth: Seq[Scene] = Scene.Folders.map(new Scene(this, _))
}

/** All that run over the exchange of files or the lock. */
object Statement {
  val optimize: Statement = Statement("OPTIMIZE", _ => (), (table, ops, id) => table.optimize(ops, id))
    .checking(table => assert(table.files.forall(_.contains("new-"))))

  val restore: Statement =
    Statement("RESTORE", twice, (table, ops, id) => table.restore(ops, 0, id)).checking { table =>
      assert(table.files.forall(_.contains("part-")))
      val before = table.snapshot
      table.restore(to = 2, id = "op-93")
      assert(table.files.forall(_.contains("new-op-9")))
      table.restore(to = 0, id = "op-94")
      assert(table.snapshot == before)
    }

  val vacuum: Statement =
    Statement("VACUUM", twice, (table, ops, id) => table.vacuum(ops, id), keepsTrash = false).checking { table =>
      assert(!table.fs.below("/t").exists(_.endsWith(".retired")))
      assert(table.history.map(_.state) == Seq("vacuumed", "vacuumed"))
      assertThrows[NotRestorableException](table.restore(to = 1))
    }

  val createIndex: Statement = Statement("CREATE SKIPPING INDEX", _ => (), (table, ops, id) => table.index(ops, id))
    .checking(table => assert(table.indexed.map(_.file).sorted == table.files.sorted))

  // After an OPTIMIZE whose files the index does not have yet.
  val refreshIndex: Statement =
    createIndex.copy("REFRESH SKIPPING INDEX", prepare = twice, keepsTrash = false).checking { table =>
      createIndex.checkDone(table)
      assert(table.indexes.size <= 3)
    }

  val dropIndex: Statement =
    Statement("DROP SKIPPING INDEX", twice, (table, ops, id) => table.dropIndex(ops, id), keepsTrash = false)
      .checking { table =>
        assert(table.indexes.isEmpty)
        assert(table.history.map(_.state).distinct == Seq("committed"))
      }

  val all: Seq[Statement] = Seq(optimize, restore, vacuum, createIndex, refreshIndex, dropIndex)

  /** Two operations. The second changes only the first folder. */
  private def twice(table: SmallTable): Unit = {
    table.optimize(id = "op-91")
    table.optimize(id = "op-92", only = table.dirs.take(1))
  }
}

/**
 * A statement on a table of some folders, right before it begins.
 *
 * @param filesEach how many files each folder has at first
 * @param remembers whether the file system keeps earlier states, for listings that are late
 */
final class Scene(val statement: Statement, val dirs: Seq[String], val filesEach: Int = 3, remembers: Boolean = false) {
  def name: String = s"${statement.name}, folders ${dirs.mkString("'", "', '", "'")}"

  private lazy val first: MemoryFs = {
    val table = new SmallTable(dirs, filesEach)
    table.fs.remembers = remembers
    statement.prepare(table)
    table.fs
  }

  /** A table of its own for each state. */
  def table(): SmallTable = {
    val made = new SmallTable(dirs, filesEach)
    made.fs.copyOf(first)
    made
  }

  /** Returns the exception with which the statement ended. */
  def run(table: SmallTable, ops: FileOps, id: String = "op-1"): Option[Throwable] =
    table.attempt(id)(statement.run(table, ops, id))

  /** What the statement calls if nothing goes wrong. */
  lazy val trace: IndexedSeq[String] = {
    val whole = table()
    val ops = whole.ops
    statement.run(whole, ops, "op-1")
    ops.trace.toIndexedSeq
  }

  def calls: Int = trace.size
}

object Scene {
  val Two: Seq[String] = Seq("p=1", "p=2")
  val Folders: Seq[Seq[String]] = Seq(Two, Seq(""))
}
