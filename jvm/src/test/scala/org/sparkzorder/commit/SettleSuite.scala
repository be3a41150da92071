package org.sparkzorder.commit

import scala.collection.mutable

import org.scalatest.funsuite.AnyFunSuite

import org.sparkzorder.commit.machine.{PlaceOutcome, Settle}
import org.sparkzorder.commit.place.{Obstacle, Place}

/** [[Settle]] over a place in memory: every call may be the last one before a death, or meet another process. */
class SettleSuite extends AnyFunSuite {
  import SettleSuite._

  private val rivals: Seq[(String, Model => Unit)] = Seq(
    "nobody" -> (_ => ()),
    "an overwrite of the place" -> (_.overwrite()),
    "a delete of an input" -> (_.delete("in-1")),
    "a delete of all visible files" -> (m => m.visible.toSeq.foreach(m.delete)),
    "a new version of an input" -> (_.replace("in-1"))
  )

  private def run(model: Model, hook: Int => Unit = _ => ()): Option[PlaceOutcome] =
    try Some(Settle(new ModelPlace(model, hook)))
    catch { case Died => None }

  /** A process is stopped at a call, others come, and then it dies or goes on. */
  private def stoppedAt(call: Int, dies: Boolean)(meanwhile: => Any): Int => Unit = n =>
    if (n == call) {
      meanwhile
      if (dies) throw Died
    }

  test("a place is exchanged, and a reader without the extension misses no row meanwhile") {
    val model = new Model
    val outcome = run(model, _ => assert(model.rows.toSet == Rows))
    assert(outcome.contains(PlaceOutcome.Exchanged(Map.empty, Nil)))
    assert(model.visible == Set("out") && model.trash == Set("in-1", "in-2") && model.rows.sorted == Rows.toSeq.sorted)
  }

  test("wherever a process stops and others change files, the next one brings the place to one whole side") {
    for {
      (name, rival) <- rivals
      call <- 1 to MostCalls
      second <- 0 to MostCalls
      dies <- Seq(true, false)
      rivalFirst <- Seq(true, false)
      returns <- Seq(true, false)
    } withClue(s"returns=$returns, $name at $call, another stops at $second, dies=$dies, rival first=$rivalFirst: ") {
      val model = new Model(returns)
      val others = stoppedAt(call, dies) {
        if (rivalFirst) rival(model)
        // A recovery that dies, and one that does not.
        run(model, stoppedAt(second, dies = true)(if (!rivalFirst) rival(model)))
        run(model)
      }
      run(model, others)
      run(model)
      model.check()
    }
  }

  test("a record whose version others have published decides nothing new") {
    val model = new Model
    assert(Settle(new ModelPlace(model, _ => ()), isStale = true).isInstanceOf[PlaceOutcome.RolledBack])
    assert(model.visible == Set("in-1", "in-2") && !model.staged)
  }
}

object SettleSuite {
  private val Rows = Set(1, 2, 3)
  private val MostCalls = 16
  private val RowsOf = Map("in-1" -> Set(1), "in-2" -> Set(2, 3), "out" -> Rows)
  private object Died extends RuntimeException

  /**
   * What is in the place. A file that somebody wrote anew has a `+` at its end.
   *
   * @param returns whether retired inputs can come back
   */
  final class Model(val returns: Boolean = false) {
    var marker: Option[Decision] = Some(Decision.Staged)
    var visible: Set[String] = Set("in-1", "in-2")
    var trash: Set[String] = Set.empty
    var staged = true

    /** What somebody took away, or wrote, on purpose. */
    private val changes = mutable.Set.empty[String]
    private val written = mutable.Set.empty[String]
    private var overwritten = false
    def rows: Seq[Int] = visible.toSeq.flatMap(f => RowsOf.getOrElse(f, Set(100)).toSeq)

    def overwrite(): Unit = {
      overwritten = true
      marker = None
      staged = false
      trash = Set.empty
      visible = Set("theirs+")
    }

    def delete(file: String): Unit = {
      if (visible(file)) changes += file
      visible -= file
    }

    def replace(file: String): Unit = if (visible(file)) {
      changes += file
      written += s"$file+"
      visible = visible - file + s"$file+"
    }

    /** One whole side is there, and nothing of the other. */
    def check(): Unit = {
      val ours = visible.filterNot(_.endsWith("+"))
      if (overwritten) assert(ours.isEmpty, s"files of ours are back: $ours")
      else {
        assert(ours == Set("out") || ours.subsetOf(Set("in-1", "in-2")), s"both sides are visible: $ours")
        val missing = Rows -- ours.flatMap(RowsOf) -- changes.flatMap(RowsOf.get).flatten
        assert(written.subsetOf(visible), s"a file of theirs is gone: $written, $visible")
        assert(missing.isEmpty, s"rows are gone: $missing of $visible, changed $changes")
      }
    }
  }

  /** @param hook is told the number of each call, from 1 */
  private final class ModelPlace(model: Model, hook: Int => Unit) extends Place {
    private var calls = 0

    private def call[A](work: => A): A = {
      calls += 1
      hook(calls)
      work
    }

    override def decision(): Option[Decision] = call(model.marker)

    override def reveal(): Unit = call {
      if (model.staged) model.visible += "out"
      model.staged = false
    }

    override def obstacle(): Option[Obstacle] =
      call(Seq("in-1", "in-2", "out").find(!model.visible(_)).map(f => Obstacle("gone", Seq(f))))

    override def decide(from: Decision, to: Decision): Boolean = call {
      val isMine = model.marker.contains(from)
      if (isMine) model.marker = Some(to)
      isMine
    }

    override def lacksOutputs(): Boolean = call(!model.visible("out") && Seq("in-1", "in-2").forall(model.visible))

    override def isOthers(): Boolean = false
    override def retire(as: Option[Decision]): Option[Seq[String]] = Some(Seq("in-1", "in-2").flatMap { file =>
      call {
        if (model.visible(file)) model.trash += file
        model.visible -= file
        Option.when(model.visible(s"$file+"))(file)
      }
    })

    override def drop(): Unit = {
      call { model.staged = false }
      call { model.visible -= "out" }
    }

    override def canReturn(changed: Seq[String]): Boolean = call {
      val others = Seq("in-1", "in-2").diff(changed)
      model.returns && model.visible("out") && others.forall(f => model.trash(f) || model.visible(f))
    }

    override def bringBack(): Unit = Seq("in-1", "in-2").foreach { file =>
      call {
        if (model.returns && model.trash(file)) {
          model.trash -= file
          model.visible += file
        }
      }
    }

    override def isUnclear(): Boolean = false
    override def isLeft(): Boolean = false
    override def rows(decision: Decision): Seq[AddedFile] = Nil
    override def taken(): Set[String] = Set.empty
    override def stayed(): Seq[String] = Nil
    override def isPublished(): Boolean = call(false)
    override def revealed(): Map[String, FileMeta] = Map.empty
    override def release(): Boolean = true
  }
}
