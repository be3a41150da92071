package org.sparkzorder.scan

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit.TableFolder
import org.sparkzorder.table.RelativePath

/**
 * Translates between paths of a listing and the names in a table's records.
 *
 * @param links folders that the query reads by another path than the table's, with their names in the records: `/link`
 *   with `p=1` if `/link` leads to `/x/p=1` and the table is `/x`
 */
private[scan] final class ListedNames(folder: TableFolder, links: Seq[(RelativePath, String)]) {
  private val plain = new RelativePath(folder.root)

  /** Names of those files that are in the table's folders. */
  def of(files: Seq[Path]): Set[String] = files.iterator.flatMap(file => of(file)).toSet

  private def of(file: Path): Option[String] =
    if (plain.isBelow(file)) Some(plain.of(file))
    else links.collectFirst { case (link, inner) if link.isBelow(file) => s"$inner/${link.of(file)}" }

  /** All paths by which a listing may show the file. */
  def paths(name: String): Seq[Path] = folder.resolve(name) +: links.collect {
    case (link, inner) if name.startsWith(s"$inner/") => link.resolve(name.substring(inner.length + 1))
  }
}

private[scan] object ListedNames {

  /**
   * @param folder of a table whose records are looked at
   * @param tables that the query reads
   */
  def of(folder: TableFolder, tables: Seq[TableFolder]): ListedNames = {
    val others = tables.filter { t =>
      t.root != folder.root && folder.relative(t.root).isEmpty && t.relative(folder.root).isEmpty
    }
    lazy val real = folder.copy(root = folder.ops.realPath(folder.root))
    new ListedNames(
      folder,
      others.flatMap(t => real.relative(t.ops.realPath(t.root)).map(inner => new RelativePath(t.root) -> inner))
    )
  }
}
