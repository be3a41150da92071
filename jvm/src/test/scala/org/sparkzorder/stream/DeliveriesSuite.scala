package org.sparkzorder.stream

import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.commit.Record
import org.sparkzorder.commit.log.{History, HistoryEntry}

/** Random tables and streams in memory: whatever happens in which order, each row is delivered once. */
class DeliveriesSuite extends AnyFunSuite {
  private val Steps = 40
  private val Tables = if (System.getenv("EXHAUSTIVE") == "1") 100000 else 1500

  /** A folder: files by content with their rows, names and times, and what its records say. */
  private final class Folder(random: Random) {
    val rows = mutable.HashMap.empty[String, Set[Int]]
    val names = mutable.HashMap.empty[String, String]
    private val stamps = mutable.HashMap.empty[String, Stamp]
    private val trash = mutable.HashMap.empty[String, String]

    /** Names that were used, and that no stream has seen, so that it would not take the next file of this name for new. */
    private val used = mutable.LinkedHashSet.empty[String]
    val seen = mutable.HashSet.empty[String]
    private val touched = mutable.HashSet.empty[String]

    // Of a name that was used by several files nobody can tell which of them was touched.
    private val reused = mutable.HashSet.empty[String]
    val visible = mutable.LinkedHashSet.empty[String]
    val records = mutable.ArrayBuffer.empty[FolderChange]
    private var published = Vector.empty[(Seq[String], Seq[String])]
    private var count = 0

    def next(): Int = { count += 1; count }

    def provenance: Provenance = new Provenance(records)

    def there(name: String): Option[Stamp] = visible.find(names(_) == name).map(stamps)

    def listed: Seq[Logged] = visible.toSeq.map(c => Logged(names(c), stamps(c).time))

    /** Under a new name, or under one that an operation has freed. */
    def append(): Unit = {
      val free = used.filterNot(name => seen(name) || touched(name) || visible.exists(names(_) == name))
      val name = if (free.nonEmpty && random.nextInt(3) == 0) free.head else s"/t/new-${next()}"
      // A file may be older than one that had its name before, and a loader may give its files one time.
      val time = random.nextInt(4) match {
        case 0                => 1000L - next()
        case 1 if !used(name) => 1000L
        case _                => 1000L + next()
      }
      val stamp = Stamp(time, next().toLong)
      val content = s"$name\u0000$time\u0000${stamp.length}"
      if (!used.add(name)) reused += name
      rows(content) = Set.fill(1 + random.nextInt(3))(next())
      names(content) = name
      stamps(content) = stamp
      visible += content
    }

    /** Files come back from a backup, or are copied anew: with other times, later ones or earlier ones. */
    def touch(): Unit = some(visible).filterNot(c => reused(names(c))).foreach { c =>
      touched += names(c)
      stamps(c) = stamps(c).copy(time = if (random.nextBoolean()) 1000L + next() else 1000L - next())
    }

    /** The content that a stream means, which goes by the stamp that it saw, or by no length where no record tells it. */
    def whole(content: String): String = content.split('\u0000').toSeq match {
      case Seq(name) => name
      // No operation has taken it.
      case Seq(name, _)          => visible.find(names(_) == name).get
      case Seq(_, _, length, _*) => stamps.collectFirst { case (c, stamp) if stamp.length == length.toLong => c }.get
      case none                  => fail(none.toString)
    }

    private def some[A](from: Iterable[A]): Seq[A] = from.toSeq.filter(_ => random.nextBoolean())

    private def moved(content: String, trash: Option[String] = None) =
      MovedFile(names(content), stamps(content).length, stamps(content).time, trash = trash)

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
          stamps(name) = Stamp(1000L + next(), next().toLong)
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
          val returned = back.toSeq.map { b =>
            MovedFile(names(b), stamps(b).length, stamps(b).time, Some(before(b)), trash.get(b))
          }
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
    private val log = mutable.ArrayBuffer.empty[Seq[Logged]]
    private val seen = mutable.HashSet.empty[String]
    private val arrived = mutable.ArrayBuffer.empty[Seq[String]]
    private var deliveries = new Deliveries()
    private var contents = Option.empty[LoggedContents]

    /** Notes files as new data, as Spark does: by their names. */
    def list(all: Boolean = false): Unit = {
      val found = folder.listed.filterNot(f => seen(f.path))
      val taken = if (all || random.nextBoolean()) found else random.shuffle(found).take(1 + random.nextInt(2))
      if (taken.nonEmpty) {
        seen ++= taken.map(_.path)
        folder.seen ++= taken.map(_.path)
        log += taken
      }
    }

    private def run(batches: Iterable[Seq[Logged]], provenance: Provenance): Seq[Seq[String]] =
      batches.toSeq.map(contents.get.of(_).flatMap(deliveries.see(_, provenance)).map(folder.whole))

    /** As a source does: when records have come, or it is started again, all of the log is gone through again. */
    def read(): Unit = {
      val provenance = folder.provenance
      if (folder.records.size != known || random.nextInt(3) == 0) {
        deliveries = new Deliveries()
        contents = Some(new LoggedContents(provenance, folder.there))
        known = folder.records.size
        val again = run(log.take(arrived.size), provenance)
        assert(again == arrived, s"a batch that is run again reads other files\n$this")
      }
      arrived ++= run(log.drop(arrived.size).toSeq, provenance)
    }

