package org.sparkzorder

import org.scalatest.Tag

/** A test that `make test-rest` runs, in place of `make test`, since it or its suite takes long. */
object InRest extends Tag(classOf[TestRest].getName)
