package org.sparkzorder.stream

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

/** Random tables and streams in memory: whatever happens in which order, each row is delivered once. */
class DeliveriesSuite extends AnyFunSuite {
  private val Steps = 40
  private val Tables = if (System.getenv("EXHAUSTIVE") == "1") 100000 else 1500

  /** A folder: files by content with their rows, names and times, and what its records say. */
  private final class Folder(random: Random) {
    val rows = mutable.HashMap.empty[String, Set[Int]]
    val names = mutable.HashMap.empty[String, String]
    private val times = mutable.HashMap.empty[String, Long]
    private val trash = mutable.HashMap.empty[String, String]

    /** Names that were used, and that no stream has seen, so that it would not take the next file of this name for new. */
    private val used = mutable.LinkedHashSet.empty[String]
    val seen = mutable.HashSet.empty[String]
    val visible = mutable.LinkedHashSet.empty[String]
    val records = mutable.ArrayBuffer.empty[FolderChange]
    private var published = Vector.empty[(Seq[String], Seq[String])]
    private var count = 0

    def next(): Int = { count += 1; count }

    def provenance: Provenance = new Provenance(records)

    def isThere(name: String, time: Long): Boolean = visible.exists(c => names(c) == name && times(c) == time)

    def listed: Seq[(String, Long)] = visible.toSeq.map(c => (names(c), times(c)))

    /** Under a new name, or under one that an operation has freed. */
    def append(): Unit = {
      val free = used.filterNot(name => seen(name) || visible.exists(names(_) == name))
      val name = if (free.nonEmpty && random.nextInt(3) == 0) free.head else s"/t/new-${next()}"
      used += name
      // A file may be older than one that had its name before.
      val time = if (random.nextInt(4) == 0) 1000L - next() else 1000L + next()
      val content = s"$name\u0000$time"
      rows(content) = Set.fill(1 + random.nextInt(3))(next())
      names(content) = name
      times(content) = time
      visible += content
    }

    private def some[A](from: Iterable[A]): Seq[A] = from.toSeq.filter(_ => random.nextBoolean())

    private def moved(content: String, trash: Option[String] = None) =
      MovedFile(names(content), 1, times(content), trash = trash)

    private def retired(contents: Seq[String], undone: Boolean): Seq[MovedFile] = contents.map { c =>
      val place = s"/trash$c-${records.size}"
      if (!undone) trash(c) = place
      moved(c, Some(place))
    }

    /** @param look called in the midst, when some files are exchanged */
    def optimize(look: () => Unit): Unit = {
      val inputs = some(visible)
      if (inputs.nonEmpty) {
        val all = inputs.flatMap(rows).toSet
        val parts = all.groupBy(_ => random.nextInt(1 + random.nextInt(3))).values.toSeq
        val outputs = parts.map { part =>
          val name = s"/t/zorder-${next()}"
          rows(name) = part
          names(name) = name
          times(name) = 1000L + next()
          name
        }
        exchange(inputs, outputs, look) { undone =>
          records += FolderChange(s"o${next()}", retired(inputs, undone), outputs.map(moved(_)), Nil, undone)
        }
      }
    }

    def restore(look: () => Unit): Unit = if (published.nonEmpty) {
      val version = random.nextInt(published.size)
      val (gone, back) = (mutable.LinkedHashSet.empty[String], mutable.LinkedHashSet.empty[String])
      published.drop(version).reverse.foreach { case (inputs, outputs) =>
        outputs.foreach(o => if (!back.remove(o)) gone += o)
        inputs.foreach(i => if (!gone.remove(i)) back += i)
      }
      if (gone.nonEmpty || back.nonEmpty) {
        val before = back.toSeq.map(b => b -> names(b)).toMap
        val inputs = gone.toSeq
        val taken = mutable.HashSet.from((visible.toSet -- gone).map(names))
        back.foreach { b =>
          val isTaken = !taken.add(names(b))
          if (isTaken || random.nextInt(4) == 0) names(b) = s"${names(b)}-again-${next()}"
        }
        exchange(inputs, back.toSeq, look) { undone =>
          val returned = back.toSeq.map(b => MovedFile(names(b), 1, times(b), Some(before(b)), trash.get(b)))
          records += FolderChange(s"r${next()}", retired(inputs, undone), Nil, returned, undone)
          if (undone) names ++= before
        }
      }
    }

