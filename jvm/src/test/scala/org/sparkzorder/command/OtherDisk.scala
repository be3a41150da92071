package org.sparkzorder.command

import java.net.URI

import org.apache.hadoop.fs.{Path, RawLocalFileSystem}

/** The local disk below another scheme. It refuses paths of others, as each file system does. */
final class OtherDisk extends RawLocalFileSystem {
  override def getScheme: String = "other"
  override def getUri: URI = URI.create("other:///")

  override def delete(f: Path, recursive: Boolean): Boolean = {
    val isDeleted = super.delete(f, recursive)
    OtherDisk.deleted(f)
    isDeleted
  }
}

object OtherDisk {

  /** The setting that makes a session know it. */
  val setting: (String, String) = "spark.hadoop.fs.other.impl" -> classOf[OtherDisk].getName

  /** Is told of each delete. */
  @volatile var deleted: Path => Unit = _ => ()
}
