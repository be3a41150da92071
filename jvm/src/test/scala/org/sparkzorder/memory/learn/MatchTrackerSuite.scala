package org.sparkzorder.memory.learn

import org.apache.spark.paths.SparkPath
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.datasources.{FilePartition, PartitionedFile}
import org.scalatest.funsuite.AnyFunSuite

class MatchTrackerSuite extends AnyFunSuite {

  private val names = Seq("a", "b", "c")
  private val partition = FilePartition(
    0,
    names.map(n => PartitionedFile(InternalRow.empty, SparkPath.fromPathString(s"/t/$n"), 0, 10)).toArray
  )

  /**
   * Reads all parts as Spark does, and none of them has a row.
   *
   * @param looks what each look at a part's file gives, the looks of one file in order
   * @return the parts that count as parts with a row
   */
  private def read(looks: Map[String, Seq[Option[Any]]], parts: Int = names.size): Option[Set[Int]] = {
    var reported = Option.empty[Set[Int]]
    val left = looks.map { case (name, some) => name -> some.iterator }
    def look(file: PartitionedFile): Option[Any] = left(file.toPath.getName).next()
    val tally = new MatchTracker(partition, look, rows => reported = Some(rows.stream.toArray.toSet))
    val input = new Iterator[AnyRef] {
      override def hasNext: Boolean = {
        // One call goes through all files without rows.
        tally.toRead.files.take(parts).foreach(_.urlEncodedPath)
        false
      }
      override def next(): AnyRef = Iterator.empty.next()
    }
    tally.of(input).listen()
    assert(!tally.hasNext)
    reported
  }

  private val same = names.map(_ -> Seq(Some(1), Some(1))).toMap

  test("only files that the reader tells of, and that are the same before, after and in between, have no row") {
    assert(read(same).contains(Set.empty[Int]))
    assert(read(same + ("b" -> Seq(None, None))).contains(Set(1)))
    assert(read(same + ("a" -> Seq(Some(1), None))).contains(Set(0)))
    assert(read(same + ("c" -> Seq(Some(1), Some(2)))).contains(Set(2)))
    assert(read(same, parts = 2).contains(Set(2)))
  }
}
