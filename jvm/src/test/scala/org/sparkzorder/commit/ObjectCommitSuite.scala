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
  private val folders = Scene.Folders

  /** After each change, no row is missing for a plain reader, and each is there once for ours. */
  private def watched(table: StoreTable): StoreTable = {
    table.shared.changed = () => {
      table.shared.changed = () => ()
      assert(table.allRows.diff(table.rows).isEmpty, "rows are missing")
      assert(table.seen() == table.allRows, "our reader sees other rows")
      watched(table)
      ()
    }
    table
  }

  private def requests(dirs: Seq[String], keeps: Boolean = true): Int = {
    val table = new StoreTable(dirs)
    val client = table.client
    assert(table.optimize(client, "a", keeps))
    client.calls
  }

  private def dying(work: => Unit): Unit =
    try work
    catch { case _: Died => () }

  private def failing(work: => Unit): Unit =
    try work
    catch { case _: IOException => () }

  private def markers(table: StoreTable): Seq[String] = table.shared.below("/t").filter(_.endsWith(FolderMarker.Name))
  private def isMarked(table: StoreTable, word: String)(marker: String): Boolean =
    new String(table.shared.objects(marker).bytes).contains(word)
  private def retired(table: StoreTable): Int = table.shared.below("/t").count(_.endsWith(".retired"))
  private def isPublishing(table: StoreTable): Boolean = table.shared.below("/t").exists(_.endsWith(".publishing"))

  private def leftBy(table: StoreTable): Seq[String] = table.shared.below("/t").filter(k =>
    k.endsWith(FolderMarker.Name) || k.endsWith(".publishing") || k.contains("staging-")
  )

  /** What must hold once all is recovered. */
  private def assertWhole(table: StoreTable, rows: Seq[Int]): Unit = {
    assert(table.rows == rows)
    assert(table.seen() == rows)
    // Who exchanged files is in the history.
    val owners = table.shared.visible.collect {
      case k if k.contains("part-a-") || k.contains("part-b-") =>
        k.replaceAll(".*part-([ab])-.*", "$1")
    }.toSet
    val known = History.read(table.folder()).map(_.record.operationId).toSet
    assert(owners.subsetOf(known), "the history lacks an operation")
    assert(leftBy(table).isEmpty, "something is left")
    assert(table.shared.uploads.isEmpty, "uploads are left open")
  }

  /** Tables whose owner has died at each request, once for each of some numbers. */
  private def dead(
      fault: StoreFault = StoreFault.DieBefore,
      of: Seq[Seq[String]] = folders,
      numbers: Seq[Int] = Seq(0)
  )(judge: (StoreTable, Int) => Any): Unit =
    for (dirs <- of; at <- 1 to requests(dirs); n <- numbers)
      explored(s"folders $dirs, $fault at request $at, and $n: ") {
        val table = new StoreTable(dirs)
        dying(table.optimize(table.faulty(at, fault), "a"))
        judge(table, n)
      }

  test("a run without faults exchanges the files of each folder") {
    for (dirs <- folders; keeps <- Seq(true, false)) {
      val table = watched(new StoreTable(dirs))
      assert(table.optimize(id = "a", keepsRetired = keeps))
      assertWhole(table, table.allRows)
      assert(table.shared.visible.forall(_.contains("part-a-")))
      assert(retired(table) == (if (keeps) 3 * dirs.size else 0))
    }
  }

  test("every request fails, and a recovery follows that fails as well") {
    for {
      dirs <- folders
      keeps <- Seq(true, false)
      at <- 1 to requests(dirs, keeps)
      fault <- StoreFault.all
      atInRecovery <- Seq(0) ++ Explored.some(12, at, 1 to 30)
      faultInRecovery <- if (atInRecovery == 0) Seq(StoreFault.DieBefore) else StoreFault.all
    } explored(s"folders $dirs, keeps $keeps, $fault at $at, then $faultInRecovery at $atInRecovery: ") {
      val table = watched(new StoreTable(dirs))
      val first = table.faulty(at, fault)
      dying(table.optimize(first, "a", keeps))
      val second = table.faulty(atInRecovery, faultInRecovery)
      dying(failing(table.recover(second)))
      val onTheirWay = first.onItsWay.toSeq ++ second.onItsWay
      onTheirWay.foreach(_())
      table.recover()
      // A marker or an upload that came so late hinders nobody.
      if (onTheirWay.nonEmpty) {
        assert(table.optimize(id = "b"))
        table.shared.uploads.clear()
      }
      assertWhole(table, table.allRows)
    }
  }

  test("the next query ends what a dead owner has begun") {
    dead() { (table, _) =>
      val settled = Recovery.settled(table.folder(), 0L)
      assert(settled.around.isEmpty)
      assert(!isPublishing(table))
      assert(table.rows == table.allRows)
    }
  }

  test("an owner that was taken for dead goes on, while and after it is recovered") {
    for {
      dirs <- folders
      at <- 1 to requests(dirs)
      // The recovery stops at this request until the owner has ended.
      until <- Seq(0) ++ Explored.some(2, at, 1 to 30)
      next <- Seq(false, true)
    } explored(s"folders $dirs, recovered before $at up to $until, next operation $next: ") {
      val table = watched(new StoreTable(dirs))
      val recovery = table.faulty(until, StoreFault.DieBefore)
      val owner = table.beside(at) {
        dying(table.recover(recovery))
        if (next) table.optimize(id = "b")
      }
      table.optimize(owner, "a")
      table.recover()
      assertWhole(table, table.allRows)
    }
  }

  test("a recovery that was slow goes on after the owner has ended and others have followed") {
    for {
      dirs <- folders
      at <- 1 to requests(dirs)
      until <- Explored.some(3, at, 1 to 40)
      refused <- Seq(0, 10, 15, 20, 25)
    } explored(s"folders $dirs, dies at $at, the recovery waits at $until, the other is refused at $refused: ") {
      val table = watched(new StoreTable(dirs))
      dying(table.optimize(table.faulty(at, StoreFault.DieBefore), "a"))
      val slow = table.beside(until) {
        failing(table.recover(table.faulty(refused, StoreFault.Refuses)))
        table.optimize(id = "b")
        table.optimize(id = "c")
      }
      failing(table.recover(slow))
      table.recover()
      assertWhole(table, table.allRows)
    }
  }

  test("two operations meet at every request") {
    for {
      dirs <- folders
      at <- 1 to requests(dirs)
      until <- Seq(0) ++ Explored.some(3, at, 1 to 40)
      fault <- Seq(StoreFault.DieBefore, StoreFault.ThrowAfter, StoreFault.Refuses)
    } explored(s"folders $dirs, the second comes before $at, $fault at $until: ") {
      val table = watched(new StoreTable(dirs))
      table.optimize(table.beside(at)(dying(table.optimize(table.faulty(until, fault), "b"))), "a")
      table.recover()
      assertWhole(table, table.allRows)
    }
  }

  /** What others do to the table, and the rows that must be there afterwards. */
  private sealed abstract class Rival(val act: StoreTable => Unit, val rows: StoreTable => Seq[Int]) {

    /** Rows that may be there or not, since nobody can tell what came first. */
    def unclear(table: StoreTable): Set[Int] = Set.empty
  }
  private def key(table: StoreTable, name: String) = if (table.dirs == Seq("")) s"/t/$name" else s"/t/p=1/$name"
  private def inFirst(table: StoreTable): Set[Int] = table.allRows.filter(_ < 100).toSet

  private case object Appends
      extends Rival(t => t.shared.put(key(t, "part-new.parquet"), Set(1000), 7), t => t.allRows :+ 1000)
  private case object OverwritesFolder
      extends Rival(
        t => {
          val dir = key(t, "x").stripSuffix("/x")
          t.shared.remove(t.shared.below(dir))
          t.shared.put(key(t, "part-new.parquet"), Set(1000), 7)
        },
        t => t.allRows.filterNot(inFirst(t)) :+ 1000
      )
  private case object DeletesInput
      extends Rival(t => t.shared.remove(Seq(key(t, "part-1.parquet"))), _.allRows) {
    override def unclear(t: StoreTable): Set[Int] = Set(10, 11)
  }
  private case object ReplacesInput
      extends Rival(
        t => {
          val file = key(t, "part-1.parquet")
          if (t.shared.objects.contains(file)) t.shared.put(file, Set(10), 33)
        },
        _.allRows
      ) {
    override def unclear(t: StoreTable): Set[Int] = Set(10, 11)
  }
  private case object Vanishes extends Rival(t => t.shared.uploads.clear(), _.allRows)

  test("others append, overwrite, delete and replace at every request, and the owner lives, fails or dies") {
    for {
      dirs <- folders
      keeps <- Seq(true, false)
      rival <- Seq(Appends, OverwritesFolder, DeletesInput, ReplacesInput, Vanishes)
      at <- 1 to requests(dirs, keeps)
      fault <- Seq(None, Some(StoreFault.DieAfter), Some(StoreFault.ThrowBefore))
      after <- if (fault.isEmpty) Seq(0) else Explored.some(2, at, 0 to 12)
      // Nothing is left of an overwritten table that tells a recovery of what was just completed.
      if !(rival == OverwritesFolder && dirs == Seq("") && fault.contains(StoreFault.DieAfter))
    } explored(s"folders $dirs, keeps $keeps, $rival before $at, $fault $after requests later: ") {
      val table = new StoreTable(dirs)
      val owner =
        table.beside(at, fault.fold(0)(_ => at + after), fault.getOrElse(StoreFault.DieBefore))(rival.act(table))
      var isDone = false
      dying { isDone = table.optimize(owner, "a") }
      // Its uploads may have become files after the folder was overwritten, and then it died. Nothing tells that from a
      // side folder that was deleted alone.
      val mayBeUnclear = rival == OverwritesFolder && fault.contains(StoreFault.DieAfter)
      try {
        try table.recover()
        catch {
          // Nothing is lost, and a person decides that the old files are the rows.
          case e: FoldersUnclearException if fault.isDefined && SmallTable.tornFolder(e).isDefined =>
            assert(rival.rows(table).diff(table.rows).isEmpty)
            table.shared.visible.filter(_.contains("part-a-")).foreach(table.shared.objects.remove)
            table.recover()
        }
        val found = table.rows
        val unclear = rival.unclear(table)
        assert(found.filterNot(unclear) == rival.rows(table).filterNot(unclear))
        assert(table.seen() == found)
        // If a file is replaced between the last look and its delete, its rows are there as well. The
        // statement says so.
        if (rival != ReplacesInput || isDone) assert(unclear.forall(r => found.count(_ == r) <= 1))
        // Of an overwritten table a marker may be left, if our own clean-up failed. The next one takes it over.
        assert(table.optimize(id = "b"))
        assert(table.rows.distinct == found.distinct)
        assert(leftBy(table).isEmpty)
      } catch { case _: FoldersUnclearException => assert(mayBeUnclear) }
    }
  }

  test("a table that somebody empties after its owner has died stays empty") {
    dead(StoreFault.DieAfter) { (table, _) =>
      if (isPublishing(table)) {
        table.shared.visible.foreach(table.shared.objects.remove)
        table.recover()
        assert(table.shared.visible.isEmpty && leftBy(table).isEmpty)
      }
    }
  }

  test("a restored backup without its old files keeps its rows") {
    var explored = 0
    dead(StoreFault.DieAfter) { (torn, _) =>
      val hasNew = torn.shared.visible.count(_.contains("part-a-")) == 2 * torn.dirs.size
      if (isPublishing(torn) && markers(torn).exists(isMarked(torn, "staged")) && hasNew) {
        torn.shared.visible.filterNot(_.contains("part-a-")).foreach(torn.shared.objects.remove)
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
    for {
      dirs <- folders
      keeps <- Seq(true, false)
      at <- 1 to requests(dirs, keeps)
      until <- 0 to 40
    } explored(s"folders $dirs, keeps $keeps, overwritten before $at, the other one dies at $until: ") {
      val table = new StoreTable(dirs)
      val shared = table.shared
      val owner = table.beside(at) {
        shared.remove(shared.below("/t"))
        dirs.foreach(dir => shared.put(s"/t/${if (dir.isEmpty) "" else s"$dir/"}part-new.parquet", Set(1000), 7))
        dying(table.optimize(table.faulty(until, StoreFault.DieBefore), "b"))
      }
      table.optimize(owner, "a", keeps)
      table.recover()
      val rows = dirs.map(_ => 1000)
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

    val small = new SmallTable(Seq(""))
    val there = small.folder
    there.ops.mkdirs(there.side)
    val ofStore = record.copy(way = CommitProtocol.ObjectStore)
    there.ops.writeNew(there.record(ofStore, RecordState.Publishing), RecordJson.write(ofStore))
    val file = SideListing.records(there.ops.list(there.side)).head
    assert(intercept[UnreadableRecordException](RecordJson.read(there, file)).getMessage.contains("an object store"))
  }

  test("a copy that is made midway, by one listing, has each row once or is refused") {
    for {
      dirs <- folders
      listed <- 1 to requests(dirs)
      later <- Seq(0, 1, 3, 10, 40)
    } explored(s"folders $dirs, listed at request $listed and copied at ${listed + later}: ") {
      val table = new StoreTable(dirs)
      var keys = Seq.empty[String]
      var copied = Option.empty[MemoryStore]
      def copy(): Unit = {
        val gone = keys.filterNot(table.shared.objects.contains)
        // A program that copies fails when an object is gone.
        if (gone.isEmpty) {
          val made = new MemoryStore
          keys.foreach(k => made.objects(k.replaceFirst("^/t/", "/u/")) = table.shared.objects(k))
          copied = Some(made)
        }
      }
      val client = new MemoryClient(
        table.shared,
        other = {
          case n if n == listed || n == listed + later =>
            if (n == listed) keys = table.shared.below("/t")
            if (n == listed + later) copy()
        }
      )
      assert(table.optimize(client, "a"))
      copied.foreach { store =>
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
          dirs.foreach(dir => new FolderMarker(mine, here, dir).claim("b"))
        } catch { case e: IOException => assert(data == before && e.getMessage.toLowerCase.contains("again")) }
      }
    }
  }

  test("side folders of data folders are deleted while files are exchanged") {
    for {
      dirs <- folders
      at <- 1 to requests(dirs)
      fails <- 0 to 3
    } explored(s"folders $dirs, deleted before request $at, and the one $fails later fails: ") {
      val table = new StoreTable(dirs)
      val owner = table.beside(at, if (fails > 0) at + fails else 0, StoreFault.ThrowBefore) {
        table.shared.remove(dirs.filter(_.nonEmpty).flatMap(d => table.shared.below(s"/t/$d/_zorder")))
      }
      dying(table.optimize(owner, "a"))
      table.recover()
      assert(table.rows == table.allRows)
    }
  }

  test("without a marker only the owner of the lock deletes inputs") {
    var cases = 0
    dead(of = Seq(Seq(""))) { (table, _) =>
      val (outputs, inputs) = table.shared.visible.partition(_.contains("part-a-"))
      val client = table.client
      val here = table.folder(client)
      if (outputs.size == 2 && table.shared.rows(inputs) == table.allRows) table.publishing(here).foreach { file =>
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
    for (dirs <- folders; at <- 1 to requests(dirs)) explored(s"folders $dirs, before request $at: ") {
      val table = new StoreTable(dirs)
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
    dead() { (table, _) =>
      val made = table.shared.visible.filter(_.contains("part-a-"))
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
    assert(checked > folders.size && lengths > 0)
  }

  test("who deletes all new files before the old ones are gone has the old ones, or copies of them in the trash") {
    var late = 0
    dead() { (table, _) =>
      val (made, old) = table.shared.visible.partition(_.contains("part-a-"))
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
    dead(numbers = 0 to 30) { (table, n) =>
      val (made, old) = table.shared.visible.partition(_.contains("part-a-"))
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
          assert(made.tail.forall(table.shared.objects.contains) && old.forall(table.shared.objects.contains))
          table.shared.remove(made)
          table.recover()
          assertWhole(table, table.allRows)
        }
      }
    }
    assert(asked > 0)
  }

  test("a view that is older or newer than the listing names every row once, or files that are gone") {
    for {
      dirs <- folders
      at <- 1 to requests(dirs)
      later <- 0 to 25
    } explored(s"folders $dirs, the view before $at, the listing $later requests later: ") {
      val table = new StoreTable(dirs)
      var views = Seq.empty[ReadAround]
      // A reader that finds a file gone fails, or looks again.
      def read(): Unit =
        if (views.nonEmpty && table.named(views).forall(table.shared.objects.contains))
          assert(table.shared.rows(table.read(views)) == table.allRows)
      val client = new MemoryClient(
        table.shared,
        other = {
          case n if n == at || n == at + later =>
            if (n == at) views = table.views()
            if (n == at + later) read()
        }
      )
      table.optimize(client, "a")
      read()
    }
  }

  test("an operation that was published but not cleaned up keeps its copies") {
    dead() { (table, _) =>
      val isPublished = table.shared.below("/t/_zorder").exists(_.matches(".*/_v\\d+\\.json"))
      table.recover()
      if (isPublished) assert(retired(table) == 3 * table.dirs.size)
    }
  }
}
