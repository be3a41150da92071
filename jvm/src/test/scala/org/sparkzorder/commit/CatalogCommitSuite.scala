package org.sparkzorder.commit

import scala.util.Random

import org.apache.hadoop.fs.Path
import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.InRest
import org.sparkzorder.commit.catalog.LocationHistory
import org.sparkzorder.commit.log.{History, TableState}

/** Moves a table to new folders, in memory. Any call fails, takes effect and fails, or is the last, beside rivals. */
class CatalogCommitSuite extends AnyFunSuite {
  import CatalogPartition.{Table => Whole}
  import Fault._
  import MemoryCatalogTable._

  private val MostCalls = 400

  /** An operation whose call to the catalog does not return, so that others take it for dead. */
  private def hangs(table: MemoryCatalogTable): table.Catalog = {
    val hung = table.optimize(id = "op-1", hangs = true)
    table.liveness.running -= "op-1"
    hung
  }

  /** Calls `body` for each call of a statement until it no longer comes to that call. */
  private def atEachCall(body: Int => Int): Unit =
    assert(Iterator.from(1).find(at => body(at) < at || at > MostCalls).get <= MostCalls)

  /** A test at each call of a statement on a table that was optimized once. The body returns the statement's calls. */
  private def testAtEachCall(partitions: Seq[CatalogPartition], name: String, isInRest: Boolean = false)(
      body: (MemoryCatalogTable, Int) => MemoryOps
  ): Unit = test(s"$name at each call, of ${partitions.size} places", Seq(InRest).filter(_ => isInRest): _*) {
    atEachCall(at => body(optimized(partitions), at).calls)
  }

  private type Statement = (MemoryCatalogTable, MemoryOps, String) => Unit
  private val statements: Seq[(String, Statement)] = Seq(
    "OPTIMIZE" -> ((t, ops, id) => { t.optimize(ops, id, keeps = true); () }),
    "RESTORE" -> ((t, ops, id) => t.restore(ops, id, 0)),
    "VACUUM" -> ((t, ops, id) => t.vacuum(ops, id))
  )

  for { partitions <- Shapes; (name, act) <- statements } {
    for (fault <- Seq(DieBefore, DieAfter, ThrowBefore, ThrowAfter))
      testAtEachCall(partitions, s"$name with $fault keeps each row once, for all readers", fault != DieBefore) {
        (table, at) =>
          table.fs.changed = () => assert(table.plainRows == table.allRows)
          val ops = table.faulty(at, fault)
          table.attempt("op-1")(act(table, ops, "op-1"))
          // A recovery may fail as well.
          atEachCall { again =>
            val copy = table.faulty(again, fault)
            table.attempt("op-2")(act(table, copy, "op-2"))
            if (again > 12) 0 else copy.calls
          }
          assertNext(table)
          assert(table.litter.isEmpty)
          ops
      }

    for (kills <- Seq(false, true))
      testAtEachCall(partitions, s"$name meets a stale appender, and dies there: $kills,", kills) { (table, at) =>
        val (stale, before) = (table.first.values.head, table.locations.values.last)
        val ops = table.beside(at, if (kills) at else 0) {
          table.append(stale, s"late-$at", Set(9000))
          table.append(before, s"fresh-$at", Set(9001))
        }
        table.attempt("op-1")(act(table, ops, "op-1"))
        val all = if (ops.calls >= at) table.allRowsAnd(9000, 9001) else table.allRows
        table.next()
        assert(table.plainRows == all, "after the next statement")
        table.optimize(id = "op-3")
        assert(table.plainRows == all, "after the next OPTIMIZE")
        if (name != "VACUUM") table.restore(id = "op-4", to = 0)
        assert(table.plainRows == all, "after a RESTORE")
        table.vacuum(id = "op-5")
        table.vacuum(id = "op-6")
        assert(table.plainRows == all, "after a VACUUM")
        ops
      }

    testAtEachCall(partitions, s"$name meets an overwrite of the current folder", isInRest = true) { (table, at) =>
      val ops = table.beside(at)(table.overwrite(table.locations(partitions.head), s"over-$at", Set(9000)))
      table.attempt("op-1")(act(table, ops, "op-1"))
      val others = table.allRows.filter(r => partitions.size == 2 && r >= 100)
      // What was overwritten does not come back, for anybody.
      val expected = if (ops.calls >= at) others :+ 9000 else table.allRows
      assert(table.plainRows == expected, s"at call $at: ${ops.trace.lift(at - 1)}")
      ops
    }
  }

