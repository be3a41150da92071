package org.sparkzorder.optimize

import org.sparkzorder.commit.Reappeared
import org.sparkzorder.layout.{FileBounds, LayoutSpec}
import org.sparkzorder.stats.FileId
import org.sparkzorder.table.PlainTable
import org.sparkzorder.write.{KeyColumn, UnitLayouts}

/**
 * All that an OPTIMIZE is going to do, found without touching anything.
 *
 * @param version of the table when it was listed
 * @param considered files of the partitions asked for
 * @param listed all files of the table
 * @param keys empty for packing
 * @param bloomFilters of the files that are written
 * @param kept what the files that are written have of the inputs beside their rows
 * @param maxRecords rows of a file at most, as `spark.sql.files.maxRecordsPerFile` says it; 0 for any number
 * @param untouched bounds of the keys in files that lie beside those rewritten, and stay, as the index knows them
 * @param auto why AUTO chose the layout
 * @param density what ids are made of, when not of the data alone
 * @param reappeared files under names that an operation retired: their rows are probably there twice
 */
private[sparkzorder] final case class OptimizePlan(
    table: PlainTable,
    options: OptimizeOptions,
    layout: Option[LayoutSpec],
    keys: Seq[KeyColumn],
    rewrites: Seq[Rewrite],
    inputs: Seq[Input],
    considered: Long,
    listed: Set[FileId],
    version: Long,
    writeConf: Map[String, String],
    writeOptions: Map[String, String],
    bloomFilters: BloomFilters,
    kept: KeptFromInputs,
    maxRecords: Long,
    untouched: Seq[IndexedSeq[FileBounds]],
    auto: Option[AutoReport],
    density: Option[UnitLayouts.Density],
    reappeared: Seq[Reappeared]
) {

  /**
   * The part of it that rewrites these, after others were committed.
   *
   * @param written by those
   */
  def only(some: Seq[Rewrite], written: Seq[FileId]): OptimizePlan = {
    val paths = some.flatMap(_.files.map(_.getPath)).toSet
    copy(rewrites = some, inputs = inputs.filter(i => paths(i.status.getPath)), listed = listed ++ written)
  }
}
