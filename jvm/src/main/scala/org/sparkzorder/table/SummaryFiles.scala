package org.sparkzorder.table

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.sparkzorder.commit.FileMeta

/**
 * Parquet's summary file `_metadata` (of dask, fastparquet and old versions of Spark). It lists all
 * data files, and its readers look nowhere else. `_common_metadata` has only a schema, so it does
 * no harm.
 */
object SummaryFiles {

  private val name = "_metadata"

  /**
   * The first such file in a table above the table's folder, or among the hidden entries of its folders.
   *
   * @param hidden of the table's folder and of those that the statement is about
   */
  def first(conf: Configuration, root: Path, hidden: Seq[FileMeta]): Option[Path] =
    hidden.find(m => !m.isDirectory && m.name == name).map(_.path).orElse {
      ForeignFormats.withTablesAbove(root).drop(1).map(new Path(_, name))
        .find(file => PathKinds.isFile(file.getFileSystem(conf), file))
    }
}