  for (partitions <- Shapes) {
    testAtEachCall(partitions, "RESTORE meets a delete in its target") { (table, at) =>
      val target = table.first.values.head.toUri.getPath
      val ops = table.beside(at)(table.fs.nodes.remove(s"$target/part-1.parquet"))
      val end = table.attempt("op-1")(table.restore(ops, "op-1", 0))
      // The last looks, one for each place, come right before the lock is looked at, and the call.
      val move = ops.trace.indexWhere(_.contains("catalog: move")) + 1
      if (table.plainRows != table.allRows) assert(at >= move - partitions.size, s"at $at, ended with $end")
      ops
    }

    testAtEachCall(partitions, "a stale append that is changed after VACUUM copied it, and died, is not copied again") {
      (table, at) =>
        val first = table.first(partitions.head)
        table.append(first, "late", Set(9000))
        val ops = table.faulty(at, DieBefore)
        table.attempt("op-1")(table.vacuum(ops, "op-1"))
        table.dataIn(first).find(_.endsWith("late.parquet")).foreach(late => table.ops.touch(new Path(s"mem:$late")))
        table.attempt("op-2")(table.next("op-2"))
        assert(table.plainRows == table.allRowsAnd(9000), s"at call $at")
        ops
    }

    test(s"a call to the catalog of ${partitions.size} places hangs and lands after others have gone on", InRest) {
      for (goesOn <- Seq("nothing", "next", "optimize", "optimize and append", "restore", "vacuum")) {
        val table = optimized(partitions)
        val hung = hangs(table)
        assert(hung.hanging.nonEmpty)
        goesOn match {
          case "nothing" => ()
          case "next"    => table.next()
          case "restore" => table.restore(id = "op-2", to = 0)
          case "vacuum"  => table.vacuum(id = "op-2")
          case _         => table.optimize(id = "op-2")
        }
        val appends = goesOn.endsWith("append")
        if (appends) table.append(table.locations(partitions.head), "more", Set(9000))
        val all = if (appends) table.allRowsAnd(9000) else table.allRows
        hung.hanging.foreach(table.land)
        table.next("op-3")
        assert(table.plainRows == all, s"after $goesOn, and the next statement")
      }
    }
  }

  /** A test of a table that was optimized once. */
  private def testOf(partitions: CatalogPartition*)(name: String)(body: MemoryCatalogTable => Any): Unit =
    test(name)(body(optimized(partitions)))

  /** The next statement leaves all first rows and these. */
  private def assertNext(table: MemoryCatalogTable, more: Int*): Unit = {
    table.next()
    assert(table.plainRows == table.allRowsAnd(more: _*))
  }

  private def refused(table: MemoryCatalogTable)(statement: => Any): Unit = {
    val before = table.plainRows
    intercept[Refused](statement)
    assert(table.plainRows == before)
  }

  test("a new folder that others have written to stays, although no record names it") {
    var explored = 0
    for (at <- 1 to 60) {
      val table = new MemoryCatalogTable(Shapes.head)
      table.attempt("op-1")(table.optimize(table.faulty(at, DieAfter), "op-1"))
      val made = table.fs.below("/t__zorder").filter(table.fs.file(_).isDefined)
      val isRecorded = table.fs.children("/t/_zorder").exists(FileNames.name(_).startsWith("_v"))
      if (made.nonEmpty && !isRecorded) withClue(s"death at call $at: ") {
        explored += 1
        val other = s"${FileNames.parent(made.head)}/other.parquet"
        table.fs.put(other, Set(900), 5L)
        table.next()
        assert((made :+ other).forall(table.fs.file(_).isDefined))
      }
    }
    assert(explored > 0)
  }

