package org.sparkzorder.commit

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.TestRest
import org.sparkzorder.commit.log.History

/** Random statements on a table that moves to new folders, between appends to any folder and locations that go back. */
@TestRest
class CatalogHistoriesSuite extends AnyFunSuite {

  private val Histories = if (Explored.all) 100000 else 1000
  private val Steps = 16
  private val MostCalls = 150

  for { partition <- Seq(CatalogPartition.Table, MemoryCatalogTable.One); dies <- Seq(false, true) }
    test(s"statements${if (dies) " that may die" else ""}, appends to any folder, locations that go back: $partition") {
      var (looks, refused) = (0, 0)
      for (seed <- 1 to Histories) withClue(s"seed $seed: ") {
        val history = new RandomHistory(partition, dies, new Random(seed))
        (1 to Steps).foreach(_ => if (history.step()) looks += 1 else refused += 1)
      }
      info(s"$looks looks at whole tables, $refused at tables whose location was set back")
      assert(looks > 4 * refused)
    }

  private final class RandomHistory(partition: CatalogPartition, dies: Boolean, random: Random) {
    private val table = new MemoryCatalogTable(Seq(partition))
    // VACUUM removes folders that the table has left a day ago.
    table.age = if (random.nextBoolean()) 0L else 48L * 3600 * 1000
    private var expected = table.allRows
    private var folders = Vector(table.locations(partition))
    private var ids = 0
    private var trace = Vector.empty[String]

    private def fresh(): Int = {
      ids += 1
      ids
    }

    /** One more step, and a statement that brings all to its end. False when it was refused. */
    def step(): Boolean = {
      val id = s"op-${fresh()}"
      val ops =
        if (dies && random.nextInt(3) == 0)
          table.faulty(1 + random.nextInt(MostCalls), if (random.nextBoolean()) Fault.DieBefore else Fault.DieAfter)
        else table.ops
      def anyFolder() = folders(random.nextInt(folders.size))
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
          val (folder, row) = (anyFolder(), 9000 + fresh())
          expected = (expected :+ row).sorted
          did(s"append $row to $folder", id)(table.append(folder, s"late-$row", Set(row)))
      }
      folders = (folders :+ table.locations(partition)).distinct
      val before = table.plainRows
      val refused = next()
      def clue = trace.mkString("\n")
      // A refused RESTORE, and a statement on a location that was set back, change nothing.
      assert(
        failed.forall(e => e.isInstanceOf[NotRestorableException] || e.isInstanceOf[Died] || isSetBack(e)),
        clue
      )
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

    private def isSetBack(failure: Throwable): Boolean = failure.isInstanceOf[MemoryCatalogTable.Refused]

    private def next(): Option[Throwable] = did("next", s"next-${fresh()}")(table.next(s"next-$ids"))

    private def did(what: String, id: String)(work: => Any): Option[Throwable] = {
      trace :+= what
      val failed = table.attempt(id)(work)
      failed.foreach(e => trace :+= s"  $e")
      failed
    }
  }
}
