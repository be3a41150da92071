package org.sparkzorder.commit

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.commit.catalog.LocationHistory
import org.sparkzorder.commit.log.TableState

/**
 * Runs the steps of moving a table to new folders over a file system and a catalog in memory. Each
 * call fails, takes effect and fails, or is the last one before death, with rivals beside it.
 */
class CatalogCommitSuite extends AnyFunSuite {

  private val Whole = CatalogPartition.Table
  private def part(value: String) = CatalogPartition(Seq("p" -> value))

  private val shapes = Seq(Seq(Whole), Seq(part("1"), part("2")))
  private val faults = Seq(Fault.DieBefore, Fault.DieAfter, Fault.ThrowBefore, Fault.ThrowAfter)
  private val MostCalls = 400

  private def optimizedOnce(partitions: Seq[CatalogPartition]): MemoryCatalogTable = {
    val table = new MemoryCatalogTable(partitions)
    table.optimize(id = "op-0")
    table
  }

  /** An operation whose call to the catalog does not return, so that others take it for dead. */
  private def hangs(table: MemoryCatalogTable, id: String = "op-1"): table.Catalog = {
    val hung = table.optimize(id = id, hangs = true)
    table.liveness.running -= id
    hung
  }

  /** Calls `body` for each call of a statement until it no longer comes to that call. */
  private def atEachCall(body: Int => Int): Int = {
    val ended = Iterator.from(1).find(at => body(at) < at || at > MostCalls).get
    assert(ended <= MostCalls)
    ended
  }

  private def watched(table: MemoryCatalogTable): Unit =
    table.fs.changed = () => assert(table.plainRows == table.allRows)

  private type Statement = (MemoryCatalogTable, MemoryOps, String) => Unit
  private val statements: Seq[(String, Statement)] = Seq(
    "OPTIMIZE" -> ((t, ops, id) => { t.optimize(ops, id, keeps = true); () }),
    "RESTORE" -> ((t, ops, id) => t.restore(ops, id, 0)),
    "VACUUM" -> ((t, ops, id) => t.vacuum(ops, id))
  )

  for { partitions <- shapes; (name, statement) <- statements; fault <- faults }
    test(
      s"$name of ${partitions.size} places with $fault at each call keeps each row once, for all readers at any time",
      (if (fault == Fault.DieBefore) Nil else Seq(InRest)): _*
    ) {
      var states = 0
      atEachCall { at =>
        val table = optimizedOnce(partitions)
        watched(table)
        val ops = table.faulty(at, fault)
        table.attempt("op-1")(statement(table, ops, "op-1"))
        // A recovery may fail as well.
        atEachCall { again =>
          val copy = table.faulty(again, fault)
          table.attempt("op-2")(statement(table, copy, "op-2"))
          states += 1
          if (again > 12) 0 else copy.calls
        }
        table.next()
        assert(table.plainRows == table.allRows)
        assert(table.litter.isEmpty)
        ops.calls
      }
      info(s"$states states")
    }

  for { partitions <- shapes; (name, statement) <- statements; kills <- Seq(false, true) }
    test(
      s"$name of ${partitions.size} places meets a stale appender at each call${if (kills) ", and dies there" else ""}",
      (if (kills) Seq(InRest) else Nil): _*
    ) {
      atEachCall { at =>
        val table = optimizedOnce(partitions)
        val stale = table.first.values.toSeq
        val before = table.locations.values.toSeq
        def put(): Unit = {
          table.append(stale.head, s"late-$at", Set(9000))
          table.append(before.last, s"fresh-$at", Set(9001))
        }
        val ops = new MemoryOps(table.fs, if (kills) at else 0, Fault.DieAfter, other = { case `at` => put() })
        table.attempt("op-1")(statement(table, ops, "op-1"))
        val all = (table.allRows ++ (if (ops.calls >= at) Seq(9000, 9001) else Nil)).sorted
        table.next()
        assert(table.plainRows == all, "after the next statement")
        table.optimize(id = "op-3")
        assert(table.plainRows == all, "after the next OPTIMIZE")
        if (name != "VACUUM") table.restore(id = "op-4", to = 0)
        assert(table.plainRows == all, "after a RESTORE")
        table.vacuum(id = "op-5")
        table.vacuum(id = "op-6")
        assert(table.plainRows == all, "after a VACUUM")
        ops.calls
      }
    }

