package org.sparkzorder.commit

import java.util.concurrent.atomic.AtomicLong

import org.scalatest.{Args, Assertions, BeforeAndAfterAll, Status, TestSuite}

import org.sparkzorder.Mutation

/** Counts the states that the suites of this JVM have explored. */
object Explored {
  private[commit] val states = new AtomicLong

  /** Whether to explore all states, as `make test-all` does, or as many as `make test` has time for. */
  val all: Boolean = sys.env.contains("EXHAUSTIVE")

  /** The step between two states that are explored: `n`, or 1 if all are. */
  def every(n: Int): Int = if (all) 1 else n

  /** Every n-th element, or all of them if all states are explored. */
  def some[A](n: Int, from: Int, of: Seq[A]): Seq[A] =
    of.zipWithIndex.collect { case (a, i) if (i + from) % every(n) == 0 => a }

  sys.addShutdownHook(println(f"All suites of crashes and races: states explored: ${states.get}%,d"))
}

/** A suite that counts the states it explores and prints their number in the end. */
trait Explores extends TestSuite with BeforeAndAfterAll {
  private var states = 0L

  /** One state: the code that produces it, and its checks. */
  protected def explore[A](state: => A): A = {
    states += 1
    Explored.states.incrementAndGet()
    state
  }

  /** One state, with a clue. */
  protected def explored[A](clue: String)(state: => A): A = explore(withClue(clue)(state))

  // Each state logs what was recovered. Hundreds of thousands of such lines take minutes to print.
  override def run(testName: Option[String], args: Args): Status = Mutation.silently(super.run(testName, args))

  override protected def afterAll(): Unit = {
    println(f"$suiteName: states explored: $states%,d")
    super.afterAll()
  }
}

/** Goes through the calls of a statement, and has what is left of each table judged. */
trait Explorer extends Explores with Assertions {
  protected val Deaths: Seq[Fault] = Seq(Fault.DieBefore, Fault.DieAfter)

  protected type Judge = (SmallTable, Option[Throwable]) => Any

  /** One state: what a statement with such calls leaves, and the exception with which it ended. */
  protected def state(scene: Scene, table: SmallTable, ops: MemoryOps, clue: => String)(judge: Judge): Unit = {
    val end = scene.run(table, ops)
    explored(s"$clue, ended with $end: ")(judge(table, end))
    ()
  }

  private def atEach(scene: Scene, what: String, prepare: SmallTable => Unit)(calls: (SmallTable, Int) => MemoryOps)(
      judge: Judge
  ): Unit =
    for (k <- 1 to scene.calls) {
      val table = scene.table()
      prepare(table)
      val ops = calls(table, k)
      state(scene, table, ops, s"$what at call $k ${ops.trace.lift(k - 1)}")(judge)
    }

  /** The statement goes wrong at each of its calls, in each of these ways. */
  protected def failing(scene: Scene, faults: Seq[Fault], prepare: SmallTable => Unit = _ => ())(judge: Judge): Unit =
    faults.foreach(fault => atEach(scene, s"$fault", prepare)((table, k) => table.faulty(k, fault))(judge))

  /** Somebody else acts right before each call. */
  protected def meeting(scene: Scene, prepare: SmallTable => Unit = _ => ())(act: SmallTable => Any)(
      judge: Judge
  ): Unit = atEach(scene, "others act", prepare)((table, k) => table.beside(k)(act(table)))(judge)

  /** The next query recovers, and the rows are one of these, also after the next statement. */
  protected def assertSettles(table: SmallTable, legal: Seq[Int]*): Unit = {
    assert(table.recover().isEmpty)
    assert(legal.contains(table.fs.visibleRows))
    table.nextStatement()
    assert(legal.contains(table.fs.visibleRows))
  }

  /** No version is there twice, and the statistics are right. */
  protected def assertHistory(table: SmallTable): Unit = {
    val versions = table.history.map(_.record.version)
    assert(versions == versions.distinct)
    assert(!table.indexLies)
  }
}
