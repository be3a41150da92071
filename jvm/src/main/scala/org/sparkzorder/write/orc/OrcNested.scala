package org.sparkzorder.write.orc

import org.apache.hadoop.hive.ql.exec.vector._
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters

private[write] final class OrcStruct(length: Int, vector: StructColumnVector, fields: Array[OrcColumn])
    extends OrcColumn(vector) {

  override protected def put(values: SpecializedGetters, ordinal: Int, i: Int): Unit = {
    val struct = values.getStruct(ordinal, length)
    var f = 0
    while (f < fields.length) {
      fields(f).set(struct, f, i)
      f += 1
    }
  }
}

private[write] final class OrcList(vector: ListColumnVector, element: OrcColumn) extends OrcColumn(vector) {

  override protected def put(values: SpecializedGetters, ordinal: Int, i: Int): Unit = {
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
private[write] final class OrcMap(vector: MapColumnVector, key: OrcColumn, value: OrcColumn)
    extends OrcColumn(vector) {

  override protected def put(values: SpecializedGetters, ordinal: Int, i: Int): Unit = {
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
