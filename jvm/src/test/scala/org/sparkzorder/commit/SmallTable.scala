package org.sparkzorder.commit

import java.io.{FileNotFoundException, IOException}

import org.apache.hadoop.fs.Path
import org.scalatest.Assertions._

import org.sparkzorder.commit.lock.{Lock, Locking}
import org.sparkzorder.commit.log.{History, HistoryEntry, HistorySettings}
import org.sparkzorder.commit.machine.{FolderCommitter, Operation, Recovery, ScanView}
import org.sparkzorder.commit.side.{IndexFiles, NestedTables}
import org.sparkzorder.commit.upkeep.{Restore, Trash}

/**
 * A table with three files in each folder. OPTIMIZE makes two of them.
 *
 * @param dirs its folders, "" for the root
 * @param at its root
 * @param inside the table above, if this table is over one of its folders
 */
final class SmallTable(
    val dirs: Seq[String],
    filesEach: Int = 3,
    at: String = "/t",
    inside: Option[SmallTable] = None
) extends MemoryTable {
  val fs: MemoryFs = inside.fold(new MemoryFs)(_.fs)
  val root = new Path(s"mem:$at")
  override val liveness: FakeLiveness = inside.fold(new FakeLiveness)(_.liveness)

  /** What VACUUM keeps of the history. */
  var historySettings: HistorySettings = HistorySettings()

  /** Whether outputs of two folders never have one name, as those of real jobs. */
  var namesAreUnique = false

  def folder: TableFolder = TableFolder(root, ops, threads = 1)
  private def folderOf(ops: FileOps): TableFolder = TableFolder(root, ops, fs.threads)
  private val first: Seq[String] = for (dir <- dirs; i <- 1 to filesEach) yield FileNames.in(dir, s"part-$i.parquet")
  if (inside.isEmpty) first.zipWithIndex.foreach { case (name, i) =>
    fs.put(s"$at/$name", Set(10 * i, 10 * i + 1, 10 * i + 2, 10 * i + 3), 100L)
  }
  val allRows: Seq[Int] = fs.visibleRows

  /** Names of the data files, relative to the root. */
  def files: Seq[String] = fs.visible.filter(_.startsWith(s"$at/")).map(_.stripPrefix(s"$at/"))
  def rowsOf(name: String): Set[Int] = fs.file(s"$at/$name").get.rows

  /** Somebody writes files anew, with the same rows and length, so that they are other files. */
  def touch(files: Seq[String]): Unit = files.foreach { n =>
    val file = fs.file(s"$at/$n").get
    fs.put(s"$at/$n", file.rows, file.length)
  }

  def remove(files: Seq[String]): Unit = files.foreach(n => fs.nodes.remove(s"$at/$n"))

  /** Each data file with its length and time. */
  def snapshot: Map[String, (Long, Long)] =
    files.map(n => n -> fs.file(s"$at/$n").map(f => (f.length, f.time)).get).toMap

  private def locked(ops: FileOps, id: String)(work: (TableFolder, Lock) => Unit): Unit = {
    val folder = folderOf(ops)
    val lock = Locking.acquire(folder, id, settings)
    try {
      NestedTables.refuseAbove(folder)
      Recovery.recoverUnder(folder, lock, settings)
      work(folder, lock)
    } finally lock.release()
  }

  private def record(id: String, operation: String, inputs: Seq[InputFile], outputs: Seq[OutputFile]): Record =
    Record(0L, id, operation, fs.clock, "me", Map.empty, Counted.metrics(inputs, outputs), inputs, outputs, None)

  /**
   * The whole statement, as a command would run it, on all files of some folders.
   *
   * @param only folders to optimize
   * @param made how many files each folder gets
   */
  def optimize(ops: FileOps = ops, id: String = "op-1", only: Seq[String] = dirs, made: Int = 2): Unit = {
    val names = files.filter(n => only.contains(FileNames.parent(n)))
    val inputs = names.map { n =>
      val file = fs.file(s"$at/$n").get
      InputFile(n, file.length, file.time, file.rows.size.toLong)
    }
    val outputRows = names.groupBy(FileNames.parent).toSeq.flatMap { case (dir, in) =>
      // If a row is there twice, both are read and written.
      val rows = in.flatMap(rowsOf(_).toSeq)
      val from = if (namesAreUnique) 10 * dirs.indexOf(dir) else 0
      (0 until made).map(i => FileNames.in(dir, s"new-$id-${from + i + 1}.parquet") -> rows.filter(_ % made == i))
    }.toMap
    locked(ops, id) { (folder, lock) =>
      val committer = new FolderCommitter(folder, lock, settings.sleep)
      Operation.run(committer, folder, lock) {
        committer.claim(outputRows.keys.map(FileNames.parent).toSeq.distinct.sorted)
        val staged = outputRows.map { case (name, ids) =>
          val path = folder.staged(name, id)
          // As a task does. The folder may have been overwritten meanwhile.
          if (fs.nodes.contains(path.getParent.toUri.getPath)) fs.put(path.toUri.getPath, ids.toSet, 50L)
          name -> path
        }
        val outputs = outputRows.keys.toSeq.sorted.map { name =>
          val file = fs.file(staged(name).toUri.getPath).getOrElse(throw new FileNotFoundException(name))
          OutputFile(name, 50L, file.time, outputRows(name).size.toLong)
        }
        committer.prepare(record(id, "OPTIMIZE", inputs, outputs))
        val written = outputs.map(o => Statistics(o.path, o.length, o.modificationTime, outputRows(o.path).toSet))
        IndexFiles.write(folder, lock, statistics(written))
      }((_, _) => ())
    }
  }

  def restore(ops: FileOps = ops, to: Long, id: String = "op-1", lost: Boolean = false): Unit =
    locked(ops, id) { (folder, lock) =>
      val plan = Restore.plan(folder, lock, to, restoresLost = lost)
      if (!plan.isNothing) {
        val committer = new FolderCommitter(folder, lock, settings.sleep)
        val parameters = Map(History.RestoreParameter -> to.toString)
        val prepared = record(id, History.RestoreOperation, plan.inputs, plan.outputs)
          .copy(parameters = parameters, lost = plan.lost)
        Operation.run(committer, folder, lock) {
          committer.claim(prepared.folders.map(_.folder))
          committer.prepare(prepared)
        } { (_, _) =>
          // As the command does: without statistics, queries are only slower.
          try IndexFiles.write(folder, lock, statistics())
          catch { case _: IOException | _: CommitException => () }
        }
      }
    }

  /** RESTORE is refused, and touches nothing. Returns why, and the files that are named. */
  def refused(to: Long, lost: Boolean = false): (RestoreObstacle, Seq[String]) = {
    def everything = fs.below(at).filterNot(_.contains("/_tmp-"))
    val before = everything
    val e = intercept[NotRestorableException](restore(to = to, id = "op-r", lost = lost))
    assert(everything == before && e.version == to)
    (e.obstacle, e.paths)
  }

  /** CREATE or REFRESH SKIPPING INDEX. */
  def index(ops: FileOps = ops, id: String = "op-1"): Unit =
    locked(ops, id)((folder, lock) => IndexFiles.write(folder, lock, statistics()))

  def dropIndex(ops: FileOps = ops, id: String = "op-1"): Unit =
    locked(ops, id)((folder, lock) => IndexFiles.drop(folder, lock))

  private def statistics(more: Seq[Statistics] = Nil): Array[Byte] =
    Statistics.write(snapshot.map { case (n, (length, time)) => Statistics(n, length, time, rowsOf(n)) } ++ more)

  /** The numbers of the indexes that are there, newest first. */
  def indexes: Seq[Long] = SideListing.indexes(ops.list(folder.side)).map(_.number)

  /** The statistics in the newest index. */
  def indexed: Seq[Statistics] = indexes.headOption.toSeq.flatMap { number =>
    Statistics.read(fs.file(folder.index(number).toUri.getPath).get.bytes)
  }

  /** Whether the index has wrong statistics for a file, so that a row would be skipped. */
  def indexLies: Boolean = indexed.exists { s =>
    snapshot.get(s.file).contains((s.length, s.time)) && !rowsOf(s.file).subsetOf(s.rows)
  }

  def vacuum(ops: FileOps = ops, id: String = "op-1", isOld: Record => Boolean = _ => true): Unit =
    locked(ops, id)((folder, lock) =>
      Trash.vacuum(folder, lock, Trash.expired(folder, isOld, settings = historySettings, now = fs.clock))
    )

  def attempt(ops: FileOps, id: String = "op-1"): Option[Throwable] = attempt(id)(optimize(ops, id))

  /** Recovers as the next query does. */
  def recover(ops: FileOps = ops, keep: Option[Keep] = None): Option[Throwable] =
    ended(liveness.running.clear())(Recovery.recover(folderOf(ops), settings, keep))

  /** Lets so much time pass that an unreadable lock counts as dead. */
  def outwait(): Unit = fs.clock += settings.timeoutMillis + 2001L
  def history: Seq[HistoryEntry] = History.read(folder)

  /**
   * Recovers. If a folder is left to a person, since it has all new files and lacks old ones, he decides that the old
   * ones are its rows, and it is recovered again.
   *
   * @param check called before the person deletes new files
   */
  def recoverAndDecide(check: () => Unit = () => ()): Option[Throwable] = {
    val end = recover()
    end.flatMap(SmallTable.tornFolder).fold(end) { folder =>
      check()
      fs.visible.filter(_.startsWith(s"$at/${FileNames.in(folder, "new-op-1")}")).foreach(fs.nodes.remove)
      recover()
    }
  }

  /** Takes the lock and recovers, as the next statement does. */
  def nextStatement(): Unit = locked(ops, "next")((_, _) => ())

  /** The rows that a query sees which reads around an operation in this way. */
  def rowsAround(around: Option[ReadAround]): Seq[Int] = around.fold(fs.visibleRows) { way =>
    val kept = fs.visible.filterNot(p => way.leaveOut.contains(p.stripPrefix(s"$at/")))
    fs.rows(kept ++ way.add.map(_.meta.path.toUri.getPath))
  }

  /** The rows that a query with the extension sees while it reads around. It changes nothing. */
  def viewedRows(): Seq[Int] = {
    val hook = fs.changed
    fs.changed = () => ()
    try {
      val here = folder
      // What came to its end in this moment is looked at again.
      val looks = Iterator.fill(3) {
        try Some(ScanView.of(here, here.ops.list(here.side)))
        catch { case _: FileNotFoundException => None }
      }
      rowsAround(looks.flatten.next())
    } finally fs.changed = hook
  }

  /** Paths of the visible files of one folder. */
  def visibleIn(dir: String): Seq[String] = fs.visible.filter(p => FileNames.parent(p.stripPrefix(s"$at/")) == dir)
  def rowsIn(dir: String): Seq[Int] = fs.rows(visibleIn(dir))

  /** The rows of all files, visible or not. */
  def rowsAnywhere: Set[Int] = fs.below(at).flatMap(fs.file(_)).flatMap(_.rows).toSet
  def isPublishing: Boolean = fs.children(s"$at/_zorder").exists(_.endsWith(".publishing"))

  /** Files and folders beside the data that must not be left. */
  def litter: Seq[String] = fs.below(at).filter { path =>
    val parts = path.stripPrefix(s"$at/").split('/').toSeq
    val side = parts.indexOf("_zorder")
    side >= 0 && (parts.drop(side + 1) match {
      case Seq() | Seq("trash") | Seq("trash", _) => !fs.below(path).exists(fs.file(_).isDefined)
      case Seq("trash", _, name)                  => !name.endsWith(".retired")
      // The page for people must not be left alone.
      case Seq("_README.txt") => fs.children(fs.parent(path)).size == 1
      case Seq(name)          =>
        !name.matches("_v\\d+(-\\d+ms)?\\.(json|vacuumed)|_v\\d+-op-\\d+\\.(undone|outcome)|_index-\\d+\\.zidx")
      case _ => true
    })
  }
}

object SmallTable {

  /** The folder that is left to a person, since it has all new files and lacks old ones. */
  def tornFolder(e: Throwable): Option[String] = e match {
    case e: FoldersUnclearException =>
      e.folders.collectFirst { case sides: FolderSides if sides.why == FolderSides.OldGone => sides.folder }
    case _ => None
  }
}