  for { partitions <- shapes; (name, statement) <- statements }
    test(s"$name of ${partitions.size} places meets an overwrite of the current folder at each call", InRest) {
      atEachCall { at =>
        val table = optimizedOnce(partitions)
        val partition = partitions.head
        val ops = new MemoryOps(
          table.fs,
          other = { case `at` => table.overwrite(table.locations(partition), s"over-$at", Set(9000)) }
        )
        table.attempt("op-1")(statement(table, ops, "op-1"))
        val others = table.allRows.filter(r => partitions.size == 2 && r >= 100)
        val expected = (if (ops.calls >= at) others :+ 9000 else table.allRows).sorted
        // What was overwritten does not come back, for anybody.
        assert(table.plainRows == expected, s"at call $at: ${ops.trace.lift(at - 1)}")
        ops.calls
      }
    }

  for (partitions <- shapes)
    test(s"a call to the catalog of ${partitions.size} places hangs and lands after others have gone on", InRest) {
      for (goesOn <- Seq("nothing", "next", "optimize", "optimize and append", "restore", "vacuum")) {
        val table = optimizedOnce(partitions)
        val hung = hangs(table)
        assert(hung.hanging.nonEmpty)
        var all = table.allRows
        goesOn match {
          case "nothing"             => ()
          case "next"                => table.next()
          case "restore"             => table.restore(id = "op-2", to = 0)
          case "vacuum"              => table.vacuum(id = "op-2")
          case "optimize"            => table.optimize(id = "op-2")
          case "optimize and append" =>
            table.optimize(id = "op-2")
            table.append(table.locations(partitions.head), "more", Set(9000))
            all = (all :+ 9000).sorted
        }
        hung.hanging.foreach(table.land)
        table.next("op-3")
        assert(table.plainRows == all, s"after $goesOn, and the next statement")
      }
    }

  private def refused(table: MemoryCatalogTable)(statement: => Unit): Unit = {
    val before = table.plainRows
    intercept[MemoryCatalogTable.Refused](statement)
    assert(table.plainRows == before)
  }

  test("a new folder that others have written to stays, although no record names it") {
    var explored = 0
    for (at <- 1 to 60) {
      val table = new MemoryCatalogTable(shapes.head)
      table.attempt("op-1")(table.optimize(table.faulty(at, Fault.DieAfter), "op-1"))
      def made = table.fs.below("/t__zorder").filter(table.fs.file(_).isDefined)
      val isRecorded = table.fs.children("/t/_zorder").exists(FileNames.name(_).startsWith("_v"))
      if (made.nonEmpty && !isRecorded) withClue(s"death at call $at: ") {
        explored += 1
        val before = made
        val other = s"${FileNames.parent(before.head)}/other.parquet"
        table.fs.put(other, Set(900), 5L)
        table.next()
        assert((before :+ other).forall(table.fs.file(_).isDefined))
      }
    }
    assert(explored > 0)
  }

  test("a location that was set back is left alone, as after an ANALYZE that began before") {
    val table = optimizedOnce(Seq(Whole))
    val now = table.locations(Whole)
    table.append(now, "more", Set(9000))
    table.locations(Whole) = table.first(Whole)
    val (back, again) = table.setBack.head
    assert((back.folder, back.head) == ((table.first(Whole).toString, now.toString)))
    assert(back.last.version == 1 && again.size == 3)
    refused(table)(table.vacuum(id = "op-1"))
    refused(table)(table.optimize(id = "op-2"))
    refused(table)(table.restore(id = "op-3", to = 0))
    assert(table.dataIn(now).size == 3)
    table.locations(Whole) = now
    table.optimize(id = "op-4")
    assert(table.plainRows == (table.allRows :+ 9000).sorted)
  }

