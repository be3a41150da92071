package org.sparkzorder

import org.scalatest.Tag

/** A test that `make test-rest` runs, in place of `make test`: it takes longer than three seconds. */
object InRest extends Tag(classOf[TestRest].getName)
