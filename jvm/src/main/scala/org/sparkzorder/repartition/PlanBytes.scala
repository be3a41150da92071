package org.sparkzorder.repartition

import java.io._
import java.lang.ref.SoftReference
import java.nio.ByteBuffer
import java.util.{LinkedHashMap, Map => JMap}

import org.sparkzorder.write.RowPlan

/**
 * Plans as bytes, on their way from the task that makes a plan to the tasks that use it. They are
 * never stored.
 */
object PlanBytes {
  private val Kept = 8

  /** Decoded plans, which the tasks of one executor share while there is memory for them. */
  private val plans = new LinkedHashMap[ByteBuffer, SoftReference[RowPlan]](16, 0.75f, true) {
    override def removeEldestEntry(eldest: JMap.Entry[ByteBuffer, SoftReference[RowPlan]]): Boolean = size > Kept
  }

  def of(plan: RowPlan): Array[Byte] = write(plan)

  def plan(bytes: Array[Byte]): RowPlan = plans.synchronized {
    val key = ByteBuffer.wrap(bytes)
    Option(plans.get(key)).flatMap(r => Option(r.get)).getOrElse {
      val decoded = read[RowPlan](bytes)
      plans.put(key, new SoftReference(decoded))
      decoded
    }
  }

  private[repartition] def write(value: Serializable): Array[Byte] = {
    val bytes = new ByteArrayOutputStream
    val out = new ObjectOutputStream(bytes)
    out.writeObject(value)
    out.close()
    bytes.toByteArray
  }

  private[repartition] def read[T](bytes: Array[Byte]): T = {
    val loader = classOf[RowPlan].getClassLoader
    val in = new ObjectInputStream(new ByteArrayInputStream(bytes)) {
      // Our jar may have been added to a running session. Then the class loader that the JDK would
      // use has not our classes.
      override def resolveClass(description: ObjectStreamClass): Class[_] =
        try Class.forName(description.getName, false, loader)
        catch { case _: ClassNotFoundException => super.resolveClass(description) }
    }
    in.readObject().asInstanceOf[T]
  }
}
