package org.sparkzorder.optimize.report

import org.apache.hadoop.fs.FileStatus

import org.sparkzorder.commit.Record
import org.sparkzorder.commit.log.History
import org.sparkzorder.commit.upkeep.Trash
import org.sparkzorder.compat._
import org.sparkzorder.indexing.{IndexedBounds, TableIndex}
import org.sparkzorder.layout.{ClusteringDepth, FileBounds, FileCounts}
import org.sparkzorder.optimize.ChosenLayout
import org.sparkzorder.optimize.options.{OptimizeOptions, OptionsOfTable, TargetFileSize}
import org.sparkzorder.optimize.plan.{FileSelection, FileWriters, LayoutChoice, RememberedSize}
import org.sparkzorder.stats.OrderedValue
import org.sparkzorder.table.{PlainTable, TableSideFolder}

/**
 * How well a table is clustered, and what an OPTIMIZE without any words would gain.
 *
 * @param smallFiles files that no OPTIMIZE wrote and that are smaller than they should be, where a folder has several
 * @param layout of that OPTIMIZE, as SQL; None if it would pack small files
 * @param meanFiles the mean number of files that a lookup on a key column reads, by the index alone:
 *   a lookup reads each file that the index does not know
 * @param boundFiles the least that so many files can have
 * @param newBytes of files that no OPTIMIZE with this layout wrote
 * @param drift of the rows that came last, see [[OptimizeStrategy]]
 * @param lastOptimize milliseconds since 1970
 * @param gainBytes bytes that a lookup, or a full scan without a layout, would read less, where each
 *   file counts what Spark counts for opening it
 */
private[sparkzorder] final case class ClusteringStatus(
    files: Long,
    bytes: Long,
    smallFiles: Long,
    layout: Option[String],
    meanFiles: Option[Double],
    boundFiles: Option[Double],
    newBytes: Long,
    drift: Option[Double],
    trashBytes: Long,
    lastOptimize: Option[Long],
    gainBytes: Long
)

private[sparkzorder] object ClusteringStatus {

  /**
   * Looks at the listing, the history, the index and the trash. It reads no footer and no data.
   *
   * @throws org.apache.spark.sql.AnalysisException when a table property, or a column of the layout, is wrong
   */
  def of(table: PlainTable): ClusteringStatus = new Survey(table).status

  /** What a lookup on one of some key columns reads, and the least that it could in folders of so many files. */
  private final case class LookupMean(mean: Double, bound: Seq[Int] => Double)

  private final class Survey(table: PlainTable) {
    private val side = TableSideFolder.of(table)
    private val folders = table.listed
    private val files = folders.flatMap(_.files)
    private val bytes = files.map(_.getLen).sum
    private lazy val history: Seq[Record] = LazyList.from(History.newestFirst(side).map(_.record))
    private lazy val snapshot = TableIndex.of(table, side)
    private val writers = new FileWriters(table.names, snapshot, History.newestFirst(side))

    def status: ClusteringStatus = {
      val asked = OptimizeOptions.parse(OptionsOfTable.merged(table, Nil), table.formatName, folders.map(_.bytes))
      val chosen = LayoutChoice.withoutDimensions(table, asked, history)
      val options = RememberedSize.of(asked, chosen.map(_.spec), "", bytes, history.iterator)
      val fresh = newFiles(chosen)
      val clustering = chosen.filter(_.keys.nonEmpty && files.nonEmpty).map(meanAndBound)
      val last = history.find(_.operation == "OPTIMIZE")
      ClusteringStatus(
        files = files.size.toLong,
        bytes = bytes,
        smallFiles = smallFiles(fresh.toSet, if (chosen.isEmpty) options.minFileSize else leastOf(options)),
        layout = chosen.map(c => ChosenLayout.sql(c.spec)),
        meanFiles = clustering.map(_.mean),
        boundFiles = clustering.map(_.bound(folders.map(_.files.size))),
        newBytes = fresh.map(_.getLen).sum,
        drift = last.flatMap(_.metrics.get("drift")).flatMap(_.toDoubleOption),
        trashBytes = Trash.expired(side, _ => true).bytes,
        lastOptimize = last.map(_.timestamp),
        gainBytes = if (fresh.isEmpty) 0L else gain(options, clustering)
      )
    }

    private def leastOf(options: OptimizeOptions): Long = (options.targetFileSize * TargetFileSize.LeastShare).toLong

    /** A folder's only file is as large as it can be, and one that an OPTIMIZE wrote as it was asked for. */
    private def smallFiles(fresh: Set[FileStatus], least: Long): Long =
      folders.filter(_.files.size > 1).map(_.files.count(f => f.getLen < least && fresh(f)).toLong).sum

    private def newFiles(chosen: Option[ChosenLayout]): Seq[FileStatus] = {
      val origins = writers.originsOf(files)
      def of(f: FileStatus) = origins.get(writers.idOf(f))
      // A partition with a layout of its own is left alone.
      folders.filterNot(_.files.exists(of(_).exists(_.keepsFrom(chosen.map(_.spec))))).flatMap(_.files)
        .filterNot(of(_).exists(o => chosen.forall(_.spec.json == o.layout)))
    }

    /** The mean over the key columns is weighted as the layout is. */
    private def meanAndBound(layout: ChosenLayout): LookupMean = {
      val indexed = new IndexedBounds(snapshot, layout.columns)
      val bounds = files.map(f => indexed.of(TableIndex.idOf(table, f)))
      val weights = layout.keys.map(_.weight)
      val ofColumns: Seq[Seq[(FileBounds, Long)]] = layout.columns.indices.map { c =>
        // How many rows a file has does not matter much here, so the index need not tell.
        bounds.zip(files).map { case (b, f) => b(c) -> math.max(1L, f.getLen) }
      }
      def weighted(of: Seq[Double]) = of.zip(weights).map { case (m, w) => m * w }.sum / weights.sum
      val means = ofColumns.zip(layout.columns).map { case (of, c) =>
        ClusteringDepth.of(of, OrderedValue.hasNaN(c.dataType)).mean
      }
      val shares = ofColumns.map(ClusteringDepth.shares)
      def bound(n: Int) = weighted(shares.map(ClusteringDepth.bound(n.toLong, layout.spec.columns.size, _)))
      LookupMean(weighted(means), _.map(bound).sum)
    }

    private def gain(options: OptimizeOptions, clustering: Option[LookupMean]): Long = {
      def packed = new FileSelection(folders, options, full = false, maxRecords = 0, writers).packed
      val open = table.session.sessionState.conf.filesOpenCostInBytes.toDouble
      val counts = FileCounts.bySize(folders.map(_.bytes), options.targetFileSize)
      val (before, after) = clustering match {
        case None          => (packed.map(_.files.size).sum * open, packed.map(_.outputFiles).sum * open)
        case Some(lookups) =>
          def cost(touched: Double, of: Int) = touched * (bytes.toDouble / of + open)
          (cost(lookups.mean, files.size), cost(lookups.bound(counts), counts.sum))
      }
      math.max(0L, (before - after).round)
    }
  }
}
