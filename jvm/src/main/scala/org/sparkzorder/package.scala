package org

/** Clustering and file skipping for plain Parquet and ORC tables. */
package object sparkzorder
