package org.sparkzorder.scan

import scala.collection.mutable
import scala.util.Random

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.commit.{FileMeta, MemoryFs, MemoryOps, OutputFile, Record, TableFolder}
import org.sparkzorder.commit.log.TableState

class ListingAgeSuite extends AnyFunSuite {
  private def optimized(there: Seq[String], gone: Seq[String], time: Long = 0L): Traces =
    Traces(there, gone, isNew = true, time)

  private def judged(listed: Set[String], isAll: Boolean = true, isOne: Boolean = true)(operations: Traces*) =
    ListingAge.isStale(listed, operations.iterator.map(t => new PastOperation(t.begun, () => t)), isAll, isOne)

  private val first = optimized(Seq("b1", "b2"), Seq("a1", "a2"))
  private val (p1, p2) = (optimized(Seq("p=1/b"), Seq("p=1/a"), 1000L), optimized(Seq("p=2/b"), Seq("p=2/a"), 2000L))
  // Hours after the first.
  private val later = p2.copy(begun = 1001L + ListingAge.LongestListing)
  private val undone = Traces(Seq("a1", "a2"), Seq("b1", "b2"), isNew = false, 5L)
  private val cycle =
    Seq(Traces(Seq("a"), Seq("c"), isNew = false, 0L), optimized(Seq("c"), Seq("b")), optimized(Seq("b"), Seq("a")))

  /** Listed files, operations, newest first, and whether the listing is stale, if that is known. */
  private val cases: Seq[(String, Seq[(String, Seq[Traces], Option[Boolean])])] = Seq(
    "a listing with an operation's new files and without its old ones is of after it" ->
      (Seq("b1 b2", "b1 b2 added").map((_, Seq(first), Some(false))) ++
        Seq("a1 a2", "b1", "a2 b1 b2").map((_, Seq(first), Some(true))) ++
        Seq("p=1/x", "").map((_, Seq(first), None))),
    "an operation in other folders says nothing, the one before it does" -> Seq(
      ("p=1/b", Seq(p2, p1), Some(false)),
      ("p=1/a", Seq(p2, p1), Some(true)),
      ("p=3/x", Seq(p2, p1), None)
    ),
    "a listing may last from before one operation till after the next one, but not for hours" -> Seq(
      ("p=1/a p=2/b", Seq(p2, p1), Some(true)),
      ("p=1/b p=2/b", Seq(p2, p1), Some(false)),
      ("p=1/a p=2/b", Seq(later, p1), Some(false))
    ),
    "a listing made while an operation lasted that was undone is stale, and none of before or after it" -> Seq(
      ("a1", Seq(undone), Some(true)),
      ("a1 a2 b1", Seq(undone), Some(true)),
      ("a1 a2 added", Seq(undone), None)
    ),
    "of files that came, went and came back what happened last counts" ->
      (("a", cycle, None) +: Seq("a b", "b", "c", "a c").map((_, cycle, Some(true))))
  )

  for ((name, examples) <- cases) test(name) {
    examples.foreach { case (listed, operations, stale) =>
      assert(judged(listed.split(' ').filter(_.nonEmpty).toSet)(operations: _*) == stale, listed)
    }
  }

  test("with older operations in the time of the listing, only one that is surely older or younger is judged") {
    assert(judged(Set("p=2/b", "p=3/x"), isAll = false)(p2).isEmpty)
    assert(judged(Set("p=2/a"), isAll = false)(p2).contains(true))
    assert(judged(Set("p=1/a", "p=2/b"), isAll = false)(later, p1).contains(false))
    for (isAll <- Seq(true, false)) {
      def ofSome(listed: String*) = judged(listed.toSet, isAll, isOne = false)(later, p1)
      assert(ofSome("p=1/a", "p=2/b").contains(true) && ofSome("p=1/b", "p=2/a").contains(true))
      assert(ofSome("p=1/b", "p=2/b").isEmpty)
    }
  }

  test("a record is not read if the listing began after its operation had ended") {
    val first = new PastOperation(1000L, () => fail("it is read"))
    val operations = Iterator(new PastOperation(later.begun, () => later), first)
    assert(ListingAge.isStale(Set("p=1/a", "p=2/b"), operations).contains(false))
  }

  private def past(name: String, time: Long, timestamp: Long, metrics: Map[String, String] = Map.empty) = {
    val meta = FileMeta(new Path("mem:/t/_zorder", name), 1L, time, isDirectory = false)
    val output = OutputFile("b", 1L, 1L, 1L)
    val record = Record(1L, "op", "OPTIMIZE", timestamp, "me", Map.empty, metrics, Nil, Seq(output))
    val state = new TableState.SideFolder(TableFolder(new Path("mem:/t"), new MemoryOps(new MemoryFs)), Seq(meta))
    PastOperation.of((state.done ++ state.undone).head, _ => record)
  }

