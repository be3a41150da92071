package org.sparkzorder.commit

import java.io.IOException

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.TestRest
import org.sparkzorder.commit.log.{History, RecordJson}
import org.sparkzorder.commit.machine.Recovery
import org.sparkzorder.commit.place.{FolderMarker, StorePlace}
import org.sparkzorder.commit.storage.ObjectFileOps

/** The commit on object stores: every request fails, or is the last one, with others beside it. */
@TestRest
class ObjectCommitSuite extends AnyFunSuite with Explores {
  private val both = Seq(true, false)

  /** After each change, no row is missing for a plain reader, and each is there once for ours. */
  private def watch(table: StoreTable): Unit = table.shared.changed = () => {
    table.shared.changed = () => ()
    assert(table.allRows.diff(table.rows).isEmpty, "rows are missing")
    assert(table.seen() == table.allRows, "our reader sees other rows")
    watch(table)
  }

  private def dying(work: => Any): Unit =
    try work
    catch { case _: Died => () }

  private def failing(work: => Any): Unit =
    try work
    catch { case _: IOException => () }

  private def markers(table: StoreTable): Seq[String] = table.shared.below("/t").filter(_.endsWith(FolderMarker.Name))
  private def isMarked(table: StoreTable, word: String)(marker: String): Boolean =
    new String(table.shared.objects(marker).bytes).contains(word)
  private def retired(table: StoreTable): Int = table.shared.below("/t").count(_.endsWith(".retired"))
  private def isPublishing(table: StoreTable): Boolean = table.shared.below("/t").exists(_.endsWith(".publishing"))
  private def isNew(key: String): Boolean = key.contains("part-a-")

  private def leftBy(table: StoreTable): Seq[String] =
    markers(table) ++ table.shared.below("/t").filter(k => k.endsWith(".publishing") || k.contains("staging-"))

  /** All is recovered, and nothing is left over. */
  private def assertWhole(table: StoreTable): Unit = {
    assert(table.rows == table.allRows)
    assert(table.seen() == table.allRows)
    // Who exchanged files is in the history.
    val writer = ".*part-([ab])-.*".r
    val known = History.read(table.folder()).map(_.record.operationId).toSet
    assert(table.shared.visible.collect { case writer(id) => id }.forall(known), "the history lacks an operation")
    assert(leftBy(table).isEmpty, "something is left")
    assert(table.shared.uploads.isEmpty, "uploads are left open")
  }

  /** The number of requests of a run without faults, which exchanges the files of each folder. */
  private def requests(dirs: Seq[String], keeps: Boolean): Int = {
    val table = new StoreTable(dirs)
    watch(table)
    val client = table.client
    assert(table.optimize(client, "a", keeps))
    assertWhole(table)
    assert(table.shared.visible.forall(isNew))
    assert(retired(table) == (if (keeps) 3 * dirs.size else 0))
    client.calls
  }

  /** Tables whose owner meets others at each of its requests, in each of these ways. */
  private def meeting[A](ways: Int => Seq[A], keepsRetired: Seq[Boolean] = Seq(true))(
      act: (StoreTable, Boolean, Int, A) => Any
  ): Unit =
    for (dirs <- Scene.Folders; keeps <- keepsRetired; at <- 1 to requests(dirs, keeps); way <- ways(at))
      explored(s"folders $dirs, keeps $keeps, at request $at, $way: ")(act(new StoreTable(dirs), keeps, at, way))

  /** Tables whose owner has died at each request. */
  private def dead(fault: Fault = Fault.DieBefore)(judge: StoreTable => Any): Unit =
    meeting(_ => Seq(fault)) { (table, _, at, _) =>
      dying(table.optimize(table.faulty(at, fault), "a"))
      judge(table)
    }

  /** A client that something meets at two of its requests. */
  private def twice(table: StoreTable, first: Int, second: Int)(begin: => Any)(end: => Any): MemoryClient =
    new MemoryClient(
      table.shared,
      other = {
        case n if n == first || n == second =>
          if (n == first) begin
          if (n == second) end
          ()
      }
    )

