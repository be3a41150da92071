package org.sparkzorder.optimize.options

import org.sparkzorder.errors.ZOrderErrors
import org.sparkzorder.layout.{BytesMapping, JoinSpec, LayoutSpec}

/**
 * What a statement's options say about how values get their positions on the curve. None where they say nothing.
 *
 * @param mapping `range` or `bytes`
 * @param varLengthContribution only for the bytes mapping: how many bytes of a string or binary value count
 * @param maxOutputSize only for the bytes mapping: how many bytes of the combined key count
 */
final case class MappingOptions(
    mapping: Option[String],
    varLengthContribution: Option[Int],
    maxOutputSize: Option[Int]
) {

  /** The key of an option that is set although only the bytes mapping uses it. */
  def onlyOfBytes: Option[String] =
    varLengthContribution.map(_ => OptionTable.varLengthContribution.key)
      .orElse(maxOutputSize.map(_ => OptionTable.maxOutputSize.key))

  /**
   * The layout with this mapping. What the options do not say stays as the layout has it.
   *
   * @throws org.apache.spark.sql.AnalysisException when the layout cannot have this mapping
   */
  def of(spec: LayoutSpec): LayoutSpec =
    if (mapping.getOrElse(spec.mapping) == LayoutSpec.RangeMapping) {
      onlyOfBytes.foreach(o => throw ZOrderErrors.optionOfBytesMapping(o))
      spec.copy(mapping = LayoutSpec.RangeMapping, bytes = None)
    } else {
      if (spec.curve != LayoutSpec.ZOrder) throw ZOrderErrors.curveOfBytesMapping(spec.curve)
      spec.columns.find(_._2 != 1).foreach { case (path, _) =>
        throw ZOrderErrors.weightInBytesMapping(JoinSpec.shown(path))
      }
      val before = spec.bytes.getOrElse(BytesMapping.Default)
      val bytes = BytesMapping(
        varLengthContribution.getOrElse(before.varLengthContribution),
        maxOutputSize.getOrElse(before.maxOutputSize)
      )
      spec.copy(mapping = LayoutSpec.BytesMapping, bytes = Some(bytes))
    }
}

object MappingOptions {

  /** What the history says about a layout's mapping. It says nothing about the range mapping, the usual one. */
  def parameters(spec: LayoutSpec): Map[String, String] = spec.bytes.toSeq.flatMap { b =>
    Seq(
      OptionTable.mapping.key -> LayoutSpec.BytesMapping,
      OptionTable.varLengthContribution.key -> b.varLengthContribution.toString,
      OptionTable.maxOutputSize.key -> b.maxOutputSize.toString
    )
  }.toMap
}
