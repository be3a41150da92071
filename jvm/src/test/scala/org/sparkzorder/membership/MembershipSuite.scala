package org.sparkzorder.membership

import java.util.concurrent.atomic.AtomicInteger

import scala.util.Random

import org.apache.parquet.column.values.bloomfilter.BlockSplitBloomFilter
import org.scalatest.funsuite.AnyFunSuite

/** Sets of values in each of their forms, with values of many distributions. */
class MembershipSuite extends AnyFunSuite {

  private implicit class Lookup(members: Membership) {
    def has(value: Long): Boolean = members.mayHave(value, MembershipHash.of(value))
    def has(bytes: Array[Byte]): Boolean = {
      val hash = MembershipHash.of(bytes)
      members.mayHave(hash, hash)
    }
  }

  private def built(values: Seq[Long], kind: MembershipKind, most: Int = MembershipFormat.MostBytes) = {
    val builder = new MembershipBuilder(kind, areHashes = false, most)
    values.foreach(builder.add)
    builder.result()
  }

  private def bytesOf(values: Seq[Long], kind: MembershipKind): Array[Byte] = built(values, kind).get

  private def some(random: Random): Seq[Long] = {
    val n = random.nextInt(3000)
    val start = random.nextLong()
    random.nextInt(6) match {
      case 0 => Seq.tabulate(n)(start + _)
      case 1 => Seq.fill(n)(start + random.nextInt(1 << 20))
      case 2 => Seq.fill(n)(random.nextLong())
      case 3 => Seq.fill(n)(start + (random.nextLong() & 0xffffffffL))
      case 4 => Seq(Long.MinValue, -1L, 0L, 1L, Long.MaxValue).take(random.nextInt(6))
      case _ => Seq.fill(n)(random.nextInt(5).toLong)
    }
  }

  test("a set has the values that were added, and says no for others if it is exact") {
    val random = new Random(1)
    (1 to 2000).foreach { _ =>
      val values = some(random)
      val there = values.toSet
      MembershipKind.all.foreach { kind =>
        val bytes = bytesOf(values, kind)
        val members = MembershipFormat.read(bytes)
        val isSet = !MembershipFormat.isFilter(bytes)
        assert(isSet || kind == MembershipKind.Bloom || values.distinct.size > MembershipFormat.SmallSet / 8)
        assert(values.forall(members.has(_)))
        val others = Seq.fill(50)(if (random.nextBoolean()) random.nextLong() else values.headOption.getOrElse(0L) + 7)
        if (isSet) others.foreach(v => assert(members.has(v) == there(v), s"$v in ${there.size} values"))
      }
    }
  }

  test("dense values take little room, and a filter 16 bits for each") {
    val dense = bytesOf(5000000L until 6000000L, MembershipKind.Values)
    assert(dense.length < 2000 && !MembershipFormat.isFilter(dense))
    val random = new Random(2)
    val scattered = Seq.fill(100000)(random.nextLong())
    val filter = bytesOf(scattered, MembershipKind.Values)
    assert(MembershipFormat.isFilter(filter) && filter.length <= 100000 * 2 + 33)
  }

  test("one in a thousand values that are not there is found in a filter") {
    val random = new Random(3)
    Seq(100, 5000, 200000).foreach { n =>
      val members = MembershipFormat.read(bytesOf(Seq.fill(n)(random.nextLong()), MembershipKind.Bloom))
      val found = Seq.fill(100000)(random.nextLong()).count(members.has(_))
      info(s"$n values: ${found / 1000.0} % found")
      assert(found <= 150)
    }
  }

  test("byte strings are known by their hashes") {
    val random = new Random(4)
    MembershipKind.all.foreach { kind =>
      val strings = Seq.fill(3000)(random.alphanumeric.take(random.nextInt(300)).mkString.getBytes)
      val builder = new MembershipBuilder(kind, areHashes = true)
      strings.foreach(builder.add)
      val members = MembershipFormat.read(builder.result().get)
      assert(strings.forall(members.has(_)))
      assert(Seq.fill(1000)(random.nextString(9).getBytes).count(members.has(_)) < 40)
    }
  }

  test("several threads find all values at once") {
    val random = new Random(6)
    val values = Array.fill(50000)(random.nextLong())
    MembershipKind.all.foreach { kind =>
      val members = MembershipFormat.read(bytesOf(values.toSeq, kind))
      val missing = new AtomicInteger
      val threads = Seq.fill(4)(new Thread(() => values.foreach(v => if (!members.has(v)) missing.incrementAndGet())))
      threads.foreach(_.start())
      threads.foreach(_.join())
      assert(missing.get == 0)
    }
  }

  test("a filter is that of Parquet") {
    val random = new Random(7)
    (1 to 50).foreach { _ =>
      val values = Seq.fill(1 + random.nextInt(3000))(random.nextLong())
      val bytes = bytesOf(values, MembershipKind.Bloom)
      val parquet = new BlockSplitBloomFilter(bytes.tail)
      val members = MembershipFormat.read(bytes)
      (values ++ Seq.fill(2000)(random.nextLong())).foreach(v =>
        assert(members.has(v) == parquet.findHash(MembershipHash.of(v)))
      )
    }
  }

  test("what is larger than it may be is not kept") {
    val thousand = 1000L to 1000000L by 1000
    assert(built(thousand, MembershipKind.Bloom, 1000).isEmpty && built(thousand, MembershipKind.Bloom, 3000).isDefined)
    assert(MembershipBudget.ofFile(1000, columns = 2, maxResults = 1L << 30, heap = 1L << 30) == (64 << 20) / 2000)
    assert(MembershipBudget.ofFile(1, columns = 1, maxResults = 4 << 20, heap = 1L << 40) == 1 << 20)
    assert(MembershipBudget.ofFile(0, columns = 0, maxResults = 0, heap = 1L << 40) == MembershipFormat.MostBytes)
    // Too many values give no set.
    assert(built(0L to 3L * MembershipFormat.MostValues by 3, MembershipKind.Values).isEmpty)
  }

  test("damaged bytes give a set or an error of ours, and never more memory than their length asks for") {
    val random = new Random(5)
    val whole =
      Seq.fill(60)(bytesOf(some(random), if (random.nextBoolean()) MembershipKind.Values else MembershipKind.Bloom))
    (1 to 20000).foreach { _ =>
      val bytes = whole(random.nextInt(whole.size)).clone()
      val damaged = random.nextInt(3) match {
        case 0 => bytes.take(random.nextInt(bytes.length + 1))
        case 1 => bytes ++ Array.fill(1 + random.nextInt(9))(random.nextInt().toByte)
        case _ =>
          for (_ <- 0 to random.nextInt(4)) bytes(random.nextInt(math.min(bytes.length, 40))) = random.nextInt().toByte
          bytes
      }
      try MembershipFormat.read(damaged).has(random.nextLong())
      catch { case _: IllegalArgumentException => () }
    }
  }
}