  test("every request fails, and a recovery follows that fails as well") {
    def ways(at: Int) = for {
      fault <- Fault.ofStores
      atInRecovery <- Seq(0) ++ Explored.some(12, at, 1 to 30)
      inRecovery <- if (atInRecovery == 0) Seq(Fault.DieBefore) else Fault.ofStores
    } yield (fault, atInRecovery, inRecovery)
    meeting(ways, both) { case (table, keeps, at, (fault, atInRecovery, inRecovery)) =>
      watch(table)
      val first = table.faulty(at, fault)
      dying(table.optimize(first, "a", keeps))
      val second = table.faulty(atInRecovery, inRecovery)
      dying(failing(table.recover(second)))
      val onTheirWay = first.onItsWay.toSeq ++ second.onItsWay
      onTheirWay.foreach(_())
      table.recover()
      // A marker or an upload that came so late hinders nobody.
      if (onTheirWay.nonEmpty) {
        assert(table.optimize(id = "b"))
        table.shared.uploads.clear()
      }
      assertWhole(table)
    }
  }

  test("the next query ends what a dead owner has begun, and keeps the copies of what was published") {
    dead() { table =>
      val isPublished = table.shared.below("/t/_zorder").exists(_.matches(".*/_v\\d+\\.json"))
      val settled = Recovery.settled(table.folder(), 0L)
      assert(settled.around.isEmpty)
      assert(!isPublishing(table))
      assert(table.rows == table.allRows)
      if (isPublished) assert(retired(table) == 3 * table.dirs.size)
    }
  }

  test("an owner that was taken for dead goes on, while and after it is recovered") {
    // The recovery stops at this request until the owner has ended.
    def ways(at: Int) = for (until <- Seq(0) ++ Explored.some(2, at, 1 to 30); next <- both) yield (until, next)
    meeting(ways) { case (table, _, at, (until, next)) =>
      watch(table)
      val owner = table.beside(at) {
        dying(table.recover(table.faulty(until, Fault.DieBefore)))
        if (next) table.optimize(id = "b")
      }
      table.optimize(owner, "a")
      table.recover()
      assertWhole(table)
    }
  }

  test("a recovery that was slow goes on after the owner has ended and others have followed") {
    def ways(at: Int) =
      for (until <- Explored.some(3, at, 1 to 40); refused <- Seq(0, 10, 15, 20, 25)) yield (until, refused)
    meeting(ways) { case (table, _, at, (until, refused)) =>
      watch(table)
      dying(table.optimize(table.faulty(at, Fault.DieBefore), "a"))
      val slow = table.beside(until) {
        failing(table.recover(table.faulty(refused, Fault.Refuses)))
        table.optimize(id = "b")
        table.optimize(id = "c")
      }
      failing(table.recover(slow))
      table.recover()
      assertWhole(table)
    }
  }

  test("two operations meet at every request") {
    val faults = Seq(Fault.DieBefore, Fault.ThrowAfter, Fault.Refuses)
    def ways(at: Int) = for (until <- Seq(0) ++ Explored.some(3, at, 1 to 40); fault <- faults) yield (until, fault)
    meeting(ways) { case (table, _, at, (until, fault)) =>
      watch(table)
      table.optimize(table.beside(at)(dying(table.optimize(table.faulty(until, fault), "b"))), "a")
      table.recover()
      assertWhole(table)
    }
  }

  /**
   * What others do to the table, and the rows that must be there afterwards.
   *
   * @param unclear rows that may be there or not, since nobody can tell what came first
   */
  private case class Rival(name: String, rows: StoreTable => Seq[Int] = _.allRows, unclear: Set[Int] = Set.empty)(
      val act: StoreTable => Unit
  )

  private def key(table: StoreTable, name: String) = if (table.dirs == Seq("")) s"/t/$name" else s"/t/p=1/$name"