  test("a location that was set back begins anew once the folder to which its rows had moved has none") {
    val table = optimizedOnce(Seq(Whole))
    val (first, second) = (table.first(Whole), table.locations(Whole))
    table.vacuum(id = "op-1")
    table.locations(Whole) = first
    table.append(first, "new", Set(9000))
    refused(table)(table.optimize(id = "op-2"))
    table.dataIn(second).foreach(table.fs.nodes.remove)
    table.optimize(id = "op-3")
    assert(table.plainRows == Seq(9000) && table.setBack.isEmpty)
    table.append(first, "late", Set(9001))
    table.next()
    assert(table.plainRows == Seq(9000, 9001))
  }

  test("rows that had moved do not come back with a partition that is added again at its first folder") {
    val partition = part("1")
    val table = optimizedOnce(Seq(partition))
    val (first, second) = (table.first(partition), table.locations(partition))
    // DROP PARTITION, its folder is deleted, ADD PARTITION, INSERT.
    table.dataIn(second).foreach(table.fs.nodes.remove)
    table.locations(partition) = first
    table.append(first, "new", Set(9000))
    refused(table)(table.optimize(id = "op-1"))
    refused(table)(table.vacuum(id = "op-2"))
    val (_, again) = table.setBack.head
    again.foreach(m => table.fs.nodes.remove(m.path.toUri.getPath))
    table.optimize(id = "op-3")
    assert(table.plainRows == Seq(9000) && table.setBack.isEmpty)
  }

  test("a file that was copied forward does not come back either, as another partition's row") {
    val (one, other) = (part("1"), part("9"))
    val table = optimizedOnce(Seq(one))
    table.vacuum(id = "op-1")
    table.append(table.first(one), "late", Set(9000))
    table.next()
    assert(table.plainRows == (table.allRows :+ 9000).sorted)
    // RENAME PARTITION, and the name is given again.
    table.locations(other) = table.locations(one)
    table.locations(one) = table.first(one)
    table.append(table.first(one), "new", Set(9001))
    refused(table)(table.next("op-2"))
    assert(table.setBack.flatMap(_._2.map(_.name)) == Seq("late.parquet"))
  }

  for (partitions <- shapes) test(s"RESTORE of ${partitions.size} places meets a delete in its target at each call") {
    atEachCall { at =>
      val table = optimizedOnce(partitions)
      def delete(): Unit = {
        table.fs.nodes.remove(s"${table.first.values.head.toUri.getPath}/part-1.parquet")
        ()
      }
      val ops = table.beside(at)(delete())
      val end = table.attempt("op-1")(table.restore(id = "op-1", to = 0))
      // The last looks, one for each place, come right before the lock is looked at, and the call.
      val move = ops.trace.indexWhere(_.contains("catalog: move")) + 1
      if (table.plainRows != table.allRows) assert(at >= move - partitions.size, s"at $at, ended with $end")
      ops.calls
    }
  }

  test("a first operation that was given up is watched") {
    val table = new MemoryCatalogTable(Seq(Whole))
    val (first, folder) = (table.first(Whole), table.folder(table.ops))
    def isWatched = LocationHistory.isUsedBy(TableState.look(folder.root, folder.ops))
    val hung = hangs(table)
    table.next()
    table.append(first, "more", Set(9000))
    hung.hanging.foreach(table.land)
    assert(isWatched && table.plainRows == table.allRows)
    table.next("op-1")
    assert(table.plainRows == (table.allRows :+ 9000).sorted)
  }

