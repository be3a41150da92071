package org.sparkzorder.commit

/** The names of copies of stale appends, in the folder that the catalog names now. */
private[sparkzorder] object CarriedName {

  /** Begins the names of copies. */
  private val Prefix = "zorder-carried-"

  def isOne(name: String): Boolean = name.startsWith(Prefix)

  /** The same for the same file, whichever process brings it over. A copy of a copy has the name of the copy. */
  def of(meta: FileMeta): String =
    if (isOne(meta.name)) meta.name
    else {
      val identity = s"${meta.path.toUri.getPath} ${meta.length} ${meta.etag.getOrElse(meta.modificationTime.toString)}"
      val name = s"$Prefix${LongNames.hash(identity)}-"
      val own = meta.name
      if (LongNames.isPossible(name + own)) name + own
      else name + LongNames.hash(own) + own.drop(math.max(0, own.lastIndexOf('.')))
    }
}