    private def exchange(inputs: Seq[String], outputs: Seq[String], look: () => Unit)(record: Boolean => Unit): Unit = {
      val before = visible.clone()
      visible --= some(inputs)
      visible ++= some(outputs)
      look()
      val undone = random.nextInt(5) == 0
      visible.clear()
      visible ++= before
      if (!undone) {
        visible --= inputs
        visible ++= outputs
        published :+= (inputs -> outputs)
      }
      record(undone)
    }
  }

  private final class Stream(folder: Folder, random: Random) {
    private val log = mutable.ArrayBuffer.empty[Seq[(String, Long)]]
    private val seen = mutable.HashSet.empty[String]
    private val arrived = mutable.ArrayBuffer.empty[Seq[String]]
    private var deliveries = new Deliveries()

    /** Notes files as new data, as Spark does: by their names. */
    def list(all: Boolean = false): Unit = {
      val found = folder.listed.filterNot(f => seen(f._1))
      val taken = if (all || random.nextBoolean()) found else random.shuffle(found).take(1 + random.nextInt(2))
      if (taken.nonEmpty) {
        seen ++= taken.map(_._1)
        folder.seen ++= taken.map(_._1)
        log += taken
      }
    }

    private def run(deliveries: Deliveries, batch: Seq[(String, Long)], provenance: Provenance): Seq[String] =
      batch.map { case (name, time) => provenance.contentOf(name, time, folder.isThere(name, time)) }.sortBy(c =>
        (provenance.rank(c), c)
      ).flatMap(deliveries.see(_, provenance))

    def read(): Unit = {
      val provenance = folder.provenance
      if (random.nextInt(3) == 0) {
        deliveries = new Deliveries()
        val again = log.take(arrived.size).map(run(deliveries, _, provenance))
        assert(again == arrived, "a batch that is run again reads other files")
      }
      log.drop(arrived.size).foreach(batch => arrived += run(deliveries, batch, provenance))
    }

    def rows: Seq[Int] = arrived.toSeq.flatten.flatMap(folder.rows).sorted
    override def toString: String = s"log: $log\narrived: $arrived\nrecords:\n${folder.records.mkString("\n")}"
  }

  private def check(seed: Int): Unit = {
    val random = new Random(seed)
    val folder = new Folder(random)
    val streams = mutable.ArrayBuffer.empty[Stream]
    def some(): Seq[Stream] = streams.toSeq.filter(_ => random.nextInt(3) == 0)
    (1 to Steps).foreach { _ =>
      random.nextInt(8) match {
        case 0 | 1 => folder.append()
        case 2 | 3 => folder.optimize(() => some().foreach(_.list()))
        case 4     => folder.restore(() => some().foreach(_.list()))
        case 5     => if (streams.size < 4) streams += new Stream(folder, random)
        case _     =>
          some().foreach { s =>
            s.list()
            // An operation may be published between a listing and the batch.
            if (random.nextInt(3) == 0) folder.optimize(() => ())
            s.read()
          }
      }
    }
    val all = folder.visible.toSeq.flatMap(folder.rows).sorted
    streams.foreach { s =>
      s.read()
      s.list(all = true)
      s.read()
      assert(s.rows == all, s"seed $seed\n$s")
    }
    val provenance = folder.provenance
    for ((content, name) <- folder.names.toSeq if provenance.isKnown(content)) {
      val path = provenance.place(content).path
      assert(if (folder.visible(content)) path == name else path.startsWith("/trash"), s"seed $seed, $content")
    }
  }

  test(s"each row arrives once, in $Tables random folders that are appended to, optimized and restored") {
    (1 to Tables).foreach(check)
  }

  test("a file that somebody writes under a retired name is new data") {
    val change =
      FolderChange(
        "o",
        Seq(MovedFile("/t/a", 1, 5, trash = Some("/x"))),
        Seq(MovedFile("/t/zorder-1", 1, 9)),
        Nil,
        false
      )
    val provenance = new Provenance(Seq(change))
    val deliveries = new Deliveries()
    assert(deliveries.see(provenance.contentOf("/t/zorder-1", 9), provenance) == Seq("/t/zorder-1"))
    assert(deliveries.see(provenance.contentOf("/t/a", 5), provenance).isEmpty)
    val again = deliveries.see(provenance.contentOf("/t/a", 7), provenance)
    assert(again.map(provenance.place) == Seq(Place("/t/a", "/t/a")))
  }
}
