package org.sparkzorder.commit

import scala.collection.mutable

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit.catalog._
import org.sparkzorder.commit.lock.{Lock, Locking}
import org.sparkzorder.commit.log.History
import org.sparkzorder.commit.machine.{Operation, Recovery}
import org.sparkzorder.commit.upkeep.Restore

/** A table that moves to new folders, in a catalog in memory. Each partition, or the table, begins with three files. */
final class MemoryCatalogTable(val partitions: Seq[CatalogPartition]) extends MemoryTable {
  val fs = new MemoryFs
  val home = new Path("mem:/t")

  /** How long ago operations are to seem, in milliseconds. */
  var age = 0L

  /** What the catalog says. */
  val locations: mutable.Map[CatalogPartition, Path] = mutable.Map.empty

  /** Each process has its own view of the file system, and the catalog fails with it. */
  final class Catalog(ops: MemoryOps) extends CatalogLocations {

    /** Moves that do not reach the catalog before somebody says so. */
    var hangs = false
    var hanging: Seq[LocationUpdate] = Nil

    override def current(some: Seq[CatalogPartition]): Map[CatalogPartition, Path] =
      ops.elsewhere("catalog: look", changes = false)(some.flatMap(s => locations.get(s).map(s -> _)).toMap)

    override def all(): Map[CatalogPartition, Path] = current(locations.keys.toSeq)

    override def move(moves: Seq[LocationUpdate]): Unit = {
      if (hangs) hanging = moves
      if (hangs) throw new Died
      // A metastore without transactions moves one partition after the other.
      moves.foreach(m => ops.elsewhere(s"catalog: move ${m.partition}", changes = true)(land(m)))
    }
  }

  def land(m: LocationUpdate): Unit = if (locations.get(m.partition).contains(m.from)) locations(m.partition) = m.to
  private def relative(partition: CatalogPartition): String = if (partition.isTable) "" else partition.toString

  for { (partition, s) <- partitions.zipWithIndex; i <- 1 to 3 } {
    val folder = VersionDirectory.partition(home, relative(partition))
    locations(partition) = folder
    val first = 100 * s + 10 * i
    fs.put(s"${folder.toUri.getPath}/part-$i.parquet", Set(first, first + 1), 100L)
  }
  val first: Map[CatalogPartition, Path] = locations.toMap
  val allRows: Seq[Int] = plainRows

  /** With rows that others have appended. */
  def allRowsAnd(more: Int*): Seq[Int] = (allRows ++ more).sorted
  def folder(ops: FileOps): TableFolder = TableFolder(home, ops, threads = 1)

  def dataIn(folder: Path): Seq[String] =
    fs.children(folder.toUri.getPath).filter(p => fs.file(p).isDefined && FileNames.isData(FileNames.name(p)))

  /** What a reader of the catalog sees, with and without the extension. */
  def plainRows: Seq[Int] = fs.rows(locations.values.toSeq.distinct.flatMap(dataIn))

  /** Folders whose locations were set back: statements refuse them. */
  def setBack: Seq[(LeftFolder, Seq[FileMeta])] = {
    val here = ops
    CatalogRecovery.setBack(CatalogView(LocationHistory.read(folder(here)), locations.toMap, here))
  }

  /** What a person does then. */
  def setForward(partition: CatalogPartition): Unit = setBack.foreach(b => locations(partition) = new Path(b._1.head))
  private def rowsOf(m: FileMeta): Option[Long] = fs.file(m.path.toUri.getPath).map(_.rows.size.toLong)

  private def locked[A](ops: MemoryOps, id: String)(work: (TableFolder, Lock, Catalog) => A): A = {
    val (here, catalog) = (folder(ops), new Catalog(ops))
    val lock = Locking.acquire(here, id, settings)
    try {
      Recovery.recoverUnder(here, lock, settings)
      val view = CatalogRecovery.settle(here, lock, catalog)
      CatalogRecovery.setBack(view).foreach(b => throw new MemoryCatalogTable.Refused(b._1))
      CopyForward.run(here, lock, view, rowsOf)
      work(here, lock, catalog)
    } finally lock.release()
  }

