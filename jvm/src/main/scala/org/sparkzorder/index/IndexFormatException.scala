package org.sparkzorder.index

import java.io.IOException

/**
 * An index file that is not what it should be: cut, garbled, of a newer format. Whoever gets it does without the index.
 */
final class IndexFormatException(message: String, cause: Throwable = null) extends IOException(message, cause)
