package org.sparkzorder.commit.place

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8

import scala.util.matching.Regex

import com.fasterxml.jackson.core.JsonProcessingException
import org.apache.hadoop.fs.Path

import org.sparkzorder.codec.Json
import org.sparkzorder.commit._
import org.sparkzorder.commit.log.History
import org.sparkzorder.compat._

/**
 * The marker of a folder on a disk or HDFS: a file in the folder's side folder whose name says the
 * decision. A decision is one rename, so of two processes only one makes it. An overwrite of the
 * folder deletes the marker, and the rename fails.
 *
 * @param dir where the marker is, relative to the root
 * @param hash of the folder that the record names. It is another one if the folder was moved
 */
private[commit] final class FolderMark private (folder: TableFolder, dir: String, hash: String, operationId: String) {
  private val ops = folder.ops

  def path(decision: Decision): Path = FileNames.child(folder.sideOf(dir), FolderMark.name(operationId, hash, decision))

  /** Takes the folder for the operation. The side folder must be there. */
  def claim(): Unit = ops.writeNew(path(Decision.Staged), s"${folder.root}\n$dir\n".getBytes(UTF_8))

  /**
   * What was decided, looked up by name, since a listing may be late. None when the marker is gone. Names are looked up
   * twice before that: only a person's word lets a decision go back, from `rolled-back` to `exchanged`.
   */
  def decision(): Option[Decision] = (Decision.all ++ Decision.all).find(d => ops.exists(path(d)))

  /**
   * Changes the decision. False when it had changed already, or the marker is gone.
   *
   * @throws java.io.IOException when the file system failed and the decision is as it was
   */
  def decide(from: Decision, to: Decision): Boolean =
    try {
      ops.rename(path(from), path(to))
      true
    } catch {
      // The rename may have taken effect.
      case e: IOException =>
        if (decision().contains(from)) throw e
        false
    }

  /** False when it is gone. */
  def remove(): Boolean = {
    val found = decision()
    found.foreach(d => ops.delete(path(d)))
    found.isDefined
  }
}

private[commit] object FolderMark {
  private val Name: Regex = """_exchange-(.+)-([0-9a-f]{16})\.([a-z-]+)""".r

  /** @param origin the folder that the record names */
  def apply(folder: TableFolder, dir: String, origin: String, operationId: String): FolderMark =
    new FolderMark(folder, dir, LongNames.hash(origin), operationId)

  /**
   * An operation's markers in a folder, also those that came with folders that were moved there. A listing may be late, so
   * the folder's own is always one of them.
   */
  def all(folder: TableFolder, dir: String, operationId: String): Seq[FolderMark] =
    (LongNames.hash(dir) +: folder.ops.list(folder.sideOf(dir)).flatMap(m => origin(m.name, operationId))).distinct
      .map(new FolderMark(folder, dir, _, operationId))

  private def name(operationId: String, hash: String, decision: Decision): String =
    s"${SideNames.Hidden}exchange-$operationId-$hash.${decision.name}"

  /**
   * Whether a marker of an operation that has ended tells nothing. Either its owner was undone before it had written a
   * file, and then woke up. Or the folder, or a copy of it, has all files of one side and none of the other: these are
   * its rows, whatever the marker says. To be asked under the lock, after a recovery.
   */
  def isSpare(folder: TableFolder, dir: String, fileName: String, operationId: String): Boolean = {
    val ended =
      (History.newestFirst(folder) ++ History.undone(folder)).map(_.record).filter(_.operationId == operationId)
    val work = ended.flatMap(_.folders).find(w => origin(fileName, operationId).contains(LongNames.hash(w.folder)))
    lazy val found = folder.ops.list(folder.resolve(dir)).map(m => m.name -> m).toMap
    def there(files: Seq[ExchangedFile]) =
      files.flatMap(f => found.get(FileNames.name(f.path)).map(f.isThis(_, timed = false)))
    def areRows(side: Seq[ExchangedFile], other: Seq[ExchangedFile]) =
      there(side) == side.map(_ => true) && there(other).isEmpty
    fileName.endsWith(s".${Decision.Staged.name}") && !folder.ops.exists(folder.stagingOf(dir, operationId)) ||
    work.exists(w => areRows(w.inputs, w.outputs) || areRows(w.outputs, w.inputs))
  }

  def operation(fileName: String): Option[String] = parsed(fileName).map(_._1)

  /** The hash of the folder that a marker of an operation was made for, if the file is one. */
  def origin(fileName: String, operationId: String): Option[String] =
    parsed(fileName).filter(_._1 == operationId).map(_._2)

  private def parsed(fileName: String): Option[(String, String)] = fileName match {
    case Name(id, hash, decision) if Decision.all.exists(_.name == decision) => Some(id -> hash)
    case _                                                                   => None
  }
}

