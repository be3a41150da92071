package org.sparkzorder.commit

import java.io.IOException

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.TestRest
import org.sparkzorder.commit.log.{History, RecordJson}
import org.sparkzorder.commit.machine.ScanView
import org.sparkzorder.commit.place.{FolderMarker, StorePlace, StorePlaces}
import org.sparkzorder.commit.storage.ObjectFileOps

/** The commit on object stores: every request fails, or is the last one, with others beside it. */
@TestRest
class ObjectCommitSuite extends AnyFunSuite with Explores {

  private val folders = Seq(Seq(""), Seq("p=1", "p=2"))

  /** After each change, no row is missing for a plain reader, and each is there once for ours. */
  private def watched(table: StoreTable): StoreTable = {
    table.shared.changed = () => {
      table.shared.changed = () => ()
      val plain = table.shared.rows(table.shared.visible)
      assert(table.allRows.diff(plain).isEmpty, "rows are missing")
      assert(table.seen() == table.allRows, "our reader sees other rows")
      watched(table)
      ()
    }
    table
  }

  private def requests(dirs: Seq[String], keeps: Boolean): Int = {
    val table = new StoreTable(dirs)
    val client = new MemoryClient(table.shared)
    assert(table.optimize(client, "a", keeps))
    client.calls
  }

  private def dying(work: => Unit): Unit =
    try work
    catch { case _: Died => () }

  private def leftBy(table: StoreTable): Seq[String] = table.shared.below("/t").filter(k =>
    k.endsWith(FolderMarker.Name) || k.endsWith(".publishing") || k.contains("staging-")
  )

  /** What must hold once all is recovered. */
  private def assertWhole(table: StoreTable, rows: Seq[Int]): Unit = {
    assert(table.shared.rows(table.shared.visible) == rows)
    assert(table.seen() == rows)
    // Who exchanged files is in the history.
    val owners = table.shared.visible.collect {
      case k if k.contains("part-a-") || k.contains("part-b-") =>
        k.replaceAll(".*part-([ab])-.*", "$1")
    }.toSet
    val here = table.folder(new MemoryClient(table.shared))
    assert(owners.subsetOf(History.read(here).map(_.record.operationId).toSet), "the history lacks an operation")
    assert(leftBy(table).isEmpty, "something is left")
    assert(table.shared.uploads.isEmpty, "uploads are left open")
  }

  test("a run without faults exchanges the files of each folder") {
    for (dirs <- folders; keeps <- Seq(true, false)) {
      val table = watched(new StoreTable(dirs))
      val client = new MemoryClient(table.shared)
      assert(table.optimize(client, "a", keeps))
      assertWhole(table, table.allRows)
      assert(table.shared.visible.forall(_.contains("part-a-")))
      val copies = table.shared.below("/t").count(_.endsWith(".retired"))
      assert(copies == (if (keeps) 3 * dirs.size else 0))
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
    } explore {
      withClue(s"folders $dirs, keeps $keeps, $fault at $at, then $faultInRecovery at $atInRecovery: ") {
        val table = watched(new StoreTable(dirs))
        val first = new MemoryClient(table.shared, at, fault)
        dying(table.optimize(first, "a", keeps))
        val second = new MemoryClient(table.shared, atInRecovery, faultInRecovery)
        dying(try table.recover(second)
        catch { case _: IOException => () })
        val onTheirWay = first.onItsWay.toSeq ++ second.onItsWay
        onTheirWay.foreach(_())
        table.recover(new MemoryClient(table.shared))
        // A marker or an upload that came so late hinders nobody.
        if (onTheirWay.nonEmpty) {
          assert(table.optimize(new MemoryClient(table.shared), "b"))
          table.shared.uploads.clear()
        }
        assertWhole(table, table.allRows)
      }
    }
  }

  test("an owner that was taken for dead goes on, while and after it is recovered") {
    for {
      dirs <- folders
      at <- 1 to requests(dirs, keeps = true)
      // The recovery stops at this request until the owner has ended.
      until <- Seq(0) ++ Explored.some(2, at, 1 to 30)
      next <- Seq(false, true)
    } explore {
      withClue(s"folders $dirs, recovered before $at up to $until, next operation $next: ") {
        val table = watched(new StoreTable(dirs))
        val recovery = new MemoryClient(table.shared, until, StoreFault.DieBefore)
        val owner = new MemoryClient(
          table.shared,
          other = {
            case n if n == at =>
              dying(table.recover(recovery))
              if (next) table.optimize(new MemoryClient(table.shared), "b")
          }
        )
        table.optimize(owner, "a")
        table.recover(new MemoryClient(table.shared))
        assertWhole(table, table.allRows)
      }
    }
  }

