package org.sparkzorder.optimize.plan

import org.apache.hadoop.fs.Path

import org.sparkzorder.commit.{CatalogPartition, TableFolder}
import org.sparkzorder.commit.log.Reappeared
import org.sparkzorder.indexing.MembershipColumns.Change
import org.sparkzorder.indexing.TableIndex
import org.sparkzorder.layout.{FileBounds, LayoutSpec}
import org.sparkzorder.optimize.auto.AutoReport
import org.sparkzorder.optimize.keep.{BloomFilters, PreservedFromInputs}
import org.sparkzorder.optimize.options.OptimizeOptions
import org.sparkzorder.optimize.{Input, Rewrite}
import org.sparkzorder.stats.{FileId, IndexedColumns}
import org.sparkzorder.table.PlainTable
import org.sparkzorder.write.{Dimension, KeyColumn}
import org.sparkzorder.write.job.RewriteResult
import org.sparkzorder.write.sample.UnitLayouts

/**
 * All that an OPTIMIZE is going to do. Making the plan changes nothing.
 *
 * @param layout None for packing
 * @param keys the layout's key columns; empty for packing
 * @param inputs the files that the rewrites read
 * @param considered how many files the partitions have that the statement is about
 * @param listed all files of the table
 * @param version of the table when it was listed
 * @param writeConf session settings to write with
 * @param writeOptions options for the file writer
 * @param bloomFilters the columns that get Bloom filters, as the statement says
 * @param members what the statement makes of the columns whose values the index keeps
 * @param kept what the new files take over from the inputs beside the rows
 * @param maxRecords how many rows a file may have at most, by `spark.sql.files.maxRecordsPerFile`; 0 for any number
 * @param untouched bounds of the keys in files that stay in the rewritten folders, as the index knows them
 * @param auto why AUTO chose the layout
 * @param density where the values of the keys are dense, if that does not depend on the data alone
 * @param reappeared files that are back under a name that an operation retired, so their rows are probably there twice
 * @param dimensions those that have some of the keys; empty if there is nothing to rewrite
 * @param partitions what the folders are in the catalog, if it is told of new ones; None if files are exchanged in
 *   their folders
 * @param keeping how many folders keep a layout of their own
 * @param left see [[FileSelection.left]]; for a number of files only
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
    members: Change,
    kept: PreservedFromInputs,
    maxRecords: Long,
    untouched: Seq[IndexedSeq[FileBounds]],
    auto: Option[AutoReport],
    density: Option[UnitLayouts.Density],
    reappeared: Seq[Reappeared],
    dimensions: Seq[Dimension],
    partitions: Option[Map[Path, CatalogPartition]] = None,
    keeping: Int = 0,
    left: Option[String] = None
) {

  def filesBeside: Long = rewrites.map(_.rest.size.toLong).sum

  /** The folder of a rewrite relative to the table's root; empty for the root itself. */
  def folderOf(rewrite: Rewrite): String =
    if (rewrite.folder.path == table.root) "" else table.names.of(rewrite.folder.path)

  /** The columns with the room that values of each new file may take. */
  def indexed(columns: IndexedColumns): IndexedColumns = {
    val files = rewrites.map(_.outputFiles.toLong).sum
    columns.copy(mostBytes = TableIndex.mostBytes(table, files, columns.members.size))
  }

  def folders: Seq[String] = rewrites.map(folderOf).distinct.sorted

  def adoptRights(folder: TableFolder, result: RewriteResult): Unit =
    result.outputs.groupBy(_.unit).foreach { case (unit, outputs) =>
      folder.ops.adoptRights(outputs.map(_.path), rewrites(unit).files.map(_.getPath))
    }

  /** How many files the table has in other folders. */
  def filesElsewhere: Long = listed.size - inputs.size - filesBeside

  /**
   * The part of this plan that does some of its rewrites, after others were committed.
   *
   * @param written files that the others wrote
   */
  def only(some: Seq[Rewrite], written: Seq[FileId]): OptimizePlan = {
    val paths = some.flatMap(_.files.map(_.getPath)).toSet
    copy(rewrites = some, inputs = inputs.filter(i => paths(i.status.getPath)), listed = listed ++ written)
  }
}