  test("RESTORE does not take an original for a copy that was rewritten since") {
    val table = optimizedOnce(Seq(Whole))
    table.append(table.first(Whole), "late", Set(9000, 9001))
    table.next()
    val copy = table.dataIn(table.locations(Whole)).find(_.contains("-carried-")).get
    table.fs.put(copy, Set(9000), 60L)
    assert(table.attempt("op-1")(table.restore(id = "op-1", to = 0)).isDefined)
    assert(table.plainRows == (table.allRows :+ 9000).sorted)
  }

  private def isUnclear(table: MemoryCatalogTable): Boolean =
    table.attempt("unclear")(table.next("unclear")).exists(_.isInstanceOf[StaleAppendsUnclearException])

  test("a stale overwrite of the first folder is noticed, before and after a VACUUM") {
    for (vacuums <- Seq(false, true)) {
      val table = optimizedOnce(Seq(part("1")))
      if (vacuums) table.vacuum(id = "op-1")
      table.overwrite(table.first.values.head, "stale", Set(9000))
      assert(isUnclear(table) && table.plainRows == table.allRows)
    }
  }

  test("files of an earlier folder that another program compacts are not doubled") {
    val table = optimizedOnce(Seq(part("1")))
    compact(table, table.first.values.head)
    assert(isUnclear(table) && table.plainRows == table.allRows)
  }

  test("of a partition that was overwritten it is not known whether a stale append came before") {
    val table = optimizedOnce(Seq(part("1")))
    table.overwrite(table.locations.values.head, "new", Set(9000))
    table.next()
    assert(table.plainRows == Seq(9000))
    table.append(table.first.values.head, "late", Set(9001))
    assert(isUnclear(table) && table.plainRows == Seq(9000))
  }

  test("RESTORE goes back and forth with appends between, and brings nothing back that was deleted") {
    val table = optimizedOnce(Seq(Whole))
    table.append(table.locations(Whole), "a", Set(9000))
    table.restore(id = "op-1", to = 0)
    assert(table.plainRows == (table.allRows :+ 9000).sorted)
    table.append(table.locations(Whole), "b", Set(9001))
    table.restore(id = "op-2", to = 1)
    assert(table.plainRows == (table.allRows ++ Seq(9000, 9001)).sorted)
    // The file that was brought here is deleted. Its original is in an earlier folder.
    val brought =
      table.dataIn(table.locations(Whole)).filter(p => table.fs.file(p).get.rows == Set(9001))
    brought.foreach(table.fs.nodes.remove)
    table.next()
    assert(table.plainRows == (table.allRows :+ 9000).sorted)
    // Going back would bring it back.
    val e = intercept[NotRestorableException](table.restore(id = "op-3", to = 0))
    assert(e.obstacle == RestoreObstacle.Lost)
    assert(table.plainRows == (table.allRows :+ 9000).sorted)
    table.restore(id = "op-4", to = 0, restoresLost = true)
    assert(table.plainRows == (table.allRows ++ Seq(9000, 9001)).sorted)
  }

  test("a stale append counts once, also if its copy is rewritten or deleted") {
    val table = optimizedOnce(Seq(Whole))
    def current = table.locations(Whole)
    table.append(table.first(Whole), "late", Set(9000))
    table.next()
    assert(table.plainRows == (table.allRows :+ 9000).sorted)
    table.optimize(id = "op-1")
    table.next()
    assert(table.plainRows == (table.allRows :+ 9000).sorted)
    table.append(table.first(Whole), "later", Set(9001))
    table.next()
    table.dataIn(current).filter(p => table.fs.file(p).get.rows == Set(9001)).foreach(table.fs.nodes.remove)
    table.next()
    table.optimize(id = "op-2")
    assert(table.plainRows == (table.allRows :+ 9000).sorted)
  }

  test("VACUUM deletes no file of another writer before its rows are in the present folder") {
    val table = optimizedOnce(Seq(Whole))
    val late = "late"
    table.append(table.first(Whole), late, Set(9000))
    table.vacuum(id = "op-1")
    assert(table.plainRows == (table.allRows :+ 9000).sorted)
    assert(table.dataIn(table.first(Whole)).isEmpty)
  }