  test("a recovery that was slow goes on after the owner has ended and others have followed") {
    for {
      dirs <- folders
      at <- 1 to requests(dirs, keeps = true)
      until <- Explored.some(3, at, 1 to 40)
      refused <- Seq(0, 10, 15, 20, 25)
    } explore {
      withClue(s"folders $dirs, dies at $at, the recovery waits at $until, the other is refused at $refused: ") {
        val table = watched(new StoreTable(dirs))
        dying(table.optimize(new MemoryClient(table.shared, at, StoreFault.DieBefore), "a"))
        val slow = new MemoryClient(
          table.shared,
          other = {
            case n if n == until =>
              try table.recover(new MemoryClient(table.shared, refused, StoreFault.Refuses))
              catch { case _: IOException => () }
              table.optimize(new MemoryClient(table.shared), "b")
              table.optimize(new MemoryClient(table.shared), "c")
          }
        )
        try table.recover(slow)
        catch { case _: IOException => () }
        table.recover(new MemoryClient(table.shared))
        assertWhole(table, table.allRows)
      }
    }
  }

  test("two operations meet at every request") {
    for {
      dirs <- folders
      at <- 1 to requests(dirs, keeps = true)
      until <- Seq(0) ++ Explored.some(3, at, 1 to 40)
      fault <- Seq(StoreFault.DieBefore, StoreFault.ThrowAfter, StoreFault.Refuses)
    } explore {
      withClue(s"folders $dirs, the second comes before $at, $fault at $until: ") {
        val table = watched(new StoreTable(dirs))
        val owner = new MemoryClient(
          table.shared,
          other = { case n if n == at => dying(table.optimize(new MemoryClient(table.shared, until, fault), "b")) }
        )
        table.optimize(owner, "a")
        table.recover(new MemoryClient(table.shared))
        assertWhole(table, table.allRows)
      }
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
      extends Rival(
        t => t.shared.put(key(t, "part-new.parquet"), Set(1000), 7),
        t => t.allRows :+ 1000
      )
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
    } explore {
      withClue(s"folders $dirs, keeps $keeps, $rival before $at, $fault $after requests later: ") {
        val table = new StoreTable(dirs)
        val owner = new MemoryClient(
          table.shared,
          fault.fold(0)(_ => at + after),
          fault.getOrElse(StoreFault.DieBefore),
          other = { case n if n == at => rival.act(table) }
        )
        var isDone = false
        dying { isDone = table.optimize(owner, "a") }
        // Its uploads may have become files after the folder was overwritten, and then it died. Nothing tells that from a
        // side folder that was deleted alone.
        val mayBeUnclear = rival == OverwritesFolder && fault.contains(StoreFault.DieAfter)
        try {
          try table.recover(new MemoryClient(table.shared))
          catch {
            // Nothing is lost, and a person decides that the old files are the rows.
            case e: FoldersUnclearException if fault.isDefined && SmallTable.tornFolder(e).isDefined =>
              assert(rival.rows(table).diff(table.shared.rows(table.shared.visible)).isEmpty)
              table.shared.visible.filter(_.contains("part-a-")).foreach(table.shared.objects.remove)
              table.recover(new MemoryClient(table.shared))
          }
          val found = table.shared.rows(table.shared.visible)
          val unclear = rival.unclear(table)
          assert(found.filterNot(unclear) == rival.rows(table).filterNot(unclear))
          assert(table.seen() == found)
          // If a file is replaced between the last look and its delete, its rows are there as well. The
          // statement says so.
          if (rival != ReplacesInput || isDone) assert(unclear.forall(r => found.count(_ == r) <= 1))
          // Of an overwritten table a marker may be left, if our own clean-up failed. The next one takes it over.
          assert(table.optimize(new MemoryClient(table.shared), "b"))
          assert(table.shared.rows(table.shared.visible).distinct == found.distinct)
          assert(leftBy(table).isEmpty)
        } catch { case _: FoldersUnclearException => assert(mayBeUnclear) }
      }
    }
  }

