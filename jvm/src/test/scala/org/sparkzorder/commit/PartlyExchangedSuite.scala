package org.sparkzorder.commit

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.commit.log.{History, HistoryEntry}

/**
 * Others overwrite one of two folders while an operation runs. The statement fails if that folder was not exchanged,
 * and the history counts the files of the other one alone.
 */
class PartlyExchangedSuite extends AnyFunSuite with Explorer {
  private val dirs = Scene.Two

  private def count(entry: HistoryEntry): Map[String, String] =
    entry.record.metrics.filter { case (name, _) => Set("numRemovedFiles", "numAddedFiles", "rowHash")(name) }

  private val one = Counted.files(removed = 3, added = 2)

  /** How many operations of each kind there were: with a part, with all. */
  private def judge(end: Option[Throwable], history: Seq[HistoryEntry], folders: Record => Int): Int = {
    val done = history.find(_.record.operationId == "op-1")
    done.foreach { entry =>
      val isPart = folders(entry.record) == 1
      val whole = Counted.metrics(entry.record.inputs, entry.record.outputs)
      assert(count(entry) == (if (isPart) one else whole))
      assert(
        !isPart || end.exists {
          case e: CommitConflictException => e.paths.exists(_.contains("p=1"))
          case _                          => false
        },
        s"ended with $end"
      )
    }
    done.fold(0)(e => folders(e.record))
  }

  private def checked(states: Seq[Int]): Unit = assert(states.contains(1) && states.contains(2), states)

  /** The table after its first folder was overwritten at any call, with its hidden folder or its visible files alone. */
  private def overwritten(isWhole: Boolean)(judge: (SmallTable, Option[Throwable]) => Any): Unit =
    meeting(new Scene(Statement.optimize, dirs)) { table =>
      val gone = if (isWhole) table.fs.below("/t/p=1") else table.fs.visible.filter(_.startsWith("/t/p=1/"))
      gone.foreach(table.fs.nodes.remove)
      table.fs.put("/t/p=1/other.parquet", Set(900), 10L)
    }(judge)

  test("in place, overwritten with its hidden folder, or its visible files alone") {
    for (isWhole <- Seq(true, false)) {
      val states = mutable.Buffer.empty[Int]
      overwritten(isWhole)((table, end) => states += judge(end, table.history, _.folders.size))
      checked(states.toSeq)
    }
  }

  test("in place, the note of the outcome names the folder") {
    val notes = mutable.Buffer.empty[Option[String]]
    overwritten(isWhole = true) { (table, _) =>
      notes ++= table.history.filter(_.record.folders.size == 1).map(_.outcome.map(_.reason))
    }
    val said = "the folder was overwritten or deleted while files were being exchanged: p=1"
    assert(notes.contains(Some(said)) && notes.forall(_.exists(_.contains("p=1"))), notes)
  }

  test("on an object store") {
    val whole = new StoreTable(dirs)
    val client = new MemoryClient(whole.shared)
    assert(whole.optimize(client, "op-1"))
    checked((1 to client.calls).map { k =>
      val table = new StoreTable(dirs)
      def overwrite(): Unit = {
        table.shared.remove(table.shared.objects.keys.filter(_.startsWith("/t/p=1/")).toSeq)
        table.shared.put("/t/p=1/other.parquet", Set(900), 10L)
      }
      val isDone = table.optimize(new MemoryClient(table.shared, other = { case `k` => overwrite() }), "op-1")
      val history = History.read(table.folder(new MemoryClient(table.shared)))
      val end = if (isDone) None else Some(new CommitConflictException(Seq("p=1"), "not done"))
      withClue(s"before request $k: ")(judge(end, history, _.folders.size))
    })
  }

  test("by the catalog, where a file of each folder is copied") {
    val partitions = Seq("1", "2").map(v => CatalogPartition(Seq("p" -> v)))
    val states = Iterator.from(1).map { k =>
      val table = new MemoryCatalogTable(partitions)
      val at = table.locations(partitions.head)
      val ops = table.beside(k)(table.overwrite(at, "other", Set(900)))
      val end = table.attempt("op-1")(table.optimize(ops, "op-1", keeps = true))
      val history = History.read(table.folder(table.ops))
      history.find(_.record.operationId == "op-1").foreach { entry =>
        val isPart = entry.record.locationChanges.size == 1
        if (isPart) assert(count(entry) == Counted.files(removed = 2, added = 2), s"before call $k")
        else assert(count(entry).contains("rowHash"), s"before call $k")
        assert(!isPart || end.exists(_.isInstanceOf[CommitConflictException]), s"before call $k: $end")
      }
      (ops.calls >= k, history.headOption.fold(0)(_.record.locationChanges.size))
    }.takeWhile(_._1).map(_._2).toVector
    checked(states)
  }
}