  test("an earlier folder becomes the location of another partition, whose rows stay its own") {
    val (one, two, other) = (part("1"), part("2"), part("7"))
    val table = optimizedOnce(Seq(one, two))
    table.locations(other) = table.first(one)
    table.append(table.first(one), "new", Set(9000))
    table.append(table.locations(one), "own", Set(9001))
    var rows = table.plainRows
    def check(when: String) = {
      table.next()
      assert(table.plainRows == rows, when)
    }
    // Rows that had moved would count twice.
    refused(table)(table.next())
    table.overwrite(table.first(one), "newer", Set(9002))
    rows = table.plainRows
    check("after an overwrite")
    table.optimize(id = "op-1")
    assert(table.plainRows == rows)
    // The other partition leaves the folder as well, and others still write there: to the partition that left it last.
    table.append(table.first(one), "stray", Set(9003))
    rows = (rows :+ 9003).sorted
    check("after it left")
    table.vacuum(id = "op-2")
    check("after VACUUM")
  }

  test("of a partition with a new name it is not known whether an append to its first folder was meant for it") {
    val (old, renamed) = (part("1"), part("9"))
    val table = optimizedOnce(Seq(old))
    table.locations(renamed) = table.locations(old)
    table.locations.remove(old)
    table.next()
    table.append(table.first(old), "late", Set(9000))
    assert(isUnclear(table) && table.plainRows == table.allRows)
  }

  test("an overwrite of the folder of an operation that was given up is not undone") {
    val table = optimizedOnce(Seq(Whole))
    val hung = hangs(table)
    table.next()
    hung.hanging.foreach(table.land)
    table.overwrite(table.locations(Whole), "new", Set(9000))
    refused(table)(table.next("op-2"))
    assert(table.plainRows == Seq(9000))
  }

  test("a new folder stays while a record cannot be read that may be of its operation") {
    val table = optimizedOnce(Seq(Whole))
    val hung = hangs(table)
    hung.hanging.foreach(table.land)
    table.append(table.locations(Whole), "more", Set(9000))
    val record = table.fs.below("/t/_zorder").find(_.endsWith(".moving")).get
    table.fs.nodes(record) = table.fs.file(record).get.copy(bytes = "torn".getBytes)
    assert(table.attempt("op-2")(table.next("op-2")).isDefined)
    assert(table.plainRows == (table.allRows :+ 9000).sorted)
  }

  /** Another program writes the rows of two files of a folder to a new one, and deletes the two. */
  private def compact(table: MemoryCatalogTable, folder: Path): Unit = {
    val old = table.dataIn(folder).take(2)
    table.append(folder, "compacted", old.flatMap(p => table.fs.file(p).get.rows).toSet)
    old.foreach(table.fs.nodes.remove)
  }

  test("VACUUM of one partition's folder does not excuse missing files in another's") {
    val (one, two) = (part("1"), part("2"))
    val table = optimizedOnce(Seq(one, two))
    // While the catalog does not know the partition, VACUUM leaves its first folder as it is.
    val location = table.locations.remove(two).get
    table.vacuum(id = "op-1")
    table.locations(two) = location
    assert(table.dataIn(table.first(one)).isEmpty && table.dataIn(table.first(two)).size == 3)
    compact(table, table.first(two))
    assert(isUnclear(table) && table.plainRows == table.allRows)
  }

  test("a stale append that is changed after it was copied is not copied again, wherever VACUUM died") {
    for (partitions <- shapes) atEachCall { at =>
      val table = optimizedOnce(partitions)
      table.append(table.first(partitions.head), "late", Set(9000))
      val ops = table.faulty(at, Fault.DieBefore)
      table.attempt("op-1")(table.vacuum(ops, "op-1"))
      table.dataIn(table.first(partitions.head)).find(_.endsWith("late.parquet")).foreach { late =>
        new MemoryOps(table.fs).touch(new Path(s"mem:$late"))
      }
      table.attempt("op-2")(table.next("op-2"))
      assert(table.plainRows == (table.allRows :+ 9000).sorted, s"at call $at")
      ops.calls
    }
  }