  testOf(Whole)("a location that was set back is left alone, as after an ANALYZE that began before") { table =>
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
    assert(table.plainRows == table.allRowsAnd(9000))
  }

  testOf(Whole)("a location that was set back begins anew once the folder that its rows moved to has none") { table =>
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

  testOf(One)("rows that moved do not come back with a partition that is added again at its first folder") { table =>
    val first = table.first(One)
    // DROP PARTITION, its folder is deleted, ADD PARTITION, INSERT.
    table.dataIn(table.locations(One)).foreach(table.fs.nodes.remove)
    table.locations(One) = first
    table.append(first, "new", Set(9000))
    refused(table)(table.optimize(id = "op-1"))
    refused(table)(table.vacuum(id = "op-2"))
    table.setBack.head._2.foreach(m => table.fs.nodes.remove(m.path.toUri.getPath))
    table.optimize(id = "op-3")
    assert(table.plainRows == Seq(9000) && table.setBack.isEmpty)
  }

  testOf(One)("a file that was copied forward does not come back either, as another partition's row") { table =>
    table.vacuum(id = "op-1")
    table.append(table.first(One), "late", Set(9000))
    assertNext(table, 9000)
    // RENAME PARTITION, and the name is given again.
    table.locations(Other) = table.locations(One)
    table.locations(One) = table.first(One)
    table.append(table.first(One), "new", Set(9001))
    refused(table)(table.next("op-2"))
    assert(table.setBack.flatMap(_._2.map(_.name)) == Seq("late.parquet"))
  }

  test("a first operation that was given up is watched") {
    val (table, move) = givenUp(table = new MemoryCatalogTable(Seq(Whole)))
    val folder = table.folder(table.ops)
    table.append(table.first(Whole), "more", Set(9000))
    table.land(move)
    assert(LocationHistory.isUsedBy(TableState.look(folder.root, folder.ops)) && table.plainRows == table.allRows)
    assertNext(table, 9000)
  }

  testOf(Whole)("RESTORE does not take an original for a copy that was rewritten since") { table =>
    table.append(table.first(Whole), "late", Set(9000, 9001))
    table.next()
    val copy = table.dataIn(table.locations(Whole)).find(_.contains("-carried-")).get
    table.fs.put(copy, Set(9000), 60L)
    assert(table.attempt("op-1")(table.restore(id = "op-1", to = 0)).isDefined)
    assert(table.plainRows == table.allRowsAnd(9000))
  }

  testOf(Whole)("RESTORE goes back and forth with appends between, and brings nothing back that was deleted") { table =>
    table.append(table.locations(Whole), "a", Set(9000))
    table.restore(id = "op-1", to = 0)
    assert(table.plainRows == table.allRowsAnd(9000))
    table.append(table.locations(Whole), "b", Set(9001))
    table.restore(id = "op-2", to = 1)
    assert(table.plainRows == table.allRowsAnd(9000, 9001))
    // The file that was brought here is deleted. Its original is in an earlier folder.
    deleteCurrent(table, 9001)
    assertNext(table, 9000)
    // Going back would bring it back.
    val e = intercept[NotRestorableException](table.restore(id = "op-3", to = 0))
    assert(e.obstacle == RestoreObstacle.Lost && table.plainRows == table.allRowsAnd(9000))
    table.restore(id = "op-4", to = 0, restoresLost = true)
    assert(table.plainRows == table.allRowsAnd(9000, 9001))
  }

  /** Deletes the files with just this row in the present folder. */
  private def deleteCurrent(table: MemoryCatalogTable, row: Int): Unit =
    table.dataIn(table.locations(Whole)).filter(table.fs.file(_).get.rows == Set(row)).foreach(table.fs.nodes.remove)

  testOf(Whole)("a stale append whose copy is deleted does not come back") { table =>
    table.append(table.first(Whole), "late", Set(9001))
    table.next()
    deleteCurrent(table, 9001)
    table.next()
    table.optimize(id = "op-1")
    assert(table.plainRows == table.allRows)
  }

  testOf(Whole)("VACUUM deletes no file of another writer before its rows are in the present folder") { table =>
    table.append(table.first(Whole), "late", Set(9000))
    table.vacuum(id = "op-1")
    assert(table.plainRows == table.allRowsAnd(9000) && table.dataIn(table.first(Whole)).isEmpty)
  }

  testOf(One, Two)("an earlier folder becomes the location of another partition, whose rows stay its own") { table =>
    val first = table.first(One)
    table.locations(Other) = first
    table.append(first, "new", Set(9000))
    table.append(table.locations(One), "own", Set(9001))
    // Rows that had moved would count twice.
    refused(table)(table.next())
    table.overwrite(first, "newer", Set(9002))
    val rows = table.plainRows
    table.next()
    assert(table.plainRows == rows, "after an overwrite")
    table.optimize(id = "op-1")
    assert(table.plainRows == rows)
    // The other partition leaves the folder as well, and others still write there: to the partition that left it last.
    table.append(first, "stray", Set(9003))
    table.next()
    assert(table.plainRows == (rows :+ 9003).sorted, "after it left")
    table.vacuum(id = "op-2")
    table.next()
    assert(table.plainRows == (rows :+ 9003).sorted, "after VACUUM")
  }

  test("an overwrite of the folder of an operation that was given up is not undone") {
    val (table, move) = givenUp()
    table.land(move)
    table.overwrite(table.locations(Whole), "new", Set(9000))
    refused(table)(table.next("op-2"))
    assert(table.plainRows == Seq(9000))
  }

  private def tear(table: MemoryCatalogTable, record: String): Unit =
    table.fs.nodes(record) = table.fs.file(record).get.copy(bytes = "torn".getBytes)

  testOf(Whole)("a new folder stays while a record cannot be read that may be of its operation") { table =>
    hangs(table).hanging.foreach(table.land)
    table.append(table.locations(Whole), "more", Set(9000))
    tear(table, table.fs.below("/t/_zorder").find(_.endsWith(".moving")).get)
    assert(table.attempt("op-2")(table.next("op-2")).isDefined && table.plainRows == table.allRowsAnd(9000))
  }

  private def isUnclear(table: MemoryCatalogTable): Boolean =
    table.attempt("unclear")(table.next("unclear")).exists(_.isInstanceOf[StaleAppendsUnclearException])

  for (vacuums <- Seq(false, true))
    testOf(One)(s"a stale overwrite of the first folder is noticed, after a VACUUM: $vacuums") { table =>
      if (vacuums) table.vacuum(id = "op-1")
      table.overwrite(table.first(One), "stale", Set(9000))
      assert(isUnclear(table) && table.plainRows == table.allRows)
    }

  /** Another program writes the rows of some files of a folder to a new one, and deletes these files. */
  private def compact(table: MemoryCatalogTable, folder: Path, files: Int = 2): Unit = {
    val old = table.dataIn(folder).take(files)
    table.append(folder, "compacted", table.fs.rows(old).toSet)
    old.foreach(table.fs.nodes.remove)
  }

  testOf(One)("files of an earlier folder that another program compacts are not doubled") { table =>
    compact(table, table.first(One))
    assert(isUnclear(table) && table.plainRows == table.allRows)
  }

  testOf(One, Two)("VACUUM of one partition's folder does not excuse missing files in another's") { table =>
    // While the catalog does not know the partition, VACUUM leaves its first folder as it is.
    without(table, Two)(table.vacuum(id = "op-1"))
    assert(table.dataIn(table.first(One)).isEmpty && table.dataIn(table.first(Two)).size == 3)
    compact(table, table.first(Two))
    assert(isUnclear(table) && table.plainRows == table.allRows)
  }

  testOf(One)("of a partition that was overwritten it is not known whether a stale append came before") { table =>
    table.overwrite(table.locations(One), "new", Set(9000))
    table.next()
    assert(table.plainRows == Seq(9000))
    table.append(table.first(One), "late", Set(9001))
    assert(isUnclear(table) && table.plainRows == Seq(9000))
  }

  testOf(One)("of a partition with a new name it is not known whether an append to its first folder was meant for it") {
    table =>
      table.locations(Other) = table.locations.remove(One).get
      table.next()
      table.append(table.first(One), "late", Set(9000))
      assert(isUnclear(table) && table.plainRows == table.allRows)
  }

  testOf(Whole)("a stale append that is changed after it was copied, and its copy rewritten, is refused") { table =>
    table.append(table.first(Whole), "late", Set(9000))
    table.optimize(id = "op-1")
    table.ops.touch(new Path(table.first(Whole), "late.parquet"))
    assert(isUnclear(table) && table.plainRows == table.allRowsAnd(9000))
  }

  private val Ages = Seq(0L, 48L * 3600 * 1000)

  /** A table with an operation that was given up, and the move of that operation. */
  private def givenUp(age: Long = 0L, table: MemoryCatalogTable = optimized(Seq(Whole))) = {
    table.age = age
    val hung = hangs(table)
    table.next()
    (table, hung.hanging.head)
  }

  test("an append to a folder that was given up counts until VACUUM has removed it") {
    for (age <- Ages; vacuums <- 0 to 2) {
      val (table, move) = givenUp(age)
      val folder = move.to
      (1 to vacuums).foreach(n => table.vacuum(id = s"op-2$n"))
      val isGone = age > 0 && vacuums > 0
      assert(table.dataIn(folder).isEmpty == isGone)
      table.append(folder, "late", Set(9000))
      if (isGone) assert(isUnclear(table) && table.plainRows == table.allRows)
      else {
        assertNext(table, 9000)
        table.append(folder, "later", Set(9001))
        table.vacuum(id = "op-4")
        table.append(folder, "latest", Set(9002))
        if (age > 0) assert(isUnclear(table)) else assertNext(table, 9000, 9001, 9002)
      }
    }
  }

  test("files of a folder that was given up that another program compacts are not doubled") {
    for (age <- Ages) {
      val (table, move) = givenUp(age)
      compact(table, move.to, files = 1)
      assert(isUnclear(table) && table.plainRows == table.allRows)
    }
  }

  /** Runs a statement while the catalog does not know a partition. */
  private def without(table: MemoryCatalogTable, partition: CatalogPartition)(statement: => Any): Unit = {
    val location = table.locations.remove(partition).get
    statement
    table.locations(partition) = location
  }

  for (isGone <- Seq(false, true))
    testOf(One, Two)(s"RESTORE goes back over no record that is damaged, or gone: $isGone") { table =>
      without(table, Two)(table.optimize(id = "op-1"))
      without(table, One)(table.optimize(id = "op-2"))
      val at = table.locations.toMap
      val record = table.fs.below("/t/_zorder").find(_.startsWith("/t/_zorder/_v0000000002")).get
      if (isGone) table.fs.nodes.remove(record) else tear(table, record)
      assert(table.attempt("op-3")(table.restore(id = "op-3", to = 1)).isDefined)
      assert(table.locations.toMap == at && table.plainRows == table.allRows)
    }

  test("an operation that was undone leaves no gap over which RESTORE would not go") {
    val (table, _) = givenUp()
    table.optimize(id = "op-2")
    table.fs.below("/t/_zorder").filter(_.endsWith(".undone")).foreach(table.fs.nodes.remove)
    table.restore(id = "op-3", to = 0)
    assert(table.locations == table.first && table.plainRows == table.allRows)
  }

  private val Histories = if (Explored.all) 100000 else 1000

  for { partition <- Seq(Whole, One); dies <- Seq(false, true) }
    test(s"random statements, appends to any folder, locations that go back, may die: $dies, of $partition", InRest) {
      var (looks, refused) = (0, 0)
      for (seed <- 1 to Histories) withClue(s"seed $seed: ") {
        val history = new RandomHistory(partition, dies, new Random(seed.toLong << 20))
        (1 to 16).foreach(_ => if (history.step()) looks += 1 else refused += 1)
      }
      info(s"$looks looks at whole tables, $refused at tables whose location was set back")
      assert(looks > 4 * refused)
    }

  /** A table that moves to new folders, between appends to any folder and locations that go back. */
  private final class RandomHistory(partition: CatalogPartition, dies: Boolean, random: Random) {
    private val table = new MemoryCatalogTable(Seq(partition))
    // VACUUM removes folders that the table has left a day ago. Who appends there later has to ask.
    table.age = if (random.nextBoolean()) 0L else 48L * 3600 * 1000
    private var expected = table.allRows
    private var folders = Vector(table.locations(partition))
    private val ids = Iterator.from(1)
    private var trace = Vector.empty[String]

    /** One more step, and a statement that brings all to its end. False when it was refused. */
    def step(): Boolean = {
      val id = s"op-${ids.next()}"
      val ops =
        if (dies && random.nextInt(3) == 0)
          table.faulty(1 + random.nextInt(150), if (random.nextBoolean()) DieBefore else DieAfter)
        else table.ops
      def anyFolder() = random.shuffle(folders.filter(f => table.fs.below(f.toUri.getPath).nonEmpty)).head
      val failed: Option[Throwable] = random.nextInt(10) match {
        case 0 | 1 | 2 => did("OPTIMIZE", id)(table.optimize(ops, id, keeps = random.nextBoolean()))
        case 3 | 4     =>
          val newest = History.read(table.folder(table.ops)).headOption.fold(0L)(_.record.version)
          val to = random.nextLong(newest + 1)
          did(s"RESTORE $to", id)(table.restore(ops, id, to))
        case 5 => did("VACUUM", id)(table.vacuum(ops, id))
        case 6 =>
          val to = anyFolder()
          did(s"SET LOCATION $to", id) { table.locations(partition) = to }
        case _ =>
          val (folder, row) = (anyFolder(), 9000 + ids.next())
          expected = (expected :+ row).sorted
          did(s"append $row to $folder", id)(table.append(folder, s"late-$row", Set(row)))
      }
      folders = (folders :+ table.locations(partition)).distinct
      val before = table.plainRows
      val refused = next()
      def clue = trace.mkString("\n")
      // A refused RESTORE, and a statement on a location that was set back, change nothing.
      def isLegal(e: Throwable) = e.isInstanceOf[NotRestorableException] || e.isInstanceOf[Died] || isSetBack(e)
      assert(failed.forall(isLegal), clue)
      assert(refused.forall(isSetBack), clue)
      if (refused.isDefined) {
        assert(table.plainRows == before, clue)
        // A person puts it right.
        did("SET LOCATION forward", id)(table.setForward(partition))
        next()
      }
      assert(table.plainRows == expected, s"${table.plainRows} in place of $expected after\n$clue")
      refused.isEmpty
    }

    private def isSetBack(failure: Throwable): Boolean = failure.isInstanceOf[Refused]
    private def next(id: String = s"next-${ids.next()}"): Option[Throwable] = did("next", id)(table.next(id))

    private def did(what: String, id: String)(work: => Any): Option[Throwable] = {
      trace :+= what
      val failed = table.attempt(id)(work)
      failed.foreach(e => trace :+= s"  $e")
      failed
    }
  }
}
