package org.sparkzorder.s3

import org.apache.hadoop.fs.FileSystem

import org.sparkzorder.commit.ObjectStore

/** The object stores that this build can commit to. The S3A of Hadoop 3.3 has another client. */
object S3Objects {
  def of(fs: FileSystem): Option[ObjectStore] = None
}