  /** OPTIMIZE: two files of each slot, with one of them copied as it is if `keeps`. */
  def optimize(ops: MemoryOps = ops, id: String, hangs: Boolean = false, keeps: Boolean = false): Catalog =
    locked(ops, id) { (here, lock, catalog) =>
      val at = catalog.all()
      val directory = VersionDirectory.of(home, History.read(here).headOption.fold(0L)(_.record.version) + 1, id)
      val moves = at.toSeq.sortBy(_._1.toString).map { case (partition, from) =>
        LocationUpdate(partition, from, VersionDirectory.partition(directory, relative(partition)))
      }
      val committer = new CatalogCommitter(here, lock, catalog, rowsOf, moves, Some(directory))
      try Operation.run(committer, here, lock) {
          committer.claim(Nil)
          val changes = moves.map { m =>
            val inputs = ops.list(m.from).filter(StaleAppends.isVisible).sortBy(_.name)
            val (kept, rewritten) = if (keeps) inputs.splitAt(1) else (Nil, inputs)
            val rows = rewritten.flatMap(i => fs.file(i.path.toUri.getPath).toSeq.flatMap(_.rows))
            val made = Seq(0, 1).map { n =>
              val path = s"${m.to.toUri.getPath}/new-$id-$n.parquet"
              fs.put(path, rows.filter(_ % 2 == n).toSet, 50L)
              val file = fs.file(path).get
              OutputFile(s"mem:$path", file.length, file.time, file.rows.size.toLong)
            }
            val copies = committer.copied(kept, m.to)
              .map(c => OutputFile(c.path.toString, c.length, c.modificationTime, rowsOf(c).getOrElse(0L)))
            val in = inputs.map(i => InputFile(i.path.toString, i.length, i.modificationTime, rowsOf(i).getOrElse(0L)))
            LocationChange(m.partition, m.from.toString, m.to.toString, in, made ++ copies)
          }
          // The call hangs, and the process is taken for dead.
          catalog.hangs = hangs
          val (in, out) = (changes.map(_.rewritten._1).flatten, changes.map(_.rewritten._2).flatten)
          committer.prepare(recordOf(id, "OPTIMIZE", changes).copy(metrics = Counted.metrics(in, out)))
        }((_, _) => ())
      catch { case _: Died if hangs => () }
      catalog
    }

  private def recordOf(id: String, operation: String, changes: Seq[LocationChange]): Record = {
    val time = System.currentTimeMillis() - age
    Record(0L, id, operation, time, "me", Map.empty, Map.empty, Nil, Nil, locationChanges = changes)
  }

  def restore(ops: MemoryOps = ops, id: String, to: Long, restoresLost: Boolean = false): Unit =
    locked(ops, id) { (here, lock, catalog) =>
      val since = Restore.recordsSince(here, lock, to).map(_._2)
      val ways = CatalogRestore.plan(to, since, CatalogView.read(here, catalog), restoresLost)
      if (ways.nonEmpty) {
        val moves = ways.map(w => LocationUpdate(w.partition, w.from, w.to))
        val committer = new CatalogCommitter(here, lock, catalog, rowsOf, moves, None)
        Operation.run(committer, here, lock) {
          committer.claim(Nil)
          val changes = ways.map { w =>
            CopyForward.announce(here, lock, w.brought, w.to)
            CatalogRestore.change(w, CopyForward.carried(here, lock, w.brought, w.to).zip(w.brought))
          }
          val record = recordOf(id, History.RestoreOperation, changes)
          committer.prepare(record.copy(parameters = Map(History.RestoreParameter -> to.toString)))
        }((_, _) => ())
      }
      ()
    }

  def vacuum(ops: MemoryOps = ops, id: String): Unit = locked(ops, id) { (here, lock, catalog) =>
    val (view, now) = (CatalogView.read(here, catalog), System.currentTimeMillis())
    CatalogVacuum.run(here, lock, CatalogVacuum.expired(here, view, _ => true, now), view.history, now)
  }

  /** A statement that brings all to its end. */
  def next(id: String = "next"): Unit = locked(ops, id)((_, _, _) => ())

  def append(folder: Path, name: String, rows: Set[Int]): Unit =
    fs.put(s"${folder.toUri.getPath}/$name.parquet", rows, 70L + rows.size)

  /** As Spark does: all that is in the folder goes, hidden or not. */
  def overwrite(folder: Path, name: String, rows: Set[Int]): Unit = {
    fs.below(folder.toUri.getPath).foreach(fs.nodes.remove)
    append(folder, name, rows)
  }

  def litter: Seq[String] =
    fs.below("/t/_zorder").filter(p => Seq(".moving", "_lock-", "_tmp-", "staging").exists(p.contains(_)))
}

object MemoryCatalogTable {
  private def part(value: String) = CatalogPartition(Seq("p" -> value))
  val One: CatalogPartition = part("1")
  val Two: CatalogPartition = part("2")
  val Other: CatalogPartition = part("9")

  /** A table without partitions, and one with two. */
  val Shapes: Seq[Seq[CatalogPartition]] = Seq(Seq(CatalogPartition.Table), Seq(One, Two))

  /** A table that has moved to new folders once. */
  def optimized(partitions: Seq[CatalogPartition]): MemoryCatalogTable = {
    val table = new MemoryCatalogTable(partitions)
    table.optimize(id = "op-0")
    table
  }

  /** As statements refuse a location that was set back. */
  final class Refused(val back: LeftFolder) extends RuntimeException(back.toString)
}
