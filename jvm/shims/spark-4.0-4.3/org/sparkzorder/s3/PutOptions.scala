package org.sparkzorder.s3

import org.apache.hadoop.fs.s3a.impl.PutObjectOptions

/** S3A's options of a write without any. Each version of Hadoop has another name for them. */
private[s3] object PutOptions {
  private val Names = Seq("defaultOptions", "keepingDirs")

  private lazy val plain: PutObjectOptions = {
    val methods = classOf[PutObjectOptions].getMethods
    val found = Names.iterator.flatMap(name => methods.find(m => m.getName == name && m.getParameterCount == 0))
    found.nextOption()
      .getOrElse(throw new UnsupportedOperationException("this version of hadoop-aws has no options of a write"))
      .invoke(null).asInstanceOf[PutObjectOptions]
  }

  def apply(): PutObjectOptions = plain
}