  test("a table that somebody empties after its owner has died stays empty, and a backup keeps its rows") {
    var explored = 0
    for (dirs <- folders; k <- 1 to requests(dirs, keeps = true)) {
      def dead(): StoreTable = {
        val table = new StoreTable(dirs)
        dying(table.optimize(new MemoryClient(table.shared, k, StoreFault.DieAfter), "a"))
        table
      }
      def isPublishing(t: StoreTable) = t.shared.below("/t").exists(_.endsWith(".publishing"))
      withClue(s"folders $dirs, death after request $k: ") {
        val emptied = dead()
        if (isPublishing(emptied)) {
          emptied.shared.visible.foreach(emptied.shared.objects.remove)
          emptied.recover(new MemoryClient(emptied.shared))
          assert(emptied.shared.visible.isEmpty && leftBy(emptied).isEmpty)
        }
        val torn = dead()
        val isStaged = torn.shared.below("/t").filter(_.endsWith(FolderMarker.Name))
          .exists(key => new String(torn.shared.objects(key).bytes).contains("staged"))
        val hasNew = torn.shared.visible.count(_.contains("part-a-")) == 2 * dirs.size
        if (isPublishing(torn) && isStaged && hasNew) {
          torn.shared.visible.filterNot(_.contains("part-a-")).foreach(torn.shared.objects.remove)
          val e = intercept[FoldersUnclearException](torn.recover(new MemoryClient(torn.shared)))
          assert(SmallTable.tornFolder(e).isDefined)
          assert(torn.shared.rows(torn.shared.visible) == torn.allRows)
          val client = new MemoryClient(torn.shared)
          torn.recover(client, torn.folder(client), Some(Keep.New))
          assert(torn.shared.rows(torn.shared.visible) == torn.allRows && leftBy(torn).isEmpty)
          explored += 1
        }
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
    } explore {
      withClue(s"folders $dirs, keeps $keeps, overwritten before $at, the other one dies at $until: ") {
        val table = new StoreTable(dirs)
        val shared = table.shared
        def overwrite(): Unit = {
          shared.remove(shared.below("/t"))
          dirs.foreach(dir => shared.put(s"/t/${if (dir.isEmpty) "" else s"$dir/"}part-new.parquet", Set(1000), 7))
          dying(table.optimize(new MemoryClient(shared, until), "b"))
        }
        val owner = new MemoryClient(shared, other = { case n if n == at => overwrite() })
        table.optimize(owner, "a", keeps)
        table.recover(new MemoryClient(shared))
        assert(shared.rows(shared.visible) == dirs.map(_ => 1000))
        assert(table.seen() == dirs.map(_ => 1000))
        assert(table.optimize(new MemoryClient(shared), "c"))
        assert(shared.rows(shared.visible) == dirs.map(_ => 1000))
        assert(leftBy(table).isEmpty)
      }
    }
  }

  test("an operation that a copy of the table brought from a file system is not ended here, nor the other way round") {
    val table = new StoreTable(Seq(""))
    val here = table.folder(new MemoryClient(table.shared))
    val record = Record(1, "a", "OPTIMIZE", 1L, "me", Map.empty, Map.empty, Nil, Nil)
    here.ops.writeNew(here.record(record, RecordState.Publishing), RecordJson.write(record))
    val thrown = intercept[UnreadableRecordException](table.recover(new MemoryClient(table.shared)))
    assert(thrown.getMessage.contains("began on a file system"))
    assert(table.shared.rows(table.shared.visible) == table.allRows)

    val small = new SmallTable(Seq(""))
    val there = TableFolder(small.root, new MemoryOps(small.fs))
    there.ops.mkdirs(there.side)
    val ofStore = record.copy(way = Way.ObjectStore)
    there.ops.writeNew(there.record(ofStore, RecordState.Publishing), RecordJson.write(ofStore))
    val file = SideListing.records(there.ops.list(there.side)).head
    assert(intercept[UnreadableRecordException](RecordJson.read(there, file)).getMessage.contains("an object store"))
  }

  test("a copy that is made midway, by one listing, has each row once or is refused") {
    for {
      dirs <- folders
      listed <- 1 to requests(dirs, keeps = true)
      later <- Seq(0, 1, 3, 10, 40)
    } explore {
      withClue(s"folders $dirs, listed at request $listed and copied at ${listed + later}: ") {
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
  }

  test("side folders of data folders are deleted while files are exchanged") {
    for {
      dirs <- folders
      at <- 1 to requests(dirs, keeps = true)
      fails <- 0 to 3
    } explore {
      withClue(s"folders $dirs, deleted before request $at, and the one $fails later fails: ") {
        val table = new StoreTable(dirs)
        def delete(): Unit =
          table.shared.remove(dirs.filter(_.nonEmpty).flatMap(d => table.shared.below(s"/t/$d/_zorder")))
        val client =
          new MemoryClient(
            table.shared,
            if (fails > 0) at + fails else 0,
            StoreFault.ThrowBefore,
            { case n if n == at => delete() }
          )
        dying(table.optimize(client, "a"))
        table.recover(new MemoryClient(table.shared))
        assert(table.shared.rows(table.shared.visible) == table.allRows)
      }
    }
  }

  test("without a marker only the owner of the lock deletes inputs") {
    var cases = 0
    for (at <- 1 to requests(Seq(""), keeps = true)) {
      val table = new StoreTable(Seq(""))
      val inputs = table.shared.visible
      dying(table.optimize(new MemoryClient(table.shared, at, StoreFault.DieBefore), "a"))
      val client = new MemoryClient(table.shared)
      val here = table.folder(client)
      val records = SideListing.records(client.list(here.side)).filter(_.state == RecordState.Publishing)
      val outputs = table.shared.visible.count(_.contains("part-a-"))
      if (outputs == 2 && inputs.forall(table.shared.objects.contains)) records.foreach { file =>
        table.shared.remove(table.shared.below("/t").filter(_.endsWith(FolderMarker.Name)))
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
    for (dirs <- folders; at <- 1 to requests(dirs, keeps = true)) explore {
      withClue(s"folders $dirs, before request $at: ") {
        val table = new StoreTable(dirs)
        def others(): Unit = {
          table.recover(new MemoryClient(table.shared))
          table.shared.remove(table.shared.below("/t").filter(_.contains("/_zorder/")))
        }
        table.optimize(new MemoryClient(table.shared, other = { case n if n == at => others() }), "a")
        table.recover(new MemoryClient(table.shared))
        assert(table.shared.rows(table.shared.visible) == table.allRows)
      }
    }
  }

  test("a new file that a program rewrote after a death is a new file, and is read with its length") {
    var checked = 0
    var lengths = 0
    for (dirs <- folders; at <- 1 to requests(dirs, keeps = true)) explore {
      val table = new StoreTable(dirs)
      dying(table.optimize(new MemoryClient(table.shared, at, StoreFault.DieBefore), "a"))
      val made = table.shared.visible.filter(_.contains("part-a-"))
      val client = new MemoryClient(table.shared)
      val here = table.folder(client)
      val file = SideListing.records(client.list(here.side)).find(_.state == RecordState.Publishing)
      if (made.size == 2 * dirs.size && file.isDefined) withClue(s"folders $dirs, died at request $at: ") {
        checked += 1
        val rows = table.shared.objects(made.head).rows + 900
        table.shared.put(made.head, rows, 777L)
        val places = new StorePlaces(client, here, threads = 1)
        val view =
          try Some(ScanView.ofOperation(places, here, RecordJson.read(here, file.get), lives = true, threads = 1))
          catch { case _: java.io.FileNotFoundException => None }
        val read = view.toSeq.flatMap(_.add).filter(_.meta.path.toUri.getPath == made.head)
        assert(read.forall(_.meta.length == 777L))
        lengths += read.size
        table.recover(new MemoryClient(table.shared))
        assert(table.shared.rows(table.shared.visible) == (table.allRows :+ 900).sorted)
      }
    }
    assert(checked > folders.size && lengths > 0)
  }

  test("who deletes all new files before the old ones are gone has the old ones, or copies of them in the trash") {
    var late = 0
    for (dirs <- folders; at <- 1 to requests(dirs, keeps = true)) explore {
      val table = new StoreTable(dirs)
      dying(table.optimize(new MemoryClient(table.shared, at, StoreFault.DieBefore), "a"))
      val (made, old) = table.shared.visible.partition(_.contains("part-a-"))
      if (table.shared.rows(old) == table.allRows) {
        table.shared.remove(made)
        table.recover(new MemoryClient(table.shared))
        assert(table.shared.rows(table.shared.visible) == table.allRows, s"folders $dirs, died at request $at")
        // The dead process had sent its requests to delete them, and they arrive now.
        if (made.size == 2 * dirs.size) {
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
    for (dirs <- folders; at <- 1 to requests(dirs, keeps = true); n <- 0 to 30) explore {
      val table = new StoreTable(dirs)
      dying(table.optimize(new MemoryClient(table.shared, at, StoreFault.DieBefore), "a"))
      val (made, old) = table.shared.visible.partition(_.contains("part-a-"))
      val isExchanged = table.shared.below("/t").filter(_.endsWith(FolderMarker.Name))
        .forall(key => new String(table.shared.objects(key).bytes).contains("exchanged"))
      if (isExchanged && made.nonEmpty && table.shared.rows(old) == table.allRows) {
        val deleted = table.shared.rows(made.take(1))
        table.shared.remove(made.take(1))
        // The other one looked before the file was deleted, so it deletes the old ones now.
        val slow = new MemoryClient(table.shared, other = { case c if c == n => table.shared.remove(old) })
        withClue(s"folders $dirs, died at request $at, old ones go before request $n: ") {
          try table.recover(slow)
          catch {
            case e: IOException =>
              assert(e.getMessage.contains("has all old files and some of the new ones"))
              asked += 1
          }
          val found = table.shared.rows(table.shared.visible)
          assert(table.allRows.diff(deleted).forall(found.contains))
          if (n == 0) {
            assert(made.tail.forall(table.shared.objects.contains) && old.forall(table.shared.objects.contains))
            table.shared.remove(made)
            table.recover(new MemoryClient(table.shared))
            assertWhole(table, table.allRows)
          }
        }
      }
    }
    assert(asked > 0)
  }

  test("a view that is older or newer than the listing names every row once, or files that are gone") {
    for {
      dirs <- folders
      at <- 1 to requests(dirs, keeps = true)
      later <- 0 to 25
    } explore {
      withClue(s"folders $dirs, the view before $at, the listing $later requests later: ") {
        val table = new StoreTable(dirs)
        var views = Seq.empty[ReadAround]
        def look(): Unit = {
          val client = new MemoryClient(table.shared)
          val here = table.folder(client)
          views = SideListing.records(client.list(here.side)).filter(_.state == RecordState.Publishing).flatMap { f =>
            try Some(ScanView.ofOperation(
                new StorePlaces(client, here, 1),
                here,
                RecordJson.read(here, f),
                lives = true,
                threads = 1
              ))
            catch { case _: java.io.FileNotFoundException => None }
          }
        }
        def read(): Unit = if (views.nonEmpty) {
          val hidden = views.flatMap(_.leaveOut).toSet
          val named = views.flatMap(_.add).map(_.meta.path.toUri.getPath)
          // A reader that finds a file gone fails, or looks again.
          if (named.forall(table.shared.objects.contains))
            assert(
              table.shared.rows(table.shared.visible.filterNot(k => hidden(k.stripPrefix("/t/"))) ++ named) ==
                table.allRows
            )
        }
        val client = new MemoryClient(
          table.shared,
          other = {
            case n if n == at && later == 0 => look(); read()
            case n if n == at               => look()
            case n if n == at + later       => read()
          }
        )
        table.optimize(client, "a")
        read()
      }
    }
  }

  test("an operation that was published but not cleaned up keeps its copies") {
    for (dirs <- folders; at <- 1 to requests(dirs, keeps = true)) explore {
      val table = new StoreTable(dirs)
      dying(table.optimize(new MemoryClient(table.shared, at, StoreFault.DieBefore), "a"))
      val isPublished = table.shared.below("/t/_zorder").exists(_.matches(".*/_v\\d+\\.json"))
      table.recover(new MemoryClient(table.shared))
      val copies = table.shared.below("/t").count(_.endsWith(".retired"))
      if (isPublished) assert(copies == 3 * dirs.size)
    }
  }
}
