package org.sparkzorder.shim

/** The parser of Spark 3.5 has no other methods. */
trait ParserShim extends DelegatingParser
