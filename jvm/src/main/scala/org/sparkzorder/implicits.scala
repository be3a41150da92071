package org.sparkzorder

import org.apache.spark.sql.{Column, Dataset}

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.repartition.CurveHints

/**
 * `import org.sparkzorder.implicits._` gives every Dataset, whatever it is written to, calls that put its rows in
 * partitions along a space-filling curve. They say what the hints `ZORDER` and `HILBERT` say, so the session needs
 * the extension.
 */
object implicits {

  implicit final class ClusteredDataset[T](private val dataset: Dataset[T]) extends AnyVal {

    /**
     * Exactly n partitions along the Z-order curve of the columns, each sorted along it. The boundaries come of a
     * sample that is taken when the result is computed.
     *
     * @param n from 1 to 1000000
     * @param columns one to eight, of atomic types that can be ordered
     * @throws org.apache.spark.sql.AnalysisException for a wrong n or column, or in a session without the extension
     */
    def repartitionByZOrderRange(n: Int, columns: Column*): Dataset[T] = hinted(CurveHints.ZOrder, n +: columns)

    /** As many partitions as `spark.sql.shuffle.partitions` says. */
    def repartitionByZOrderRange(columns: Column*): Dataset[T] = hinted(CurveHints.ZOrder, columns)

    /** As [[repartitionByZOrderRange]], along the Hilbert curve. */
    def repartitionByHilbertRange(n: Int, columns: Column*): Dataset[T] = hinted(CurveHints.Hilbert, n +: columns)

    /** As many partitions as `spark.sql.shuffle.partitions` says. */
    def repartitionByHilbertRange(columns: Column*): Dataset[T] = hinted(CurveHints.Hilbert, columns)

    private def hinted(name: String, parameters: Seq[Any]): Dataset[T] = {
      // Spark passes over hints that it does not know. The functions come with the extension.
      if (!dataset.sparkSession.catalog.functionExists("interleave_bits")) throw ZOrderErrors.noExtension(name)
      dataset.hint(name, parameters: _*)
    }
  }
}
