package org.sparkzorder.write.orc

import org.apache.hadoop.hive.ql.exec.vector._

/** The lists and maps of a batch, at any depth. */
private[write] final class OrcChildren(batch: VectorizedRowBatch) {

  private val vectors: Array[MultiValuedColumnVector] = batch.cols.flatMap(below)

  private def below(vector: ColumnVector): Seq[MultiValuedColumnVector] = vector match {
    case list: ListColumnVector     => list +: below(list.child)
    case map: MapColumnVector       => map +: (below(map.keys) ++ below(map.values))
    case struct: StructColumnVector => struct.fields.toSeq.flatMap(below)
    case _                          => Nil
  }

  /** The most elements that one of them has in all its rows together. */
  def most: Int = {
    var most = 0
    var i = 0
    while (i < vectors.length) {
      most = math.max(most, vectors(i).childCount)
      i += 1
    }
    most
  }
}
