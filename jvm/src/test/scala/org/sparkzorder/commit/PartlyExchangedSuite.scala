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

  private def conflicts(end: Option[Throwable]): Option[Seq[String]] =
    end.collect { case e: CommitConflictException => e.paths }

  /** In how many folders the operation has exchanged files. */
  private def judge(end: Option[Throwable], history: Seq[HistoryEntry]): Int =
    history.find(_.record.operationId == "op-1").fold(0) { entry =>
      val isPart = entry.record.folders.size == 1
      val part = Counted.files(removed = 3, added = 2)
      assert(count(entry) == (if (isPart) part else Counted.metrics(entry.record.inputs, entry.record.outputs)))
      if (isPart) assert(conflicts(end).exists(_.exists(_.contains("p=1"))), s"ended with $end")
      entry.record.folders.size
    }

  private def checked(states: Iterable[Int]): Unit = assert(Seq(1, 2).forall(states.toSet), states)

  test("in place, where the note of the outcome names the folder") {
    for (isWhole <- Seq(true, false)) {
      val states = mutable.Buffer.empty[Int]
      val notes = mutable.Buffer.empty[Option[String]]
      meeting(new Scene(Statement.optimize, dirs)) { table =>
        // With its hidden folder, or its visible files alone.
        val gone = if (isWhole) table.fs.below("/t/p=1") else table.fs.visible.filter(_.startsWith("/t/p=1/"))
        gone.foreach(table.fs.nodes.remove)
        table.fs.put("/t/p=1/other.parquet", Set(900), 10L)
      } { (table, end) =>
        states += judge(end, table.history)
        notes ++= table.history.filter(_.record.folders.size == 1).map(_.outcome.map(_.reason))
      }
      checked(states)
      val said = "the folder was overwritten or deleted while files were being exchanged: p=1"
      if (isWhole) assert(notes.contains(Some(said)) && notes.forall(_.exists(_.contains("p=1"))), notes)
    }
  }

  test("on an object store") {
    val whole = new StoreTable(dirs)
    val client = whole.client
    assert(whole.optimize(client, "op-1"))
    checked((1 to client.calls).map { k =>
      val table = new StoreTable(dirs)
      val isDone = table.optimize(
        table.beside(k) {
          table.shared.remove(table.shared.below("/t/p=1"))
          table.shared.put("/t/p=1/other.parquet", Set(900), 10L)
        },
        "op-1"
      )
      val end = Option.unless(isDone)(new CommitConflictException(Seq("p=1"), "not done"))
      withClue(s"before request $k: ")(judge(end, History.read(table.folder())))
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
        if (entry.record.locationChanges.size == 1) {
          assert(count(entry) == Counted.files(removed = 2, added = 2), s"before call $k")
          assert(conflicts(end).isDefined, s"before call $k: $end")
        } else assert(count(entry).contains("rowHash"), s"before call $k")
      }
      (ops.calls >= k, history.headOption.fold(0)(_.record.locationChanges.size))
    }.takeWhile(_._1).map(_._2).toVector
    checked(states)
  }
}
