package org.sparkzorder.commit

import java.io.{FileNotFoundException, IOException}

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit.log.{History, RecordJson, StagingDirectories}
import org.sparkzorder.commit.machine.{ObjectCommitter, ScanView, SettleOperation}
import org.sparkzorder.commit.place.StorePlaces
import org.sparkzorder.commit.storage.ObjectFileOps
import org.sparkzorder.commit.upkeep.RestorePlan

/** A table with three files in each folder, on an object store. OPTIMIZE makes two of them. */
final class StoreTable(val dirs: Seq[String]) {
  val shared = new MemoryStore
  val root = new Path("mem:/t")

  for { (dir, d) <- dirs.zipWithIndex; i <- 1 to 3 } {
    val first = 100 * d + 10 * i
    shared.put(s"/t/${FileNames.in(dir, s"part-$i.parquet")}", Set(first, first + 1), 100L)
  }

  /** The rows that a plain reader sees. */
  def rows: Seq[Int] = shared.rows(shared.visible)
  val allRows: Seq[Int] = rows
  def client: MemoryClient = new MemoryClient(shared)

  /** Something goes wrong at one request. */
  def faulty(at: Int, fault: Fault): MemoryClient = new MemoryClient(shared, at, fault)

  /** Somebody else acts right before request `n`, and something may go wrong at another one. */
  def beside(n: Int, at: Int = 0, fault: Fault = Fault.DieBefore)(act: => Any): MemoryClient =
    new MemoryClient(shared, at, fault, { case `n` => act; () })

  def folder(client: MemoryClient = client): TableFolder = TableFolder(root, new ObjectFileOps(client), threads = 1)

  /** The operations whose owners were taken for dead. */
  private val takenOver = scala.collection.concurrent.TrieMap.empty[String, Unit]

  /**
   * The statement, without a lock: so it is as if each process had taken it from the others.
   *
   * @return whether it was published
   */
  def optimize(client: MemoryClient = client, id: String, keepsRetired: Boolean = true): Boolean =
    published(client, id, keepsRetired) { committer =>
      // The listing comes first, as in a statement.
      val listed = dirs.map { dir =>
        dir -> client.list(folder(client).resolve(dir)).filter(m => !m.isDirectory && FileNames.isData(m.name))
      }.filter(_._2.nonEmpty)
      committer.claim(listed.map(_._1))
      committer.prepare(recordOf(client, id, listed))
    }

  /** Whether the work before the commit and the commit itself succeed. */
  private def published(client: MemoryClient, id: String, keeps: Boolean)(prepare: ObjectCommitter => Any): Boolean = {
    val isAlone = () => !takenOver.contains(id)
    val committer = new ObjectCommitter(client, folder(client), id, () => (), isAlone, keeps, sleep = _ => ())
    def succeeds(work: => Any): Boolean =
      try {
        work
        true
      } catch { case _: IOException | _: CommitException => false }
    val isPrepared = succeeds {
      recover(client)
      prepare(committer)
    }
    if (!isPrepared)
      try committer.abort()
      catch { case _: IOException => () }
    isPrepared && succeeds(committer.commit())
  }

  private def recordOf(client: MemoryClient, id: String, listed: Seq[(String, Seq[FileMeta])]): Record = {
    val inputs = for { (dir, metas) <- listed; m <- metas; name = FileNames.in(dir, m.name) } yield {
      InputFile(name, m.length, m.modificationTime, rowsOf(name).size.toLong, m.etag)
    }
    val outputs = listed.flatMap { case (dir, metas) =>
      val rows = metas.flatMap(m => rowsOf(FileNames.in(dir, m.name))).sorted
      val (a, b) = rows.splitAt(rows.size / 2)
      Seq(a, b).zipWithIndex.map { case (part, i) =>
        val name = FileNames.in(dir, s"part-$id-$i.parquet")
        val upload = client.start(new Path(root, name), part.toSet, 50L + i)
        OutputFile(name, 50L + i, 0L, part.size.toLong, upload = Some(upload))
      }
    }
    Record(0, id, "OPTIMIZE", 1000L, "me", Map.empty, Counted.metrics(inputs, outputs), inputs, outputs)
  }

  /** RESTORE although files are gone. The name of no file is given twice. */
  def restoreLost(client: MemoryClient = client, id: String, to: Long): Boolean = published(client, id, keeps = true) {
    committer =>
      val here = folder(client)
      val whole = RestorePlan.of(here, History.read(here).map(_.record).takeWhile(_.version > to))
      val lost = whole.inputs.filterNot(i => client.objectAt(here.resolve(i.path)).isDefined)
      val plan = RestorePlan.renaming(whole.copy(whole.inputs.diff(lost), lost = lost), id, _ => true)
      val record =
        Record(0, id, History.RestoreOperation, 1000L, "me", Map("version" -> s"$to"), Map.empty, plan.inputs, Nil)
      committer.claim(plan.outputs.map(_.folder).distinct)
      committer.prepare(record.copy(outputs = plan.outputs, lost = lost))
  }

  /** What the job reads; it fails when a file is gone. */
  private def rowsOf(name: String): Set[Int] =
    shared.objects.get(s"/t/$name").fold(throw new FileNotFoundException(name))(_.rows)

  /** What the next statement does before its own work. */
  def recover(): Unit = recover(client)
  def recover(client: MemoryClient): Unit = recover(client, folder(client))

  def recover(client: MemoryClient, here: TableFolder, keep: Option[Keep] = None): Unit = {
    publishing(here).foreach { file =>
      val record = RecordJson.read(here, file)
      takenOver(record.operationId) = ()
      val places = new StorePlaces(client, here, threads = 1, isAlone = () => true, keep = keep)
      val settle = new SettleOperation(places, here, record, () => (), threads = 1, keep)
      try settle.clean(settle.toTheEnd(() => client.list(here.side), () => None, isRecovery = true))
      catch { case _: FileNotFoundException => () }
    }
    if (publishing(here).isEmpty) StagingDirectories.operations(client.list(here.side)).foreach { id =>
      new StorePlaces(client, here, threads = 1).rollBack(id)
    }
  }

  /** The records of operations that exchange files. */
  def publishing(here: TableFolder): Seq[RecordFile] =
    SideListing.records(here.ops.list(here.side)).filter(_.state == RecordState.Publishing)

  /** How a reader with the extension reads around an operation. He fails where a person must decide. */
  def views(mayBeUnclear: Boolean = false): Seq[ReadAround] = {
    val mine = client
    val here = folder(mine)
    publishing(here).flatMap { file =>
      val places = new StorePlaces(mine, here, threads = 1)
      try Some(ScanView.ofOperation(places, here, RecordJson.read(here, file), lives = true, threads = 1))
      catch {
        case _: FileNotFoundException                   => None
        case _: FoldersUnclearException if mayBeUnclear => None
      }
    }
  }

  /** The files that such a reader reads. */
  def read(views: Seq[ReadAround]): Seq[String] = {
    val hidden = views.flatMap(_.leaveOut).toSet
    shared.visible.filterNot(k => hidden(k.stripPrefix("/t/"))) ++ named(views)
  }

  def named(views: Seq[ReadAround]): Seq[String] = views.flatMap(_.add).map(_.meta.path.toUri.getPath)

  /** The rows that a reader with the extension sees. */
  def seen(): Seq[Int] = shared.rows(read(views(mayBeUnclear = true)))
}
