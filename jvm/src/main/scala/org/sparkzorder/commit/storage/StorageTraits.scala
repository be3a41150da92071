package org.sparkzorder.commit.storage

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.{CommonPathCapabilities, FileStatus, FileSystem, Path}
import org.apache.hadoop.fs.permission.{AclEntry, AclUtil}
import org.slf4j.LoggerFactory

/**
 * The traits that a file has in HDFS beside its rights: an ACL, a number of copies, and a storage
 * policy, which names the kind of disks. Nothing is asked of file systems without these.
 */
private[commit] final class StorageTraits(fs: FileSystem) {
  import StorageTraits._

  /** Gives files the traits that all the files that they replace have in common, and the highest number of copies. */
  def adopt(written: Seq[Path], replaced: Seq[Path]): Unit =
    if (written.nonEmpty && replaced.nonEmpty) {
      val (inputs, outputs) = (listed(fs, replaced), listed(fs, written))
      copies(outputs, inputs)
      if (inputs.exists(_.hasAcl)) acl(outputs, inputs)
      if (fs.hasPathCapability(replaced.head, CommonPathCapabilities.FS_STORAGEPOLICY)) policy(outputs, inputs)
    }

  /** Gives a new folder the ACL and the storage policy of another one. */
  def resemble(folder: Path, like: Path): Unit = {
    val other = fs.getFileStatus(like)
    if (other.hasAcl)
      fs.setAcl(folder, AclUtil.getAclFromPermAndEntries(other.getPermission, fs.getAclStatus(like).getEntries))
    if (fs.hasPathCapability(like, CommonPathCapabilities.FS_STORAGEPOLICY))
      policyOf(like).filterNot(policyOf(folder).contains).foreach(fs.setStoragePolicy(folder, _))
  }

  private def policyOf(path: Path): Option[String] = Option(fs.getStoragePolicy(path)).map(_.getName)

  private def copies(outputs: Seq[FileStatus], inputs: Seq[FileStatus]): Unit =
    // Erasure-coded files have parity data instead of copies.
    if (inputs.nonEmpty && !inputs.exists(_.isErasureCoded)) {
      val most = inputs.map(_.getReplication).max
      outputs.filter(o => !o.isErasureCoded && o.getReplication != most).foreach(o =>
        fs.setReplication(o.getPath, most)
      )
    }

  private def acl(outputs: Seq[FileStatus], inputs: Seq[FileStatus]): Unit = {
    val lists = inputs.map { i =>
      val entries = if (i.hasAcl) fs.getAclStatus(i.getPath).getEntries else java.util.Collections.emptyList[AclEntry]()
      AclUtil.getAclFromPermAndEntries(i.getPermission, entries).asScala.toVector
    }
    lists.distinct match {
      case Seq(same) => outputs.foreach(o => fs.setAcl(o.getPath, same.asJava))
      case _ => log.warn(s"The files beside ${inputs.head.getPath} differ in their ACLs: new files get none of them")
    }
  }

  private def policy(outputs: Seq[FileStatus], inputs: Seq[FileStatus]): Unit =
    inputs.map(i => policyOf(i.getPath)).distinct match {
      // Files inherit the folder's policy. It is not set for each of them, so that they follow when it changes.
      case Seq(Some(same)) if !policyOf(inputs.head.getPath.getParent).contains(same) =>
        outputs.foreach(o => fs.setStoragePolicy(o.getPath, same))
      case Seq(_) => ()
      case _      =>
        log.warn(
          s"The files beside ${inputs.head.getPath} differ in their storage policies: new files get the folder's"
        )
    }
}

private[commit] object StorageTraits {

  /** Lists each folder, because Spark's listings do not show rights and traits. */
  def listed(fs: FileSystem, paths: Seq[Path]): Seq[FileStatus] =
    paths.groupBy(_.getParent).toSeq.flatMap { case (folder, files) =>
      val names = files.map(_.getName).toSet
      fs.listStatus(folder).toSeq.filter(s => names(s.getPath.getName))
    }

  private val log = LoggerFactory.getLogger(classOf[StorageTraits])
}
