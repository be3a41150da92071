package org.sparkzorder.scan

import java.io.IOException
import java.util.concurrent.ConcurrentHashMap

import org.apache.hadoop.fs.{EtagSource, FileStatus, Path}
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.execution.datasources.PathFilterFactory

import org.sparkzorder.commit.{
  CatalogPartition,
  CatalogState,
  FileMeta,
  StaleAppends,
  StaleAppendsUnclearException,
  TableFolder
}
import org.sparkzorder.errors.ZOrderErrors

/**
 * The files that others wrote to earlier folders of a table that is published through the catalog, see
 * `docs/design/commit-catalog.md`. A query looks once for each folder that it reads.
 *
 * @param table how messages name it
 * @param options of the relation, which may choose files
 * @param located which slot has its location where, by the catalog; asked only if there are late files.
 *   None for a query that names a folder by its path: it reads what is in that folder
 * @param reads whether the state tells of a folder
 */
private[scan] final class StaleAppendScan(
    folder: TableFolder,
    val state: CatalogState,
    table: String,
    options: Map[String, String],
    located: Option[() => Map[Path, CatalogPartition]],
    reads: Path => Boolean = _ => true
) {
  import StaleAppendScan._

  private val filters = PathFilterFactory.create(CaseInsensitiveMap(options))
  private val known = new ConcurrentHashMap[Path, Seq[FileStatus]]

  /**
   * @param current a folder of the listing
   * @param listed its files
   * @throws org.sparkzorder.errors.ZOrderRuntimeException when it cannot be told which rows count, or an
   *   earlier folder cannot be listed: a query without its late files would lack rows
   */
  def beside(current: Path, listed: => Seq[FileStatus]): Seq[FileStatus] =
    if (!reads(current)) Nil
    else if (state.folder(current).isEmpty) {
      if (located.isDefined) refuseLink(current)
      Nil
    } else known.computeIfAbsent(current, _ => located.fold(byPath(current))(lateIn(current, listed, _)))

  /** The state names folders by their real paths. By another name late files would not be found. */
  private def refuseLink(current: Path): Unit = {
    val real = folder.ops.realPath(current).toUri.getPath
    if (real != current.toUri.getPath && state.folders.exists(f => new Path(f.path).toUri.getPath == real))
      throw ZOrderErrors.linkedLocation(table, current, real)
  }

  private def lateIn(
      current: Path,
      listed: Seq[FileStatus],
      located: () => Map[Path, CatalogPartition]
  ): Seq[FileStatus] =
    try StaleAppends.ofSlot(state, current, listed.map(meta), folder.ops, located())
        .map(late => status(late.meta)).filter(file => filters.forall(_.accept(file)))
    catch {
      case e: StaleAppendsUnclearException =>
        throw ZOrderErrors.lateFilesUnclear(table, e.folder, e.current, e.files, e.reason, e)
      case e: IOException => throw ZOrderErrors.recoveryFailed(table, e)
    }

  /** A query that names a folder reads the files that are in it. It fails if VACUUM has deleted them. */
  private def byPath(folder: Path): Seq[FileStatus] = {
    if (state.emptiedFor(folder).exists(rowsIn(_).nonEmpty)) throw ZOrderErrors.readByPath(folder, null)
    Nil
  }

  /** Folders below these that the table has left, and whose files VACUUM has deleted. */
  def emptiedBelow(roots: Seq[Path]): Seq[Emptied] = {
    val above = roots.map(root => s"${root.toString.stripSuffix("/")}/")
    for {
      folder <- state.folders.map(_.path) if above.exists(folder.startsWith)
      old = new Path(folder)
      newer <- state.emptiedFor(old)
      files = rowsIn(newer) if files.nonEmpty
    } yield Emptied(old, newer, files)
  }

  private def rowsIn(path: Path): Seq[Path] =
    try folder.ops.list(path).filter(StaleAppends.isVisible).map(_.path)
    catch { case e: IOException => throw ZOrderErrors.recoveryFailed(table, e) }

  // A listing of Spark's has no etags. They are needed for files that were listed here only.
  private def meta(s: FileStatus): FileMeta = s match {
    case e: EtagSource =>
      FileMeta(s.getPath, s.getLen, s.getModificationTime, isDirectory = false, Option(e.getEtag))
    case _ => FileMeta(s.getPath, s.getLen, s.getModificationTime, isDirectory = false)
  }

  private def status(m: FileMeta): FileStatus =
    new FileStatus(m.length, false, 1, BlockSize, m.modificationTime, asListed(m.path))

  /** Spark's listings of local disks begin with `file:///`. */
  private def asListed(path: Path): Path =
    if (path.toUri.getScheme == "file") new Path("file", "", path.toUri.getPath) else path
}

private object StaleAppendScan {

  /**
   * A folder whose files VACUUM has deleted.
   *
   * @param newer the folder that has the rows
   */
  final case class Emptied(folder: Path, newer: Path, files: Seq[Path])

  /** Only for the cut of a file into parts: it is never asked where its blocks are. */
  private val BlockSize = 128L << 20
}
