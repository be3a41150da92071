package org.sparkzorder.commit

/**
 * The folder of a table where tasks write on an object store. S3A leaves an upload open when its
 * file is written below a folder of such a name, as its magic committer does.
 */
object UploadFolder {

  /** Its path below the table, since Hadoop 3.4. */
  def ofJob(operationId: String): String = s"__magic_job-$operationId"

  /** The same before. There the name is `__magic` and nothing else. */
  def inMagic(operationId: String): String = s"__magic/job-$operationId"

  /** Another Spark may clean up than the one that wrote. */
  def all(operationId: String): Seq[String] = Seq(ofJob(operationId), inMagic(operationId))
}
