package org.sparkzorder.commit.place

import java.io.IOException
import java.nio.charset.StandardCharsets.UTF_8

import com.fasterxml.jackson.core.JsonProcessingException
import org.apache.hadoop.fs.Path

import org.sparkzorder.codec.Json
import org.sparkzorder.commit._
import org.sparkzorder.compat._

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
