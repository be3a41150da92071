package org.sparkzorder.commit

/**
 * A statement on a table of the tests.
 *
 * @param keepsTrash whether RESTORE can bring back the first files afterwards
 * @param filesEach how many files each folder has at first
 */
final case class Statement(
    name: String,
    prepare: SmallTable => Unit,
    run: (SmallTable, FileOps) => Unit,
    keepsTrash: Boolean = true,
    filesEach: Int = 3
) {

  /** How many calls to the file system the statement makes. */
  def calls(dirs: Seq[String]): Int = {
    val table = new SmallTable(dirs, filesEach)
    table.fs.copyOf(prepared(dirs))
    val ops = new MemoryOps(table.fs)
    run(table, ops)
    ops.calls
  }

  /** The file system with the table, right before the statement. */
  def prepared(dirs: Seq[String], remembers: Boolean = false): MemoryFs = {
    val table = new SmallTable(dirs, filesEach)
    table.fs.remembers = remembers
    prepare(table)
    table.fs
  }
}

/** All that run over the exchange of files or the lock. */
object Statement {
  val optimize: Statement = Statement("OPTIMIZE", _ => (), _.optimize(_))

  val restore: Statement = Statement("RESTORE", twice, _.restore(_, 0))
  val vacuum: Statement = Statement("VACUUM", twice, _.vacuum(_), keepsTrash = false)
  val createIndex: Statement = Statement("CREATE SKIPPING INDEX", _ => (), _.index(_))
  val refreshIndex: Statement = Statement("REFRESH SKIPPING INDEX", twice, _.index(_), keepsTrash = false)
  val dropIndex: Statement = Statement("DROP SKIPPING INDEX", twice, _.dropIndex(_), keepsTrash = false)

  val all: Seq[Statement] = Seq(optimize, restore, vacuum, createIndex, refreshIndex, dropIndex)

  /** Two operations. The second changes only the first folder. */
  private def twice(table: SmallTable): Unit = {
    table.optimize(new MemoryOps(table.fs), "op-91")
    table.optimize(new MemoryOps(table.fs), "op-92", table.dirs.take(1))
  }
}
