package org.sparkzorder.commit

import java.io.IOException

import org.apache.hadoop.fs.Path

/**
 * A table with three inputs in each folder, of which OPTIMIZE makes two outputs.
 *
 * @param dirs its folders, "" for the root
 */
final class SmallTable(val dirs: Seq[String], inputsEach: Int = 3) {
  val fs = new MemoryFs
  val root = new Path("mem:/t")
  val liveness = new FakeLiveness
  val settings: LockSettings =
    LockSettings(beatMillis = 3600000L, liveness = liveness, sleep = (_: Long) => ())

  private def in(dir: String, name: String): String = if (dir.isEmpty) name else s"$dir/$name"

  val inputNames: Seq[String] = for (dir <- dirs; i <- 1 to inputsEach) yield in(dir, s"part-$i.parquet")
  val rows: Map[String, Set[Int]] =
    inputNames.zipWithIndex.map { case (name, i) => name -> Set(10 * i, 10 * i + 1, 10 * i + 2, 10 * i + 3) }.toMap
  val allRows: Seq[Int] = rows.values.flatten.toSeq.sorted

  inputNames.foreach(name => fs.put(s"/t/$name", rows(name), 100L))

  private val inputs: Seq[InputFile] =
    inputNames.map(n => InputFile(n, 100L, fs.file(s"/t/$n").get.time, rows(n).size.toLong))

  private val outputRows: Map[String, Set[Int]] = dirs.flatMap { dir =>
    val all = inputNames.filter(n => TableFolder.parent(n) == dir).flatMap(rows).toSet
    val (even, odd) = all.partition(_ % 2 == 0)
    Seq(in(dir, "new-1.parquet") -> even, in(dir, "new-2.parquet") -> odd)
  }.toMap

  /** The whole statement, as a command would run it. */
  def optimize(ops: FileOps, id: String = "op-1"): Unit = {
    val folder = TableFolder(root, ops)
    val lock = Locking.acquire(folder, id, settings)
    try {
      Recovery.recoverUnder(folder, lock, settings)
      val committer = new Committer(folder, lock, settings.sleep)
      val staged = outputRows.map { case (name, ids) =>
        val path = new Path(s"mem:/t/_zorder/staging/$id/${name}.staged")
        fs.put(path.toUri.getPath, ids, 50L)
        name -> path
      }
      val outputs = outputRows.keys.toSeq.sorted.map { name =>
        OutputFile(name, 50L, fs.file(staged(name).toUri.getPath).get.time, outputRows(name).size.toLong)
      }
      committer.prepare(Record(0L, id, "OPTIMIZE", 1L, "me", Map("a" -> "b"), Map.empty, inputs, outputs), staged)
      try IndexFiles.write(folder, lock, Array[Byte](1, 2, 3))
      catch { case e: IOException => committer.abort(); throw e }
      committer.commit()
      ()
    } finally lock.release()
  }

  /** [[optimize]] as a process that may die, fail, or be refused. Returns how it ended. */
  def attempt(ops: FileOps, id: String = "op-1"): Option[Throwable] =
    try {
      optimize(ops, id)
      None
    } catch {
      case e: Died =>
        liveness.running -= id
        Some(e)
      case e @ (_: IOException | _: CommitException) => Some(e)
    }

  /** What the next query does. */
  def recover(ops: FileOps): Option[Throwable] =
    try {
      Recovery.recover(TableFolder(root, ops), settings)
      None
    } catch {
      case e: Died =>
        liveness.running.clear()
        Some(e)
      case e @ (_: IOException | _: CommitException) => Some(e)
    }

  /** What the next statement does first. */
  def nextStatement(): Unit = {
    val folder = TableFolder(root, new MemoryOps(fs))
    val lock = Locking.acquire(folder, "next", settings)
    try Recovery.recoverUnder(folder, lock, settings)
    finally lock.release()
    ()
  }

  /** What a reader with the extension sees without touching anything. */
  def viewedRows(): Seq[Int] = {
    val hook = fs.changed
    fs.changed = () => ()
    try {
      val ops = new MemoryOps(fs)
      val folder = TableFolder(root, ops)
      Recovery.view(folder, ops.list(folder.side)) match {
        case None         => fs.visibleRows
        case Some(around) =>
          val kept = fs.visible.filterNot(p => around.leaveOut.contains(p.stripPrefix("/t/")))
          fs.rows(kept ++ around.add.map(_.meta.path.toUri.getPath))
      }
    } finally fs.changed = hook
  }

  def isPublishing: Boolean = fs.children("/t/_zorder").exists(_.endsWith(".publishing"))

  /** All that is left beside the data and must not be. */
  def litter: Seq[String] = fs.below("/t").filter { path =>
    val parts = path.stripPrefix("/t/").split('/').toSeq
    val side = parts.indexOf("_zorder")
    side >= 0 && (parts.drop(side + 1) match {
      case Seq()                 => false
      case Seq("trash")          => false
      case Seq("trash", _)       => false
      case Seq("trash", _, name) => !name.endsWith(".retired")
      case Seq(name)             => !name.matches("v\\d+-(\\d+ms\\.json|op-\\d+\\.undone)|index-\\d+\\.zidx")
      case _                     => true
    })
  }
}
