package org.sparkzorder.optimize

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.layout.{BytesMapping, LayoutSpec}

/**
 * How values get their places on the curve, as OPTIONS say it; None where they say nothing.
 *
 * @param mapping range or bytes
 * @param varLengthContribution of the bytes mapping
 * @param maxOutputSize of the bytes mapping
 */
final case class MappingOptions(
    mapping: Option[String],
    varLengthContribution: Option[Int],
    maxOutputSize: Option[Int]
) {

  /** The name of an option that means something for the bytes mapping alone. */
  def unused: Option[String] =
    varLengthContribution.map(_ => OptimizeOptions.varLengthContributionKey)
      .orElse(maxOutputSize.map(_ => OptimizeOptions.maxOutputSizeKey))

  /**
   * A layout with this mapping; with its own where nothing is said.
   *
   * @throws org.apache.spark.sql.AnalysisException when the layout cannot have it
   */
  def of(spec: LayoutSpec): LayoutSpec =
    if (mapping.getOrElse(spec.mapping) == LayoutSpec.RangeMapping) {
      unused.foreach(o => throw ZOrderErrors.optionOfBytesMapping(o))
      spec.copy(mapping = LayoutSpec.RangeMapping, bytes = None)
    } else {
      if (spec.curve != LayoutSpec.ZOrder) throw ZOrderErrors.curveOfBytesMapping(spec.curve)
      spec.columns.find(_._2 != 1).foreach { case (path, _) => throw ZOrderErrors.weightInBytesMapping(path) }
      val before = spec.bytes.getOrElse(BytesMapping.Default)
      val bytes = BytesMapping(
        varLengthContribution.getOrElse(before.varLengthContribution),
        maxOutputSize.getOrElse(before.maxOutputSize)
      )
      spec.copy(mapping = LayoutSpec.BytesMapping, bytes = Some(bytes))
    }
}

object MappingOptions {

  /** What the history says of a layout's mapping: nothing of the usual one. */
  def parameters(spec: LayoutSpec): Map[String, String] = spec.bytes.toSeq.flatMap { b =>
    Seq(
      OptimizeOptions.mappingKey -> LayoutSpec.BytesMapping,
      OptimizeOptions.varLengthContributionKey -> b.varLengthContribution.toString,
      OptimizeOptions.maxOutputSizeKey -> b.maxOutputSize.toString
    )
  }.toMap
}