  private val appends =
    Rival("appends", t => t.allRows :+ 1000)(t => t.shared.put(key(t, "part-new.parquet"), Set(1000), 7))
  private val overwritesFolder = Rival("overwrites a folder", t => t.allRows.filter(_ >= 100) :+ 1000) { t =>
    t.shared.remove(t.shared.below(key(t, "x").stripSuffix("/x")))
    appends.act(t)
  }
  private val deletesInput =
    Rival("deletes an input", unclear = Set(10, 11))(t => t.shared.remove(Seq(key(t, "part-1.parquet"))))
  private val replacesInput = Rival("replaces an input", unclear = Set(10, 11)) { t =>
    val file = key(t, "part-1.parquet")
    if (t.shared.objects.contains(file)) t.shared.put(file, Set(10), 33)
  }
  private val vanishes = Rival("lets uploads vanish")(_.shared.uploads.clear())

  test("others append, overwrite, delete and replace at every request, and the owner lives, fails or dies") {
    for {
      dirs <- Scene.Folders
      keeps <- both
      rival <- Seq(appends, overwritesFolder, deletesInput, replacesInput, vanishes)
      at <- 1 to requests(dirs, keeps)
      fault <- Seq(None, Some(Fault.DieAfter), Some(Fault.ThrowBefore))
      after <- if (fault.isEmpty) Seq(0) else Explored.some(2, at, 0 to 12)
      // Nothing is left of an overwritten table that tells a recovery of what was just completed.
      if !(rival == overwritesFolder && dirs == Seq("") && fault.contains(Fault.DieAfter))
    } explored(s"folders $dirs, keeps $keeps, ${rival.name} before $at, $fault $after requests later: ") {
      val table = new StoreTable(dirs)
      val owner = table.beside(at, fault.fold(0)(_ => at + after), fault.getOrElse(Fault.DieBefore))(rival.act(table))
      var isDone = false
      dying { isDone = table.optimize(owner, "a") }
      // Its uploads may have become files after the folder was overwritten, and then it died. Nothing tells that from a
      // side folder that was deleted alone.
      val mayBeUnclear = rival == overwritesFolder && fault.contains(Fault.DieAfter)
      try {
        try table.recover()
        catch {
          // Nothing is lost, and a person decides that the old files are the rows.
          case e: FoldersUnclearException if fault.isDefined && SmallTable.tornFolder(e).isDefined =>
            assert(rival.rows(table).diff(table.rows).isEmpty)
            table.shared.visible.filter(isNew).foreach(table.shared.objects.remove)
            table.recover()
        }
        val found = table.rows
        assert(found.filterNot(rival.unclear) == rival.rows(table).filterNot(rival.unclear))
        assert(table.seen() == found)
        // If a file is replaced between the last look and its delete, its rows are there as well. The
        // statement says so.
        if (rival != replacesInput || isDone) assert(rival.unclear.forall(r => found.count(_ == r) <= 1))
        // Of an overwritten table a marker may be left, if our own clean-up failed. The next one takes it over.
        assert(table.optimize(id = "b"))
        assert(table.rows.distinct == found.distinct)
        assert(leftBy(table).isEmpty)
      } catch { case _: FoldersUnclearException => assert(mayBeUnclear) }
    }
  }

  test("a table that somebody empties after its owner has died stays empty") {
    dead(Fault.DieAfter) { table =>
      if (isPublishing(table)) {
        table.shared.visible.foreach(table.shared.objects.remove)
        table.recover()
        assert(table.shared.visible.isEmpty && leftBy(table).isEmpty)
      }
    }
  }

  test("a restored backup without its old files keeps its rows") {
    var explored = 0
    dead(Fault.DieAfter) { torn =>
      val (made, old) = torn.shared.visible.partition(isNew)
      if (isPublishing(torn) && markers(torn).exists(isMarked(torn, "staged")) && made.size == 2 * torn.dirs.size) {
        old.foreach(torn.shared.objects.remove)
        val e = intercept[FoldersUnclearException](torn.recover())
        assert(SmallTable.tornFolder(e).isDefined)
        assert(torn.rows == torn.allRows)
        torn.recover(torn.client, torn.folder(), Some(Keep.New))
        assert(torn.rows == torn.allRows && leftBy(torn).isEmpty)
        explored += 1
      }
    }
    assert(explored > 0)
  }