/**
 * What the marker of a folder says.
 *
 * @param table the root of the table whose operation this is
 * @param etag of the object that says it
 */
private[commit] final case class Marked(operationId: String, table: String, state: Decision, etag: String)

/**
 * One object in a folder's side folder, by which all processes agree on what an operation did there. It changes from
 * `Staged` to `Exchanged` or to `RolledBack`, each time on condition of its etag. So only one process makes the change,
 * the others read it. A delete of the folder deletes the marker, and the change fails.
 */
private[commit] final class FolderMarker(store: ObjectStore, folder: TableFolder, dir: String) {
  import FolderMarker._

  val path: Path = new Path(folder.sideOf(dir), Name)

  def read(): Option[Marked] = store.get(path, MostBytes).map { found => parse(path, found) }

  /**
   * Takes the folder for an operation. What an operation left that never had a record is taken over:
   * none of its outputs is there, and it can decide nothing any more.
   *
   * @throws ConcurrentOperationException when another operation is exchanging the folder's files, or
   *   has died while it did and must be recovered first
   */
  def claim(operationId: String): Marked = {
    def once(): Option[Marked] = {
      val mine = content(operationId, Decision.Staged)
      store.putIfAbsent(path, mine).map(marked(operationId, Decision.Staged, _)).orElse(read() match {
        case None                                    => None
        case Some(m) if m.operationId == operationId => Some(m)
        case Some(m)                                 =>
          if (isUnderWay(m)) throw new ConcurrentOperationException(new Path(m.table), None)
          store.putIfMatch(path, mine, m.etag).map(marked(operationId, Decision.Staged, _))
      })
    }
    Iterator.fill(MostClaims)(once()).flatten.nextOption()
      .getOrElse(throw new ConcurrentOperationException(folder.root, None))
  }

  /**
   * Whether the operation may have begun to exchange files. Its table then has the record of an
   * operation under way. An exchange of a table over ours is not judged here.
   */
  private def isUnderWay(m: Marked): Boolean = isOfTable(m) && {
    val side = new Path(new Path(m.table), SideNames.Side)
    (m.state == Decision.Exchanged && m.table != folder.root.toString) ||
    SideListing.records(store.list(side)).exists(_.state == RecordState.Publishing)
  }

  /** Whether the folder belongs to that table. A marker that came with a copy names another one. */
  private def isOfTable(m: Marked): Boolean =
    Iterator.iterate(folder.resolve(dir))(_.getParent).takeWhile(_ != null)
      .exists(TableFolder.isSame(_, new Path(m.table)))

  /** Writes a decision. None when another process was faster, or the folder was deleted. */
  def decide(from: Marked, to: Decision): Option[Marked] =
    store.putIfMatch(path, content(from.operationId, to), from.etag).map(etag => from.copy(state = to, etag = etag))

  /**
   * Writes what a person says about an operation, whatever the marker said.
   *
   * @throws java.io.IOException when another process writes it at this moment
   */
  def write(operationId: String, state: Decision): Unit = {
    val bytes = content(operationId, state)
    val isWritten = read().fold(store.putIfAbsent(path, bytes))(m => store.putIfMatch(path, bytes, m.etag)).isDefined
    if (!isWritten) throw new IOException(s"another process writes $path")
  }

  /** Removes the marker if it still says this. */
  def remove(m: Marked): Unit = {
    store.delete(path, m.etag)
    ()
  }

  private def marked(operationId: String, state: Decision, etag: String) =
    Marked(operationId, folder.root.toString, state, etag)

  private def content(operationId: String, state: Decision): Array[Byte] =
    Json.write(Text(operationId, folder.root.toString, state.name))
}

private[commit] object FolderMarker {
  val Name = s"${SideNames.Hidden}exchange"

  private val MostBytes = 1L << 16

  private final case class Text(operationId: String, table: String, state: String)

  /** How often to try again when others write the marker at the same time. */
  private val MostClaims = 5

  private def parse(path: Path, found: StoredBytes): Marked =
    try {
      val text = Json.read(found.bytes, classOf[Text])
      val state = Decision.all.find(_.name == text.state)
        .getOrElse(throw new UnreadableRecordException(path, "it says no state"))
      Marked(text.operationId, text.table, state, found.etag)
    } catch {
      case e: JsonProcessingException =>
        throw new UnreadableRecordException(path, s"not JSON: ${new String(found.bytes.take(40), UTF_8)}", e)
    }
}
