package org.sparkzorder.commit

/** A file as a record names it. */
sealed trait ExchangedFile {
  def path: String
  def length: Long
  def modificationTime: Long
  def rows: Long
  def etag: Option[String]

  def folder: String = FileNames.parent(path)
  def name: String = FileNames.name(path)

  /** Whether a file that was found is this one, unchanged. */
  def isSame(meta: FileMeta): Boolean = isThis(meta, timed = true)

  /** @param timed whether its time stamp counts; it does not in a copy of the table. If both have etags these decide */
  def isThis(meta: FileMeta, timed: Boolean): Boolean = !meta.isDirectory && meta.length == length && (
    if (etag.isDefined && meta.etag.isDefined) meta.etag == etag
    else !timed || meta.modificationTime == modificationTime
  )
}

/**
 * A file that an operation replaces.
 *
 * @param path relative to the table's root with '/' between its parts
 * @param length bytes
 * @param modificationTime milliseconds since 1970, as the file system gives it
 * @param etag on an object store, where it identifies the content
 */
final case class InputFile(
    path: String,
    length: Long,
    modificationTime: Long,
    rows: Long,
    etag: Option[String] = None
) extends ExchangedFile

object InputFile {

  /** By its absolute path, as operations name files that move a table to new folders. */
  def of(m: FileMeta, rows: Long = 0L): InputFile =
    InputFile(m.path.toString, m.length, m.modificationTime, rows, m.etag)
}

/**
 * A file that an operation brings.
 *
 * @param path its final name, relative to the table's root
 * @param source where it was before the operation, relative to the root, if RESTORE took it from
 *               the trash. An undo puts it back there, but deletes outputs that the operation wrote
 * @param etag on an object store, once the file is made
 * @param etagBefore on an object store, the etag of the retired file of which RESTORE made a copy
 * @param upload on an object store, the upload whose completion makes the file. None once it is made
 */
final case class OutputFile(
    path: String,
    length: Long,
    modificationTime: Long,
    rows: Long,
    source: Option[String] = None,
    etag: Option[String] = None,
    etagBefore: Option[String] = None,
    upload: Option[OpenUpload] = None
) extends ExchangedFile {

  def asInput: InputFile = InputFile(path, length, modificationTime, rows, etag)

  /** The name that it had in the table before it was retired, if RESTORE brings it back; otherwise its name. */
  def pathBefore: String = source.filterNot(FileNames.name(_) == FileNames.retiredName(path)).fold(path) { from =>
    val name = FileNames.name(from).stripSuffix(FileNames.RetiredSuffix)
    FileNames.in(folder, name)
  }
}

/**
 * The parts of a file that are on an object store, but are no file yet.
 *
 * @param id by which the store knows the upload
 * @param parts their etags, in order; with checksums `etag;algorithm;checksum`
 */
final case class OpenUpload(id: String, parts: Seq[String])

/** The part of an operation that happens in one folder. */
final case class FolderWork(folder: String, inputs: Seq[InputFile], outputs: Seq[OutputFile], lost: Seq[InputFile])

/**
 * A file that a reader must read, although no listing shows it under its name.
 *
 * @param meta where it is now
 * @param path its name in the table, relative to the root; the partition is that of this name
 */
final case class AddedFile(meta: FileMeta, path: String)

/**
 * How to read a table while its files are being exchanged: take a listing, leave out some names, and add some files.
 *
 * @param leaveOut relative paths
 */
final case class ReadAround(leaveOut: Set[String], add: Seq[AddedFile])