  test("somebody overwrites the whole table at every request, and another operation gets the same version") {
    meeting(_ => 0 to 40, both) { (table, keeps, at, until) =>
      val shared = table.shared
      val owner = table.beside(at) {
        shared.remove(shared.below("/t"))
        table.dirs.foreach(dir => shared.put(s"/t/$dir/part-new.parquet".replace("//", "/"), Set(1000), 7))
        dying(table.optimize(table.faulty(until, Fault.DieBefore), "b"))
      }
      table.optimize(owner, "a", keeps)
      table.recover()
      val rows = table.dirs.map(_ => 1000)
      assert(table.rows == rows)
      assert(table.seen() == rows)
      assert(table.optimize(id = "c"))
      assert(table.rows == rows)
      assert(leftBy(table).isEmpty)
    }
  }

  test("an operation that a copy of the table brought from a file system is not ended here, nor the other way round") {
    val table = new StoreTable(Seq(""))
    val here = table.folder()
    val record = Record(1, "a", "OPTIMIZE", 1L, "me", Map.empty, Map.empty, Nil, Nil)
    here.ops.writeNew(here.record(record, RecordState.Publishing), RecordJson.write(record))
    val thrown = intercept[UnreadableRecordException](table.recover())
    assert(thrown.getMessage.contains("began on a file system"))
    assert(table.rows == table.allRows)

    val there = new SmallTable(Seq("")).folder
    there.ops.mkdirs(there.side)
    val ofStore = record.copy(way = CommitProtocol.ObjectStore)
    there.ops.writeNew(there.record(ofStore, RecordState.Publishing), RecordJson.write(ofStore))
    val file = SideListing.records(there.ops.list(there.side)).head
    assert(intercept[UnreadableRecordException](RecordJson.read(there, file)).getMessage.contains("an object store"))
  }

  test("a copy that is made midway, by one listing, has each row once or is refused") {
    meeting(_ => Seq(0, 1, 3, 10, 40)) { (table, _, listed, later) =>
      var keys = Seq.empty[String]
      val store = new MemoryStore
      // A program that copies fails when an object is gone.
      def copy(): Unit = if (keys.forall(table.shared.objects.contains))
        keys.foreach(k => store.objects(k.replaceFirst("^/t/", "/u/")) = table.shared.objects(k))
      val client = twice(table, listed, listed + later) { keys = table.shared.below("/t") }(copy())
      assert(table.optimize(client, "a"))
      if (store.objects.nonEmpty) {
        def data = store.below("/u").filterNot(_.contains("/_"))
        val before = data
        val mine = new MemoryClient(store)
        val here = TableFolder(new Path("mem:/u"), new ObjectFileOps(mine), threads = 1)
        try {
          try table.recover(mine, here)
          catch {
            case _: FoldersUnclearException =>
              assert(data == before)
              table.recover(mine, here, Some(if (later % 2 == 0) Keep.Old else Keep.New))
          }
          assert(store.rows(data) == table.allRows)
          assert(!store.below("/u").exists(_.endsWith(".publishing")))
          table.dirs.foreach(dir => new FolderMarker(mine, here, dir).claim("b"))
        } catch { case e: IOException => assert(data == before && e.getMessage.toLowerCase.contains("again")) }
      }
    }
  }

  test("side folders of data folders are deleted while files are exchanged") {
    meeting(_ => 0 to 3) { (table, _, at, fails) =>
      val owner = table.beside(at, if (fails > 0) at + fails else 0, Fault.ThrowBefore) {
        table.shared.remove(table.dirs.filter(_.nonEmpty).flatMap(d => table.shared.below(s"/t/$d/_zorder")))
      }
      dying(table.optimize(owner, "a"))
      table.recover()
      assert(table.rows == table.allRows)
    }
  }

