package org.sparkzorder.optimize.run

import org.apache.hadoop.fs.FileStatus

import org.sparkzorder.compat._
import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.footer.{DataFormat, Encryption}
import org.sparkzorder.footer.files.Footers
import org.sparkzorder.optimize.check.EncryptedFiles
import org.sparkzorder.optimize.plan.OptimizePlan
import org.sparkzorder.write.check.{ReadBackRows, RowSum}
import org.sparkzorder.write.job.{RewriteResult, StagedFile}

/** Checks that a rewrite kept every row, before anything is published. */
private[sparkzorder] object RowVerification {

  /**
   * Checks each rewrite. Its number of rows must be the same in the footers of the inputs, in the scan, in the writers,
   * and in the footers of the outputs. A file must have as many rows as its writer got. The hash of the rows must be
   * the same in the scan and in the files.
   *
   * @param found rows by the footer of each output
   * @throws org.sparkzorder.errors.ZOrderRuntimeException naming the first folder where something differs
   */
  def check(plan: OptimizePlan, result: RewriteResult, found: Seq[Long]): Unit = {
    val rows = plan.inputs.map(i => i.status.getPath -> i.footer.rows).toMap
    val units = plan.rewrites.map(r => r.folder.path.toString -> r.files.map(f => rows(f.getPath)).sum)
    check(plan.table.name, units, result, found)
  }

  /** @param units the folder of each rewrite, and its rows by the footers of the inputs */
  private[sparkzorder] def check(
      table: String,
      units: Seq[(String, Long)],
      result: RewriteResult,
      found: Seq[Long]
  ): Unit = {
    require(found.length == result.outputs.length, s"${found.length} footers of ${result.outputs.length} files")
    require(result.read.length == units.length, s"${units.length} units, and rows read of ${result.read.length}")
    result.outputs.foreach(o => o.readBack.filter(_.found.rows != o.rows).foreach(b => throw notInFile(table, o, b)))
    val foundOf = result.outputs.zip(found).groupMapReduce(_._1.unit)(_._2)(_ + _)
    val written = result.written
    units.indices.foreach { u =>
      val (folder, stored) = units(u)
      val (in, out, onDisk) = (result.read(u), written(u), foundOf.getOrElse(u, 0L))
      if (Seq(in.rows, out.rows, onDisk).exists(_ != stored))
        throw ZOrderErrors.countMismatch(table, folder, stored, in.rows, out.rows, onDisk)
      if (in.hash != out.hash) throw ZOrderErrors.rowHashMismatch(table, folder, stored)
    }
    // An output that belongs to no unit would be published, too.
    val all = RowSum.of(result.outputs.map(o => RowSum(o.rows, o.rowHash)))
    require(all == RowSum.of(written), s"$all is written, and ${RowSum.of(written)} for the units")
  }

  private def notInFile(table: String, output: StagedFile, back: ReadBackRows): Throwable =
    ZOrderErrors.readBackFailed(
      table,
      output.path.toString,
      s"${output.rows} rows were written and ${back.found.rows} read"
    )
}

/** Looks at the files of a rewrite before they are visible. */
private[optimize] object WrittenFiles {

  /**
   * Checks that the new files have the rows of the inputs, and that what was encrypted still is.
   *
   * @param files the new files, in the order of the outputs
   * @return what is encrypted in the new files
   */
  def check(plan: OptimizePlan, result: RewriteResult, files: Seq[FileStatus]): Encryption = {
    val table = plan.table
    val (format, options) = (DataFormat.of(table.formatName).get, table.relation.options)
    val footers = Footers.readAll(table.session, files, format, table.dataSchema, Nil, options = options)
    RowVerification.check(plan, result, footers.map(_.rows))
    EncryptedFiles.refuseAfter(plan.inputs, footers)
    footers.map(_.encryption).foldLeft(Encryption.none)(_ ++ _)
  }
}
