package org.sparkzorder.commit

import java.io.{FileNotFoundException, IOException}
import java.nio.charset.StandardCharsets.UTF_8

import org.apache.hadoop.fs.Path
import org.slf4j.LoggerFactory

/**
 * A table above another: the inner table is over one of its folders, or over a folder in one of
 * them.
 *
 * @param folder of the outer table
 * @param inner root of the inner one, relative to the outer one's
 */
private[commit] final case class OuterRoot(folder: TableFolder, inner: String)

/**
 * Tables over folders of one another, as `/x` and `/x/p=1`. Each has a side folder of its own. The
 * inner table's operations also take a lock in the outer table's side folder, and leave a small
 * file there that names the inner root. So the outer table's queries and statements know where to
 * look.
 */
object NestedRoots {
  private val log = LoggerFactory.getLogger("org.sparkzorder.commit.NestedRoots")

  /** The most bytes of a file that names an inner table. */
  private val NameLimit = 16384L

  /**
   * So many files that name inner tables are read for a query. There may be any number of them, and
   * of other files.
   */
  private[commit] val MostRead = 1000

  /**
   * Tables above and below these, for a query of them: files that are half exchanged there are in
   * their folders as well. It looks above if a side folder has staging or trash, or if the folder
   * is named like a partition.
   *
   * @param tables each with its state
   * @param listed the folders whose files the query reads, relative to a table's root; asked for
   *               only where a table has very many below it
   */
  def beside(tables: Seq[(TableFolder, TableState)], listed: TableFolder => Set[String]): Seq[TableFolder] = {
    val found = tables.flatMap {
      case (folder, side: TableState.SideFolder) =>
        aboveListed(folder, if (hasFolders(side)) allAbove else partitionedAbove) ++ below(side, listed(folder))
      // The staging and the trash of a table above may be in folders of this one, and none in its
      // root.
      case (folder, TableState.NoSideFolder) => aboveListed(folder, partitionedAbove)
    }
    found.distinctBy(_.root).filterNot(f => tables.exists(_._1.root == f.root))
  }

  private def hasFolders(side: TableState.SideFolder): Boolean =
    side.statuses.exists(m => m.isDirectory && (m.name == SideNames.TrashName || m.name == SideNames.StagingName))

  /**
   * Tables above. If links give such a table two names, the one counts by which a listing of this
   * table names its files.
   */
  private def aboveListed(folder: TableFolder, candidates: Path => Seq[Path]): Seq[TableFolder] =
    outer(folder, spellings(folder).reverse, candidates, isKnownRoot).map(_.folder)

  /** Tables above that have a side folder with anything of ours in it, outermost first. */
  def above(folder: TableFolder): Seq[TableFolder] =
    outer(folder, spellings(folder), allAbove, isRoot).map(_.folder)

  /**
   * The same, and folders that are likely to become tables: `/x` above `/x/p=1`, which is named
   * like a partition.
   */
  private[commit] def toLock(folder: TableFolder): Seq[OuterRoot] = {
    val likely = spellings(folder).flatMap(partitionedAbove).toSet
    outer(folder, spellings(folder), allAbove, o => likely(o.root) || isRoot(o))
  }

  /**
   * @param roots the folder's names; if a table above is found by more than one, the first counts
   * @param candidates the folders to look at above such a name
   * @param isTable which of them count
   */
  private def outer(
      folder: TableFolder,
      roots: Seq[Path],
      candidates: Path => Seq[Path],
      isTable: TableFolder => Boolean
  ): Seq[OuterRoot] = {
    val found = for {
      root <- roots
      above <- candidates(root)
      outer = TableFolder(above, folder.ops)
      inner <- outer.relative(root)
      // A folder below another side folder is no table.
      if Record.isDataName(inner)
      if isTable(outer)
    } yield OuterRoot(outer, inner)
    found.groupBy(o => folder.ops.realPath(o.folder.root)).values.map(_.head).toSeq
      .sortBy(o => (o.folder.root.depth, o.folder.root.toString))
  }

  /** The names of the folder: links may give it two. */
  private def spellings(folder: TableFolder): Seq[Path] = Seq(folder.ops.realPath(folder.root), folder.root).distinct

