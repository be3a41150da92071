package org.sparkzorder.shim

import scala.collection.{immutable, mutable, IterableView, TraversableLike}
import scala.collection.convert.{DecorateAsJava, DecorateAsScala}
import scala.collection.generic.CanBuildFrom
import scala.reflect.ClassTag
import scala.util.Try
import scala.util.matching.Regex

/** What the sources use of Scala 2.13's library and 2.12's lacks. `build.sbt` imports it into each source. */
object Scala213 {
  type IterableOnce[+A] = TraversableOnce[A]

  object CollectionConverters extends DecorateAsJava with DecorateAsScala

  object Using {
    def resource[R <: AutoCloseable, A](resource: R)(body: R => A): A = {
      var thrown: Throwable = null
      try body(resource)
      catch {
        case e: Throwable =>
          thrown = e
          throw e
      } finally {
        if (thrown == null) resource.close()
        else
          try resource.close()
          catch { case e: Throwable => thrown.addSuppressed(e) }
      }
    }
  }

  object ArraySeq {
    def unsafeWrapArray[A](array: Array[A]): IndexedSeq[A] = mutable.WrappedArray.make(array)
  }

  /** A stream knows its first element at once. */
  object LazyList {
    def from[A](elements: TraversableOnce[A]): Stream[A] = elements.toStream
    def from(first: Int): Stream[Int] = Stream.from(first)
  }

  // `toSeq` of 2.12 makes a stream of an iterator, which is read later, and a view of an array or a buffer, which may change.
  // So `build.sbt` writes `toSeq213` in its place, whose result is complete and stays, as that of 2.13.
  implicit class ToSeq213[A](private val elements: TraversableOnce[A]) extends AnyVal {
    def toSeq213: Seq[A] = elements match {
      case _: Stream[A]           => elements.toVector
      case same: immutable.Seq[A] => same
      case other                  => other.toVector
    }
  }

  implicit class ArrayToSeq213[A](private val array: Array[A]) extends AnyVal {
    def toSeq213: Seq[A] = mutable.WrappedArray.make(array.clone())
  }

  implicit class OptionToSeq213[A](private val option: Option[A]) extends AnyVal {
    def toSeq213: Seq[A] = option.toList
  }

  implicit class OptionObject213(private val of: Option.type) extends AnyVal {
    def when[A](condition: Boolean)(value: => A): Option[A] = if (condition) Some(value) else None
    def unless[A](condition: Boolean)(value: => A): Option[A] = if (condition) None else Some(value)
  }

  implicit class IteratorObject213(private val of: Iterator.type) extends AnyVal {
    def unfold[A, S](first: S)(next: S => Option[(A, S)]): Iterator[A] = {
      // Each next element is made when somebody asks for it.
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

  implicit class TraversableOnce213[A](private val elements: TraversableOnce[A]) extends AnyVal {
    def iterator: Iterator[A] = elements.toIterator
    def minOption[B >: A](implicit order: Ordering[B]): Option[A] =
      if (elements.isEmpty) None else Some(elements.min(order))
    def maxOption[B >: A](implicit order: Ordering[B]): Option[A] =
      if (elements.isEmpty) None else Some(elements.max(order))
    def minByOption[B](key: A => B)(implicit order: Ordering[B]): Option[A] =
      if (elements.isEmpty) None else Some(elements.minBy(key))
    def maxByOption[B](key: A => B)(implicit order: Ordering[B]): Option[A] =
      if (elements.isEmpty) None else Some(elements.maxBy(key))
  }

  implicit class Traversable213[A, Repr](private val elements: TraversableLike[A, Repr]) extends AnyVal {
    def distinctBy[B](key: A => B): Repr = {
      val seen = mutable.HashSet.empty[B]
      elements.filter(element => seen.add(key(element)))
    }
    def groupMap[K, B, That](key: A => K)(value: A => B)(implicit
        build: CanBuildFrom[Repr, B, That]
    ): Map[K, That] = {
      val groups = mutable.HashMap.empty[K, mutable.Builder[B, That]]
      elements.foreach(element => groups.getOrElseUpdate(key(element), build()) += value(element))
      groups.iterator.map { case (k, group) => k -> group.result() }.toMap
    }
    def groupMapReduce[K, B](key: A => K)(value: A => B)(reduce: (B, B) => B): Map[K, B] = {
      val groups = mutable.HashMap.empty[K, B]
      elements.foreach { element =>
        val (k, v) = (key(element), value(element))
        groups(k) = groups.get(k).fold(v)(reduce(_, v))
      }
      groups.toMap
    }
  }

  implicit class Array213[A](private val array: Array[A]) extends AnyVal {
    def distinctBy[B](key: A => B)(implicit tag: ClassTag[A]): Array[A] =
      mutable.WrappedArray.make[A](array).distinctBy(key).toArray
    def groupMapReduce[K, B](key: A => K)(value: A => B)(reduce: (B, B) => B): Map[K, B] =
      mutable.WrappedArray.make[A](array).groupMapReduce(key)(value)(reduce)
  }

  implicit class MapView213[K, V](private val view: IterableView[(K, V), Map[K, V]]) extends AnyVal {
    def mapValues[W](value: V => W): Map[K, W] = view.iterator.map { case (k, v) => k -> value(v) }.toMap
  }

  implicit class MutableSet213[A](private val set: mutable.Set[A]) extends AnyVal {
    def filterInPlace(keep: A => Boolean): Unit = set.retain(keep)
  }

  implicit class Seq213[A](private val seq: Seq[A]) extends AnyVal {
    def findLast(is: A => Boolean): Option[A] = seq.reverseIterator.find(is)
  }

  implicit class Size213(private val elements: TraversableOnce[_]) extends AnyVal {
    def lengthIs: SizeIs = new SizeIs(elements)
    def sizeIs: SizeIs = new SizeIs(elements)
  }

  /** Compares without counting all elements of a list. */
  final class SizeIs(elements: TraversableOnce[_]) {
    private def compare(n: Int): Int = elements match {
      case seq: Seq[_] => seq.lengthCompare(n)
      case other       => Integer.compare(other.size, n)
    }
    def <(n: Int): Boolean = compare(n) < 0
    def <=(n: Int): Boolean = compare(n) <= 0
    def >(n: Int): Boolean = compare(n) > 0
    def >=(n: Int): Boolean = compare(n) >= 0
    def ==(n: Int): Boolean = compare(n) == 0
    def !=(n: Int): Boolean = compare(n) != 0
  }
}
