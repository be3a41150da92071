package org.sparkzorder.write.task

import org.apache.hadoop.fs.{FileSystem, Path}

/**
 * How tasks write files on an object store: as uploads that are left open.
 *
 * @param operationId is in the names of the files
 * @param read all bytes of a small file, or an `IOException`
 */
final case class OpenUploads(operationId: String, read: (FileSystem, Path) => Array[Byte])