  private def allAbove(root: Path): Seq[Path] = Iterator.iterate(root.getParent)(_.getParent).takeWhile(_ != null).toSeq

  /**
   * The folders above a folder that is named like a partition: `/x/p=1` and `/x` for `/x/p=1/q=1`.
   */
  def partitionedAbove(root: Path): Seq[Path] =
    Iterator.iterate(root)(_.getParent).takeWhile(p => p.getParent != null && p.getName.indexOf('=') > 0)
      .map(_.getParent).toSeq

  private def isRoot(folder: TableFolder): Boolean =
    folder.ops.exists(folder.side) && isRoot(folder.ops.list(folder.side))

  /**
   * The same for a query. Its user may have no right to look above, and the query must not fail for
   * that.
   */
  private def isKnownRoot(folder: TableFolder): Boolean =
    try isRoot(folder)
    catch {
      case e: IOException =>
        log.warn(s"cannot look into ${folder.side}, so queries of tables below do not see what is half done there", e)
        false
    }

  /**
   * Whether a table begins here. A side folder of a partition holds only staging and trash of the
   * table above.
   */
  private def isRoot(statuses: Seq[FileMeta]): Boolean = Seq(
    SideListing.records(statuses).map(_.meta),
    SideListing.locks(statuses),
    SideListing.indexes(statuses).map(_.meta),
    SideListing.innerRoots(statuses)
  ).exists(_.nonEmpty)

  /** Whether the side folder names tables below. */
  def hasBelow(state: TableState.SideFolder): Boolean = SideListing.innerRoots(state.statuses).nonEmpty

  /**
   * The tables below that the side folder names.
   *
   * If it names very many, only those over folders that the query reads, and those with an owner at
   * work. The names of their files are computed from these folders' names, so that no file is read.
   */
  private[commit] def below(state: TableState.SideFolder, listed: => Set[String]): Seq[TableFolder] = {
    val (folder, files) = (state.folder, SideListing.innerRoots(state.statuses))
    val names =
      if (files.size <= MostRead)
        WorkerThreads.map(files, math.min(folder.threads, files.size / 8))(named(folder, _)).flatten
      else {
        val existing = files.map(_.name).toSet
        val owned = state.locks.flatMap(Owner.read(folder.ops, _)).map(_.root).filter(Record.isDataName)
        (listed.flatMap(withFoldersAbove) ++ owned).toSeq.sorted
          .filter(name => existing(folder.innerRoot(name).getName))
      }
    names.map(name => TableFolder(folder.resolve(name), folder.ops))
  }

  private def named(folder: TableFolder, file: FileMeta): Option[String] =
    if (file.length > NameLimit) None
    else
      try {
        val name = new String(folder.ops.read(file.path, NameLimit), UTF_8)
        Some(name).filter(n => Record.isDataName(n) && folder.innerRoot(n).getName == file.name)
      } catch { case _: FileNotFoundException => None }

  /**
   * Writes the file that names the inner table into the outer table's side folder. Needs the lock
   * there.
   */
  private[commit] def register(outer: OuterRoot, statuses: Seq[FileMeta]): Unit = {
    val target = outer.folder.innerRoot(outer.inner)
    if (!statuses.exists(_.name == target.getName)) {
      AtomicFile.put(outer.folder.ops, outer.folder.newTemporary(), target, outer.inner.getBytes(UTF_8))(())
    }
  }

  /** Forgets an uninstalled table in the tables above it. */
  private[commit] def unregister(lock: Lock): Unit =
    lock.outer.foreach(outer => outer.folder.ops.delete(outer.folder.innerRoot(outer.owner.root)))

  /** Forgets inner tables without a side folder. Needs the lock. */
  private[commit] def prune(folder: TableFolder, statuses: Seq[FileMeta]): Unit =
    SideListing.innerRoots(statuses).foreach { file =>
      val isThere = named(folder, file).exists(name => folder.ops.exists(folder.sideOf(name)))
      if (!isThere) folder.ops.delete(file.path)
    }

  /** A relative folder and those above it, without the root. */
  private[commit] def withFoldersAbove(dir: String): Seq[String] =
    Iterator.iterate(dir)(FileNames.parent).takeWhile(_.nonEmpty).toSeq
}