  test("without a marker only the owner of the lock deletes inputs") {
    var cases = 0
    dead() { table =>
      val (outputs, inputs) = table.shared.visible.partition(isNew)
      val client = table.client
      val here = table.folder(client)
      val isWhole = outputs.size == 2 && table.shared.rows(inputs) == table.allRows
      if (table.dirs == Seq("") && isWhole) table.publishing(here).foreach { file =>
        table.shared.remove(markers(table))
        val record = RecordJson.read(here, file)
        val seen = scala.collection.mutable.Map[String, Decision]("" -> Decision.Exchanged)
        val place = new StorePlace(client, here, record, record.folders.head, false, () => false, seen, 1)
        assert(place.decision().isEmpty)
        assertThrows[IOException](place.retire(None))
        assert(inputs.forall(table.shared.objects.contains))
        cases += 1
      }
    }
    assert(cases > 0)
  }

  test("others recover and uninstall while an owner that was taken for dead stands still") {
    meeting(_ => Seq("uninstalled")) { (table, _, at, _) =>
      val owner = table.beside(at) {
        table.recover()
        table.shared.remove(table.shared.below("/t").filter(_.contains("/_zorder/")))
      }
      table.optimize(owner, "a")
      table.recover()
      assert(table.rows == table.allRows)
    }
  }

  test("a new file that a program rewrote after a death is a new file, and is read with its length") {
    var checked = 0
    var lengths = 0
    dead() { table =>
      val made = table.shared.visible.filter(isNew)
      if (made.size == 2 * table.dirs.size && table.publishing(table.folder()).nonEmpty) {
        checked += 1
        table.shared.put(made.head, table.shared.objects(made.head).rows + 900, 777L)
        val read = table.views().flatMap(_.add).filter(_.meta.path.toUri.getPath == made.head)
        assert(read.forall(_.meta.length == 777L))
        lengths += read.size
        table.recover()
        assert(table.rows == (table.allRows :+ 900).sorted)
      }
    }
    assert(checked > Scene.Folders.size && lengths > 0)
  }

  test("who deletes all new files before the old ones are gone has the old ones, or copies of them in the trash") {
    var late = 0
    dead() { table =>
      val (made, old) = table.shared.visible.partition(isNew)
      if (table.shared.rows(old) == table.allRows) {
        table.shared.remove(made)
        table.recover()
        assert(table.rows == table.allRows)
        // The dead process had sent its requests to delete them, and they arrive now.
        if (made.size == 2 * table.dirs.size) {
          table.shared.remove(old)
          assert(table.shared.rows(table.shared.below("/t").filter(_.contains("/trash/"))) == table.allRows)
          late += 1
        }
      }
    }
    assert(late > 0)
  }

  test("who deletes one new file before the old ones are gone is asked, and another process may delete old ones") {
    var asked = 0
    meeting(_ => 0 to 30) { (table, _, at, n) =>
      dying(table.optimize(table.faulty(at, Fault.DieBefore), "a"))
      val (made, old) = table.shared.visible.partition(isNew)
      val isExchanged = markers(table).forall(isMarked(table, "exchanged"))
      if (isExchanged && made.nonEmpty && table.shared.rows(old) == table.allRows) {
        val deleted = table.shared.rows(made.take(1))
        table.shared.remove(made.take(1))
        // The other one looked before the file was deleted, so it deletes the old ones before request n.
        try table.recover(table.beside(n)(table.shared.remove(old)))
        catch {
          case e: IOException =>
            assert(e.getMessage.contains("has all old files and some of the new ones"))
            asked += 1
        }
        val found = table.rows
        assert(table.allRows.diff(deleted).forall(found.contains))
        if (n == 0) {
          assert((made.tail ++ old).forall(table.shared.objects.contains))
          table.shared.remove(made)
          table.recover()
          assertWhole(table)
        }
      }
    }
    assert(asked > 0)
  }

  test("a view that is older or newer than the listing names every row once, or files that are gone") {
    meeting(_ => 0 to 25) { (table, _, at, later) =>
      var views = Seq.empty[ReadAround]
      // A reader that finds a file gone fails, or looks again.
      def read(): Unit =
        if (views.nonEmpty && table.named(views).forall(table.shared.objects.contains))
          assert(table.shared.rows(table.read(views)) == table.allRows)
      table.optimize(twice(table, at, at + later) { views = table.views() }(read()), "a")
      read()
    }
  }
}
