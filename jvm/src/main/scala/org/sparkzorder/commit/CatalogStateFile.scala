package org.sparkzorder.commit

import java.io.FileNotFoundException
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.AccessDeniedException
import java.util.Locale
import java.util.zip.CRC32

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.core.JsonProcessingException
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.ObjectNode
import com.google.common.cache.CacheBuilder
import org.apache.hadoop.fs.Path
import org.apache.hadoop.security.AccessControlException

/**
 * The file of the side folder with the [[CatalogState]]. It is never changed: the next one has the
 * next number, and the highest counts. A first line has the checksum of the rest.
 */
private[sparkzorder] object CatalogStateFile {
  private val Name = """_catalog-(\d{10,18})\.json""".r
  private val Head = "zorder-catalog 1"
  private val mapper = new ObjectMapper()

  /** The newest and the one before it, which a query may be about to read. */
  private val Kept = 2

  /** How often a listing is made again because the file in it is gone. */
  private val Attempts = 5

  /** The files in a listing, highest number first. */
  private def in(statuses: Seq[FileMeta]): Seq[(Long, FileMeta)] = statuses.flatMap { meta =>
    meta.name match {
      case Name(digits) if !meta.isDirectory => Some(digits.toLong -> meta)
      case _                                 => None
    }
  }.sortBy(-_._1)

  /** The number of the newest state in a listing; None when there is none. */
  def number(statuses: Seq[FileMeta]): Option[Long] = in(statuses).headOption.map(_._1)

  /** Whether the table is published through the catalog. */
  def isThere(statuses: Seq[FileMeta]): Boolean = statuses.exists(m => !m.isDirectory && Name.matches(m.name))

  def isThere(state: TableState): Boolean = state match {
    case side: TableState.SideFolder => isThere(side.statuses)
    case TableState.NoSideFolder     => false
  }

  /**
   * The newest state in a listing of the side folder; empty when there is none.
   *
   * @throws UnreadableRecordException when it is damaged: then it is not known which folders to watch
   */
  def read(folder: TableFolder, statuses: Seq[FileMeta]): CatalogState = {
    @scala.annotation.tailrec
    def attempt(listed: Seq[FileMeta], left: Int): CatalogState = {
      val newest = in(listed).headOption
      val found =
        try newest.map { case (number, meta) => cached(folder, meta).copy(number = number).of(folder.root) }
            .orElse(Some(CatalogState.Empty))
        catch { case _: FileNotFoundException if left > 0 => None }
      if (found.isDefined) found.get else attempt(folder.ops.list(folder.side), left - 1)
    }
    attempt(statuses, Attempts)
  }

  /**
   * Another name of the table's folder, if links give it two and the state names folders by the other
   * one. By this name nothing would be found in it.
   */
  def throughLink(folder: TableFolder, statuses: Seq[FileMeta]): Option[Path] =
    try in(statuses).headOption.map { case (_, meta) => cached(folder, meta) }
        .filter(all => all.folders.nonEmpty && all.of(folder.root).folders.isEmpty)
        .flatMap { all =>
          val real = folder.ops.realPath(folder.root)
          all.folders.flatMap(f => VersionDirectory.homeOf(new Path(f.path))).distinct
            .find(home => home != folder.root && folder.ops.realPath(home) == real)
        }
    catch { case _: FileNotFoundException => None }

  def read(folder: TableFolder): CatalogState = read(folder, folder.ops.list(folder.side))

  /**
   * Writes the state that follows the one that was read. Needs the lock. It fails if another process
   * has written one meanwhile, which has taken the lock from us then.
   */
  def write(folder: TableFolder, lock: Lock, state: CatalogState): Unit = {
    val ops = folder.ops
    val older = in(lock.listing())
    val target = folder.inSide(String.format(Locale.ROOT, "_catalog-%010d.json", Long.box(state.number + 1)))
    if (older.exists(_._1 > state.number)) throw new LockLostException(lock.path, s"$target is there already")
    writeBeside(folder, lock, state)
    AtomicFile.put(ops, folder.newTemporary(), target, bytes(state))(lock.check())
    older.drop(Kept - 1).foreach { case (_, meta) => ops.delete(meta.path) }
  }

  /**
   * Spark's INSERT OVERWRITE of a whole table deletes the home with its side folder, and not the
   * partitions' present locations. So there is a copy of the state beside the generations.
   */
  private def writeBeside(folder: TableFolder, lock: Lock, state: CatalogState): Unit =
    VersionDirectory.parentOf(folder.root).foreach { parent =>
      val ops = folder.ops
      val older = in(ops.list(parent))
      val number = older.headOption.fold(0L)(_._1) + 1
      ops.mkdirsLike(parent, folder.root)
      val target = FileNames.child(parent, String.format(Locale.ROOT, "_catalog-%010d.json", Long.box(number)))
      AtomicFile.put(ops, folder.newTemporary(), target, bytes(state))(lock.check())
      older.drop(Kept - 1).foreach { case (_, meta) => ops.delete(meta.path) }
    }

  /**
   * The copy of the state beside the generations, for a table whose side folder is gone. Empty when
   * there is none. A user who may not look there cannot read a partition that is there either.
   */
  def readBeside(folder: TableFolder): CatalogState =
    try VersionDirectory.parentOf(folder.root).fold(CatalogState.Empty) { parent =>
        in(folder.ops.list(parent)).headOption.fold(CatalogState.Empty) { case (_, meta) =>
          cached(folder, meta).copy(number = 0L).of(folder.root)
        }
      }
    catch { case _: AccessDeniedException | _: AccessControlException => CatalogState.Empty }

  private[commit] def bytes(state: CatalogState): Array[Byte] = {
    val root = mapper.createObjectNode()
    val folders = root.putArray("folders")
    state.folders.sortBy(_.path).foreach { f =>
      val node = folders.addObject()
      node.put("path", f.path)
      f.slot.values.foldLeft(node.putArray("slot")) { case (array, (column, value)) => array.add(column).add(value) }
      node.put("operationId", f.operationId)
      f.own.foldLeft(node.putArray("own"))(_.add(_))
      if (f.abandoned) node.put("abandoned", true)
      if (f.outdated) node.put("outdated", true)
      if (f.has.nonEmpty) f.has.foldLeft(node.putArray("has"))(_.add(_))
      val watches = node.putArray("watches")
      f.watches.foreach(w => watch(watches.addObject(), w))
    }
    val json = mapper.writeValueAsBytes(root)
    s"$Head ${crc(json)}\n".getBytes(UTF_8) ++ json
  }

  private def watch(node: ObjectNode, w: Watch): Unit = {
    node.put("folder", w.folder).put("operationId", w.operationId).put("since", w.since).put("vacuumed", w.vacuumed)
      .put("newer", w.newer)
    val known = node.putArray("known")
    w.known.foreach { k =>
      val file = known.addArray().add(k.name).add(k.length).add(k.modificationTime)
      k.etag.foreach(file.add)
    }
  }

  private def crc(bytes: Array[Byte]): Long = {
    val sum = new CRC32
    sum.update(bytes)
    sum.getValue
  }

  private[commit] def parse(bytes: Array[Byte], from: Path): CatalogState = {
    def fail(reason: String) = throw new UnreadableRecordException(from, reason)
    val end = bytes.indexOf('\n'.toByte)
    if (end < 0) fail("it has no first line")
    val json = bytes.drop(end + 1)
    if (new String(bytes, 0, end, UTF_8) != s"$Head ${crc(json)}") fail("it has another checksum or format")
    try CatalogState(mapper.readTree(json).path("folders").elements.asScala.map(folderOf).toVector)
    catch { case e: JsonProcessingException => throw new UnreadableRecordException(from, "not JSON", e) }
  }

  private def texts(node: JsonNode): Seq[String] = node.elements.asScala.map(_.asText).toVector

  private def folderOf(node: JsonNode): CatalogFolder = CatalogFolder(
    node.path("path").asText,
    CatalogPartition(texts(node.path("slot")).grouped(2).map(pair => pair.head -> pair.last).toVector),
    node.path("operationId").asText,
    texts(node.path("own")),
    node.path("watches").elements.asScala.map(watchOf).toVector,
    node.path("abandoned").asBoolean,
    texts(node.path("has")),
    node.path("outdated").asBoolean
  )

  private def watchOf(node: JsonNode): Watch = Watch(
    node.path("folder").asText,
    node.path("operationId").asText,
    node.path("since").asLong,
    node.path("known").elements.asScala.map { k =>
      KnownFile(k.get(0).asText, k.get(1).asLong, k.get(2).asLong, Option(k.get(3)).map(_.asText))
    }.toVector,
    node.path("vacuumed").asBoolean,
    node.path("newer").asBoolean
  )

  private val CacheSize = 16L

  // A file is never changed, but a table may be deleted and made anew. So its status is the key.
  private val cache =
    CacheBuilder.newBuilder().concurrencyLevel(1).maximumSize(CacheSize).build[FileMeta, CatalogState]()

  /** For tests, whose file systems in memory have the same names and times. */
  private[commit] def forget(): Unit = cache.invalidateAll()

  private def cached(folder: TableFolder, meta: FileMeta): CatalogState = Option(cache.getIfPresent(meta)).getOrElse {
    val found = parse(folder.ops.read(meta.path, RecordJson.ReadLimit), meta.path)
    cache.put(meta, found)
    found
  }
}
