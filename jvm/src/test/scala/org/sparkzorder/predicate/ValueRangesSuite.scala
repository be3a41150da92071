package org.sparkzorder.predicate

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.BindReferences
import org.apache.spark.sql.types.StructType
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.stats.OrderedValue

class ValueRangesSuite extends AnyFunSuite {

  private def value(row: InternalRow, schema: StructType, path: Seq[String]): Any = {
    val i = schema.fieldIndex(path.head)
    if (row.isNullAt(i)) null
    else schema(i).dataType match {
      case s: StructType if path.size > 1 => value(row.getStruct(i, s.size), s, path.tail)
      case dt                             => row.get(i, dt)
    }
  }

  test("a row for which the predicate is true has a value in each range", InRest) {
    val random = new Random(44)
    var ranges = 0
    for (_ <- 1 to 200) {
      val model = new RandomConditions(random)
      val files = Seq.fill(10)(model.file())
      for (_ <- 1 to 40) {
        val condition = model.condition(random.nextInt(4))
        val predicate = CatalystTranslator.translate(condition, RowOutcomes.byName)
        val found = ValueRanges.of(predicate)
        val bound = BindReferences.bindReference(condition, model.attributes)
        for (file <- files; row <- file.rows if bound.eval(row) == true; (column, range) <- found) {
          ranges += 1
          val v = value(row, file.schema, column.path)
          def shown = s"$condition as $predicate: $row is not in $range of $column"
          if (v == null) assert(range.low.isEmpty, shown)
          else {
            val encoded = Value.of(column.dataType, v)
            assert(range.low.forall(Value.ordering.lteq(_, encoded)), shown)
            assert(range.high.forall(Value.ordering.lteq(encoded, _)), shown)
          }
        }
      }
    }
    assert(ranges > 2000)
  }

  test("conjunctions narrow, disjunctions widen") {
    import org.apache.spark.sql.types.LongType
    val (a, b) = (Column(Seq("a"), LongType), Column(Seq("b"), LongType))
    def is(c: Column, op: Operator, v: Long) = Comparison(c, op, LongValue(v))
    val both = And(And(is(a, Operator.Greater, 3), is(a, Operator.Less, 9)), is(a, Operator.GreaterOrEqual, 1))
    assert(ValueRanges.of(both) == Map(a -> ValueRange(Some(LongValue(3)), Some(LongValue(9)))))
    val either = Or(And(is(a, Operator.Equal, 3), is(b, Operator.Equal, 1)), is(a, Operator.Equal, 7))
    assert(ValueRanges.of(either) == Map(a -> ValueRange(Some(LongValue(3)), Some(LongValue(7)))))
    assert(ValueRanges.of(Not(is(a, Operator.Equal, 3))).isEmpty)
    assert(OrderedValue.ofDouble(Double.NaN) > OrderedValue.ofDouble(Double.PositiveInfinity))
  }
}
