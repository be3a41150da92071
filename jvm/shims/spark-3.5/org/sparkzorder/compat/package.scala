package org.sparkzorder

import scala.collection.{compat => library, mutable, IterableView, TraversableLike}
import scala.language.implicitConversions
import scala.reflect.ClassTag
import scala.util.Try
import scala.util.matching.Regex

import org.apache.parquet.column.page.PageReadStore

/**
 * What the sources use of Scala 2.13's library and 2.12's lacks. Much of it is in scala-collection-compat, which newer
 * Sparks lack: so it is handed on here.
 */
package object compat {
  type IterableOnce[+A] = TraversableOnce[A]

  val LazyList: library.immutable.LazyList.type = library.immutable.LazyList

  implicit def ofTraversableOnce[A](elements: TraversableOnce[A]): library.TraversableOnceExtensionMethods[A] =
    library.toTraversableOnceExtensionMethods(elements)

  implicit def ofTraversableLike[A, Repr](
      elements: TraversableLike[A, Repr]
  ): library.TraversableLikeExtensionMethods[A, Repr] = new library.TraversableLikeExtensionMethods(elements)

  implicit def ofArray[A](array: Array[A]): library.TraversableLikeExtensionMethods[A, Array[A]] =
    new library.TraversableLikeExtensionMethods(genericArrayOps(array))

  implicit def ofTraversable[A](elements: Traversable[A]): library.TraversableExtensionMethods[A] =
    library.toTraversableExtensionMethods(elements)

  implicit def ofSeq[A](elements: Seq[A]): library.SeqExtensionMethods[A] = library.toSeqExtensionMethods(elements)

  implicit def ofMapView[K, V, C <: scala.collection.Map[K, V]](
      view: IterableView[(K, V), C]
  ): library.MapViewExtensionMethods[K, V, C] = library.toMapViewExtensionMethods(view)

  implicit class OptionObject213(private val of: Option.type) extends AnyVal {
    def when[A](condition: Boolean)(value: => A): Option[A] = if (condition) Some(value) else None
    def unless[A](condition: Boolean)(value: => A): Option[A] = if (condition) None else Some(value)
  }

  implicit class IteratorObject213(private val of: Iterator.type) extends AnyVal {
    def unfold[A, S](first: S)(next: S => Option[(A, S)]): Iterator[A] = {
      // Each next element is made when it is asked for.
      var state = first
      Iterator.continually(next(state)).map(_.map { case (element, after) => state = after; element })
        .takeWhile(_.isDefined).map(_.get)
    }
  }

  implicit class HashSetObject213(private val of: mutable.HashSet.type) extends AnyVal {
    def from[A](elements: TraversableOnce[A]): mutable.HashSet[A] = mutable.HashSet.empty[A] ++= elements
  }

  implicit class HashMapObject213(private val of: mutable.HashMap.type) extends AnyVal {
    def from[K, V](elements: TraversableOnce[(K, V)]): mutable.HashMap[K, V] = mutable.HashMap.empty[K, V] ++= elements
  }

  implicit class LinkedHashMapObject213(private val of: mutable.LinkedHashMap.type) extends AnyVal {
    def from[K, V](elements: TraversableOnce[(K, V)]): mutable.LinkedHashMap[K, V] =
      mutable.LinkedHashMap.empty[K, V] ++= elements
  }

  implicit class Iterator213[A](private val iterator: Iterator[A]) extends AnyVal {
    def nextOption(): Option[A] = if (iterator.hasNext) Some(iterator.next()) else None
    def distinctBy[B](key: A => B): Iterator[A] = {
      val seen = mutable.HashSet.empty[B]
      iterator.filter(element => seen.add(key(element)))
    }
  }

  implicit class String213(private val text: String) extends AnyVal {
    def toIntOption: Option[Int] = Try(text.toInt).toOption
    def toLongOption: Option[Long] = Try(text.toLong).toOption
    def toDoubleOption: Option[Double] = Try(text.toDouble).toOption
    def toBooleanOption: Option[Boolean] = Try(text.toBoolean).toOption
  }

  implicit class Regex213(private val regex: Regex) extends AnyVal {
    def matches(text: CharSequence): Boolean = regex.pattern.matcher(text).matches
  }

  implicit class Traversable213[A, Repr](private val elements: TraversableLike[A, Repr]) extends AnyVal {
    def distinctBy[B](key: A => B): Repr = {
      val seen = mutable.HashSet.empty[B]
      elements.filter(element => seen.add(key(element)))
    }
  }

  implicit class Array213[A](private val array: Array[A]) extends AnyVal {
    def distinctBy[B](key: A => B)(implicit tag: ClassTag[A]): Array[A] =
      mutable.WrappedArray.make[A](array).distinctBy(key).toArray
  }

  implicit class MutableSet213[A](private val set: mutable.Set[A]) extends AnyVal {
    def filterInPlace(keep: A => Boolean): Unit = set.retain(keep)
  }

  implicit class Seq213[A](private val seq: Seq[A]) extends AnyVal {
    def findLast(is: A => Boolean): Option[A] = seq.reverseIterator.find(is)
  }

  /** Only newer Parquet closes pages. */
  implicit class PageReadStore213(private val pages: PageReadStore) extends AnyVal {
    def close(): Unit = ()
  }
}
