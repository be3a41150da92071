package org.sparkzorder.commit

/**
 * A file that a reader must read, although no listing shows it under its name.
 *
 * @param meta where it is now
 * @param path its name in the table, relative to the root; the partition is that of this name
 */
final case class AddedFile(meta: FileMeta, path: String)

/**
 * How to read a table while its files are being exchanged: take a listing, leave out some names, and
 * add some files.
 *
 * @param leaveOut relative paths
 */
final case class ReadAround(leaveOut: Set[String], add: Seq[AddedFile])