  test("an operation began before its record was written at its end, and before it was written anew by a VACUUM") {
    for (state <- Seq("json", "vacuumed")) {
      def begun(time: Long, timestamp: Long) = past(s"_v0000000001-300ms.$state", time, timestamp).traces().begun
      // A disk keeps the time of the commit point.
      assert(begun(time = 5000L, timestamp = 4990L) == 4700L)
      // A store has the time of the end, or of the VACUUM.
      assert(begun(time = 5300L, timestamp = 4990L) == 4990L && begun(time = 90000L, timestamp = 4990L) == 4990L)
      // The driver's clock may be ahead of the store's.
      assert(begun(time = 5300L, timestamp = 7000L) == 5000L)
    }
    val metrics = Map(Record.PublishMillis -> "300")
    assert(past("_v0000000001.json", time = 5300L, timestamp = 7000L, metrics).traces().begun == 5000L)
    for ((name, end) <- Seq("-300ms.json" -> 5300L, ".json" -> 5000L, "-op.undone" -> 5000L))
      assert(past(s"_v0000000001$name", time = 5000L, timestamp = 4990L).endTime == end, name)
  }

  test("listings of folders one after the other, over random histories") {
    for (seed <- 1 to 4000) {
      val history = new ListingAgeSuite.History(new Random(seed))
      history.run(steps = 80)
      withClue(s"seed $seed: ") {
        history.listings.foreach { listed =>
          val folders = listed.map(ListingAgeSuite.folder)
          val current = history.files.filter(f => folders.contains(ListingAgeSuite.folder(f)))
          for (isOne <- Seq(true, false)) {
            val judged = ListingAge.isStale(listed, history.operations, isOne = isOne)
            assert(judged.getOrElse(false) == (listed != current))
          }
        }
      }
    }
  }
}

private object ListingAgeSuite {
  private val Folders = Seq("p=1", "p=2", "p=3")
  def folder(file: String): String = file.takeWhile(_ != '/')

  /** Operations that exchange files step by step, and listings that look at a folder now and then at another. */
  private final class History(random: Random) {
    private var live = Set.empty[String]
    private var clock = 0L
    private var names = 0
    private val done = mutable.Buffer.empty[PastOperation]
    private val open = mutable.Buffer.empty[(Set[String], Seq[String])]
    private val ended = mutable.Buffer.empty[Set[String]]
    private val versions = mutable.Buffer.empty[Set[String]]

    def files: Set[String] = live

    def operations: Iterator[PastOperation] = done.reverseIterator

    def listings: Seq[Set[String]] = ended.toSeq

    def run(steps: Int): Unit = {
      live = Folders.flatMap(f => Seq.fill(2)(fresh(f))).toSet
      versions += live
      while (clock < steps) random.nextInt(4) match {
        case 0 | 1 =>
          val (in, out) = optimized
          if (random.nextInt(3) == 0) undone(in, out) else published(in, out, isNew = true)
        case 2 =>
          val target = versions(random.nextInt(versions.size))
          val (in, out) = ((live -- target).toSeq, (target -- live).toSeq)
          if (in.nonEmpty) { if (random.nextInt(3) == 0) undone(in, out) else published(in, out, isNew = false) }
          else tick()
        case _ => tick()
      }
      open.foreach { case (seen, left) => ended += seen ++ live.filter(f => left.contains(folder(f))) }
      ended += live
    }

    private def fresh(in: String): String = {
      names += 1
      s"$in/$names"
    }

    private def optimized: (Seq[String], Seq[String]) = {
      val chosen = random.shuffle(Folders).take(1 + random.nextInt(2))
      (
        live.filter(f => chosen.contains(folder(f))).toSeq,
        chosen.flatMap(f => Seq.fill(1 + random.nextInt(2))(fresh(f)))
      )
    }

    private def published(in: Seq[String], out: Seq[String], isNew: Boolean): Unit = {
      val start = clock
      exchange(in, out)
      val traces = Traces(out, in, isNew, start)
      done += new PastOperation(clock, () => traces)
      versions += live
    }

    private def undone(in: Seq[String], out: Seq[String]): Unit = {
      val before = live
      exchange(in, out)
      (before -- live).foreach { f => live += f; tick() }
      (live -- before).foreach { f => live -= f; tick() }
      val traces = Traces(in, out, isNew = false, clock)
      done += new PastOperation(clock, () => traces)
    }

    private def exchange(in: Seq[String], out: Seq[String]): Unit = {
      tick()
      Folders.foreach { of =>
        // No folder ever looks empty.
        val (old, news) = (in.filter(folder(_) == of), out.filter(folder(_) == of))
        old.drop(1).foreach { f => live -= f; tick() }
        news.headOption.foreach { f => live += f; tick() }
        old.headOption.foreach { f => live -= f; tick() }
        news.drop(1).foreach { f => live += f; tick() }
      }
    }

    /** Some listings begin, and some look at one more folder. */
    private def tick(): Unit = {
      clock += 1
      if (random.nextInt(3) == 0) open += ((Set.empty, random.shuffle(Folders).take(1 + random.nextInt(3))))
      val next = open.map {
        case (seen, f +: left) if random.nextInt(3) > 0 => (seen ++ live.filter(folder(_) == f), left)
        case same                                       => same
      }
      open.clear()
      next.foreach { case (seen, left) => if (left.isEmpty) ended += seen else open += ((seen, left)) }
    }
  }
}
