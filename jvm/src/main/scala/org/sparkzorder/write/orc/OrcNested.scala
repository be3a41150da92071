package org.sparkzorder.write.orc

import org.apache.hadoop.hive.ql.exec.vector._
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters

/** Puts a value with an ordinal, which is not null, into position `i` of a vector. */
private[orc] trait OrcPut {
  def put(values: SpecializedGetters, ordinal: Int, i: Int): Unit
}

/** Puts Spark's values of one type into the vector of an ORC column, field or element. */
private[orc] final class OrcColumn(vector: ColumnVector, notNull: OrcPut) {

  /** Puts the value with this ordinal, which may be null, into position `i` of the vector. */
  def set(values: SpecializedGetters, ordinal: Int, i: Int): Unit =
    if (values.isNullAt(ordinal)) {
      vector.noNulls = false
      vector.isNull(i) = true
    } else notNull.put(values, ordinal, i)
}

private[orc] final class OrcStruct(length: Int, fields: Array[OrcColumn]) extends OrcPut {
  override def put(values: SpecializedGetters, ordinal: Int, i: Int): Unit = {
    val struct = values.getStruct(ordinal, length)
    var f = 0
    while (f < fields.length) {
      fields(f).set(struct, f, i)
      f += 1
    }
  }
}

private[orc] final class OrcList(vector: ListColumnVector, element: OrcColumn) extends OrcPut {
  override def put(values: SpecializedGetters, ordinal: Int, i: Int): Unit = {
    val array = values.getArray(ordinal)
    val length = array.numElements()
    val start = OrcNested.add(vector, i, length)
    OrcNested.grow(vector.child, vector.childCount)
    var e = 0
    while (e < length) {
      element.set(array, e, start + e)
      e += 1
    }
  }
}

/** The entries stay in their order, and a key may come twice. */
private[orc] final class OrcMap(vector: MapColumnVector, key: OrcColumn, value: OrcColumn) extends OrcPut {
  override def put(values: SpecializedGetters, ordinal: Int, i: Int): Unit = {
    val map = values.getMap(ordinal)
    val (keys, items) = (map.keyArray(), map.valueArray())
    val length = map.numElements()
    val start = OrcNested.add(vector, i, length)
    OrcNested.grow(vector.keys, vector.childCount)
    OrcNested.grow(vector.values, vector.childCount)
    var e = 0
    while (e < length) {
      key.set(keys, e, start + e)
      value.set(items, e, start + e)
      e += 1
    }
  }
}

private object OrcNested {

  /** Adds a value of so many elements. Returns the position of the first one. */
  def add(vector: MultiValuedColumnVector, i: Int, length: Int): Int = {
    val start = vector.childCount
    vector.offsets(i) = start.toLong
    vector.lengths(i) = length.toLong
    vector.childCount = Math.addExact(start, length)
    start
  }

  /** Makes room for so many elements. The room at least doubles, so that few copies are made. */
  def grow(child: ColumnVector, elements: Int): Unit =
    if (child.isNull.length < elements)
      child.ensureSize(math.max(elements.toLong, math.min(2L * child.isNull.length, Int.MaxValue - 8L)).toInt, true)
}

private[orc] final class OrcChildren(batch: VectorizedRowBatch) {

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
