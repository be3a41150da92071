package org.sparkzorder.footer

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.footer.ColumnLookup._
import org.sparkzorder.footer.ColumnFinder.fold

class PlacesSuite extends AnyFunSuite {

  private val spellings = IndexedSeq("a", "A", "b", "B", "İ", "i̇")

  private def lists(length: Int): Iterator[IndexedSeq[String]] =
    if (length == 0) Iterator(IndexedSeq.empty) else lists(length - 1).flatMap(l => spellings.iterator.map(l :+ _))

  test("the index of names finds what a search through all names finds") {
    for {
      names <- (0 to 4).iterator.flatMap(lists)
      wanted <- spellings :+ "c"
      caseSensitive <- Seq(true, false)
    } {
      val fields = names.zipWithIndex.map { case (name, i) => name -> Int.box(i) }
      val found = new ColumnFinder[Integer](-1, caseSensitive, _ => false, _ => fields).of(Seq(wanted))
      val exact = names.indices.filter(names(_) == wanted)
      val similar = names.indices.filter(i => fold(names(i)) == fold(wanted))
      val expected = (if (caseSensitive) exact else similar) match {
        case Seq(i) => Found(Seq(Int.box(i)), exact.contains(i) && (similar.size == 1 || !caseSensitive))
        case Seq()  => Lacking(inAnyCase = similar.isEmpty)
        case _      => Unclear
      }
      assert(found == expected, (names, wanted, caseSensitive))
    }
  }
}
