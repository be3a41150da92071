package org.sparkzorder.commit.storage

import java.io.IOException

import scala.collection.concurrent.TrieMap

import org.sparkzorder.commit.{ObjectStore, Removal, TableFolder}

/**
 * Asks an object store whether it keeps the conditions of requests. Some that speak S3's language
 * take a conditional write and ignore the condition.
 */
object StoreProbe {
  private val able = TrieMap.empty[ObjectStore, Unit]

  /**
   * What the store does not do, in words for an error; None if it does all that a commit needs. Then it
   * is not asked again.
   */
  def lacks(folder: TableFolder): Option[String] = ObjectFileOps.storeOf(folder).filterNot(able.contains).flatMap {
    store =>
      val found = store.lacks.orElse(lacks(store, folder))
      if (found.isEmpty) able.put(store, ())
      found
  }

  private[commit] def lacks(store: ObjectStore, folder: TableFolder): Option[String] = {
    val (path, one, two) = (folder.newProbe(), Array[Byte](1), Array[Byte](2))
    try {
      // A client that got no answer sends a request again, and then finds what it has written.
      def written(bytes: Array[Byte]) = store.get(path, limit = 1).filter(_.bytes.sameElements(bytes)).map(_.etag)
      val first =
        store.putIfAbsent(path, one).orElse(written(one)).getOrElse(throw new IOException(s"$path exists"))
      if (store.list(folder.side).find(_.name == path.getName).forall(m => !m.etag.contains(first)))
        Some("show etags in listings")
      else if (store.putIfAbsent(path, two).isDefined) Some("keep the condition 'If-None-Match' of a write")
      else store.putIfMatch(path, two, first).orElse(written(two)) match {
        case None                                                    => Some("do a write with 'If-Match'")
        case Some(_) if store.putIfMatch(path, one, first).isDefined => Some("keep the condition 'If-Match' of a write")
        case Some(_) if store.delete(path, first) != Removal.Changed =>
          Some("keep the condition 'If-Match' of a delete")
        case Some(_) => None
      }
    } finally store.deleteAll(Seq(path))
  }
}
