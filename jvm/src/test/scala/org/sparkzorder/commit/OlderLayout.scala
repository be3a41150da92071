package org.sparkzorder.commit

import org.apache.hadoop.fs.Path

/** Renames everything in side folders as older builds would have named it. */
object OlderLayout {

  /** @param format the format of the records that those builds wrote */
  def turn(fs: MemoryFs, format: Long): Unit = {
    val moved = fs.below("/t").filter(_.contains("/_zorder/")).map(path => path -> rewritten(path, format))
    val nodes = moved.map { case (from, to) => (to, fs.nodes(from)) }
    moved.foreach { case (from, _) => fs.nodes.remove(from) }
    nodes.foreach {
      case (to, f: File) if to.matches(".*/_zorder/v[^/]*\\.(pending|publishing|undoing|undone|json|vacuumed)") =>
        val record = RecordJson.parse(f.bytes, new Path(to)).copy(format = format)
        val bytes = RecordJson.write(record)
        fs.nodes(to) = f.copy(length = bytes.length.toLong, bytes = bytes)
      case (to, node) => fs.nodes(to) = node
    }
  }

  private def rewritten(path: String, format: Long): String = {
    val at = path.indexOf("/_zorder/") + "/_zorder/".length
    path.drop(at).split('/').toList match {
      case "trash" :: version :: rest =>
        val plain = if (format < 3) version.stripPrefix("_") else version
        path.take(at) + ("trash" :: (if (format < 2) plain.takeWhile(_ != '-') else plain) :: rest).mkString("/")
      case "staging" :: rest => path.take(at) + ("staging" :: rest.map(_.stripPrefix("_"))).mkString("/")
      case names             => path.take(at) + names.map(_.stripPrefix("_")).mkString("/")
    }
  }
}