  test("a stale append that is changed after it was copied, and its copy rewritten, is refused") {
    val table = optimizedOnce(Seq(Whole))
    table.append(table.first(Whole), "late", Set(9000))
    table.optimize(id = "op-1")
    new MemoryOps(table.fs).touch(new Path(table.first(Whole), "late.parquet"))
    assert(isUnclear(table) && table.plainRows == (table.allRows :+ 9000).sorted)
  }

  private val TwoDays = 48L * 3600 * 1000

  /** A table with an operation that was given up, and the folder of that operation. */
  private def givenUp(age: Long): (MemoryCatalogTable, Path) = {
    val table = optimizedOnce(Seq(Whole))
    table.age = age
    val hung = hangs(table)
    table.next()
    (table, hung.hanging.head.to)
  }

  test("an append to a folder that was given up counts until VACUUM has removed it") {
    for (age <- Seq(0L, TwoDays); vacuums <- 0 to 2) {
      val (table, folder) = givenUp(age)
      (1 to vacuums).foreach(n => table.vacuum(id = s"op-2$n"))
      assert(table.dataIn(folder).isEmpty == (age > 0 && vacuums > 0))
      table.append(folder, "late", Set(9000))
      if (age > 0 && vacuums > 0) assert(isUnclear(table) && table.plainRows == table.allRows)
      else {
        table.next("op-3")
        assert(table.plainRows == (table.allRows :+ 9000).sorted)
        table.append(folder, "later", Set(9001))
        table.vacuum(id = "op-4")
        table.append(folder, "latest", Set(9002))
        if (age > 0) assert(isUnclear(table))
        else {
          table.next("op-5")
          assert(table.plainRows == (table.allRows ++ Seq(9000, 9001, 9002)).sorted)
        }
      }
    }
  }

  test("files of a folder that was given up that another program compacts are not doubled") {
    for (age <- Seq(0L, TwoDays)) {
      val (table, folder) = givenUp(age)
      table.append(folder, "compacted", table.dataIn(folder).take(1).flatMap(p => table.fs.file(p).get.rows).toSet)
      table.fs.nodes.remove(table.dataIn(folder).filterNot(_.contains("compacted")).head)
      assert(isUnclear(table) && table.plainRows == table.allRows)
    }
  }

  test("RESTORE goes back over no record that is damaged or gone") {
    val (one, two) = (part("1"), part("2"))
    def only(table: MemoryCatalogTable, partition: CatalogPartition, id: String): Unit = {
      val other = if (partition == one) two else one
      val location = table.locations.remove(other).get
      table.optimize(table.ops, id)
      table.locations(other) = location
    }
    for (isGone <- Seq(false, true)) {
      val table = optimizedOnce(Seq(one, two))
      only(table, one, "op-1")
      only(table, two, "op-2")
      val at = table.locations.toMap
      val record = table.fs.below("/t/_zorder").find(_.startsWith("/t/_zorder/_v0000000002")).get
      if (isGone) table.fs.nodes.remove(record)
      else table.fs.nodes(record) = table.fs.file(record).get.copy(bytes = "torn".getBytes)
      assert(table.attempt("op-3")(table.restore(id = "op-3", to = 1)).isDefined)
      assert(table.locations.toMap == at && table.plainRows == table.allRows)
    }
  }

  test("an operation that was undone leaves no gap over which RESTORE would not go") {
    val (table, _) = givenUp(0L)
    table.optimize(id = "op-2")
    table.fs.below("/t/_zorder").filter(_.endsWith(".undone")).foreach(table.fs.nodes.remove)
    table.restore(id = "op-3", to = 0)
    assert(table.locations == table.first && table.plainRows == table.allRows)
  }
}