    private var known = -1

    def rows: Seq[Int] = arrived.toSeq.flatten.flatMap(folder.rows).sorted
    override def toString: String =
      s"log: $log\narrived: $arrived\nrecords:\n${folder.records.mkString("\n")}".replace("\u0000", "@")
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
        case 5     => if (streams.size < 4) streams += new Stream(folder, random) else folder.touch()
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

  test(s"each row arrives once, in $Tables random folders that are appended to, optimized and restored", InRest) {
    (1 to Tables).foreach(check)
  }

  test("which of several files of one name was touched is in doubt, and so is one of two of one time") {
    def load(id: String, time: Long, length: Long, trash: String) = {
      val input = MovedFile("/t/a", length, time, trash = Some(trash))
      FolderChange(id, Seq(input), Seq(MovedFile(s"/t/zorder-$id", 1, 9)), Nil, false)
    }
    val one = new Provenance(Seq(load("1", 5, 10, "/x")))
    val both = new Provenance(Seq(load("1", 5, 10, "/x"), load("2", 6, 20, "/y")))
    val same = new Provenance(Seq(load("1", 5, 10, "/x"), load("2", 5, 20, "/y")))
    def place(of: Provenance, time: Long, there: Option[Stamp] = None): Option[String] =
      Option.when(!of.isInDoubt("/t/a", time, there))(of.place(of.ofLog("/t/a", time, there)).path)
    assert(place(one, 5).contains("/x") && place(one, 5, Some(Stamp(5, 10))).contains("/x"))
    assert(place(one, 5, Some(Stamp(7, 20))).contains("/x") && place(one, 7, Some(Stamp(7, 20))).contains("/t/a"))
    // It was touched before it was taken, or it is the next one and was touched since.
    assert(place(one, 8).contains("/x") && place(one, 8, Some(Stamp(7, 20))).isEmpty)
    assert(place(both, 5).contains("/x") && place(both, 6).contains("/y") && place(both, 7).isEmpty)
    assert(place(same, 5).isEmpty && place(one, 5, Some(Stamp(5, 20))).isEmpty)
    // Rows that were read from a new file are not read again under the old name.
    val (deliveries, contents) = (new Deliveries(), new LoggedContents(one, _ => None))
    def read(path: String, time: Long) =
      contents.of(Seq(Logged(path, time))).flatMap(deliveries.see(_, one)).map(one.place)
    assert(read("/t/zorder-1", 9) == Seq(FileLocation("/t/zorder-1", "/t/zorder-1")) && read("/t/a", 5).isEmpty)
  }

  test("records before a gap, or before a RESTORE over one, tell a stream nothing") {
    def first(versions: Long*)(restores: (Long, Long)*) = StreamedTables.firstWhole(versions.map { v =>
      val to = restores.toMap.get(v)
      val parameters = to.map(t => History.RestoreParameter -> t.toString).toMap
      val operation = if (to.isDefined) History.RestoreOperation else "OPTIMIZE"
      val record = Record(v, s"op-$v", operation, v, "me", parameters, Map.empty, Nil, Nil)
      HistoryEntry(record, History.Committed, None, v, None)
    })
    assert(first()() == 1L && first(3L, 2L, 1L)() == 1L && first(9L, 8L, 7L)() == 7L)
    // An old record that stays for its layout or its trash.
    assert(first(9L, 8L, 3L)() == 8L)
    assert(first(3L, 2L, 1L)(3L -> 0L) == 1L && first(9L, 8L, 7L)(9L -> 6L) == 7L)
    assert(first(9L, 8L, 7L)(8L -> 5L) == 9L && first(9L, 8L, 7L)(9L -> 5L) == 10L)
    assert(first(9L, 8L, 7L)(7L -> 5L, 9L -> 7L) == 8L && first(9L, 8L, 7L)(7L -> 5L, 9L -> 6L) == 10L)
  }

  test("after operations that are forgotten, a name with another time is in doubt") {
    val inputs = Seq(MovedFile("/t/a", 1, 50, trash = Some("/x")), MovedFile("/t/zorder-00001-id-a0.parquet", 1, 50))
    val taken = FolderChange("1", inputs, Seq(MovedFile("/t/zorder-00002-id-a0.parquet", 1, 59)), Nil, false)
    def contentOf(provenance: Provenance, time: Long) =
      new LoggedContents(provenance, _ => None).of(Seq(Logged("/t/a", time))).head
    val (all, some) = (new Provenance(Seq(taken)), new Provenance(Seq(taken), Some(40L)))
    for ((provenance, isInDoubt) <- Seq(all -> false, some -> true))
      assert(Seq(20L, 45L, 50L).map(provenance.isInDoubt("/t/a", _, None)) == Seq(isInDoubt, false, false))
    // What was touched is the content that was taken. What is in doubt is not taken for it.
    assert(contentOf(all, 20) == contentOf(all, 50) && contentOf(some, 45) == contentOf(some, 50))
    assert(contentOf(some, 20) != contentOf(some, 50))
    // Names of ours are not used again, and of other names nothing is known.
    assert(!some.isInDoubt("/t/zorder-00001-id-a0.parquet", 20, None) && !some.isInDoubt("/t/b", 20, None))
    val file = contentOf(some, 20)
    assert(some.mayBeBack(file) && !some.mayBeBack(contentOf(some, 45)) && !all.mayBeBack(file))
  }
}
