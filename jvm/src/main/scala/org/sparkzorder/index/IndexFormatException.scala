package org.sparkzorder.index

import java.io.IOException

/**
 * An index file that cannot be used: it is truncated, damaged, or of a newer format. Callers then
 * do without the index.
 */
final class IndexFormatException(message: String, cause: Throwable = null) extends IOException(message, cause)
