package org.sparkzorder.commit.storage

import java.util.concurrent.ConcurrentHashMap

import org.apache.hadoop.fs.FileSystem
import org.slf4j.LoggerFactory

import org.sparkzorder.commit.{FileOps, ObjectStore}

/** Finds the object store behind a file system. */
object ObjectStores {
  private val log = LoggerFactory.getLogger(getClass.getName.stripSuffix("$"))

  /** Only a file system of this class, or of one below it, is asked for its client. */
  private val S3A = "org.apache.hadoop.fs.s3a.S3AFileSystem"

  private val known = new ConcurrentHashMap[FileSystem, Option[ObjectStore]]

  /**
   * The calls to a file system, without renames if it is an object store that we can commit to. What
   * links to the store's client is loaded only then.
   */
  def ops(fs: FileSystem): FileOps = storeOf(fs).fold[FileOps](onDisk(fs))(new ObjectFileOps(_))

  private def onDisk(fs: FileSystem): HadoopFileOps =
    ofTest.fold(new HadoopFileOps(fs))(_.getConstructor(classOf[FileSystem]).newInstance(fs))

  /** Only a test names a class. It stops the process at a call. */
  private val ofTest =
    Option(System.getProperty("spark.zorder.test.fileOps")).map(Class.forName(_).asSubclass(classOf[HadoopFileOps]))

  /** The store behind a file system; None if it is none that we can commit to. */
  def storeOf(fs: FileSystem): Option[ObjectStore] =
    if (!isS3A(fs.getClass)) None else known.computeIfAbsent(fs, found(_))

  private def isS3A(of: Class[_]): Boolean = of != null && (of.getName == S3A || isS3A(of.getSuperclass))

  private def found(fs: FileSystem): Option[ObjectStore] =
    try {
      val maker = Class.forName("org.sparkzorder.s3.S3Objects", true, getClass.getClassLoader)
      maker.getMethod("of", classOf[FileSystem]).invoke(null, fs).asInstanceOf[Option[ObjectStore]]
    } catch {
      // A version of hadoop-aws without what we call. Reading and skipping still work.
      case e @ (_: ReflectiveOperationException | _: LinkageError) =>
        log.warn(s"${fs.getUri} is used as a file system, since its client cannot be used", e)
        None
    }
}
